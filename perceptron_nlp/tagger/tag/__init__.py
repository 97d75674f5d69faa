"""Label sentences, files and running text with a model."""
