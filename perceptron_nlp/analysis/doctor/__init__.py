"""What is in the data and in a model: labels that look wrong, features that carry weight."""
