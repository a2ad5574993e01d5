"""Where model files come from, one module per kind of source."""
