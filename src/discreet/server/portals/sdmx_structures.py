"""Structures of SDMX-ML 2.1: dataflows, data structure definitions, concepts and codelists."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from xml.sax.saxutils import escape, quoteattr

from discreet.data.dimension import Dimension
from discreet.server.portals.sdmx_names import AGENCY, MEASURE_DIMENSION, VERSION_OF_STRUCTURES, Flow, SdmxSet

SCHEMAS = "http://www.sdmx.org/resources/sdmxml/schemas/v2_1"
SPACES = f'xmlns:mes="{SCHEMAS}/message" xmlns:com="{SCHEMAS}/common"'
OBSERVED = {"OBS_STATUS": "Observation status", "CONF_STATUS": "Confidentiality status"}
SAID = {"TITLE": "Title", "SOURCE": "Source", "METHOD": "Method", "NOTE": "Notes"}
CONCEPTS = {MEASURE_DIMENSION: "Measure", "OBS_VALUE": "Observation value", **OBSERVED, **SAID}
MAINTAINED = f'agencyID="{AGENCY}" version="{VERSION_OF_STRUCTURES}"'


def structure_message(
    flows: Sequence[Flow] = (), structures: Sequence[Flow] = (), sets: Sequence[SdmxSet] = (), lists: Iterable[str] = ()
) -> bytes:
    """A message with dataflows, data structures, and the concepts and codelists of data sets.

    ``lists`` are the identifiers of the codelists that are wanted, all if there are none.
    """
    wanted = set(lists)
    parts = [
        _within("Dataflows", [_dataflow(flow) for flow in flows]),
        _within(
            "Codelists", [text for one in sets for name, text in codelist_texts(one) if name in wanted or not wanted]
        ),
        _within("Concepts", [_concepts(one) for one in sets] if not wanted else []),
        _within("DataStructures", [_structure(flow) for flow in structures]),
    ]
    spaces = f'{SPACES} xmlns:str="{SCHEMAS}/structure"'
    body = f"<mes:Structures>{''.join(parts)}</mes:Structures>"
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<mes:Structure {spaces}>{header()}{body}</mes:Structure>'.encode()


def header(structure: str = "") -> str:
    """The head of a message."""
    prepared = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    sender = f'<mes:Sender id="{AGENCY}"/>'
    facts = f"<mes:ID>{AGENCY}</mes:ID><mes:Test>false</mes:Test><mes:Prepared>{prepared}</mes:Prepared>{sender}"
    return f"<mes:Header>{facts}{structure}</mes:Header>"


def reference(identity: str, package: str, kind: str) -> str:
    """A reference to something maintained here."""
    return f'<Ref id={quoteattr(identity)} {MAINTAINED} package="{package}" class="{kind}"/>'


def _within(element: str, parts: Sequence[str]) -> str:
    return f"<str:{element}>{''.join(parts)}</str:{element}>" if parts else ""


def _name(text: str) -> str:
    return f'<com:Name xml:lang="en">{escape(text)}</com:Name>'


def _maintained(element: str, identity: str, name: str, inner: str) -> str:
    opening = f'<str:{element} id={quoteattr(identity)} {MAINTAINED} isFinal="true">'
    return f"{opening}{_name(name)}{inner}</str:{element}>"


def _dataflow(flow: Flow) -> str:
    inner = f"<str:Structure>{reference(flow.structure, 'datastructure', 'DataStructure')}</str:Structure>"
    return _maintained("Dataflow", flow.identity, flow.title, inner)


def codelist_texts(one: SdmxSet) -> list[tuple[str, str]]:
    """The codelists of a data set: identifier and element."""
    texts = []
    for name, dimension in one.table.variables.items():
        codes = "".join(_codes(dimension, one.codes[name]))
        texts.append((one.codelist(name), _maintained("Codelist", one.codelist(name), dimension.title, codes)))
    measures = "".join(
        f"<str:Code id={quoteattr(identifier)}>{_name(one.table.measures[name])}</str:Code>"
        for name, identifier in one.measures.items()
    )
    listed = _maintained("Codelist", one.measure_codelist, CONCEPTS[MEASURE_DIMENSION], measures)
    return [*texts, (one.measure_codelist, listed)]


def _codes(dimension: Dimension, codes: dict[str, str]) -> list[str]:
    parents: dict[str, str] = {}
    for group, parts in dimension.relations:
        if all(sign > 0 for _, sign in parts):
            for part, _ in parts:
                parents.setdefault(part, group)
    texts = []
    for code, identifier in codes.items():
        parent = f"<str:Parent><Ref id={quoteattr(codes[parents[code]])}/></str:Parent>" if code in parents else ""
        texts.append(f"<str:Code id={quoteattr(identifier)}>{_name(dimension.label(code))}{parent}</str:Code>")
    return texts


def _concepts(one: SdmxSet) -> str:
    names = {identifier: one.table.variables[name].title for name, identifier in one.dimensions.items()} | CONCEPTS
    text = '<str:CoreRepresentation><str:TextFormat textType="String"/></str:CoreRepresentation>'
    inner = "".join(
        f'<str:Concept id="{identifier}">{_name(name)}{text}</str:Concept>' for identifier, name in names.items()
    )
    return _maintained("ConceptScheme", one.concepts, one.table.title, inner)


def _structure(flow: Flow) -> str:
    one = flow.whole
    dimensions = [(one.dimensions[name], one.codelist(name)) for name in flow.variables]
    dimensions.append((MEASURE_DIMENSION, one.measure_codelist))
    listed = "".join(
        f'<str:Dimension id="{identifier}" position="{place}">{_identity(one, identifier)}'
        f"<str:LocalRepresentation><str:Enumeration>{reference(codelist, 'codelist', 'Codelist')}</str:Enumeration>"
        "</str:LocalRepresentation></str:Dimension>"
        for place, (identifier, codelist) in enumerate(dimensions, 1)
    )
    observed = '<str:PrimaryMeasure><Ref id="OBS_VALUE"/></str:PrimaryMeasure>'
    attributes = [_attribute(one, identifier, observed) for identifier in OBSERVED]
    attributes += [_attribute(one, identifier, "<str:None/>") for identifier in SAID]
    number = '<str:LocalRepresentation><str:TextFormat textType="Double"/></str:LocalRepresentation>'
    measure = f'<str:PrimaryMeasure id="OBS_VALUE">{_identity(one, "OBS_VALUE")}{number}</str:PrimaryMeasure>'
    inner = (
        f'<str:DimensionList id="DimensionDescriptor">{listed}</str:DimensionList>'
        f'<str:AttributeList id="AttributeDescriptor">{"".join(attributes)}</str:AttributeList>'
        f'<str:MeasureList id="MeasureDescriptor">{measure}</str:MeasureList>'
    )
    components = f"<str:DataStructureComponents>{inner}</str:DataStructureComponents>"
    return _maintained("DataStructure", flow.structure, flow.title, components)


def _identity(one: SdmxSet, identifier: str) -> str:
    parent = f'maintainableParentID="{one.concepts}" maintainableParentVersion="{VERSION_OF_STRUCTURES}"'
    concept = f'<Ref id="{identifier}" {parent} agencyID="{AGENCY}" package="conceptscheme" class="Concept"/>'
    return f"<str:ConceptIdentity>{concept}</str:ConceptIdentity>"


def _attribute(one: SdmxSet, identifier: str, relation: str) -> str:
    text = '<str:LocalRepresentation><str:TextFormat textType="String"/></str:LocalRepresentation>'
    related = f"<str:AttributeRelationship>{relation}</str:AttributeRelationship>"
    opening = f'<str:Attribute id="{identifier}" assignmentStatus="Conditional">'
    return f"{opening}{_identity(one, identifier)}{text}{related}</str:Attribute>"
