"""Several ways to group one population, and labels that say too little: groupings, repeated labels, stated totals."""

from __future__ import annotations

from tests.sheets.gallery.draft import Draft, layout


@layout("A profile: all persons, then by sex, then by age, below one header")
def two_groupings() -> Draft:
    """Each grouping is a table of its own, and they have the column of all persons in common."""
    draft = Draft("Profile")
    draft.line(1, ["Area", "All", "Male", "Female", "0-15", "16-64", "65+"])
    areas = {"North": (48, 52, 20, 70, 10), "South": (29, 28, 11, 43, 3), "West": (100, 108, 48, 120, 40)}
    sums = tuple(map(sum, zip(*areas.values(), strict=True)))
    for r, area in enumerate((*areas, "Total"), 2):
        draft.text(r, 1, area)
    for first, labels in ((3, ("Male", "Female")), (5, ("0-15", "16-64", "65+"))):
        name = f"column: {', '.join(labels)}" if len(labels) < 3 else f"column: {labels[0]} to {labels[-1]}"
        draft.table({"Area": "Total", name: "All"})
        for r, (area, own) in enumerate({**areas, "Total": sums}.items(), 2):
            draft.number(r, 2, own[0] + own[1], area, "All")
            for c, label in enumerate(labels, first):
                draft.number(r, c, own[c - 3], area, label)
    return draft


@layout("A hospital: the sexes below each ward, without an indent")
def repeated_labels() -> Draft:
    """The row of a ward is the total of its sexes."""
    draft = Draft("Wards")
    draft.line(1, ["Ward", "Admitted", "Readmitted"])
    draft.table({"row": "Total", "Ward": "Total", "column": None})
    wards = {"Abbey": ((48, 17), (52, 3)), "Beacon": ((45, 16), (35, 14))}
    r = 2
    for ward, (men, women) in {**wards, "Total": ((93, 33), (87, 17))}.items():
        both = tuple(map(sum, zip(men, women, strict=True)))
        for label, code, own in ((ward, "Total", both), ("Male", "Male", men), ("Female", "Female", women)):
            draft.text(r, 1, label)
            for c, what in enumerate(("Admitted", "Readmitted"), 2):
                draft.number(r, c, own[c - 2], ward, code, what)
            r += 1
    return draft


@layout("A survey: the number of answers in the label of each region")
def stated_totals() -> Draft:
    """The label is the place of the total."""
    draft = Draft("Answers")
    draft.line(1, ["Region", "Yes", "No"])
    table = draft.table({"Region": None, "column": "Total"})
    for r, (region, own) in enumerate({"North": (50, 6), "South": (60, 20), "West": (38, 3)}.items(), 2):
        draft.number(r, 1, sum(own), region, "Total", show=f"{region} (n={sum(own)})")
        for c, answer in enumerate(("Yes", "No"), 2):
            draft.number(r, c, own[c - 2], region, answer)
    table.fixed = 3
    return draft


@layout("Stata: row percentages below the counts, without a label")
def unnamed_shares() -> Draft:
    """Each row of percentages is a share of the total column."""
    draft = Draft("tab")
    draft.line(1, ["region", "yes", "no", "Total"])
    table = draft.table({"region": "Total", "column": "Total"})
    r = 2
    for region, own in {"North": (4, 96), "South": (20, 80), "Total": (24, 176)}.items():
        draft.text(r, 1, region)
        for c, (answer, count) in enumerate(zip(("yes", "no", "Total"), (*own, sum(own)), strict=True), 2):
            draft.number(r, c, count, region, answer)
            draft.text(r + 1, c, round(100 * count / sum(own), 2))
            table.shares += 1
        r += 2
    return draft


@layout("A register: ages with some of them summed up, a remark beside the numbers")
def nested_ages() -> Draft:
    """The labels say which ages add up to which; the remarks are left aside."""
    draft = Draft("Ages")
    draft.line(1, ["Age", "Men", "Women", "Total", "Remark"])
    draft.table({"Age": "All ages", "column": "Total"}, {"18-64": ["18-34", "35-64"]})
    ages = {"0-17": (20, 25), "18-64": (70, 60), "18-34": (30, 33), "35-64": (40, 27), "65+": (3, 40)}
    for r, (age, own) in enumerate({**ages, "All ages": (93, 125)}.items(), 2):
        draft.text(r, 1, age)
        draft.text(r, 5, "revised" if r % 2 else "final")
        for c, (sex, count) in enumerate(zip(("Men", "Women", "Total"), (*own, sum(own)), strict=True), 2):
            draft.number(r, c, count, age, sex)
    return draft
