"""An OpenDocument spreadsheet with a number planted wherever the format has room for one."""

from __future__ import annotations

import io
import zipfile

from discreet.sheets.opendocument.opendocument_names import SPACES
from discreet.sheets.sheet_grid import CellPlace
from tests.sheets.rewrite.secrets_in_files import Planted

SHEET = "People"
SHOWN = frozenset(CellPlace(SHEET, row, column) for row in (3, 4, 5) for column in (2, 3)) | {CellPlace(SHEET, 7, 2)}
HIDDEN = {CellPlace(SHEET, 3, 2): "*", CellPlace(SHEET, 4, 2): "*"}
_SPACES = " ".join(f'xmlns:{prefix}="{space}"' for prefix, space in SPACES.items()) + (
    ' xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0" xmlns:dc="http://purl.org/dc/elements/1.1/"'
    ' xmlns:xlink="http://www.w3.org/1999/xlink"'
)


def planted_document(plant: Planted) -> bytes:
    """A table of 2 x 1 with totals, and everything else that a package can hold."""
    parts = {
        "mimetype": "application/vnd.oasis.opendocument.spreadsheet",
        "content.xml": _content(plant),
        "styles.xml": _styles(plant),
        "settings.xml": _settings(plant),
        "meta.xml": f"<m>{plant('author')}<s cells='{plant('statistics')}'/></m>",
        "manifest.rdf": f"<r>{plant('metadata')}</r>",
        "Thumbnails/thumbnail.png": plant("thumbnail"),
        "Configurations2/accelerator/current.xml": f"<x>{plant('configuration')}</x>",
        "Pictures/1.png": plant("picture"),
        "Object 1/content.xml": f"<chart>{plant('chart')}</chart>",
        "ObjectReplacements/Object 1": plant("picture of a chart"),
        "Basic/Standard/Module1.xml": f"<x>{plant('macro')}</x>",
        "Versions/Version1": plant("earlier version"),
        f"other{plant('name of a part')}": plant("unknown part"),
        "META-INF/documentsignatures.xml": f"<x>{plant('signature')}</x>",
        "META-INF/manifest.xml": f"<manifest>{plant('manifest')}</manifest>",
    }
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as package:
        for name, text in parts.items():
            package.writestr(name, text)
        package.comment = plant("comment of the package").encode()
    return buffer.getvalue()


def _cell(text: str, value: str = "", inner: str = "", **attributes: str) -> str:
    about = "".join(f' {key.replace("__", ":").replace("_", "-")}="{v}"' for key, v in attributes.items())
    kind = f' office:value-type="float" office:value="{value}"' if value else ' office:value-type="string"'
    return f"<table:table-cell{kind}{about}>{inner}<text:p>{text}</text:p></table:table-cell>"


def _row(*cells: str, about: str = "") -> str:
    return f"<table:table-row{about}>{''.join(cells)}</table:table-row>"


