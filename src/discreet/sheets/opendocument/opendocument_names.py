"""Names of OpenDocument: namespaces, and lists of what styles, cells and settings may keep."""

from __future__ import annotations

from discreet.sheets.rewrite.xml_copy import FONT_NAME, Check, Names, Shape, matching, one_word_of

_BASE = "urn:oasis:names:tc:opendocument:xmlns:"
SPACES = {
    "office": f"{_BASE}office:1.0",
    "table": f"{_BASE}table:1.0",
    "text": f"{_BASE}text:1.0",
    "style": f"{_BASE}style:1.0",
    "number": f"{_BASE}datastyle:1.0",
    "fo": f"{_BASE}xsl-fo-compatible:1.0",
    "svg": f"{_BASE}svg-compatible:1.0",
    "config": f"{_BASE}config:1.0",
    "manifest": f"{_BASE}manifest:1.0",
    "of": f"{_BASE}of:1.2",
    "calcext": "urn:org:documentfoundation:names:experimental:calc:xmlns:calcext:1.0",
}
NAMES = Names({space: prefix for prefix, space in SPACES.items()})

_PLAIN = matching(r"(?!.*\d{5})[\w .,%'\-+()/:]{0,80}|#[0-9A-Fa-f]{6}|([\w.\-]{1,20} ){0,5}#[0-9A-Fa-f]{6}")
_LENGTH = matching(r"-?\d{1,4}(\.\d{1,6})?(cm|mm|in|pt|pc|px|%|em|\*)?")


def _value(text: str) -> bool:
    return _PLAIN(text) or _LENGTH(text)


class _Prefixed(dict[str, Check]):
    """Attributes by their namespace: those of looks, with values that hold no long number."""

    def __init__(self, prefixes: tuple[str, ...]) -> None:
        super().__init__()
        self._prefixes = prefixes

    def get(self, key: str, default: object = None) -> Check | None:  # type: ignore[override]
        return _value if key.startswith(self._prefixes) else None


