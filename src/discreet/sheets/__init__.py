"""Tables as people have them: sheets with titles, headers, stubs, totals, percentages and marks, read as tables."""
