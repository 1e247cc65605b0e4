"""Progress on stderr while something takes its time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from discreet.cli.console import heard


@contextmanager
def working(what: str) -> Iterator[None]:
    """A spinner on stderr while something takes its time; nothing when stderr is not a terminal."""
    from rich.console import Console

    console = Console(stderr=True)
    if not console.is_terminal or not heard("info"):
        yield
        return
    with console.status(what):
        yield


@contextmanager
def bar(what: str) -> Iterator[Callable[[int, int], None]]:
    """A progress bar on stderr for work that reports (done, total); nothing when stderr is not a terminal.

    What is yielded has a method ``tell(cost, bound)`` for work that closes in on a least cost.
    """
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    if not console.is_terminal or not heard("info"):
        yield lambda done, total: None
        return
    with Progress(console=console, transient=True) as shown:
        yield Bar(shown, what)


class Bar:
    """Progress as a call, and how near the best found so far is to the best there can be."""

    def __init__(self, shown: Any, what: str) -> None:
        self.shown, self.what = shown, what
        self.task = shown.add_task(what, total=None)

    def __call__(self, done: int, total: int) -> None:
        self.shown.update(self.task, completed=done, total=total)

    def tell(self, cost: float, bound: float) -> None:
        """Cost of the best pattern so far, and a bound that no pattern can go below."""
        self.shown.update(self.task, description=f"{self.what}: cost {cost:,.6g}, bound {bound:,.6g}")
