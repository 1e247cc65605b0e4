"""Published tables of one source set against each other."""
