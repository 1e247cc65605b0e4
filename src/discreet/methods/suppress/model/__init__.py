"""The cell suppression problem: roles of cells, requirements, contributors alone in a cell, earlier tables."""
