"""Grids of cells from files and frames: one file for each kind of source."""
