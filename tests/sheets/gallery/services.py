"""Sheets of services: sums by another name, parts of parts, codes beside labels, shares without counts."""

from __future__ import annotations

from tests.sheets.gallery.draft import Draft, layout


@layout("A trial: a mean first, sections in one column, a disease in a row of its own, populations in the header")
def baseline() -> Draft:
    """The last row is no part of the section above it: what it leaves of the population is a count as well."""
    draft = Draft("Table 1")
    draft.text(1, 1, "Table 1. Baseline characteristics")
    arms = {"Intervention": 120, "Control": 118, "Overall": 238}
    draft.line(2, ["Characteristic"])
    draft.line(3, ["Age, mean (SD)", "61.2 (9.8)", "60.4 (10.1)", "60.8 (9.9)"])
    variables = {
        "Sex, n (%)": {"Female": (55, 60), "Male": (65, 58)},
        "Smoking, n (%)": {"Never": (70, 68), "Former": (46, 41), "Current": (4, 9)},
        "Characteristic: Diabetes, n (%)": {"Diabetes, n (%)": (22, 3)},
    }
    r = 4
    for variable, answers in variables.items():
        table = draft.table({variable: "Total", "column": "Overall"})
        table.fixed, table.unconfirmed = 3, 3
        for c, (arm, n) in enumerate(arms.items(), 2):
            draft.number(2, c, n, "Total", arm, show=f"{arm} (n={n})")
        if len(answers) > 1:
            draft.text(r, 1, variable)
            r += 1
        for answer, own in answers.items():
            draft.text(r, 1, answer)
            for c, ((arm, n), count) in enumerate(zip(arms.items(), (*own, sum(own)), strict=True), 2):
                draft.number(r, c, count, answer, arm, show=f"{count} ({100 * count / n:.1f}%)")
                table.shares += 1
            r += 1
    return draft


@layout("Open research: a file of measures with numerator, denominator and what it is broken down by behind them")
def measures_file() -> Draft:
    """A numerator is part of its denominator; groups with numbers for names stand behind the counts."""
    draft = Draft("measures")
    names = ["measure", "interval_start", "interval_end", "ratio", "numerator", "denominator", "sex", "imd"]
    draft.line(1, names)
    labels = ("measure", "interval_start", "interval_end", "sex", "imd")
    table = draft.table({**dict.fromkeys(labels), "column": "denominator"})
    counts = {("F", "1"): (5, 100), ("F", "2"): (40, 200), ("M", "1"): (11, 110), ("M", "2"): (118, 120)}
    r = 2
    for measure in ("asthma", "copd"):
        for group, (top, bottom) in counts.items():
            top += (3 if group[0] == "F" else -3) * (measure == "copd")
            key = (measure, "2024-01-01", "2024-01-31", *group)
            draft.line(r, [*key[:3], round(top / bottom, 4)])
            draft.number(r, 5, top, *key, "numerator")
            draft.number(r, 6, bottom, *key, "denominator")
            draft.line(r, group, 7)
            table.shares += 1
            r += 1
    return draft


@layout("Schools: pupils first, then those of them who entered, their percentage, and an average without counts below")
def entries() -> Draft:
    """The percentage shows what the first column is; the last row holds no counts."""
    draft = Draft("KS4")
    draft.line(1, ["URN", "School", "Pupils at end of KS4", "Entering", "Not entering", "% entering", "Score"])
    table = draft.table({"School": None, "column": "Pupils at end of KS4"})
    schools = [(100001, "Abbey", 96, 88), (100002, "Bishop's", 4, 93), (100003, "Castle", 30, 3)]
    for r, (urn, school, yes, no) in enumerate(schools, 2):
        draft.line(r, [urn, school])
        for c, (what, n) in enumerate((("Pupils at end of KS4", yes + no), ("Entering", yes), ("Not entering", no)), 3):
            draft.number(r, c, n, str(urn), what)
        draft.line(r, [round(100 * yes / (yes + no)), 40.1 + r], 6)
        table.shares += 1
        table.unconfirmed += 1
    draft.line(5, ["LA average"], 2)
    draft.line(5, [41, 46.2], 6)
    table.unconfirmed += 2
    return draft


@layout("A German office: points between thousands, small numbers without one", formats=("csv",))
def points_in_thousands() -> Draft:
    """Zeros at the end beside numbers without a point show that no decimals stand behind it."""
    draft = Draft("Gemeinden")
    draft.line(1, ["Gemeinde", "männlich", "weiblich", "Insgesamt"])
    draft.table({"Gemeinde": "Insgesamt", "column": "Insgesamt"})
    rows = {"Großenhain": (1204, 1311), "Mühlau": (104, 3), "Löbau": (2010, 1990), "Insgesamt": (3318, 3304)}
    for r, (place, own) in enumerate(rows.items(), 2):
        draft.text(r, 1, place)
        for c, (sex, n) in enumerate(zip(("männlich", "weiblich", "Insgesamt"), (*own, sum(own)), strict=True), 2):
            draft.number(r, c, n, place, sex, show=f"{n:,}".replace(",", "."))
    return draft


