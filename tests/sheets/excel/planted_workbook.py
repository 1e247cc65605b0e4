"""A workbook with a number planted wherever Office Open XML has room for one, written part by part."""

from __future__ import annotations

import base64
import io
import zipfile

from discreet.sheets.sheet_grid import CellPlace
from tests.sheets.rewrite.secrets_in_files import Planted

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
R = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
X14 = "http://schemas.microsoft.com/office/spreadsheetml/2009/9/main"
HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
SHEET = "People"
SHOWN = frozenset(CellPlace(SHEET, row, column) for row in (4, 5, 6) for column in (2, 3, 4)) | {CellPlace(SHEET, 8, 4)}
HIDDEN = {
    CellPlace(SHEET, 4, 2): "*",
    CellPlace(SHEET, 5, 2): "*",
    CellPlace(SHEET, 4, 3): "*",
    CellPlace(SHEET, 5, 3): "*",
}


def planted_workbook(plant: Planted) -> bytes:
    """A table of 2 x 2 with totals on a sheet of its own, and everything else that a package can hold."""
    parts: dict[str, str | bytes] = {
        "xl/workbook.xml": _workbook(plant),
        "xl/styles.xml": _styles(plant),
        "xl/sharedStrings.xml": _strings(plant),
        "xl/theme/theme1.xml": _theme(plant),
        "xl/worksheets/sheet1.xml": _people(plant),
        "xl/worksheets/sheet2.xml": _other(plant, "a hidden sheet"),
        "xl/worksheets/sheet3.xml": _other(plant, "a very hidden sheet"),
        "xl/worksheets/sheet4.xml": _other(plant, "a sheet that nobody protected"),
        "xl/tables/table1.xml": _table(plant),
        "xl/comments1.xml": f'<comments xmlns="{MAIN}"><authors><author>'
        f"{plant('author of a comment')}</author></authors>"
        f'<commentList><comment ref="B4" authorId="0"><text><t>'
        f"was {plant('comment')}</t></text></comment></commentList>"
        "</comments>",
        "xl/threadedComments/threadedComment1.xml": f"<ThreadedComments><text>{plant('threaded comment')}</text>"
        "</ThreadedComments>",
        "xl/persons/person.xml": f'<personList><person displayName="{plant("person")}"/></personList>',
        "xl/drawings/vmlDrawing1.vml": f"<xml>{plant('drawing of a comment')}</xml>",
        "xl/drawings/drawing1.xml": f'<xdr descr="{plant("alternative text")}"/>',
        "xl/charts/chart1.xml": f"<c:chart><c:numCache><c:v>{plant('cache of a chart')}</c:v></c:numCache></c:chart>",
        "xl/charts/style1.xml": f"<cs>{plant('style of a chart')}</cs>",
        "xl/chartsheets/sheet1.xml": f"<chartsheet>{plant('sheet of a chart')}</chartsheet>",
        "xl/media/image1.png": b"\x89PNG" + plant("picture").encode("utf-16-le"),
        "xl/embeddings/oleObject1.bin": plant("embedded object").encode("utf-16-le"),
        "xl/embeddings/inner.xlsx": _inner(plant),
        "xl/pivotCache/pivotCacheRecords1.xml": f'<r><n v="{plant("record of a pivot table")}"/></r>',
        "xl/pivotCache/pivotCacheDefinition1.xml": f'<s v="{plant("item of a pivot table")}"/>',
        "xl/pivotTables/pivotTable1.xml": f'<p name="{plant("name of a pivot table")}"/>',
        "xl/externalLinks/externalLink1.xml": f"<v>{plant('value of another workbook')}</v>",
        "xl/externalLinks/_rels/externalLink1.xml.rels": f"<Relationships><Relationship "
        f'Target="file:///{plant("path")}"/>'
        "</Relationships>",
        "xl/connections.xml": f'<c connection="{plant("connection")}"/>',
        "xl/queryTables/queryTable1.xml": f'<q name="{plant("query table")}"/>',
        "xl/printerSettings/printerSettings1.bin": plant("settings of a printer").encode("utf-16-le"),
        "xl/revisions/revisionLog1.xml": f"<v>{plant('log of changes')}</v>",
        "xl/vbaProject.bin": plant("macro").encode(),
        "xl/calcChain.xml": f'<calcChain xmlns="{MAIN}"><c r="B{plant("chain of calculation")}"/></calcChain>',
        "xl/metadata.xml": f"<m>{plant('metadata')}</m>",
        "xl/richData/rdrichvalue.xml": f"<v>{plant('rich value')}</v>",
        "xl/slicerCaches/slicerCache1.xml": f"<i n='{plant('slicer')}'/>",
        "xl/model/item.data": plant("data model").encode(),
        "xl/customProperty/item1.bin": base64.b64encode(plant("property of a sheet").encode()),
        "customXml/item1.xml": f"<x>{plant('custom XML')}</x>",
        "docProps/core.xml": f"<c><creator>{plant('author')}</creator><lastModifiedBy>"
        f"{plant('last author')}</lastModifiedBy></c>",
        "docProps/app.xml": f"<p><Company>{plant('company')}</Company><vt>{plant('titles of parts')}</vt></p>",
        "docProps/custom.xml": f"<p><property>{plant('custom property')}</property></p>",
        "docProps/thumbnail.jpeg": plant("thumbnail").encode(),
        f"xl/unknown{plant('name of a part')}.xml": f"<x>{plant('unknown part')}</x>",
    }
    return _package(parts, plant)


