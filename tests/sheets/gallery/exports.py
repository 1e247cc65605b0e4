"""What offices export: flags in columns of their own, totals in the middle or first, letters from right to left."""

from __future__ import annotations

from tests.sheets.gallery.draft import Draft, layout


@layout("Eurostat: a column of flags behind every year", total={"geo": "EU"})
def flags_in_columns() -> Draft:
    """Columns of letters without a header belong to the numbers at their left and are left aside."""
    draft = Draft("Sheet 1")
    draft.line(1, ["geo", 2020, None, 2021, None])
    draft.table({"geo": "EU", "column": None})
    countries = {"Austria": (41, 37), "Finland": (12, 19), "Malta": (3, 6)}
    union = tuple(sum(own[k] for own in countries.values()) for k in (0, 1))
    flags = {("Austria", 1): "p", ("Malta", 0): "b", ("Finland", 1): "e"}
    for r, (geo, own) in enumerate({"EU": union, **countries}.items(), 2):
        draft.text(r, 1, geo)
        for k, count in enumerate(own):
            draft.number(r, 2 + 2 * k, count, geo, str(2020 + k))
            if flag := flags.get((geo, k)):
                draft.text(r, 3 + 2 * k, flag)
    return draft


@layout("Census: two rows of headers, the total between the parts")
def totals_in_the_middle() -> Draft:
    """The total of the rows stands below the second of four, that of the columns between both sexes."""
    draft = Draft("Table 4")
    draft.line(1, [None, "Urban", None, None, "Rural", None, None])
    draft.merge(1, 2, 1, 4)
    draft.merge(1, 5, 1, 7)
    sexes = ("Females", "Persons", "Males")
    draft.line(2, ["Tenure", *sexes, *sexes])
    draft.table({"Tenure": "All tenures", "column": None, "column 2": "Persons"})
    own = {"Owned": (31, 22, 14, 9), "Rented": (17, 40, 5, 12), "Free": (3, 2, 1, 4), "Other": (8, 6, 7, 2)}
    every = tuple(sum(counts[k] for counts in own.values()) for k in range(4))
    order = ["Owned", "Rented", "All tenures", "Free", "Other"]
    for r, tenure in enumerate(order, 3):
        counts = own.get(tenure, every)
        draft.text(r, 1, tenure)
        for k, place in enumerate(("Urban", "Rural")):
            females, males = counts[2 * k], counts[2 * k + 1]
            for c, (sex, count) in enumerate(zip(sexes, (females, females + males, males), strict=True), 2 + 3 * k):
                draft.number(r, c, count, tenure, place, sex)
    return draft


@layout("A survey office: labels from right to left, the total first")
def right_to_left() -> Draft:
    """Arabic labels; the first row and the last column are totals."""
    draft = Draft("\u062c\u062f\u0648\u0644")
    region, total = "\u0627\u0644\u0645\u0646\u0637\u0642\u0629", "\u0627\u0644\u0645\u062c\u0645\u0648\u0639"
    women, men = "\u0646\u0633\u0627\u0621", "\u0631\u062c\u0627\u0644"
    draft.line(1, [region, women, men, total])
    draft.table({region: total, "column": total})
    regions = {
        "\u0627\u0644\u0634\u0645\u0627\u0644": (21, 34),
        "\u0627\u0644\u062c\u0646\u0648\u0628": (5, 13),
        "\u0627\u0644\u0634\u0631\u0642": (47, 2),
    }
    every = tuple(sum(own[k] for own in regions.values()) for k in (0, 1))
    for r, (name, own) in enumerate({total: every, **regions}.items(), 2):
        draft.text(r, 1, name)
        for c, (sex, count) in enumerate(zip((women, men, total), (*own, sum(own)), strict=True), 2):
            draft.number(r, c, count, name, sex)
    return draft
