"""What offices do to sheets: several tables, notes, hidden rows, numbered columns, parts of parts, totals anywhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tests.sheets.gallery.draft import Draft, layout


def _crossed(draft: Draft, top: int, counts: Mapping[str, tuple[int, ...]], heads: tuple[str, ...], name: str) -> None:
    draft.line(top, [name, *heads])
    for r, (label, own) in enumerate(counts.items(), top + 1):
        draft.text(r, 1, label)
        for c, (head, count) in enumerate(zip(heads, own, strict=True), 2):
            draft.number(r, c, count, label, head)


@layout("A report: two tables below each other on one sheet, each with its title")
def two_tables() -> Draft:
    """Two tables, not one."""
    draft = Draft("Report")
    draft.text(1, 1, "Table 1: pupils")
    draft.table({"School": "Total", "column": "All"})
    _crossed(draft, 2, {"A": (12, 15, 27), "B": (9, 3, 12), "Total": (21, 18, 39)}, ("Boys", "Girls", "All"), "School")
    draft.text(7, 1, "Table 2: staff")
    draft.table({"School": "Total", "column": None})
    _crossed(draft, 8, {"A": (3, 8), "B": (2, 7), "Total": (5, 15)}, ("Men", "Women"), "School")
    draft.text(13, 1, "Note: headcount")
    return draft


@layout("A dashboard: tables of different heights beside each other, another below the shorter one")
def beside_each_other() -> Draft:
    """A blank column parts two tables; each has its own title, header and labels."""
    draft = Draft("Figures")
    draft.text(1, 1, "Admissions")
    draft.text(1, 6, "By age")
    draft.table({"Ward": "All wards", "column": "All"})
    wards = {"Ash": (31, 26, 57), "Elm": (12, 4, 16), "All wards": (43, 30, 73)}
    _crossed(draft, 2, wards, ("Female", "Male", "All"), "Ward")
    draft.text(7, 1, "By time of day")
    draft.table({"Hour": "All hours", "column": "All"})
    hours = {"Day": (5, 22, 27), "Night": (12, 34, 46), "All hours": (17, 56, 73)}
    _crossed(draft, 8, hours, ("Planned", "Urgent", "All"), "Hour")
    draft.table({"Age": "All ages"})
    draft.line(2, ["Age", "Persons"], first=6)
    ages = {"0-19": 3, "20-39": 17, "40-59": 9, "60-79": 22, "80-89": 18, "90+": 4, "All ages": 73}
    for r, (age, count) in enumerate(ages.items(), 3):
        draft.text(r, 6, age)
        draft.number(r, 7, count, age)
    return draft


@layout("A yearbook: a workbook with notes and a sheet for each year", formats=("xlsx", "ods", "html"))
def sheet_for_each_year() -> list[Draft]:
    """Sheets are tables of their own; a sheet of notes is none."""
    notes = Draft("Notes")
    notes.text(1, 1, "About these tables")
    notes.text(2, 1, "Counts are of persons.")
    drafts = [notes]
    for year, base in (("2022", 10), ("2023", 14)):
        draft = Draft(year)
        draft.table({"Area": "Total", "column": "Total"})
        own: dict[str, tuple[int, ...]] = {"East": (base, 2 * base + 1, 3 * base + 1), "West": (7, base, base + 7)}
        own["Total"] = tuple(a + b for a, b in zip(*own.values(), strict=True))
        _crossed(draft, 1, own, ("f", "m", "Total"), "Area")
        drafts.append(draft)
    return drafts


@layout("A ministry: columns numbered below the header, a note on a label and on a number")
def numbered_columns() -> Draft:
    """(1), (2), (3) number the columns; a raised figure is a note."""
    draft = Draft("Courts")
    draft.line(1, ["Court", "Civil", "Criminal", "All cases"])
    draft.line(2, ["(1)", "(2)", "(3)", "(4)"])
    draft.table({"Court": "Total", "column": "All cases"})
    rows = {"High": (14, 31, 45), "Low": (51, 4, 55), "Total": (65, 35, 100)}
    for r, (court, own) in enumerate(rows.items(), 3):
        draft.text(r, 1, court)
        for c, (what, count) in enumerate(zip(("Civil", "Criminal", "All cases"), own, strict=True), 2):
            draft.number(r, c, count, court, what, show="31\u00b9" if count == 31 else None)
    draft.text(7, 1, "\u00b9 revised")
    return draft


@layout("Migration: some of the countries below a continent, indented, under 'of which'")
def of_which() -> Draft:
    """Parts that leave a remainder, which follows by subtraction; China has nowhere more than India."""
    draft = Draft("Origin")
    draft.line(1, ["Origin", "Men", "Women"])
    rows = [
        ("All countries", 0, (170, 154)),
        ("Africa", 1, (40, 31)),
        ("Asia", 1, (130, 123)),
        ("of which India", 2, (81, 70)),
        ("of which China", 2, (44, 50)),
    ]
    for r, (label, indent, _) in enumerate(rows, 2):
        draft.text(r, 1, label, indent=indent)
    tables: list[tuple[str, str, Sequence[int]]] = [
        ("Origin", "All countries", (2, 3, 4, 5, 6)),
        ("Origin: of which India", "Asia", (4, 5)),
        ("Origin: of which China", "of which India", (5, 6)),
    ]
    for name, total, lines in tables:
        parts = ("of which India", "of which China", "Asia: not listed")
        draft.table({name: total, "column": None}, {"Asia": parts} if name == "Origin" else {})
        for r in lines:
            label, _, own = rows[r - 2]
            for c, (sex, count) in enumerate(zip(("Men", "Women"), own, strict=True), 2):
                draft.number(r, c, count, label, sex)
    return draft


@layout("A municipality: residents, of which foreign, of which from the EU, each in a column and not indented")
def of_which_twice() -> Draft:
    """The second part may be part of the first: what it leaves of it is a count, and so is what the first leaves."""
    draft = Draft("Residents")
    draft.line(1, ["District", "Residents", "of which foreign", "of which EU"])
    rows = [("Altstadt", (310, 44, 41)), ("Hafen", (190, 60, 35)), ("Neustadt", (275, 38, 17))]
    heads = ("Residents", "of which foreign", "of which EU")
    for r, (district, _) in enumerate(rows, 2):
        draft.text(r, 1, district)
    tables: list[tuple[str, str, Sequence[int]]] = [
        ("column", "Residents", (2, 3, 4)),
        ("column: of which foreign", "Residents", (2, 3)),
        ("column: of which EU", "of which foreign", (3, 4)),
    ]
    for name, total, columns in tables:
        draft.table({"District": None, name: total})
        for r, (district, own) in enumerate(rows, 2):
            for c in columns:
                draft.number(r, c, own[c - 2], district, heads[c - 2])
    return draft


@layout("A council: the total in the middle, a row hidden, a blank row between areas", formats=("xlsx", "ods"))
def total_in_the_middle() -> Draft:
    """Hidden rows are part of the file, whoever sees them."""
    draft = Draft("Areas")
    draft.line(1, ["Area", "2022", "2023"])
    draft.table({"Area": "Whole council", "column": None})
    rows = [
        (2, "Ash", (4151, 5252)),
        (3, "Birch", (33, 31)),
        (4, "Whole council", (4255, 5363)),
        (6, "Cedar", (71, 80)),
    ]
    for r, area, own in rows:
        draft.text(r, 1, area)
        for c, (year, count) in enumerate(zip(("2022", "2023"), own, strict=True), 2):
            draft.number(r, c, count, area, year)
    draft.hidden_rows.add(3)
    return draft


@layout("A school: blank cells that every sum shows to be zeros")
def blank_zeros() -> Draft:
    """Nothing stands where nobody is."""
    draft = Draft("Clubs")
    draft.line(1, ["Club", "Year 7", "Year 8", "Total"])
    draft.table({"Club": "Total", "column": "Total"})
    rows = {"Chess": (12, 0, 12), "Judo": (0, 7, 7), "Choir": (21, 30, 51), "Total": (33, 37, 70)}
    for r, (club, own) in enumerate(rows.items(), 2):
        draft.text(r, 1, club)
        for c, (year, count) in enumerate(zip(("Year 7", "Year 8", "Total"), own, strict=True), 2):
            draft.number(r, c, count, club, year, show="" if not count else None)
    return draft


@layout("A survey: blank cells without sums, said to be hidden", blank="hidden")
def blank_hidden() -> Draft:
    """What a blank means where no sum shows it is asked, and here it is said."""
    draft = Draft("Survey")
    draft.line(1, ["Area", "Yes", "No"])
    draft.table({"Area": None, "column": None})
    for r, (area, own) in enumerate({"East": (12, None), "West": (30, 41), "South": (17, 9)}.items(), 2):
        draft.text(r, 1, area)
        for c, (answer, count) in enumerate(zip(("Yes", "No"), own, strict=True), 2):
            draft.number(r, c, count, area, answer, show="" if count is None else None)
    return draft


@layout("Business statistics: turnover with decimals, sums rounded one by one", value="turnover")
def magnitudes() -> Draft:
    """Sums of a magnitude: a total may be off by what rounding explains."""
    draft = Draft("Turnover")
    draft.line(1, ["Industry", "Small", "Large", "Total"])
    draft.table({"Industry": "Total", "column": "Total"})
    rows = {"A": (12.3, 40.1, 52.4), "B": (7.7, 91.9, 99.6), "C": (3.2, 18.6, 21.8), "Total": (23.2, 150.6, 173.8)}
    for r, (industry, own) in enumerate(rows.items(), 2):
        draft.text(r, 1, industry)
        for c, (size, number) in enumerate(zip(("Small", "Large", "Total"), own, strict=True), 2):
            draft.number(r, c, number, industry, size)
    return draft
