"""Cell suppression: sensitive cells are hidden, and others with them so that nobody can work them out."""

from discreet.methods.suppress.method import Suppress

__all__ = ["Suppress"]
