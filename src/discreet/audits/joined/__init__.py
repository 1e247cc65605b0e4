"""Published tables laid over each other: one system over the cells that they have in common."""
