"""Descriptions of data sets, read by rdflib without a network."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from rdflib import Graph, Literal, Namespace, URIRef
from rdflib.namespace import DCAT, DCTERMS, RDF

from tests import servers
from tests.server.portals.data_sets import two_cubes

SCHEMA = Namespace("https://schema.org/")


@pytest.mark.filterwarnings("ignore:ConjunctiveGraph is deprecated")
@pytest.mark.parametrize("hub", [False, True])
def test_the_catalogue_is_linked_data(tmp_path: Path, hub: bool) -> None:
    """Every data set has a title, its variables, an edition and addresses that answer; so has every interface."""
    more: dict[str, Any] = {"cube": None, "cubes": two_cubes()} if hub else {}
    with servers.client(tmp_path, **more) as client:
        reply = client.get("/catalogue.jsonld")
        assert reply.headers["content-type"] == "application/ld+json"
        graph = Graph().parse(data=reply.text, format="json-ld")
        datasets = set(graph.subjects(RDF.type, DCAT.Dataset))
        assert len(datasets) == (2 if hub else 1)
        assert datasets == set(graph.subjects(RDF.type, SCHEMA.Dataset))
        base = URIRef("http://testserver/people/#data" if hub else "http://testserver/#data")
        assert (base, DCTERMS.title, Literal("Persons of two regions")) in graph
        tables: dict[str, Any] = client.app.state.tables  # type: ignore[attr-defined]
        site = tables["people" if hub else "table"]
        assert (base, URIRef(f"{DCAT}version"), Literal(site.state.service.edition)) in graph
        names = {str(graph.value(node, SCHEMA.name)) for node in graph.objects(base, SCHEMA.variableMeasured)}
        assert names == {d.title for d in site.state.service.dimensions}
        for dataset in datasets:
            places = [graph.value(node, DCAT.accessURL) for node in graph.objects(dataset, DCAT.distribution)]
            assert len(places) == 5
            for place in [*places, graph.value(dataset, DCAT.landingPage)]:
                assert client.get(str(place)).status_code == 200, place
        services = list(graph.subjects(RDF.type, DCAT.DataService))
        assert {str(graph.value(one, DCAT.endpointURL)).rsplit("/", 1)[-1] for one in services} >= {"v2", "2.1"}


def test_pages_name_their_description(tmp_path: Path) -> None:
    """The head of a page leads harvesters to the catalogue."""
    with servers.client(tmp_path) as client:
        assert '<link rel="alternate" type="application/ld+json" href="/catalogue.jsonld">' in client.get("/about").text
        assert client.get("/catalogue.jsonld?x=1").status_code == 422
