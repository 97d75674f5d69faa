"""What to look at: the template language and its named sets."""
