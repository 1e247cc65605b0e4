"""What other portals speak: PxWeb's interfaces, SDMX, and descriptions of data sets, over the same answers."""

from __future__ import annotations

from discreet.server.portals import pxweb, pxweb_first

PORTALS = (pxweb.router, pxweb_first.router)
