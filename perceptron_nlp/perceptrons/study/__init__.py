"""The perceptron family on a person's corpus: experiments, pictures, one report."""
