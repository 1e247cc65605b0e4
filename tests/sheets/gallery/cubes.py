"""Cubes and their exports: Eurostat, long lists with flags, pivot tables, offices of other languages."""

from __future__ import annotations

from tests.sheets.gallery.draft import Draft, layout


@layout("Eurostat: countries by year, flags behind numbers, the union first", total={"geo \\ time": "EU27"})
def eurostat_wide() -> Draft:
    """Years in the header are codes; a flag does not change a number."""
    draft = Draft("Sheet 1")
    draft.text(1, 1, "Persons at risk, thousands")
    draft.line(3, ["geo \\ time", 2019, 2020, 2021])
    draft.table({"geo \\ time": "EU27", "column": None})
    countries = {"BE": (21, 33, 18), "DE": (90, 81, 70), "MT": (1, 4, 2)}
    union = tuple(sum(c[k] for c in countries.values()) for k in range(3))
    for r, (geo, own) in enumerate({"EU27": union, **countries}.items(), 4):
        draft.text(r, 1, geo)
        for c, (year, count) in enumerate(zip(("2019", "2020", "2021"), own, strict=True), 2):
            draft.number(r, c, count, geo, year, show=f"{count} p" if (geo, year) == ("DE", "2021") else None)
    draft.text(9, 1, "p: provisional")
    return draft


@layout("SDMX: a long list with a year in numbers and a column of flags")
def long_with_flags() -> Draft:
    """The year is a label although it is a number; flags are text beside the numbers."""
    draft = Draft("data")
    draft.line(1, ["FREQ", "GEO", "SEX", "TIME_PERIOD", "OBS_VALUE", "OBS_FLAG"])
    draft.table({"FREQ": None, "GEO": None, "SEX": "T", "TIME_PERIOD": None})
    r = 2
    for geo, base in (("AT", 31), ("FI", 52)):
        for year in (2020, 2021):
            own = {"F": base + year % 7, "M": 2 * base - year % 5}
            for sex, count in {**own, "T": sum(own.values())}.items():
                draft.line(r, ["A", geo, sex, year])
                draft.number(r, 5, count, "A", geo, sex, str(year))
                if sex == "F" and year == 2021:
                    draft.text(r, 6, "estimated")
                r += 1
    return draft


@layout("Excel: a pivot table in outline form, subtotals with the name of their group behind")
def pivot_outline() -> Draft:
    """Outer labels once, "North Total" below them, "Grand Total" at the end and at the right."""
    draft = Draft("Pivot")
    draft.line(1, ["Count of id", None, "Status"])
    draft.line(2, ["Region", "Office", "Closed", "Open", "Grand Total"])
    draft.table(
        {"Office": "Grand Total", "Status": "Grand Total"}, {"North": ("N1", "N2"), "South": ("S1", "S2", "S3")}
    )
    offices = {"North": {"N1": (12, 7), "N2": (31, 2)}, "South": {"S1": (5, 9), "S2": (44, 13), "S3": (8, 21)}}
    r = 3

    def put(code: str, own: tuple[int, ...]) -> None:
        nonlocal r
        for c, (status, count) in enumerate((("Closed", own[0]), ("Open", own[1]), ("Grand Total", sum(own))), 3):
            draft.number(r, c, count, code, status)
        r += 1

    every = []
    for region, parts in offices.items():
        for k, (office, own) in enumerate(parts.items()):
            draft.line(r, [region if k == 0 else None, office])
            put(office, own)
        draft.text(r, 1, f"{region} Total")
        put(region, tuple(sum(own[k] for own in parts.values()) for k in (0, 1)))
        every += list(parts.values())
    draft.text(r, 1, "Grand Total")
    put("Grand Total", tuple(sum(own[k] for own in every) for k in (0, 1)))
    return draft


