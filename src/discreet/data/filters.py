"""Who a table is about, as text: VARIABLE=CODE, several variables separated by ``;``, several codes by a sign.

A name or code that holds one of these signs, or begins or ends with a blank, stands in double quotes, and a quote
within them twice: ``size="a;b"``, ``size="5"" and more"``. A quote elsewhere than at the beginning is a character.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from discreet.errors import InputError

Filters = Iterable[tuple[str, Sequence[str]]]
QUOTE = '"'
BETWEEN = ";"
QUOTED = '"5"" and more"'  # for messages: a code with a quote in it


def parse_filters(
    texts: str | Iterable[str],
    *,
    sign: str = "",
    known: Mapping[str, Collection[str]] | None = None,
    repeat: bool = False,
    form: str = "a population is VARIABLE=CODE",
) -> dict[str, list[str]]:
    """Codes by variable, from one text of filters with ``;`` between them, or from texts of one filter each.

    ``sign`` separates the codes of a variable, unless the whole is a code that is ``known`` and its pieces are not;
    with ``repeat`` a variable may be named again instead. ``form`` begins the message to whoever wrote something else.

    >>> parse_filters("age=young|old; sex=f", sign="|")
    {'age': ['young', 'old'], 'sex': ['f']}
    >>> parse_filters('size="a;b"|"c "', sign="|")
    {'size': ['a;b', 'c ']}
    >>> parse_filters(["age=100+"], sign="+", known={"age": ["0-99", "100+"]})
    {'age': ['100+']}
    >>> parse_filters(["region=N", "region=S"], repeat=True)
    {'region': ['N', 'S']}
    """
    between = BETWEEN if isinstance(texts, str) else ""
    codes_of: dict[str, list[str]] = {}
    for text in [texts] if isinstance(texts, str) else texts:
        start = 0
        while start <= len(text):
            name, quoted, end = _read_word(text, start, "=" + between)
            if text[end : end + 1] == "=":
                codes, end = _read_codes(text, end + 1, sign, between, (known or {}).get(name, ()))
                if name in codes_of and not repeat:
                    raise InputError("a variable is named twice in the population")
                codes_of.setdefault(name, []).extend(codes)
            elif name or quoted or not between:  # else nothing between two semicolons, or behind the last
                quotes = '; a code with ";" or "=" in it stands in double quotes' if between else ""
                raise InputError(f"{form}, not {text[start:end].strip()!r}{quotes}")
            start = end + 1
    return codes_of


def filter_text(filters: Filters, sign: str, between: str = BETWEEN) -> str:
    """The text that ``parse_filters`` reads, its filters one after the other.

    >>> filter_text([("age", ("old", "young")), ("sex", ("f",))], "|", "; ")
    'age=old|young; sex=f'
    >>> filter_text([("size", ("a;b", "c "))], "|")
    'size="a;b"|"c "'
    """
    return between.join(
        f"{_quoted(name, '=')}={sign.join(_quoted(code, sign) for code in codes)}" for name, codes in filters
    )


def _quoted(word: str, sign: str) -> str:
    """A name or code as it stands in a text: in quotes if it could be read as anything else."""
    plain = word == word.strip() and not word.startswith(QUOTE)
    plain = plain and not any(stop in word for stop in (BETWEEN, sign) if stop)
    return word if word and plain else QUOTE + word.replace(QUOTE, 2 * QUOTE) + QUOTE


def _read_codes(text: str, start: int, sign: str, between: str, known: Collection[str]) -> tuple[list[str], int]:
    """The codes of one filter from a place in the text on, and the place where they end."""
    codes: list[str] = []
    at = start
    quotes = False
    while True:
        code, quoted, at = _read_word(text, at, sign + between)
        codes.append(code)
        quotes = quotes or quoted
        if not sign or text[at : at + 1] != sign:
            break
        at += 1
    whole = text[start:at].strip()
    if len(codes) > 1 and not quotes and whole in known and not all(code in known for code in codes):
        return [whole], at
    return codes, at


def _read_word(text: str, at: int, stops: str) -> tuple[str, bool, int]:
    """A name or code from a place in the text on, whether it is quoted, and the place of the sign that ends it."""
    while at < len(text) and text[at].isspace():
        at += 1
    if text[at : at + 1] == QUOTE:
        return _read_quoted(text, at + 1, stops)
    end = at
    while end < len(text) and text[end] not in stops:
        end += 1
    return text[at:end].strip(), False, end


def _read_quoted(text: str, at: int, stops: str) -> tuple[str, bool, int]:
    """The same behind an opening quote: up to the next quote that does not stand twice."""
    pieces: list[str] = []
    while True:
        end = text.find(QUOTE, at)
        if end < 0:
            raise InputError(f"a quote is not closed in {text!r}; a code that begins with one is written {QUOTED}")
        pieces.append(text[at:end])
        if text[end + 1 : end + 2] != QUOTE:
            break
        pieces.append(QUOTE)
        at = end + 2
    after = end + 1
    while after < len(text) and text[after].isspace():
        after += 1
    if after < len(text) and text[after] not in stops:
        raise InputError(f"something follows a closing quote in {text!r}; a quote within a code is written {QUOTED}")
    return "".join(pieces), True, after
