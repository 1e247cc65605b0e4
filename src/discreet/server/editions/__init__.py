"""Editions of a data set: which one is served, and by how much two must differ."""
