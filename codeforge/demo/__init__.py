"""The demonstration: a small broken repository, fixed before the user's eyes."""
