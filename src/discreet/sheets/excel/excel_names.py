"""Names of Office Open XML: namespaces in both of their editions, types of parts, and lists of what is allowed."""

from __future__ import annotations

from discreet.sheets.rewrite.xml_copy import COLOUR, FONT_NAME, TRUTH, Names, Shape, between, matching, one_word_of

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"
TYPES = "http://schemas.openxmlformats.org/package/2006/content-types"
DRAWING = "http://schemas.openxmlformats.org/drawingml/2006/main"
XML = "http://www.w3.org/XML/1998/namespace"
NAMES = Names(
    {
        MAIN: "",
        "http://purl.oclc.org/ooxml/spreadsheetml/main": "",  # ISO's strict edition
        RELATIONS: "r",
        "http://purl.oclc.org/ooxml/officeDocument/relationships": "r",
        PACKAGE: "",
        DRAWING: "a",
        "http://purl.oclc.org/ooxml/drawingml/main": "a",
        XML: "xml",
    }
)

_ROW_NUMBER = r"(?:[1-9]\d{0,5}|10[0-4]\d{4})"  # as many as a sheet has: a longer number is something else
_CELL = rf"\$?[A-Z]{{1,3}}\$?{_ROW_NUMBER}"
CELL = matching(_CELL)
AREA = matching(rf"{_CELL}(:{_CELL})?")
AREAS = matching(rf"{_CELL}(:{_CELL})?( {_CELL}(:{_CELL})?)*")
PRINT_TITLES = matching(rf"\${_ROW_NUMBER}:\${_ROW_NUMBER}|\$[A-Z]{{1,3}}:\$[A-Z]{{1,3}}")
ROW, COLUMN = between(0, 1_048_576), between(0, 16_384)

COLOUR_OF = Shape(
    {"rgb": COLOUR, "theme": between(0, 20), "tint": between(-1, 1), "indexed": between(0, 81), "auto": TRUTH}
)
_VALUE = Shape({"val": TRUTH})
_RUN = {
    "b": _VALUE,
    "i": _VALUE,
    "strike": _VALUE,
    "outline": _VALUE,
    "shadow": _VALUE,
    "condense": _VALUE,
    "extend": _VALUE,
    "color": COLOUR_OF,
    "sz": Shape({"val": between(1, 409)}),
    "u": Shape({"val": one_word_of("single", "double", "singleAccounting", "doubleAccounting", "none")}),
    "vertAlign": Shape({"val": one_word_of("baseline", "superscript", "subscript")}),
    "family": Shape({"val": between(0, 14)}),
    "charset": Shape({"val": between(0, 255)}),
    "scheme": Shape({"val": one_word_of("major", "minor", "none")}),
}
FONT = Shape(children=_RUN | {"name": Shape({"val": FONT_NAME})})
TEXT = Shape({"xml:space": one_word_of("preserve", "default")}, text=lambda text: True)
RICH_TEXT = Shape(
    children={
        "t": TEXT,
        "r": Shape(children={"rPr": Shape(children=_RUN | {"rFont": Shape({"val": FONT_NAME})}), "t": TEXT}),
    }
)
_STOP = Shape({"position": between(0, 1)}, {"color": COLOUR_OF})
_PATTERN = matching("[a-zA-Z]{1,20}|gray125|gray0625")
FILL = Shape(
    children={
        "patternFill": Shape({"patternType": _PATTERN}, {"fgColor": COLOUR_OF, "bgColor": COLOUR_OF}),
        "gradientFill": Shape(
            {
                "type": one_word_of("linear", "path"),
                "degree": between(-360, 360),
                **dict.fromkeys(("left", "right", "top", "bottom"), between(0, 1)),
            },
            {"stop": _STOP},
        ),
    }
)
_LINE_STYLES = one_word_of(
    "none",
    "thin",
    "medium",
    "dashed",
    "dotted",
    "thick",
    "double",
    "hair",
    "mediumDashed",
    "dashDot",
    "mediumDashDot",
    "dashDotDot",
    "mediumDashDotDot",
    "slantDashDot",
)
_LINE = Shape({"style": _LINE_STYLES}, {"color": COLOUR_OF})
BORDER = Shape(
    dict.fromkeys(("diagonalUp", "diagonalDown", "outline"), TRUTH),
    dict.fromkeys(("start", "end", "left", "right", "top", "bottom", "diagonal", "vertical", "horizontal"), _LINE),
)
ALIGNMENT = Shape(
    {
        "horizontal": matching("[a-zA-Z]{1,20}"),
        "vertical": matching("[a-zA-Z]{1,20}"),
        "textRotation": between(0, 255),
        "indent": between(0, 250),
        "readingOrder": between(0, 2),
        **dict.fromkeys(("wrapText", "shrinkToFit", "justifyLastLine"), TRUTH),
    }
)
DIFFERENCE = Shape(children={"font": FONT, "fill": FILL, "border": BORDER})

