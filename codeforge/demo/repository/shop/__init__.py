"""A toy shop."""
