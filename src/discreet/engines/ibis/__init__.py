"""The engine elsewhere: a database through Ibis."""
