"""Tables of censuses: bulk files, ages across, areas in steps, sections for each sex."""

from __future__ import annotations

from tests.sheets.gallery.draft import Draft, layout


@layout("Nomis: bulk file of a census, one row for each area, total in the first column of numbers")
def census_bulk() -> Draft:
    """A year that is the same in all rows, codes beside names, long headers."""
    draft = Draft("ts007")
    heads = ["Age: Total", "Age: Aged 15 years and under", "Age: Aged 16 to 64 years", "Age: Aged 65 years and over"]
    draft.line(1, ["date", "geography", "geography code", *heads])
    draft.table({"date": None, "geography": None, "column": "Age: Total"})
    areas = [
        ("Hartlepool", "E06000001", 18, 61, 21),
        ("Halton", "E06000006", 25, 79, 24),
        ("Torbay", "E06000027", 22, 80, 3),
    ]
    for r, (name, code, *ages) in enumerate(areas, 2):
        draft.line(r, ["2021", name, code])
        draft.number(r, 4, sum(ages), "2021", code, heads[0])
        for c, (count, head) in enumerate(zip(ages, heads[1:], strict=True), 5):
            draft.number(r, c, count, "2021", code, head)
    return draft


@layout("Census: sex above age, outer labels written once and not merged, total columns for each sex")
def sex_by_age() -> Draft:
    """Blank header cells mean the label to their left."""
    draft = Draft("LC1117")
    draft.text(1, 1, "Age by sex")
    draft.line(3, [None, "All persons", None, None, "Males", None, None, "Females", None, None])
    draft.line(4, ["Area", *["All ages", "0 to 15", "16 and over"] * 3])
    draft.table({"Area": "England and Wales", "column": "All persons", "column 2": "All ages"})
    base = {"North": ((12, 40), (15, 51)), "South": ((23, 90), (21, 88)), "Wales": ((9, 31), (4, 28))}
    base["England and Wales"] = tuple(tuple(sum(own[s][a] for own in base.values()) for a in (0, 1)) for s in (0, 1))  # type: ignore[assignment]
    for r, (area, (males, females)) in enumerate(base.items(), 5):
        draft.text(r, 1, area)
        persons = tuple(m + f for m, f in zip(males, females, strict=True))
        c = 2
        for sex, own in (("All persons", persons), ("Males", males), ("Females", females)):
            for age, count in (("All ages", sum(own)), ("0 to 15", own[0]), ("16 and over", own[1])):
                draft.number(r, c, count, area, sex, age)
                c += 1
    return draft


@layout("Census: single years of age as numbers in the header")
def single_years() -> Draft:
    """Ages 0 to 5 and over: a header of numbers above the first row of numbers."""
    draft = Draft("ages")
    draft.line(1, ["Ward", 0, 1, 2, 3, 4, "5+", "All ages"])
    draft.table({"Ward": None, "column": "All ages"})
    for r, (ward, ages) in enumerate({"Abbey": (3, 4, 5, 1, 2, 60), "Dene": (7, 8, 2, 4, 5, 91)}.items(), 2):
        draft.text(r, 1, ward)
        for c, (age, count) in enumerate(zip(("0", "1", "2", "3", "4", "5+"), ages, strict=True), 2):
            draft.number(r, c, count, ward, age)
        draft.number(r, 8, sum(ages), ward, "All ages")
    return draft


@layout("Regional statistics: region in one column, its districts in the next, one step to the right")
def staircase() -> Draft:
    """The row of a region has no district; a district's has no region."""
    draft = Draft("Districts")
    draft.line(1, ["Region", "District", "Births", "Deaths"])
    draft.table({"District": "Country", "column": None}, {"East": ("E1", "E2"), "West": ("W1", "W2", "W3")})
    births = {"E1": 41, "E2": 52, "W1": 13, "W2": 74, "W3": 33}
    deaths = {"E1": 39, "E2": 60, "W1": 21, "W2": 55, "W3": 2}
    lines = [("Country", "", list(births))]
    for region, own in {"East": ["E1", "E2"], "West": ["W1", "W2", "W3"]}.items():
        lines += [(region, "", own), *(("", district, [district]) for district in own)]
    for r, (region, district, parts) in enumerate(lines, 2):
        draft.line(r, [region or None, district or None])
        for c, (what, counts) in enumerate((("Births", births), ("Deaths", deaths)), 3):
            draft.number(r, c, sum(counts[p] for p in parts), district or region, what)
    return draft


