"""The application: the site of one cube, or a hub of several."""

from __future__ import annotations

from fastapi import FastAPI

from discreet.server.hub import create_hub
from discreet.server.server_key import with_key
from discreet.server.settings import Settings
from discreet.server.site import living, site


def create_app(settings: Settings) -> FastAPI:
    """A table server."""
    settings = with_key(settings)
    if settings.cubes:
        return create_hub(settings)
    app = site(settings)
    app.router.lifespan_context = living([app])
    return app
