"""Statistical disclosure control for tables."""

__version__ = "0.1.0"
