"""The version of this package and of the program it ships with."""

__version__ = "0.1.0"
