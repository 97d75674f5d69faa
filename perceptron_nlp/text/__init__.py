"""What a sentence is: words, columns, tag sets, word shapes and spans."""
