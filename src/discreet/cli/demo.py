"""discreet demo: a table server of a synthetic census and of synthetic earnings, made on the spot."""

from __future__ import annotations

from pathlib import Path

import click

from discreet.base.files import own_folder, write_whole
from discreet.cli.application import app, example
from discreet.cli.console import say
from discreet.cli.serve import serve_on
from discreet.cli.store import open_store

TRY = (
    ("mean pay on a map", "/earnings/table?variables=county,sex&measure=pay&statistic=mean&view=map"),
    ("a population pyramid", "/census/table?variables=age,sex&view=pyramid"),
    ("a table as CSV", "/census/api/table.csv?variables=age,activity&where=region=R1"),
    ("one that is refused", "/census/table?variables=sex&where=citizenship=STL"),
)
# of the second data set, fewer where fewer persons are asked for; never as many as there are persons
EMPLOYEES = 120_007


@example("discreet demo --folder demo")
@app.command()
@click.option(
    "--folder",
    type=click.Path(path_type=Path),
    default=Path("demo"),
    show_default=True,
    help="Where data, secret and store go.",
)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port", default=8000, show_default=True, type=click.IntRange(0, 65535), help="Port; 0 takes a free one."
)
@click.option("-n", "records", default=1_500_000, show_default=True, type=click.IntRange(1), help="Synthetic persons.")
def demo(folder: Path, host: str, port: int, records: int) -> None:
    """Serve a synthetic census and earnings: everything is made on the spot, and a methodologist to sign in as."""
    import secrets
    from functools import partial
    from importlib import resources

    import uvicorn  # noqa: F401 - what is not installed is said now, not by every worker

    from discreet import datasets
    from discreet.policy import read_policy
    from discreet.server import auth
    from discreet.server.counting import cube
    from discreet.server.editions.edition_history import FIRST_EDITION
    from discreet.server.editions.served_editions import ServedEditions
    from discreet.server.running.workers import listening
    from discreet.server.settings import Settings

    own_folder(folder)
    if not (folder / "secret.key").exists():
        write_whole(folder / "secret.key", secrets.token_hex(32).encode(), private=True)
    made = {
        "census": ("demo.toml", partial(datasets.census, n=records)),
        "earnings": ("demo_earnings.toml", partial(datasets.earnings, n=min(EMPLOYEES, 2 * records + 7))),
    }
    new = False
    for name, (template, make) in made.items():
        text = resources.files("discreet.server").joinpath(template).read_text(encoding="utf-8")
        text = text.replace("SECRET_FILE", (folder / "secret.key").resolve().as_posix())
        write_whole(folder / f"{name}.toml", text.encode(), private=True)
        policy = read_policy(folder / f"{name}.toml")
        if not cube.made_by(folder / "cubes" / name, policy):
            say(f"making the data set {name!r} of people who do not exist, and its cube as the policy has it")
            cube.build(make(), folder / "cubes" / name, policy, say, asked=FIRST_EDITION)
            new = True
        else:
            say(f"the cube {name!r} is served as it is, whatever -n says: name another --folder for new persons")
    url, password = f"sqlite:///{(folder / 'store.db').resolve().as_posix()}", secrets.token_urlsafe(12)
    with open_store(url) as store:
        if new:
            ServedEditions(store, b"").forget()  # of people who do not exist
        if store.user("ada") is None:
            auth.new_user(store, "ada", "methodologist", password)
            say(f"methodologist: name ada, password {password}")
    socket_ = listening(host, port)
    base = f"http://{host}:{socket_.getsockname()[1]}"
    for words, path in TRY:
        say(f"  {words:<22}{base}{path}")
    settings = Settings(
        policy=str(folder / "census.toml"),
        cubes={name: str(folder / "cubes" / name) for name in made},
        policies={"earnings": str(folder / "earnings.toml")},
        first="census",
        store=url,
    )
    serve_on(settings, socket_, f"{base}/", workers=2)
