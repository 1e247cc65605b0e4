"""Methods that change records before anything is counted."""
