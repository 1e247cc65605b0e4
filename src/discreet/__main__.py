"""``python -m discreet``: the command line, where the folder of scripts is not on the path."""

from __future__ import annotations

from discreet.cli import main

if __name__ == "__main__":
    main()
