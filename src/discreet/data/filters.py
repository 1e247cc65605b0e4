"""Who a table is about, as text: VARIABLE=CODE, several variables separated by ``;``, several codes by a sign."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from discreet.errors import InputError

Filters = Iterable[tuple[str, Sequence[str]]]


def parse_filters(
    texts: Iterable[str],
    *,
    sign: str = "",
    known: Mapping[str, Collection[str]] | None = None,
    repeat: bool = False,
    form: str = "a population is VARIABLE=CODE",
) -> dict[str, list[str]]:
    """Codes by variable, from texts of one filter each.

    ``sign`` separates the codes of a variable, unless the whole is a code that is ``known``; with ``repeat`` a variable
    may be named again instead. ``form`` begins the message to whoever wrote something else.

    >>> parse_filters(["age=young|old", "sex=f"], sign="|")
    {'age': ['young', 'old'], 'sex': ['f']}
    >>> parse_filters(["age=100+"], sign="+", known={"age": ["0-99", "100+"]})
    {'age': ['100+']}
    >>> parse_filters(["region=N", "region=S"], repeat=True)
    {'region': ['N', 'S']}
    """
    codes_of: dict[str, list[str]] = {}
    for text in texts:
        name, equals, value = (piece.strip() for piece in text.partition("="))
        if not equals:
            raise InputError(f"{form}, not {text!r}")
        if name in codes_of and not repeat:
            raise InputError("a variable is named twice in the population")
        whole = not sign or value in (known or {}).get(name, ())
        codes_of.setdefault(name, []).extend([value] if whole else [code.strip() for code in value.split(sign)])
    return codes_of


def filter_text(filters: Filters, sign: str, between: str = ";") -> str:
    """The text that ``parse_filters`` reads, its filters one after the other.

    >>> filter_text([("age", ("old", "young")), ("sex", ("f",))], "|", "; ")
    'age=old|young; sex=f'
    """
    return between.join(f"{name}={sign.join(codes)}" for name, codes in filters)
