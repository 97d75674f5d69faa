"""Options that suit the data, found by training with many and keeping the better ones."""
