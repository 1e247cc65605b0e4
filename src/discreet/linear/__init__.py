"""Systems of linear equations within bounds. Numbers only: nothing here knows what a table is."""