_PERCENT = Shape({"type": one_word_of("min", "max", "percent", "percentile"), "val": between(0, 100), "gte": TRUTH})
_SCALE = Shape(children={"cfvo": _PERCENT, "color": COLOUR_OF})
CONDITION_KINDS = ("colorScale", "dataBar", "iconSet", "aboveAverage", "duplicateValues", "uniqueValues")
CONDITION = Shape(
    {
        "type": one_word_of(*CONDITION_KINDS),
        "priority": between(1, 9999),
        "dxfId": between(0, 99_999),
        **dict.fromkeys(("stopIfTrue", "aboveAverage", "equalAverage"), TRUTH),
    },
    {
        "colorScale": _SCALE,
        "dataBar": Shape({"showValue": TRUTH}, _SCALE.children),
        "iconSet": Shape({"iconSet": matching("[345][A-Za-z0-9]{1,20}"), "reverse": TRUTH}, {"cfvo": _PERCENT}),
    },
)

SHEET_PROPERTIES = Shape(
    children={
        "tabColor": COLOUR_OF,
        "outlinePr": Shape({"summaryBelow": TRUTH, "summaryRight": TRUTH}),
        "pageSetUpPr": Shape({"fitToPage": TRUTH}),
    }
)
VIEW = Shape(
    {
        "zoomScale": between(10, 400),
        "zoomScaleNormal": between(0, 400),
        **dict.fromkeys(("showGridLines", "showRowColHeaders", "showZeros", "rightToLeft"), TRUTH),
    },
    {
        "pane": Shape(
            {
                "xSplit": between(0, 999_999),
                "ySplit": between(0, 999_999),
                "topLeftCell": CELL,
                "activePane": one_word_of("bottomRight", "topRight", "bottomLeft", "topLeft"),
                "state": one_word_of("frozen", "frozenSplit", "split"),
            }
        )
    },
)
SHEET_FORMAT = Shape(
    {
        "baseColWidth": between(0, 255),
        "defaultColWidth": between(0, 255),
        "defaultRowHeight": between(0, 409),
        "outlineLevelRow": between(0, 7),
        "outlineLevelCol": between(0, 7),
        **dict.fromkeys(("customHeight", "thickTop", "thickBottom"), TRUTH),
    }
)
COLUMN_WIDTH = Shape(
    {
        "min": between(1, 16_384),
        "max": between(1, 16_384),
        "width": between(0, 255),
        "outlineLevel": between(0, 7),
        **dict.fromkeys(("customWidth", "bestFit", "hidden"), TRUTH),
    }
)
SHEET_ROW = Shape(
    {
        "ht": between(0, 409.5),
        "outlineLevel": between(0, 7),
        **dict.fromkeys(("customHeight", "hidden", "thickTop", "thickBot"), TRUTH),
    }
)
_BREAKS = Shape(
    {"count": between(0, 1026), "manualBreakCount": between(0, 1026)},
    {"brk": Shape({"id": ROW, "min": ROW, "max": ROW, "man": TRUTH})},
)
_LENGTH = between(0, 100)
# what stands behind the cells of a sheet, in the order of the standard
BEHIND = {
    "printOptions": Shape(
        dict.fromkeys(("horizontalCentered", "verticalCentered", "headings", "gridLines", "gridLinesSet"), TRUTH)
    ),
    "pageMargins": Shape(dict.fromkeys(("left", "right", "top", "bottom", "header", "footer"), _LENGTH)),
    "pageSetup": Shape(
        {
            "paperSize": between(0, 300),
            "scale": between(10, 400),
            "fitToWidth": between(0, 32_767),
            "fitToHeight": between(0, 32_767),
            "orientation": one_word_of("default", "portrait", "landscape"),
            "pageOrder": one_word_of("downThenOver", "overThenDown"),
            "blackAndWhite": TRUTH,
        }
    ),
    "rowBreaks": _BREAKS,
    "colBreaks": _BREAKS,
}