@layout("A data service: codes in words and numbers beside their labels, two breakdowns of one total")
def codes_of_breakdowns() -> Draft:
    """Code 0 has the label of the total."""
    draft = Draft("data")
    draft.line(1, ["Breakdown", "Breakdown code", "Category", "Category code", "Count"])
    ages = [("Age", "AGE", "0-17", "1", 100), ("Age", "AGE", "18-64", "2", 400), ("Age", "AGE", "65+", "3", 84)]
    sexes = [("Sex", "SEX", "Female", "F", 300), ("Sex", "SEX", "Male", "M", 280), ("Sex", "SEX", "Unknown", "U", 4)]
    rows = [*sexes, *ages, ("All", "ALL", "All", "0", 584)]
    for r, row in enumerate(rows, 2):
        draft.line(r, row[:4])
    for name, own in (("Category: 0-17 to 65+", ages), ("Category: Female to Unknown", sexes)):
        draft.table({name: "0"})
        for r, row in enumerate(rows, 2):
            if row in own or row[0] == "All":
                draft.number(r, 5, row[4], row[3])
    return draft


@layout("A cube of an office of the Union: what it is about above it, flags beside numbers, codes that go on")
def cube_with_flags() -> Draft:
    """AT11 is part of AT; a letter beside a number is a flag."""
    draft = Draft("Sheet 1")
    draft.line(1, ["Dataset:", "Deaths by region"])
    draft.line(2, ["Unit of measure", "Number"])
    draft.line(4, ["TIME", "2021", None, "2022"])
    draft.line(5, ["GEO (Codes)", "Number", None, "Number"])
    draft.table({"GEO (Codes)": "AT", "column": None})
    flags = {"AT": "p", "AT13": "b"}
    rows = {"AT": (90, 88), "AT11": (31, 30), "AT12": (56, 54), "AT13": (3, 4)}
    for r, (code, own) in enumerate(rows.items(), 6):
        draft.text(r, 1, code)
        for c, (year, n) in enumerate(zip(("2021", "2022"), own, strict=True)):
            draft.number(r, 2 + 2 * c, n, code, year)
        if code in flags:
            draft.text(r, 5, flags[code])
    draft.line(11, ["p", "provisional"])
    return draft


@layout("A hospital: groups of columns that each end with a sum by another name")
def sums_of_groups() -> Draft:
    """Seen and Admitted are sums of what stands before them below the same header."""
    draft = Draft("Activity")
    draft.line(1, ["Outpatients", None, None, "Inpatients"], 2)
    draft.merge(1, 2, 1, 4)
    draft.merge(1, 5, 1, 7)
    heads = ("New", "Follow-up", "Seen", "Elective", "Emergency", "Admitted")
    draft.line(2, ["Specialty", *heads])
    draft.table(
        {"Specialty": None, "column": None}, {"Seen": ["New", "Follow-up"], "Admitted": ["Elective", "Emergency"]}
    )
    rows = {"Cardiology": (120, 240, 44, 71), "Dermatology": (88, 190, 2, 9), "Oncology": (61, 300, 80, 12)}
    for r, (specialty, (new, again, planned, urgent)) in enumerate(rows.items(), 3):
        draft.text(r, 1, specialty)
        own = (new, again, new + again, planned, urgent, planned + urgent)
        for c, (head, n) in enumerate(zip(heads, own, strict=True), 2):
            draft.number(r, c, n, specialty, head)
    return draft


@layout("A council: ethnic groups of which one is broken down in part, and a total")
def narrower_groups() -> Draft:
    """White British and White Irish are part of White and leave a remainder."""
    draft = Draft("Ethnicity")
    heads = ("White", "White British", "White Irish", "Asian", "Black", "Total")
    draft.line(1, ["District", *heads])
    listed = ["White British", "White Irish", "White: not listed"]
    draft.table({"District": None, "column": "Total"}, {"White": listed})
    rows = {"A": (1200, 1100, 60, 310, 120), "B": (940, 900, 37, 110, 43), "C": (2210, 2000, 150, 804, 320)}
    for r, (district, own) in enumerate(rows.items(), 2):
        draft.text(r, 1, district)
        for c, (head, n) in enumerate(zip(heads, (*own, own[0] + own[3] + own[4]), strict=True), 2):
            draft.number(r, c, n, district, head)
    return draft
