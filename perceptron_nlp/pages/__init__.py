"""Pages of HTML and their charts in one design; they need the extra ``report``."""
