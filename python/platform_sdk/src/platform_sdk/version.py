"""What this package says it is."""

__version__ = "0.1.0"