@layout("Yearbook: a section for persons, for males and for females, the same rows in each")
def sections_by_sex() -> Draft:
    """Labels alone in a row cross the rows below them; persons are the sum of both."""
    draft = Draft("Marital status")
    draft.text(1, 1, "Population by marital status")
    draft.line(2, ["Marital status", "2011", "2021"])
    draft.table({"row": "Persons", "Marital status": "Total", "column": None})
    males = {"Single": (40, 51), "Married": (70, 66), "Widowed": (5, 3)}
    females = {"Single": (31, 44), "Married": (71, 64), "Widowed": (19, 22)}
    persons = {s: tuple(a + b for a, b in zip(males[s], females[s], strict=True)) for s in males}
    r = 3
    for sex, own in (("Persons", persons), ("Males", males), ("Females", females)):
        draft.text(r, 1, sex, bold=True)
        total = tuple(sum(counts[k] for counts in own.values()) for k in (0, 1))
        for status, counts in {**own, "Total": total}.items():
            r += 1
            draft.text(r, 1, status)
            for c, (year, count) in enumerate(zip(("2011", "2021"), counts, strict=True), 2):
                draft.number(r, c, count, sex, status, year)
        r += 2
    return draft


@layout("Gazetteer: places of one name in different counties, subtotals last")
def same_names() -> Draft:
    """A label that occurs twice is told apart by the one above it."""
    draft = Draft("Places")
    draft.line(1, ["County", "Place", "Men", "Women"])
    draft.table(
        {"Place": "Grand Total", "column": None},
        {"Kent": ("Kent / Newton", "Ash", "Deal"), "Devon": ("Devon / Newton", "Bere", "Exe", "Ide")},
    )
    places = {
        "Kent": {"Newton": (12, 30), "Ash": (7, 9), "Deal": (51, 48)},
        "Devon": {"Newton": (20, 21), "Bere": (3, 14), "Exe": (60, 70), "Ide": (8, 11)},
    }
    # a few more, so that one double name is an exception and not a rule
    places["Kent"] |= {f"K{k}": (10 + k, 20 + 2 * k) for k in range(4)}
    places["Devon"] |= {f"D{k}": (30 + k, 17 + 3 * k) for k in range(4)}
    draft.tables[-1].groups = {
        county: tuple(f"{county} / {p}" if p == "Newton" else p for p in own) for county, own in places.items()
    }
    r = 2
    for county, own in places.items():
        for place, counts in own.items():
            draft.line(r, [county, place])
            code = f"{county} / {place}" if place == "Newton" else place
            for c, (sex, count) in enumerate(zip(("Men", "Women"), counts, strict=True), 3):
                draft.number(r, c, count, code, sex)
            r += 1
        draft.text(r, 1, f"{county} Total")
        for c, sex in enumerate(("Men", "Women"), 3):
            draft.number(r, c, sum(x[c - 3] for x in own.values()), county, sex)
        r += 1
    draft.text(r, 1, "Grand Total")
    for c, sex in enumerate(("Men", "Women"), 3):
        draft.number(r, c, sum(x[c - 3] for own in places.values() for x in own.values()), "Grand Total", sex)
    return draft


@layout("Post: postcodes with leading zeros as the only label")
def postcodes() -> Draft:
    """Codes that look like numbers are labels, zeros and all."""
    draft = Draft("PLZ")
    draft.line(1, ["PLZ", "Haushalte", "Personen"])
    draft.table({"PLZ": None, "column": None})
    for r, (code, homes, people) in enumerate([("01067", 120, 260), ("01069", 77, 151), ("01097", 4, 9)], 2):
        draft.text(r, 1, code)
        draft.number(r, 2, homes, code, "Haushalte")
        draft.number(r, 3, people, code, "Personen")
    return draft
