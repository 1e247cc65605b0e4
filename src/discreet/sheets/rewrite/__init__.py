"""A file of tables written back in its own layout, with what may be shown in it and nothing hidden."""
