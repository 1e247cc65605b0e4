"""Audit and repair of a pattern, from outside and from inside."""
