"""Tables of reports: several variables across, quarters, three levels, rates, differences, lists of answers."""

from __future__ import annotations

from tests.sheets.gallery.draft import Draft, layout


@layout("A report: several variables of one population across, with a total column in common")
def variables_across() -> Draft:
    """A table for each variable."""
    draft = Draft("Profile")
    draft.line(1, [None, "Sex", None, "Age", None, None, "Total"])
    draft.merge(1, 2, 1, 3)
    draft.merge(1, 4, 1, 6)
    draft.line(2, ["Area", "f", "m", "young", "middle", "old"])
    areas = {"North": ((10, 20), (12, 11, 7)), "South": ((31, 40), (35, 30, 6))}
    areas["Total"] = tuple(
        tuple(sum(own[v][k] for own in areas.values()) for k in range(n)) for v, n in ((0, 2), (1, 3))
    )  # type: ignore[assignment]
    for variable, labels, first in ((0, ("f", "m"), 2), (1, ("young", "middle", "old"), 4)):
        draft.table({"Area": "Total", ("Sex", "Age")[variable]: "Total"})
        for r, (area, own) in enumerate(areas.items(), 3):
            draft.text(r, 1, area)
            for c, (label, count) in enumerate(zip(labels, own[variable], strict=True), first):
                draft.number(r, c, count, area, label)
            draft.number(r, 7, sum(own[variable]), area, "Total")
    return draft


@layout("A clinic: yes and no below each condition, all patients at the end")
def answers_by_condition() -> Draft:
    """Conditions are variables of the same patients, although their answers have the same names."""
    draft = Draft("Conditions")
    draft.line(1, ["Condition", "2021", "2022"])
    conditions = {"Diabetes": {"Yes": (10, 12), "No": (90, 108)}, "Asthma": {"Yes": (30, 32), "No": (70, 88)}}
    r = 2
    for condition, answers in conditions.items():
        draft.table({condition: "All patients", "column": None})
        draft.text(r, 1, condition)
        r += 1
        for answer, own in answers.items():
            draft.text(r, 1, answer)
            for c, (year, count) in enumerate(zip(("2021", "2022"), own, strict=True), 2):
                draft.number(r, c, count, answer, year)
            r += 1
        for c, (year, count) in enumerate((("2021", 100), ("2022", 120)), 2):
            draft.number(8, c, count, "All patients", year)
    draft.text(8, 1, "All patients")
    return draft


@layout("A monitor: months with a subtotal for each quarter and the year at the end")
def quarters() -> Draft:
    """Subtotals across, in columns between the months."""
    draft = Draft("Months")
    heads = ["Jan", "Feb", "Mar", "Q1 total", "Apr", "May", "Jun", "Q2 total", "Total"]
    draft.line(1, ["Court", *heads])
    draft.table(
        {"Court": None, "column": "Total"}, {"Q1 total": ("Jan", "Feb", "Mar"), "Q2 total": ("Apr", "May", "Jun")}
    )
    courts = {"High": (11, 12, 9, 31, 8, 2), "Low": (110, 97, 121, 88, 79, 140), "Youth": (3, 0, 1, 2, 0, 5)}
    for r, (court, own) in enumerate(courts.items(), 2):
        draft.text(r, 1, court)
        row = (*own[:3], sum(own[:3]), *own[3:], sum(own[3:]), sum(own))
        for c, (head, count) in enumerate(zip(heads, row, strict=True), 2):
            draft.number(r, c, count, court, head)
    return draft


@layout("A union: country, region and town in three columns with a total at each level")
def three_levels() -> Draft:
    """Nested columns of a long list, every level with its sums."""
    draft = Draft("Towns")
    draft.line(1, ["Country", "Region", "Town", "n"])
    towns = {
        "UK": {"N": {"a": 5, "b": 6}, "S": {"c": 7, "d": 8}},
        "FR": {"E": {"e": 50, "f": 60}, "W": {"g": 70, "h": 80}},
    }
    groups: dict[str, tuple[str, ...]] = {country: tuple(own) for country, own in towns.items()}
    groups |= {region: tuple(own) for regions in towns.values() for region, own in regions.items()}
    draft.table({"Town": "Total"}, groups)
    r = 2

    def put(labels: list[str], code: str, count: int) -> None:
        nonlocal r
        draft.line(r, labels)
        draft.number(r, 4, count, code)
        r += 1

    for country, regions in towns.items():
        for region, own in regions.items():
            for town, count in own.items():
                put([country, region, town], town, count)
            put([country, region, "Total"], region, sum(own.values()))
        put([country, "Total", "Total"], country, sum(sum(own.values()) for own in regions.values()))
    every = sum(count for regions in towns.values() for own in regions.values() for count in own.values())
    put(["Total", "Total", "Total"], "Total", every)
    return draft


@layout("Vital statistics: population, deaths and a rate per 1,000 of the two")
def rates() -> Draft:
    """A rate is the quotient of two columns."""
    draft = Draft("Rates")
    draft.text(1, 1, "Deaths and rates")
    draft.line(2, ["Area", "Population", "Deaths", "Rate per 1,000", "Change since 2020"])
    table = draft.table({"Area": "Total", "column": None})
    areas = {"North": (2000, 14), "South": (1300, 11), "Total": (3300, 25)}
    for r, (area, (people, deaths)) in enumerate(areas.items(), 3):
        draft.text(r, 1, area)
        draft.number(r, 2, people, area, "Population")
        draft.number(r, 3, deaths, area, "Deaths")
        draft.text(r, 4, round(1000 * deaths / people, 1))
        draft.text(r, 5, (-1, 3, 2)[r - 3])
        table.shares += 1
        table.unconfirmed += 1
    return draft


@layout("A survey: percentages with the format of percentages, no sign in the header")
def formatted_shares() -> Draft:
    """The format of the cells says what they are."""
    draft = Draft("Answers")
    draft.line(1, ["Answer", "Persons", "of all"])
    table = draft.table({"Answer": "Total"})
    answers = {"yes": 31, "no": 52, "do not know": 4, "Total": 87}
    for r, (answer, count) in enumerate(answers.items(), 2):
        draft.text(r, 1, answer)
        draft.number(r, 2, count, answer)
        draft.text(r, 3, round(count / 87, 3), number_format="0.0%")
        table.shares += 1
    return draft
