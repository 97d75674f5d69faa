"""Show what a model holds."""
