"""discreet demo: a table server of a synthetic census, made on the spot."""

from __future__ import annotations

from pathlib import Path

import click

from discreet.base.files import own_folder, write_whole
from discreet.cli.application import app, example
from discreet.cli.console import say
from discreet.cli.serve import serve_on
from discreet.cli.store import open_store

TRY = (
    ("a heat map", "/table?variables=age,activity&where=region=R1&view=heat"),
    ("the same as CSV", "/api/table.csv?variables=age,activity&where=region=R1"),
    ("one that is refused", "/table?variables=sex&where=citizenship=STL"),
)


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
    """Serve a synthetic census: everything is made on the spot, and a methodologist to sign in as."""
    import secrets
    from importlib import resources

    import uvicorn  # noqa: F401 - what is not installed is said now, not by every worker

    from discreet import datasets
    from discreet.policy import read_policy
    from discreet.server import auth, cube
    from discreet.server.edition_history import FIRST_EDITION
    from discreet.server.settings import Settings
    from discreet.server.workers import listening

    own_folder(folder)
    if not (folder / "secret.key").exists():
        write_whole(folder / "secret.key", secrets.token_hex(32).encode(), private=True)
    text = resources.files("discreet.server").joinpath("demo.toml").read_text(encoding="utf-8")
    text = text.replace("SECRET_FILE", (folder / "secret.key").resolve().as_posix())
    write_whole(folder / "policy.toml", text.encode(), private=True)
    policy = read_policy(folder / "policy.toml")
    if not cube.made_by(folder / "cube", policy):
        say(f"making {records:,} synthetic persons, and their cube as the policy has it")
        cube.build(datasets.census(n=records), folder / "cube", policy, say, asked=FIRST_EDITION)
    else:
        say(f"the cube in {folder.name!r} is served as it is, whatever -n says: name another --folder for new persons")
    url, password = f"sqlite:///{(folder / 'store.db').resolve().as_posix()}", secrets.token_urlsafe(12)
    with open_store(url) as store:
        if store.user("ada") is None:
            auth.new_user(store, "ada", "methodologist", password)
            say(f"methodologist: name ada, password {password}")
    socket_ = listening(host, port)
    base = f"http://{host}:{socket_.getsockname()[1]}"
    for words, path in TRY:
        say(f"  {words:<22}{base}{path}")
    serve_on(
        Settings(policy=str(folder / "policy.toml"), cube=str(folder / "cube"), store=url),
        socket_,
        f"{base}/",
        workers=2,
    )
