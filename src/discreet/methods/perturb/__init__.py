"""Methods that publish every cell with a changed value."""