LOOKS = _Prefixed(("fo:", "style:", "svg:height"))
PROPERTIES = dict.fromkeys(
    (
        "style:text-properties",
        "style:paragraph-properties",
        "style:table-cell-properties",
        "style:table-column-properties",
        "style:table-row-properties",
        "style:page-layout-properties",
        "style:header-footer-properties",
    ),
    Shape(LOOKS),
) | {"style:table-properties": Shape({"table:display": one_word_of("true", "false"), "style:writing-mode": _value})}
_NUMBER_PART = Shape(_Prefixed(("number:",)))
NUMBER_STYLES = (
    "number:number-style",
    "number:currency-style",
    "number:percentage-style",
    "number:date-style",
    "number:time-style",
    "number:boolean-style",
    "number:text-style",
)
_PARTS = (
    "number",
    "scientific-number",
    "fraction",
    "currency-symbol",
    "day",
    "month",
    "year",
    "era",
    "day-of-week",
    "week-of-year",
    "quarter",
    "hours",
    "minutes",
    "seconds",
    "am-pm",
    "boolean",
    "text-content",
)
NO_DIGITS = matching(r"[^\d]{0,40}")
NUMBER_STYLE = Shape(
    _Prefixed(("number:",)),
    {f"number:{part}": _NUMBER_PART for part in _PARTS}
    | {"number:text": Shape(text=NO_DIGITS), "number:currency-symbol": Shape(_Prefixed(("number:",)), text=NO_DIGITS)}
    | {"style:text-properties": Shape(LOOKS)},
)
SHOWING = frozenset(f"number:{part}" for part in _PARTS)
ZERO_CONDITION = matching(r"value\(\)\s*(<|<=|>|>=|=|!=)\s*0(\.0+)?")
_BAND = Shape(children={"style:header-footer-properties": Shape(LOOKS)})
PAGE_LAYOUT = Shape(
    children={
        "style:page-layout-properties": Shape(LOOKS),
        "style:header-style": _BAND,
        "style:footer-style": _BAND,
    }
)
_FIELDS = {
    f"text:{field}": Shape() for field in ("sheet-name", "page-number", "page-count", "date", "time", "s", "tab")
}
_SPAN = Shape(children=_FIELDS, text=NO_DIGITS)
_LINE = Shape(children=_FIELDS | {"text:span": _SPAN}, text=NO_DIGITS)
_REGION = Shape(children={"text:p": _LINE})
PAGE_BAND = Shape(
    {"style:display": one_word_of("true", "false")},
    {"text:p": _LINE, **{f"style:region-{side}": _REGION for side in ("left", "center", "right")}},
)
_ENTRY = Shape(
    {
        "calcext:type": one_word_of("minimum", "maximum", "auto-minimum", "auto-maximum", "percent", "percentile"),
        "calcext:value": matching(r"\d{1,2}|100"),
        "calcext:color": matching("#[0-9A-Fa-f]{6}"),
    }
)
_BAR = dict.fromkeys(
    ("calcext:positive-color", "calcext:negative-color", "calcext:axis-color"), _ENTRY.attributes["calcext:color"]
)
SCALES = {
    "calcext:color-scale": Shape(children={"calcext:color-scale-entry": _ENTRY}),
    "calcext:data-bar": Shape(_BAR, {"calcext:formatting-entry": _ENTRY}),
    "calcext:icon-set": Shape(
        {"calcext:icon-set-type": matching("[345][A-Za-z0-9]{1,20}")}, {"calcext:formatting-entry": _ENTRY}
    ),
}
FONT_FACE = Shape(
    {
        "style:name": FONT_NAME,
        "svg:font-family": FONT_NAME,
        "style:font-family-generic": _value,
        "style:font-pitch": _value,
    }
)
SETTINGS = (
    "HorizontalSplitMode",
    "VerticalSplitMode",
    "HorizontalSplitPosition",
    "VerticalSplitPosition",
    "ActiveSplitRange",
    "PositionLeft",
    "PositionRight",
    "PositionTop",
    "PositionBottom",
    "ZoomType",
    "ZoomValue",
    "ShowGrid",
)
SETTING = matching(r"-?\d{1,5}|true|false")
CONTAINERS = ("table:table-header-rows", "table:table-row-group", "table:table-rows")
COLUMN_CONTAINERS = ("table:table-header-columns", "table:table-column-group", "table:table-columns")
DROPPED_CONTENT = {
    "table:tracked-changes": "tracked changes",
    "table:content-validations": "lists of allowed entries (data validation)",
    "table:label-ranges": "label ranges",
    "table:named-expressions": "defined names",
    "table:database-ranges": "filters and database ranges",
    "table:data-pilot-tables": "pivot tables (the cells that they show stay)",
    "table:consolidation": "consolidation of other ranges",
    "table:dde-links": "links to other files",
    "table:shapes": "charts, pictures and drawings",
    "office:forms": "forms",
    "table:table-source": "links to other files",
    "table:scenario": "scenarios",
    "office:scripts": "macros",
    "office:annotation": "comments",
    "calcext:conditional-formats": "conditional formats with limits, formulas or texts",
}
DROPPED_FILES = {
    "meta.xml": "document properties (author, company, dates)",
    "Thumbnails/": "a picture of the document (thumbnail)",
    "Configurations2/": "settings of the program",
    "Basic/": "macros",
    "Scripts/": "macros",
    "Pictures/": "charts, pictures and drawings",
    "Object": "embedded objects and charts",
    "ObjectReplacements/": "embedded objects and charts",
    "VersionList.xml": "earlier versions of the document",
    "Versions/": "earlier versions of the document",
    "layout-cache": "settings of the program",
    "manifest.rdf": "metadata of the document",
}
USED_FILES = ("mimetype", "content.xml", "styles.xml", "settings.xml", "META-INF/")
