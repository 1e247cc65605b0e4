"""What a caller was told before, and what follows from it."""
