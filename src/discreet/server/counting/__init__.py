"""Where numbers come from: the cube, its measures, shapes held since the start."""
