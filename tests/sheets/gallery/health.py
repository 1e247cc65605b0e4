"""Tables of health services: practices, deaths, measures of studies, vaccinations."""

from __future__ import annotations

from tests.sheets.gallery.draft import Draft, layout


@layout("NHS: patients registered at practices, codes and names, no totals", formats=("xlsx", "ods", "html", "csv"))
def practices() -> Draft:
    """Code and name of each practice and of its area; several counts side by side that add up to nothing."""
    draft = Draft("Practices")
    draft.text(1, 1, "Patients on registers, 2023/24")
    draft.line(3, ["Practice code", "Practice name", "ICB code", "ICB name", "Registered", "Diabetes", "Asthma"])
    draft.table({"Practice name": None, "column": None})
    rows = [
        ("A81001", "The Densham Surgery", "QHM", "North East", 3800, 241, 260),
        ("A81002", "Queens Park", "QHM", "North East", 18700, 1404, 1311),
        ("A81004", "Bluebell", "QHM", "North East", 11500, 905, 733),
        ("B82001", "Park Parade", "QOQ", "Humber", 7100, 3, 512),
        ("B82003", "Church View", "QOQ", "Humber", 4233, 388, 299),
    ]
    for r, (code, name, area_code, area, *counts) in enumerate(rows, 4):
        draft.line(r, [code, name, area_code, area])
        for c, (count, head) in enumerate(zip(counts, ("Registered", "Diabetes", "Asthma"), strict=True), 5):
            draft.number(r, c, count, code, head)
    draft.text(10, 1, "Source: general practice extraction service")
    return draft


@layout("ONS: deaths by cause and sex, total first, causes indented below chapters")
def deaths_by_cause() -> Draft:
    """Persons, males and females across; chapters above the causes that are indented below them."""
    draft = Draft("Deaths")
    draft.text(1, 1, "Deaths registered by underlying cause, sex")
    draft.line(3, ["Cause", "Persons", "Males", "Females"])
    draft.table(
        {"Cause": "All causes", "column": "Persons"},
        {"Cancers": ("Lung", "Breast", "Other cancers"), "Circulatory": ("Heart", "Stroke")},
    )
    males = {"Lung": 61, "Breast": 1, "Other cancers": 90, "Heart": 80, "Stroke": 33}
    females = {"Lung": 48, "Breast": 66, "Other cancers": 71, "Heart": 40, "Stroke": 38}
    chapters = {"Cancers": ["Lung", "Breast", "Other cancers"], "Circulatory": ["Heart", "Stroke"]}
    lines = [("All causes", 0, list(males))]
    for chapter, causes in chapters.items():
        lines.append((chapter, 1, causes))
        lines += [(cause, 2, [cause]) for cause in causes]
    for r, (label, indent, causes) in enumerate(lines, 4):
        m, f = sum(males[c] for c in causes), sum(females[c] for c in causes)
        draft.text(r, 1, label, indent=indent)
        for c, (count, sex) in enumerate([(m + f, "Persons"), (m, "Males"), (f, "Females")], 2):
            draft.number(r, c, count, label, sex)
    draft.text(12, 1, "1 ICD-10 codes are given in the notes.")
    return draft


@layout("OpenSAFELY: a measure as a long list with numerator, denominator and ratio", stub_columns=3)
def measures_long() -> Draft:
    """A row for each month, region and sex; the ratio is the quotient of the two counts."""
    draft = Draft("measures")
    draft.line(1, ["interval_start", "region", "sex", "numerator", "denominator", "ratio"])
    table = draft.table({"interval_start": None, "region": None, "sex": None, "column": "denominator"})
    r = 2
    for month in ("2023-01-01", "2023-02-01"):
        for region, base in (("East", 40), ("West", 90), ("London", 310)):
            for sex, extra in (("female", 7), ("male", 0)):
                draft.line(r, [month, region, sex])
                top, bottom = base + extra + int(month[6]) * 2, 7 * base + 40 * extra
                draft.number(r, 4, top, month, region, sex, "numerator")
                draft.number(r, 5, bottom, month, region, sex, "denominator")
                draft.text(r, 6, round(top / bottom, 4))
                table.shares += 1
                r += 1
    return draft


@layout("Public health: vaccinations with percentages beside counts under merged headers")
def coverage() -> Draft:
    """For each of two vaccines number and percentage of the eligible, which stand in a column of their own."""
    draft = Draft("Coverage")
    draft.text(1, 1, "Vaccine coverage at 24 months")
    draft.line(3, ["Local authority", "MMR", None, "PCV", None])
    draft.merge(3, 2, 3, 3)
    draft.merge(3, 4, 3, 5)
    draft.merge(3, 1, 4, 1)
    draft.line(4, ["Number", "%", "Number", "%"], 2)
    table = draft.table({"Local authority": "England", "column": None})
    counts = {"Barnet": (411, 402), "Camden": (233, 251), "Ealing": (390, 371)}
    total = tuple(sum(c[k] for c in counts.values()) for k in (0, 1))
    for r, (area, own) in enumerate({**counts, "England": total}.items(), 5):
        draft.text(r, 1, area)
        for k, vaccine in enumerate(("MMR", "PCV")):
            draft.number(r, 2 + 2 * k, own[k], area, vaccine)
            draft.text(r, 3 + 2 * k, round(100 * own[k] / total[k], 1))
            table.shares += 1
    return draft


@layout("NHS: small numbers already replaced, with footnotes", suppressed=("*",))
def already_hidden() -> Draft:
    """Marks and ranges in place of numbers; what is shown adds up."""
    draft = Draft("Admissions")
    draft.text(1, 1, "Admissions by trust and age")
    draft.line(3, ["Trust", "0-17", "18-64", "65+", "Total"])
    draft.table({"Trust": "Total", "column": "Total"})
    rows = {
        "Aldham": ("*", 40, 51, "*"),
        "Borley": (12, 60, 44, 116),
        "Copford": ("<5", 33, 20, 56),
        "Total": (16, 133, 115, 264),
    }
    for r, (trust, own) in enumerate(rows.items(), 4):
        draft.text(r, 1, trust)
        for c, (count, age) in enumerate(zip(own, ("0-17", "18-64", "65+", "Total"), strict=True), 2):
            draft.number(r, c, count if isinstance(count, int) else None, trust, age, show=count)
    draft.text(9, 1, "* numbers below 5 and secondary suppression")
    return draft
