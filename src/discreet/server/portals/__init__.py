"""What other portals speak: PxWeb's interfaces, SDMX, and descriptions of data sets, over the same answers."""

from __future__ import annotations

from discreet.server.portals import data_sets, dcat, pxweb, pxweb_first, sdmx_rest

PORTALS = (pxweb.router, pxweb_first.router, sdmx_rest.router, dcat.router, data_sets.router)
