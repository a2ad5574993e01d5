"""codeforge: a coding agent for the terminal that proves its patches with your tests."""

__version__ = "0.1.0"
