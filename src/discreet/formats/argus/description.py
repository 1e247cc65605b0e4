"""The ``.rda`` file of tau-ARGUS: which variables a data file holds, where, and what each is for."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from pathlib import Path, PureWindowsPath

from discreet.base.arguments import checked
from discreet.base.texts import read_text
from discreet.errors import InputError, nearest

KINDS = {
    "RECODEABLE": "category",
    "RECODABLE": "category",
    "NUMERIC": "response",
    "WEIGHT": "weight",
    "HOLDING": "holding",
    "REQUEST": "request",
    "FREQUENCY": "frequency",
    "MAXSCORE": "largest",
    "STATUS": "status",
    "SHADOW": "shadow",
    "COST": "cost",
    "COSTVAR": "cost",
    "LOWERPL": "lower",
    "UPPERPL": "upper",
}
WITH_TEXT = ("TOTCODE", "CODELIST", "HIERCODELIST", "HIERLEADSTRING")
IGNORED = ("DISTANCE", "TRUNCABLE", "HIERARCHICAL")
OF_FILE = ("SEPARATOR", "SAFE", "UNSAFE", "PROTECT", "SPSS")
KNOWN = (*KINDS, *WITH_TEXT, *IGNORED, *OF_FILE, "HIERLEVELS", "DECIMALS")


@dataclass(frozen=True, kw_only=True)
class Variable:
    """One variable of the data: where it stands, what it is for, and the files that describe its codes."""

    name: str
    line: int
    kinds: tuple[str, ...] = ()
    start: int = 0  # first column, from 1; 0 in a file with separators
    width: int = 0
    missing: tuple[str, ...] = ()
    decimals: int | None = None
    total: str = "Total"
    total_stated: bool = False
    code_list: str = ""
    levels: tuple[int, ...] = ()
    hierarchy: str = ""
    leader: str = "@"
    requests: tuple[str, ...] = ()

    @property
    def from_data(self) -> bool:
        """Whether nothing is said of the codes: they are those that the data hold, perhaps a total among them."""
        return not (self.total_stated or self.code_list or self.levels or self.hierarchy or self.missing)

    @property
    def is_number(self) -> bool:
        return not {"category", "holding", "request", "status"} & set(self.kinds) and bool(self.kinds)


@dataclass(frozen=True, kw_only=True)
class Description:
    """What an ``.rda`` file says. ``separator`` is empty when the fields stand in fixed columns."""

    path: Path
    variables: tuple[Variable, ...]
    separator: str = ""
    table: bool = False
    statuses: dict[str, str] = field(default_factory=lambda: {"SAFE": "S", "UNSAFE": "U", "PROTECT": "P"})

    def of_kind(self, kind: str) -> list[Variable]:
        """The variables that serve a purpose, in the order of the file."""
        return [v for v in self.variables if kind in v.kinds]

    def one(self, kind: str) -> Variable | None:
        """The variable for a purpose that only one can have, or None."""
        variables = self.of_kind(kind)
        if len(variables) > 1:
            raise self.fault(variables[1].line, f"a second variable for <{kind.upper()}>; only one can be used")
        return variables[0] if variables else None

    def fault(self, line: int, message: str) -> InputError:
        """An error with the file's name and the line."""
        return InputError(f"{self.path.name}, line {line}: {message}")

    def beside(self, variable: Variable, name: str) -> Path:
        """A file the description names: beside it, whatever folder the description says and however it is spelt."""
        plain = PureWindowsPath(name).name  # understands both kinds of slashes
        folder = self.path.parent
        for path in (folder / name, folder / plain, *sorted(folder.glob("*"))):
            if path.name.lower() == plain.lower() and path.is_file():
                return path
        raise self.fault(variable.line, f"{plain!r}, which {variable.name!r} names, is not beside the description")


@checked
def read_description(path: str | Path, *, table: bool = False) -> Description:
    """An ``.rda`` file, of microdata or of a table (which states no widths)."""
    path = Path(path)
    return parse_description(read_text(path), path, table=table)


