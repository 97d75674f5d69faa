"""The perceptron family on vectors and feature dictionaries."""