def _relation(number: int, kind: str, target: str) -> str:
    return f'<Relationship Id="rId{number}" Type="{R}/{kind}" Target="{target}"/>'


def _package(parts: dict[str, str | bytes], plant: Planted) -> bytes:
    relations = f'<Relationships xmlns="{PACKAGE}/relationships">'
    book = [_relation(n, "worksheet", f"worksheets/sheet{n}.xml") for n in range(1, 5)]
    book += [
        _relation(n, kind, f"{target}.xml")
        for n, (kind, target) in enumerate(
            (
                ("styles", "styles"),
                ("sharedStrings", "sharedStrings"),
                ("theme", "theme/theme1"),
                ("person", "persons/person"),
            ),
            10,
        )
    ]
    sheet = [
        _relation(1, "table", "../tables/table1.xml"),
        _relation(2, "comments", "../comments1.xml"),
        _relation(3, "vmlDrawing", "../drawings/vmlDrawing1.vml"),
        _relation(4, "drawing", "../drawings/drawing1.xml"),
        f'<Relationship Id="rId5" Type="{R}/hyperlink" Target="https://x.invalid/{plant("target of a link")}" '
        'TargetMode="External"/>',
    ]
    around = {
        "[Content_Types].xml": f'<Types xmlns="{PACKAGE}/content-types"><Default Extension="rels" '
        'ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" '
        'ContentType="application/xml"/></Types>',
        "_rels/.rels": relations + _relation(1, "officeDocument", "xl/workbook.xml") + "</Relationships>",
        "xl/_rels/workbook.xml.rels": relations + "".join(book) + "</Relationships>",
        "xl/worksheets/_rels/sheet1.xml.rels": relations + "".join(sheet) + "</Relationships>",
    }
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as package:
        for name, text in (around | parts).items():
            package.writestr(name, text if isinstance(text, bytes) else HEAD + text)
        package.comment = plant("comment of the package").encode()
    return buffer.getvalue()


