"""A table as a page shows it: choices, numbers, charts."""
