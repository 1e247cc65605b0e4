"""A frame or a file in, the same frame or file out, protected and audited."""
