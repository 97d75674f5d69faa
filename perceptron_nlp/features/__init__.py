"""The template language, its named sets, and features in readable form."""
