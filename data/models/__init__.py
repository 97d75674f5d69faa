"""Models for perceptron_nlp: see the card of each."""
