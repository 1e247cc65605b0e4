"""Docstrings are written for a terminal; on the site they are Markdown."""

from __future__ import annotations

import re
import textwrap
from typing import Any

from griffe import Docstring, Extension, Object

ROLE = re.compile(r":(?:func|class|mod|meth):`~?([^`]+)`")
MATH = re.compile(r":math:`([^`]+)`")
PAPER = re.compile(r"\[([A-Za-z]+\d\d)\]_")
EQUATION = re.compile(r"^\.\. math::[ \t]*(.*(?:\n(?:[ \t]+\S.*|[ \t]*(?=\n[ \t]+\S)))*)", re.M)
EXAMPLE = re.compile(r"^>>> .*(?:\n\S.*|\n[ \t]+\S.*)*", re.M)


def to_markdown(text: str) -> str:
    """Equations, references and examples of a docstring as Markdown.

    >>> to_markdown("See :func:`r1` of [Ant16]_.")
    'See `r1` of [Ant16][ant16].'
    """
    text = EQUATION.sub(lambda found: f"$$\n{textwrap.dedent(found[1]).strip()}\n$$\n", text)
    text = EXAMPLE.sub(lambda found: f"```pycon\n{found[0]}\n```", text)
    text = MATH.sub(r"$\1$", text)
    text = ROLE.sub(r"`\1`", text)
    return PAPER.sub(lambda found: f"[{found[1]}][{found[1].lower()}]", text)


class Readable(Extension):
    """Rewrites the docstring of every object that is shown."""

    def on_instance(self, *, obj: Object, **_: Any) -> None:
        """Called by griffe for every module, class, function and attribute."""
        if obj.docstring:
            obj.docstring = Docstring(to_markdown(obj.docstring.value), parent=obj)
