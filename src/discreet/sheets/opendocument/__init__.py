"""Spreadsheets of OpenDocument: read as grids of cells, and written back with what may be shown."""