def _workbook(plant: Planted) -> str:
    states = ((SHEET, ""), ("Old", ' state="hidden"'), ("Older", ' state="veryHidden"'), ("Raw", ""))
    sheets = "".join(f'<sheet name="{n}" sheetId="{k}"{s} r:id="rId{k}"/>' for k, (n, s) in enumerate(states, 1))
    return (
        f'<workbook xmlns="{MAIN}" xmlns:r="{R}"><fileSharing userName="{plant("user")}"/>'
        f'<workbookPr codeName="{plant("code name of the workbook")}"/>'
        f'<workbookProtection workbookPassword="{plant("password")}"/><bookViews><workbookView/></bookViews>'
        f"<sheets>{sheets}</sheets><definedNames>"
        f'<definedName name="truth">{plant("defined name")}</definedName>'
        f'<definedName name="_xlnm.Print_Area" localSheetId="0">People!$A$1:$F$9</definedName>'
        f'<definedName name="_xlnm.Print_Titles" localSheetId="0">'
        f"People!$3:$3,{plant('rows on each page')}</definedName>"
        f'</definedNames><customWorkbookViews><customWorkbookView name="{plant("view of the workbook")}"/>'
        f'</customWorkbookViews><extLst><ext uri="{plant("extension of the workbook")}"/></extLst></workbook>'
    )


def _styles(plant: Planted) -> str:
    hiding = f"0;-0;0;&quot;{plant('text section of a number format')}&quot;"
    masked = f"[&gt;{plant('condition of a number format')}]0.0;0"
    return (
        f'<styleSheet xmlns="{MAIN}"><numFmts count="5"><numFmt numFmtId="164" formatCode="{hiding}"/>'
        f'<numFmt numFmtId="165" formatCode="&quot;{plant("format that nobody uses")}&quot;"/>'
        f'<numFmt numFmtId="166" formatCode=";;;"/><numFmt numFmtId="167" formatCode="{masked}"/>'
        f'<numFmt numFmtId="168" formatCode="0&quot;{plant("format of an empty cell")}&quot;"/></numFmts>'
        f'<fonts count="3"><font><sz val="11"/><name val="Calibri"/></font><font><b/><sz val="11"/>'
        f'<name val="{plant("name of a font")}"/></font><font><sz '
        f'val="11"/><color rgb="FFFFFFFF"/><name val="Calibri"/></font>'
        '</fonts><fills count="2"><fill><patternFill patternType="none"/>'
        '</fill><fill><patternFill patternType="gray125"/>'
        '</fill></fills><borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>'
        '<cellStyleXfs count="1"><xf/></cellStyleXfs><cellXfs count="7"><xf numFmtId="0" fontId="0"/>'
        '<xf numFmtId="164" fontId="0"/><xf numFmtId="166" fontId="0"/><xf numFmtId="167" fontId="1"/>'
        '<xf numFmtId="0" fontId="2"/><xf numFmtId="168"/><xf numFmtId="165"/></cellXfs>'
        f'<cellStyles count="1"><cellStyle name="{plant("name of a style")}" xfId="0"/></cellStyles>'
        f'<dxfs count="1"><dxf><numFmt numFmtId="170" formatCode="{plant("difference of a format")}"/></dxf></dxfs>'
        f'<tableStyles count="1"><tableStyle name="{plant("style of tables")}"/></tableStyles>'
        f'<extLst><ext uri="{plant("extension of styles")}"/></extLst></styleSheet>'
    )


def _theme(plant: Planted) -> str:
    return (
        f'<a:theme xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" name="{plant("name of the theme")}">'
        f'<a:themeElements><a:clrScheme name="{plant("name of colours")}"><a:dk1><a:srgbClr val="000000"/></a:dk1>'
        f"</a:clrScheme></a:themeElements><a:custClrLst>{plant('colours of the theme')}</a:custClrLst></a:theme>"
    )


def _strings(plant: Planted) -> str:
    texts = (
        "<t>People by ward</t>",
        "<t>Ward</t>",
        "<t>Women</t>",
        "<t>Men</t>",
        "<t>All</t>",
        "<t>North</t>",
        "<t>East</t>",
        f"<r><rPr><b/><rFont val='{plant('font inside a text')}'/></rPr><t>Wards</t></r><r><t> of the town</t></r>"
        f"<rPh sb='0' eb='1'><t>{plant('pronunciation')}</t></rPh>",
        f"<t>{plant('shared text that nobody uses')}</t>",
        f"<t>{plant('number stored as text')}</t>",
    )  # the last but one is used by no cell
    return f'<sst xmlns="{MAIN}">' + "".join(f"<si>{text}</si>" for text in texts) + "</sst>"


