"""The application: the site of one cube, or a hub of several."""

from __future__ import annotations

from fastapi import FastAPI

from discreet.server.record.server_key import with_key
from discreet.server.running.hub import create_hub
from discreet.server.running.site import living, site
from discreet.server.settings import Settings


def create_app(settings: Settings) -> FastAPI:
    r"""A table server.

    >>> import tempfile
    >>> from pathlib import Path
    >>> from discreet import datasets
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     data, codebook = datasets.write("census", f"{folder}/people.parquet", n=300)
    ...     size = Path(folder, "policy.toml").write_text('[[method]]\nname = "cell-key"\n')
    ...     files = {"data": str(data), "codebook": str(codebook), "policy": f"{folder}/policy.toml"}
    ...     app = create_app(Settings(**files, store=f"sqlite:///{folder}/server.db"))
    >>> app.title
    'discreet table server'
    """
    settings = with_key(settings)
    if settings.cubes:
        return create_hub(settings)
    app = site(settings)
    app.router.lifespan_context = living([app])
    return app