def _content(plant: Planted) -> str:
    first, beside = plant("hidden cell"), plant("text beside a hidden value")
    third = plant("cached value of a formula")
    note = (
        f"<office:annotation><dc:creator>{plant('author of a comment')}</dc:creator>"
        f"<text:p>{plant('comment')}</text:p></office:annotation>"
    )
    rows = [
        _row(
            _cell("People by ward", table__number_columns_spanned="2"),
            f"<table:covered-table-cell office:value-type='float' office:value='{plant('cell under a merged one')}'/>",
        ),
        _row(_cell("Ward"), _cell("Women"), _cell("All")),
        _row(
            _cell("North"),
            _cell(beside, first, note, table__style_name="ce1", table__content_validation_name=plant("name of a list")),
            _cell("900", "900", table__style_name="ce1"),
            _cell("x", plant("hidden column")),
        ),
        _row(
            _cell("East"),
            _cell("1", third, table__formula=f"of:=[.B3]-{plant('constant in a formula')}"),
            _cell(
                plant("text beside a shown value"), "700.5", table__formula=f"of:=IF([.B4]&gt;{plant('limit')};700.5;1)"
            ),
        ),
        _row(_cell("All"), _cell("800", "800"), _cell("1600.5", "1600.5", table__formula="of:=SUM([.C3:.C4])")),
        _row(
            f"<table:table-cell office:value-type='string' "
            f"office:string-value='{plant('string value')}'><text:p>Notes</text:p>"
            "</table:table-cell>"
        ),
        _row(
            _cell("of whom " + plant("text of a formula"), table__formula="of:=x"),
            _cell("***", plant("hidden by its number format"), table__style_name="ce1"),
            _cell(plant("number as text")),
            _cell("1", plant("copy of a number")),
            f"<table:table-cell office:value-type='date' office:date-value='2031-01-{plant('date')}'/>",
        ),
        _row(_cell(f"North had {first} women")),
        _row(
            "<table:table-cell office:value-type='string'><text:p>See <text:a xlink:href='x"
            f"{plant('address of a link')}'>us</text:a><draw:frame>"
            f"{plant('frame')}</draw:frame></text:p></table:table-cell>"
        ),
        _row(_cell("x", plant("hidden row")), about=' table:visibility="collapse"'),
        _row(_cell("x", plant("row without height")), about=' table:style-name="ro1"'),
    ]
    return (
        f'<office:document-content {_SPACES} office:version="1.2">'
        f"<office:scripts><x>{plant('script')}</x></office:scripts>"
        f'<office:font-face-decls><style:font-face style:name="{plant("name of a font")}"/></office:font-face-decls>'
        "<office:automatic-styles>"
        f'<style:style style:name="ce1" style:family="table-cell" '
        f'style:display-name="{plant("shown name of a style")}">'
        f'<style:map style:condition="cell-content()&lt;{plant("conditional format")}" style:apply-style-name="x"/>'
        '<style:text-properties fo:font-weight="bold"/></style:style>'
        f'<style:style style:name="n{plant("style that nobody uses")}" style:family="table-cell"/>'
        '<style:style style:name="ro1" style:family="table-row">'
        '<style:table-row-properties style:row-height="0cm"/></style:style>'
        '<style:style style:name="ta2" style:family="table">'
        '<style:table-properties table:display="false"/></style:style>'
        "</office:automatic-styles><office:body><office:spreadsheet>"
        f'<table:tracked-changes><x office:value="{plant("tracked change")}"/></table:tracked-changes>'
        f'<table:content-validations><x table:condition="{plant("allowed entries")}"/></table:content-validations>'
        f'<table:table table:name="{SHEET}" table:protection-key="{plant("password")}" '
        f'table:print-ranges="People.A1:People.C9" x="{plant("print range")}">'
        f'<office:forms><x v="{plant("form")}"/></office:forms>'
        f'<table:shapes><draw:frame draw:name="{plant("shape")}"/></table:shapes>'
        '<table:table-column table:number-columns-repeated="3"/><table:table-column table:visibility="collapse"/>'
        '<table:table-column table:number-columns-repeated="2"/>'
        f"{''.join(rows)}<!-- {plant('remark')} -->"
        f"<calcext:conditional-formats><calcext:conditional-format calcext:target-range-address='People.B3:People.B4'>"
        f"<calcext:condition calcext:value='&lt;{plant('limit of a conditional format')}'/>"
        f"</calcext:conditional-format>"
        "</calcext:conditional-formats></table:table>"
        f'<table:table table:name="Old" table:style-name="ta2">{_row(_cell("x", plant("hidden sheet")))}</table:table>'
        f'<table:table table:name="Raw">{_row(_cell("x", plant("sheet that nobody protected")))}</table:table>'
        f'<table:named-expressions><table:named-range table:name="x{plant("defined name")}"/></table:named-expressions>'
        f'<table:database-ranges><x v="{plant("filter")}"/></table:database-ranges>'
        f'<table:data-pilot-tables><x v="{plant("pivot table")}"/></table:data-pilot-tables>'
        "</office:spreadsheet></office:body></office:document-content>"
    )


def _styles(plant: Planted) -> str:
    return (
        f'<office:document-styles {_SPACES} office:version="1.2"><office:styles>'
        f'<style:style style:name="Default" style:family="table-cell" style:class="{plant("class of a style")}"/>'
        "</office:styles><office:automatic-styles><style:page-layout style:name='pm1'/></office:automatic-styles>"
        "<office:master-styles><style:master-page style:name='Default' style:page-layout-name='pm1'>"
        f"<style:header><text:p>{plant('header of a page')}</text:p>"
        f"</style:header></style:master-page></office:master-styles>"
        "</office:document-styles>"
    )


def _settings(plant: Planted) -> str:
    return (
        f"<office:document-settings {_SPACES}><office:settings><config:config-item-set>"
        f'<config:config-item config:name="PrinterSetup">{plant("settings of a printer")}</config:config-item>'
        f'<config:config-item-map-entry config:name="{SHEET}">'
        '<config:config-item config:name="VerticalSplitMode" config:type="short">2</config:config-item>'
        '<config:config-item config:name="VerticalSplitPosition" config:type="int">2</config:config-item>'
        f'<config:config-item config:name="PositionTop" config:type="int">{plant("position")}</config:config-item>'
        "</config:config-item-map-entry></config:config-item-set></office:settings></office:document-settings>"
    )