def _other(plant: Planted, corner: str) -> str:
    cells = f'<row r="1"><c r="A1"><v>{plant(corner)}</v></c></row>'
    return f'<worksheet xmlns="{MAIN}"><sheetData>{cells}</sheetData></worksheet>'


def _text(place: str, number: int, style: int = 0) -> str:
    return f'<c r="{place}" t="s" s="{style}"><v>{number}</v></c>'


def _row(number: int, cells: str, attributes: str = "") -> str:
    return f'<row r="{number}"{attributes}>{cells}</row>'


def _people(plant: Planted) -> str:
    """The one sheet that is protected: B4, C4, B5 and C5 are hidden, the totals in row 6 and column D stay."""
    first, second = plant("hidden cell"), plant("cached value of a formula")
    third, fourth = plant("hidden cell of a shared formula"), plant("hidden cell of an array formula")
    rows = [
        _row(1, _text("A1", 0) + f'<c r="B1"><v>{plant("cell under a merged one")}</v></c>'),
        _row(2, _text("A2", 7)),
        _row(3, _text("A3", 1) + _text("B3", 2) + _text("C3", 3) + _text("D3", 4)),
        _row(
            4,
            _text("A4", 5) + f'<c r="B4" s="1" cm="1" vm="{plant("metadata of a cell")}"><v>{first}</v></c>'
            f'<c r="C4" s="3"><f>{first}-{plant("constant in a formula")}</f>'
            f'<v>{second}</v></c><c r="D4" s="3"><v>900</v></c>'
            f'<c r="E4" s="5"/><c r="G4"><v>{plant("hidden column")}</v></c>',
        ),
        _row(
            5,
            _text("A5", 6) + f'<c r="B5" s="1"><f t="shared" ref="B5:C5" si="0">B4*1</f><v>{third}</v></c>'
            f'<c r="C5" s="3"><f t="array" ref="C5">'
            f"SUM(B4:B5*{plant('constant in an array formula')})</f><v>{fourth}</v></c>"
            f'<c r="D5" s="3"><f>IF(B5&gt;{plant("limit in a formula")},700,1)</f><v>700</v></c>',
        ),
        _row(
            6,
            _text("A6", 4)
            + '<c r="B6"><v>800</v></c><c r="C6"><v>800</v></c><c r="D6"><f>SUM(D4:D5)</f><v>1600</v></c>',
        ),
        _row(
            8,
            f'<c r="A8" t="str"><f>"of whom "&amp;B4</f><v>of whom {plant("text of a formula")}</v></c>'
            f'<c r="B8"><f>B4</f><v>{plant("copy of a hidden cell")}</v></c>{_text("C8", 9)}'
            f'<c r="D8" s="2"><v>{plant("hidden by its number format")}</v></c>'
            f'<c r="E8" s="4" t="inlineStr"><is><t>white {plant("white on white")}</t></is></c>'
            f'<c r="F8" t="d"><v>2031-{plant("date")[:2]}</v></c>',
        ),
        _row(9, f'<c r="A9" t="inlineStr"><is><t>North had {first[0]},{first[1:4]},{first[4:]} women</t></is></c>'),
        _row(11, f'<c r="A11"><v>{plant("hidden row")}</v></c>', ' hidden="1"'),
        _row(12, f'<c r="A12"><v>{plant("row without height")}</v></c>', ' ht="0" customHeight="1"'),
    ]
    return (
        f'<worksheet xmlns="{MAIN}" xmlns:r="{R}"><sheetPr codeName="{plant("code name of a sheet")}"/>'
        f'<dimension ref="A1:G{plant("dimension")}"/><sheetViews><sheetView workbookViewId="0">'
        f'<pane ySplit="3" topLeftCell="A4" activePane="bottomLeft" '
        f'state="frozen"/><selection activeCell="B{plant("selection")}"/>'
        '</sheetView></sheetViews><cols><col min="1" max="1" width="20" customWidth="1"/>'
        f'<col min="7" max="7" width="{plant("width of a column")}" '
        f'hidden="1"/></cols><sheetData>{"".join(rows)}</sheetData>'
        f'<sheetProtection password="{plant("password of a sheet")}"/>'
        f'<protectedRanges><protectedRange name="{plant("protected range")}"/></protectedRanges>'
        f'<scenarios><scenario name="x"><inputCells r="B4" val="{plant("scenario")}"/></scenario></scenarios>'
        f'<autoFilter ref="A3:D5"><filterColumn colId="1"><filters>'
        f'<filter val="{plant("filter")}"/></filters></filterColumn>'
        f'</autoFilter><sortState ref="A{plant("state of sorting")}"/>'
        f'<customSheetViews><customSheetView guid="{plant("view of a sheet")}"/></customSheetViews>'
        '<mergeCells count="1"><mergeCell ref="A1:D1"/></mergeCells>'
        f'<conditionalFormatting sqref="B4:C5"><cfRule type="cellIs" dxfId="0" priority="1" operator="equal">'
        f"<formula>{plant('conditional format')}</formula></cfRule></conditionalFormatting>"
        f'<conditionalFormatting sqref="B4:C5"><cfRule type="colorScale" priority="2"><colorScale><cfvo type="num" '
        f'val="{plant("scale of colours")}"/><cfvo type="max"/><color '
        f'rgb="FFFFFFFF"/><color rgb="FFFF0000"/></colorScale></cfRule>'
        "</conditionalFormatting>"
        f'<dataValidations><dataValidation type="list" sqref="B4">'
        f'<formula1>"{plant("list of allowed entries")}"</formula1>'
        f"</dataValidation></dataValidations><hyperlinks><hyperlink "
        f'ref="A4" r:id="rId5" tooltip="{plant("tip of a link")}"/>'
        f'</hyperlinks><pageSetup orientation="landscape" firstPageNumber="{plant("number of the first page")}"/>'
        f"<headerFooter><oddHeader>&amp;L{plant('header of a page')}</oddHeader></headerFooter>"
        f'<customProperties><customPr name="{plant("name of a property")}"/></customProperties>'
        f'<cellWatches><cellWatch r="B{plant("watched cell")}"/></cellWatches>'
        f'<drawing r:id="rId4"/><legacyDrawing r:id="rId3"/><oleObjects>'
        f'<oleObject progId="{plant("program of an object")}"/>'
        '</oleObjects><tableParts count="1"><tablePart r:id="rId1"/></tableParts>'
        f'<extLst><ext uri="x" xmlns:x14="{X14}"><x14:sparklineGroups>'
        f'<x14:sparklineGroup manualMax="{plant("sparkline")}"/>'
        f"</x14:sparklineGroups></ext></extLst><!-- {plant('remark in XML')} --></worksheet>"
    )


def _table(plant: Planted) -> str:
    columns = "".join(
        f'<tableColumn id="{n}" name="{name}" totalsRowLabel="{plant(f"label of totals {n}")}">'
        f"<calculatedColumnFormula>{plant(f'formula of column {n}')}</calculatedColumnFormula></tableColumn>"
        for n, name in enumerate(("Ward", "Women", "Men", "All"), 1)
    )
    return (
        f'<table xmlns="{MAIN}" id="1" name="{plant("name of a table")}" '
        f'displayName="T{plant("shown name of a table")}" '
        f'ref="A3:D6" totalsRowCount="1" comment="{plant("comment of a table")}"><autoFilter ref="A3:D5"/>'
        f'<tableColumns count="4">{columns}</tableColumns><tableStyleInfo '
        f'name="TableStyleMedium2" showRowStripes="1"/></table>'
    )


def _inner(plant: Planted) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as package:
        package.writestr("xl/worksheets/sheet1.xml", plant("workbook in the workbook"))
    return buffer.getvalue()
