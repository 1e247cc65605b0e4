"""The table server: HTTP to calls. Everything that leaves is a Release that ``answer`` made."""

from discreet.server.running.app import create_app
from discreet.server.settings import Settings

__all__ = ["Settings", "create_app"]
