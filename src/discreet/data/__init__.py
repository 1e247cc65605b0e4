"""What records mean: dimensions, hierarchies, codebook, microdata."""
