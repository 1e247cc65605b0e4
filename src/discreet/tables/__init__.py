"""Tables: which cells, over which inner cells, with which numbers; made from records or read ready-made."""