def parse_description(text: str, path: Path, *, table: bool = False) -> Description:
    """The text of an ``.rda`` file.

    >>> made = parse_description('Sex 1 1 "9"\\n<RECODEABLE>\\nPay 2 5\\n<NUMERIC>\\n<DECIMALS> 1', Path("x.rda"))
    >>> [(v.name, v.kinds, v.start, v.width, v.missing, v.decimals) for v in made.variables]
    [('Sex', ('category',), 1, 1, ('9',), None), ('Pay', ('response',), 2, 5, (), 1)]
    """
    description = Description(path=path, variables=(), table=table, separator=";" if table else "")
    for number, line in enumerate(text.splitlines(), start=1):
        words = tokens(line)
        if not words or line.lstrip().startswith("//"):
            continue
        if not words[0].startswith("<"):
            description = replace(
                description, variables=(*description.variables, _variable(description, number, words))
            )
            continue
        keyword = _keyword(description, number, words[0])
        if keyword in OF_FILE:
            description = _of_file(description, number, keyword, words[1:])
        elif not description.variables:
            raise description.fault(number, f"<{keyword}> stands before the first variable")
        else:
            variable = _with(description, description.variables[-1], number, keyword, words[1:])
            description = replace(description, variables=(*description.variables[:-1], variable))
    if not description.of_kind("category"):
        raise InputError(f"{path.name}: no variable is <RECODEABLE>, so there is nothing to tabulate by")
    names = [v.name for v in description.variables]
    for v in description.variables:
        if names.count(v.name) > 1:
            raise description.fault(v.line, f"more than one variable is called {v.name!r}")
    return description


def tokens(line: str) -> list[str]:
    """Words of a line; quotes keep blanks together, and a keyword in angle brackets is a word.

    >>> tokens('  <REQUEST> "1" "a b"')
    ['<REQUEST>', '1', 'a b']
    """
    return [a if a or quoted == '""' else b for quoted, a, b in re.findall(r'("([^"]*)")|(<[^>]*>|[^\s"<]+)', line)]


def _is_whole(word: str) -> bool:
    """A number of columns or digits, of which no file has a million."""
    return word.isdecimal() and len(word) <= 6


def _keyword(description: Description, number: int, word: str) -> str:
    keyword = word.strip("<>").upper()
    if keyword not in KNOWN:
        raise description.fault(number, f"unknown keyword <{keyword}>; {nearest(keyword, KNOWN)}")
    return keyword


def _variable(description: Description, number: int, words: list[str]) -> Variable:
    """A line that starts a variable: its name, where it stands (not in a table), its missing codes."""
    name, rest = words[0], words[1:]
    start = width = 0
    if not description.table:
        place = [int(w) for w in rest[: 1 if description.separator else 2] if _is_whole(w)]
        if len(place) < (1 if description.separator else 2) or min(place) < 1:
            what = (
                "its width"
                if description.separator
                else "its first column and width (or begin the file with <SEPARATOR>)"
            )
            raise description.fault(number, f"the variable named here needs {what} behind its name")
        start, width = (0, *place) if description.separator else place
        rest = rest[len(place) :]
    return Variable(name=name, line=number, start=start, width=width, missing=tuple(w.strip() for w in rest if w))


def _of_file(description: Description, number: int, keyword: str, words: list[str]) -> Description:
    if keyword == "SPSS":
        raise description.fault(number, "data in an SPSS file cannot be read; export them as text with separators")
    if not words:
        raise description.fault(number, f"<{keyword}> needs a value behind it")
    if keyword == "SEPARATOR":
        sign = {"\\t": "\t", "tab": "\t"}.get(words[0].lower(), words[0])
        if len(sign) != 1 or sign in ' "\r\n' or not sign.isascii():
            raise description.fault(number, "<SEPARATOR> is a single visible sign or a tab")
        return replace(description, separator=sign)
    return replace(description, statuses={**description.statuses, keyword: words[0]})


def _with(description: Description, variable: Variable, number: int, keyword: str, words: list[str]) -> Variable:
    """A variable with one more property."""
    if keyword in KINDS:
        inner = [_keyword(description, number, w) for w in words if w.startswith("<")]
        kind = KINDS[inner[0]] if inner and inner[0] in KINDS else KINDS[keyword]
        requests = tuple(w.strip() for w in words if w.strip()) if keyword == "REQUEST" else variable.requests
        return replace(variable, kinds=tuple(dict.fromkeys((*variable.kinds, kind))), requests=requests)
    if keyword in IGNORED:
        return variable
    if not words:
        raise description.fault(number, f"<{keyword}> needs a value behind it")
    if keyword in WITH_TEXT:
        place = {"TOTCODE": "total", "CODELIST": "code_list", "HIERCODELIST": "hierarchy", "HIERLEADSTRING": "leader"}
        if not words[0].strip():  # as good as not said
            return variable
        stated = {"total_stated": True} if keyword == "TOTCODE" else {}
        return replace(variable, **{place[keyword]: words[0].strip()}, **stated)  # type: ignore[arg-type]
    if not all(_is_whole(w) for w in words):
        raise description.fault(number, f"<{keyword}> takes whole numbers")
    if keyword == "DECIMALS":
        return replace(variable, decimals=int(words[0]))
    levels = tuple(int(w) for w in words if int(w))
    if variable.width and sum(levels) != variable.width:
        raise description.fault(
            number, f"<HIERLEVELS> of {variable.name!r} add up to {sum(levels)}, not {variable.width}"
        )
    return replace(variable, levels=levels)
