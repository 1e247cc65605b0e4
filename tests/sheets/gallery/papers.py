"""Tables of papers and schools: several variables in one table, percentages in the same cell, league tables."""

from __future__ import annotations

from tests.sheets.gallery.draft import Draft, layout


@layout("A paper: Table 1 with n (%) in one cell, populations in the header, a mean among the counts")
def table_one() -> Draft:
    """Every variable is a table of its own; they have the population of their column in common."""
    draft = Draft("Table 1")
    draft.text(1, 1, "Table 1. Characteristics of participants")
    draft.line(2, ["Characteristic", "Treated (N=40)", "Control (N=52)"])
    variables = {
        "Sex, n (%)": {"Male": (18, 30), "Female": (22, 22)},
        "Age group, n (%)": {"18-39": (10, 25), "40-64": (27, 20), "65+": (3, 7)},
        "Smoking, n (%)": {"Never": (25, 33), "Former": (13, 11), "Current": (2, 8)},
    }
    r = 3
    for variable, answers in variables.items():
        draft.text(r, 1, variable)
        table = draft.table({variable: "Total", "column": None})
        for c, (arm, n) in enumerate((("Treated", 40), ("Control", 52)), 2):
            draft.number(2, c, n, "Total", arm, show=f"{arm} (N={n})")
        table.fixed = 2
        r += 1
        for answer, own in answers.items():
            draft.text(r, 1, answer, indent=1)
            for c, (arm, n, count) in enumerate((("Treated", 40, own[0]), ("Control", 52, own[1])), 2):
                draft.number(r, c, count, answer, arm, show=f"{count} ({100 * count / n:.1f}%)")
                table.shares += 1
            r += 1
    draft.line(r, ["Age, mean (SD)", "45.1 (12.0)", "44.8 (11.7)"])
    for table in draft.tables:
        table.unconfirmed = 0
    return draft


@layout("A paper: events and non-events by arm, with row and column totals")
def two_by_two() -> Draft:
    """The smallest table there is."""
    draft = Draft("2x2")
    draft.line(1, [None, "Event", "No event", "Total"])
    draft.table({"row": "Total", "column": "Total"})
    for r, (arm, own) in enumerate({"Drug": (4, 96), "Placebo": (11, 88), "Total": (15, 184)}.items(), 2):
        draft.text(r, 1, arm)
        for c, (what, count) in enumerate(zip(("Event", "No event", "Total"), (*own, sum(own)), strict=True), 2):
            draft.number(r, c, count, arm, what)
    return draft


@layout("Schools: a league table with a type in words, percentages and a mean score")
def league_table() -> Draft:
    """Pupils are counts; the rest follows from what the sheet does not hold."""
    draft = Draft("KS4")
    draft.line(1, ["URN", "School", "Type", "Pupils", "Boys", "Girls", "% grade 5 or above", "Average score"])
    table = draft.table({"School": None, "column": "Pupils"})
    schools = [
        (100049, "Haverstock", "Academy", 61, 70, 38.2, 44.5),
        (100050, "Parliament Hill", "Maintained", 2, 170, 61.9, 55.1),
        (100051, "Regent", "Maintained", 95, 80, 47.4, 49.9),
        (100052, "Hampstead", "Academy", 101, 99, 52.3, 51.0),
    ]
    for r, (urn, school, kind, boys, girls, share, score) in enumerate(schools, 2):
        draft.line(r, [urn, school, kind])
        for c, (what, count) in enumerate((("Pupils", boys + girls), ("Boys", boys), ("Girls", girls)), 4):
            draft.number(r, c, count, str(urn), what)
        draft.line(r, [share, score], 7)
        table.unconfirmed += 2
    return draft


@layout("A report: percentages in rows of their own below the counts")
def share_rows() -> Draft:
    """Each row of percentages is a share of the total column."""
    draft = Draft("Answers")
    draft.line(1, ["Group", "Yes", "No", "Total"])
    table = draft.table({"Group": "All", "column": "Total"})
    groups = {"Men": (31, 9), "Women": (44, 6), "All": (75, 15)}
    r = 2
    for group, own in groups.items():
        draft.text(r, 1, group)
        for c, (answer, count) in enumerate(zip(("Yes", "No", "Total"), (*own, sum(own)), strict=True), 2):
            draft.number(r, c, count, group, answer)
            draft.text(r + 1, c, round(100 * count / sum(own), 1))
            table.shares += 1
        draft.text(r + 1, 1, f"{group}, %")
        r += 2
    return draft