# what a sheet can have besides, by the word it is reported with
DROPPED = {
    "drawing": "charts, pictures and drawings",
    "picture": "charts, pictures and drawings",
    "legacyDrawing": "comments and form controls",
    "legacyDrawingHF": "charts, pictures and drawings",
    "drawingHF": "charts, pictures and drawings",
    "controls": "comments and form controls",
    "oleObjects": "embedded objects",
    "dataValidations": "lists of allowed entries (data validation)",
    "hyperlinks": "links (their texts stay)",
    "extLst": "sparklines, slicers and other extensions",
    "scenarios": "scenarios",
    "customSheetViews": "saved views",
    "sheetProtection": "protection of sheets and its passwords",
    "protectedRanges": "protection of sheets and its passwords",
    "webPublishItems": "web publishing settings",
    "customProperties": "properties of sheets",
    "cellWatches": "watched cells",
    "dataConsolidate": "consolidation of other ranges",
    "AlternateContent": "charts, pictures and drawings",
}
UNSAID = {
    "dimension",
    "sheetCalcPr",
    "sortState",
    "phoneticPr",
    "ignoredErrors",
    "smartTags",
}  # nothing anyone would miss
DROPPED_PARTS = {
    "docProps/": "document properties (author, company, dates)",
    "customXml/": "custom XML",
    "xl/vbaProject": "macros",
    "xl/comments": "comments",
    "xl/threadedComments/": "comments",
    "xl/persons/": "comments",
    "xl/externalLinks/": "links to other workbooks and what was saved of them",
    "xl/pivot": "pivot tables and their records (the cells that they show stay)",
    "xl/charts/": "charts, pictures and drawings",
    "xl/drawings/": "charts, pictures and drawings",
    "xl/media/": "charts, pictures and drawings",
    "xl/diagrams/": "charts, pictures and drawings",
    "xl/embeddings/": "embedded objects",
    "xl/activeX/": "embedded objects",
    "xl/ctrlProps/": "comments and form controls",
    "xl/connections": "connections to data bases and queries",
    "xl/queryTables/": "connections to data bases and queries",
    "xl/model/": "a data model",
    "xl/printerSettings/": "settings of printers",
    "xl/revisions/": "tracked changes",
    "xl/slicer": "slicers and timelines",
    "xl/timeline": "slicers and timelines",
    "xl/metadata": "metadata of cells",
    "xl/richData/": "linked data types",
    "xl/chartsheets/": "sheets that are charts",
    "xl/dialogsheets/": "dialogs and macro sheets",
    "xl/macrosheets/": "dialogs and macro sheets",
    "xl/webextensions/": "add-ins",
    "xl/customProperty/": "properties of sheets",
}
USED_PARTS = (
    "[Content_Types].xml",
    "_rels/",
    "xl/_rels/",
    "xl/workbook.xml",
    "xl/styles.xml",
    "xl/sharedStrings.xml",
    "xl/theme/",
    "xl/worksheets/",
    "xl/tables/",
    "xl/calcChain.xml",
)
