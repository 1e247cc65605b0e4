"""Pages for readers and for the methodologist."""
