"""discreet risk: how disclosive a table is, before and after protection."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from discreet.base.files import HTML, check_suffix, is_file
from discreet.cli.application import app, example
from discreet.cli.console import say
from discreet.cli.drawing import TextColumn, more, text_table
from discreet.cli.inputs import load_table
from discreet.cli.options import table_options
from discreet.cli.output import emit_json
from discreet.cli.progress import working
from discreet.errors import DiscreetWarning, InputError

if TYPE_CHECKING:
    from rich.text import Text

    from discreet.risk.risk_report import RiskReport

SHADES = ("green", "yellow", "dark_orange", "red")


@example("discreet risk people.parquet --codebook people.toml --by county,sex --html report.html")
@app.command()
@table_options
@click.option(
    "--after", type=click.Path(path_type=Path), help="The protected table: a CSV of cells with a 'count' column."
)
@click.option(
    "--population",
    help="The table is of a sample: N of its population, 'weights' for their sum, or a CSV file of the codes of a "
    "dimension and the N of each.",
)
@click.option("--weights", default="0.1,0.8,0.1", show_default=True, help="Weights of zeros, entropy and size.")
@click.option("--html", type=click.Path(path_type=Path), help="Write the whole report here, one file with pictures.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
@click.option("--lines", default=10, show_default=True, help="How many of the riskiest lines to show.")
def risk(
    after: Path | None,
    population: str | None,
    weights: str,
    html: Path | None,
    as_json: bool,
    lines: int,
    **which: Any,
) -> None:
    """Measure how disclosive a table of counts is: DATA may hold records, or cells (--ready).

    What is printed and written is CONFIDENTIAL: it is made of functions of the true counts.
    """
    from discreet.risk.risk_report import assess

    check_suffix(html, HTML, "a report")
    with working("reading and measuring"):
        table = load_table(**which)
        shown = None
        if after is not None:
            names = ",".join(d.name for d in table.dimensions)  # its totals may be perturbed too, so they need not add
            shown = load_table(
                data=after, by=names, ready=True, count="count", dimensions=table.dimensions, totals="compute"
            )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DiscreetWarning)  # they are notes of the report
            report = assess(table, shown, weights=read_numbers(weights), **known_population(population))
        page = None if html is None else report.to_html(html)
    if as_json:
        emit_json(report.to_dict())
    else:
        draw_risk(report, lines)
    if page is not None:
        say(f"wrote {html}")
    say("Confidential: functions of the true counts.")


def known_population(text: str | None) -> dict[str, Any]:
    """``--population`` as the library takes it."""
    if text is None:
        return {}
    if text == "weights" or text.replace("_", "").isdigit():
        return {"population": text if text == "weights" else int(text)}
    if not is_file(Path(text)):
        raise InputError(f"--population takes a whole number, 'weights' or a CSV file, not {text!r}")
    from discreet.base.texts import csv_rows, read_text

    head, *rows = [row for row in csv_rows(read_text(Path(text)), ",", repr(text)) if row] or [[]]
    try:
        if not rows:
            raise IndexError
        return {"strata": head[0], "population": {row[0]: int(row[1]) for row in rows}}
    except (IndexError, ValueError):
        raise InputError(f"{text} needs two columns: the codes of a dimension and whole numbers") from None


def read_numbers(text: str) -> list[float]:
    """``"0.1,0.8,0.1"`` as numbers."""
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise InputError(f"--weights takes three numbers separated by commas, not {text!r}") from None


def draw_risk(report: RiskReport, lines: int) -> None:
    """The report for people who read it in a terminal: measures, then the riskiest lines or a heat map."""
    from rich.console import Console
    from rich.table import Table as Rich
    from rich.text import Text

    console = Console()
    names = " x ".join(d.name for d in report.table.dimensions)
    console.print(f"[bold]{names}[/]: {report.counts.size:,} inner cells, {int(report.counts.sum()):,} people")
    for note in report.notes:
        console.print(note)
    measures = Rich(header_style="bold")
    for head in ("measure", "value", "meaning"):
        measures.add_column(head, justify="right" if head == "value" else "left", no_wrap=head == "value")
    for name, row in report.summary().iterrows():
        measures.add_row(Text(str(name)), number(float(row["value"])), Text(str(row["meaning"])))
    console.print(measures)
    for result in report.extra.values():
        console.print(result.statement, markup=False)
    if len(report.table.dimensions) == 2 and report.counts.size <= 600:
        draw_heat_map(report)
    if lines:
        riskiest(report, lines)


def draw_heat_map(report: RiskReport) -> None:
    """A two-way table whose last column and row are the risks of its lines, coloured."""
    from discreet.risk.frequency import line_risks

    down, across = report.table.dimensions
    columns, rows = line_risks(report.counts, report.before.weights)
    drawn = [TextColumn(f"{down.name} \\ {across.name}", [*down.leaves, "R1"], number=False)]
    for n, (code, line, value) in enumerate(zip(across.leaves, report.counts.T, columns, strict=True)):
        drawn.append(TextColumn(code, [*(f"{int(k):,}" for k in line), shade(value)], spare=n))
    drawn.append(TextColumn("R1", [*(shade(value) for value in rows), shade(float(report.before.value))]))
    gone = text_table(drawn, "Counts, with the risk (R1) of every row and column", last_apart=True)
    more(0, gone, "a wider terminal shows them, e.g. COLUMNS=160")


def riskiest(report: RiskReport, most: int) -> None:
    """The riskiest lines with a bar for each."""
    rows = report.lines.head(most).to_dict(orient="records")
    full = [0 if row["r1"] != row["r1"] else round(20 * row["r1"]) for row in rows]
    after = [TextColumn("R2", [shade(row["r2"]) for row in rows])] if report.after is not None else []
    columns = [
        TextColumn("line", report.line_labels(most), number=False),
        TextColumn("people", [f"{int(row['n']):,}" for row in rows]),
        TextColumn("R1", [shade(row["r1"]) for row in rows]),
        *after,
        TextColumn("", ["█" * n + "░" * (20 - n) for n in full], spare=1),
    ]
    text_table(columns, "Riskiest lines")


def number(value: float) -> str:
    """Whole numbers as such, others with four decimals."""
    return f"{value:,.0f}" if value.is_integer() and abs(value) > 1 else f"{value:,.4f}"


def shade(value: float) -> Text:
    """A risk in the colour of its height."""
    from rich.text import Text

    return Text("–") if value != value else Text(f"{value:.3f}", style=SHADES[min(int(value * 4), 3)])
