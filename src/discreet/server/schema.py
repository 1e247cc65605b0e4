"""The tables of the store: users, keys, limits, what was told to whom, the record, short links,
editions.

No column for a table's value.

A change here is a step in ``migrations``: stores that are in use have to be brought to it.
"""

from __future__ import annotations

from sqlalchemy import (
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
)

metadata = MetaData()
PUBLIC = "public"  # under which name strangers were told something: all of them together
users = Table(
    "users",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", String(100), nullable=False, unique=True),
    Column("role", String(20), nullable=False),
    Column("password", Text),
    Column("active", Boolean, nullable=False, default=True),
    Column("created", Float, nullable=False),
)
tokens = Table(
    "tokens",
    metadata,
    Column("id", String(16), primary_key=True),
    Column("user", Integer, ForeignKey("users.id"), nullable=False),
    Column("hash", Text, nullable=False),
    Column("created", Float, nullable=False),
    Column("revoked", Boolean, nullable=False, default=False),
)
sessions = Table(
    "sessions",
    metadata,
    Column("hash", String(64), primary_key=True),
    Column("user", Integer, ForeignKey("users.id"), nullable=False),
    Column("expires", Float, nullable=False),
)
keys = Table(
    "keys",
    metadata,
    Column("name", String(20), primary_key=True),
    Column("value", LargeBinary, nullable=False),
    Column("created", Float, nullable=False),
)
uses = Table(
    "uses",
    metadata,
    Column("who", String(120), primary_key=True),
    Column("span", Integer, primary_key=True),
    Column("n", Integer, nullable=False),
)
asked = Table(
    "asked",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("who", String(120), nullable=False),
    Column("name", String(32), nullable=False, unique=True),
    Column("digest", String(64), nullable=False),
    Column("query", Text, nullable=False),
    Column("at", Float, nullable=False),
    Column("state", String(8), nullable=False),  # released
    Column("flagged", Boolean, nullable=False, default=False),
    Index("asked_who", "who", "id"),
)
record = Table(
    "record",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("at", Float, nullable=False),
    Column("who", String(120), nullable=False),
    Column("query", Text, nullable=False),
    Column("policy", String(64), nullable=False),
    Column("data", String(64), nullable=False),
    Column("outcome", String(20), nullable=False),
    Column("rule", String(60), nullable=False, default=""),
    Column("digest", String(64), nullable=False, default=""),
    Column("guard", String(200), nullable=False, default=""),
)
marks = Table(
    "marks",
    metadata,
    Column("data", String(64), primary_key=True),
    Column("mark", String(64), nullable=False),
)
first_tables = (users, tokens, sessions, keys, uses, asked, record, marks)  # of stores without a version
links = Table(
    "links",
    metadata,
    Column("name", String(40), primary_key=True),
    Column("link", Text, nullable=False),  # the address of a table: what is asked and how it is laid out
    Column("at", Float, nullable=False),
)
editions = Table(
    "editions",
    metadata,
    Column("series", String(16), primary_key=True),
    Column("name", String(16), primary_key=True),
    Column("sketch", LargeBinary, nullable=False),  # encrypted: by how many records another edition differs
    Column("at", Float, nullable=False),
)
schema_version = Table(
    "schema_version",
    metadata,
    Column("version", Integer, primary_key=True),
    Column("at", Float, nullable=False),  # when a store came to it
)