@layout("Excel: a pivot table in compact form, the same answers indented below each region")
def pivot_compact() -> Draft:
    """Indented labels that recur below each region cross it; the region's own row is their sum."""
    draft = Draft("Pivot")
    draft.line(1, ["Row Labels", "Yes", "No", "Grand Total"])
    draft.table({"row": "Grand Total", "Row Labels": "Total", "column": "Grand Total"})
    answers = {
        "North": {"f": (12, 7), "m": (31, 2)},
        "South": {"f": (5, 9), "m": (44, 13)},
        "West": {"f": (8, 3), "m": (9, 9)},
    }
    r = 2

    def put(label: str, indent: int, codes: tuple[str, str], own: tuple[int, ...]) -> None:
        nonlocal r
        draft.text(r, 1, label, indent=indent)
        for c, (answer, count) in enumerate((("Yes", own[0]), ("No", own[1]), ("Grand Total", sum(own))), 2):
            draft.number(r, c, count, *codes, answer)
        r += 1

    for region, parts in answers.items():
        put(region, 0, (region, "Total"), tuple(sum(own[k] for own in parts.values()) for k in (0, 1)))
        for sex, own in parts.items():
            put(sex, 1, (region, sex), own)
    every = [own for parts in answers.values() for own in parts.values()]
    put("Grand Total", 0, ("Grand Total", "Total"), tuple(sum(own[k] for own in every) for k in (0, 1)))
    return draft


@layout("Destatis: German names of totals, points between thousands, dashes for nothing", thousands=".")
def german() -> Draft:
    """Numbers as text; a dash is zero because every sum shows it."""
    draft = Draft("Tabelle")
    draft.text(1, 1, "Unternehmen nach Land")
    draft.line(3, ["Land", "klein", "mittel", "groß", "Insgesamt"])
    draft.table({"Land": "Deutschland insgesamt", "column": "Insgesamt"})
    lands = {"Berlin": (1204, 80, 7), "Bremen": (310, 12, 0), "Hessen": (2077, 151, 33)}
    total = tuple(sum(own[k] for own in lands.values()) for k in range(3))
    for r, (land, own) in enumerate({**lands, "Deutschland insgesamt": total}.items(), 4):
        draft.text(r, 1, land)
        for c, (size, count) in enumerate(
            zip(("klein", "mittel", "groß", "Insgesamt"), (*own, sum(own)), strict=True), 2
        ):
            draft.number(r, c, count, land, size, show="-" if not count else f"{count:,}".replace(",", "."))
    draft.text(9, 1, "Quelle: Statistisches Landesamt")
    return draft


@layout("INSEE: French names, thin blanks between thousands, shares with a decimal comma")
def french() -> Draft:
    """Ensemble is the total; the share is one of the total of its column."""
    draft = Draft("Tableau")
    draft.text(1, 1, "Population par sexe")
    draft.line(2, ["Région", "Hommes", "Femmes", "Ensemble", "Part (%)"])
    table = draft.table({"Région": "Ensemble", "column": "Ensemble"})
    regions = {"Bretagne": (12400, 13350), "Corse": (1710, 1802), "Grand Est": (27031, 28117)}
    total = tuple(sum(own[k] for own in regions.values()) for k in (0, 1))
    for r, (region, own) in enumerate({**regions, "Ensemble": total}.items(), 3):
        draft.text(r, 1, region)
        for c, (sex, count) in enumerate(zip(("Hommes", "Femmes", "Ensemble"), (*own, sum(own)), strict=True), 2):
            draft.number(r, c, count, region, sex, show=f"{count:,}".replace(",", "\u202f"))
        draft.text(r, 5, f"{100 * sum(own) / sum(total):.1f}".replace(".", ","))
        table.shares += 1
    return draft


@layout("Statistics Bureau of Japan: total first, a row of units below the header")
def japanese() -> Draft:
    """Names in Japanese, the unit of every column in brackets."""
    draft = Draft("表1")
    draft.line(1, ["地域", "総数", "男", "女"])
    draft.line(2, ["(人)", "(人)", "(人)"], 2)
    draft.table({"地域": "全国", "column": "総数"})
    areas = {"北海道": (251, 278), "青森": (58, 65), "岩手": (57, 3)}
    total = tuple(sum(own[k] for own in areas.values()) for k in (0, 1))
    for r, (area, own) in enumerate({"全国": total, **areas}.items(), 3):
        draft.text(r, 1, area)
        for c, (sex, count) in enumerate(zip(("総数", "男", "女"), (sum(own), *own), strict=True), 2):
            draft.number(r, c, count, area, sex)
    return draft
