"""Every item of the papers, worked out again from the definition by a few lines of our own.

Only public names of discreet are imported here, as the thing under test; docs/papers.md lists items and tests.
"""
