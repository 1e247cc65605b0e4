"""How a server is set up. One value, which workers inherit from the process that starts them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from discreet.errors import InputError, listed, nearest

MODES = ("open", "restricted")
NAME = re.compile("[a-z0-9][a-z0-9-]{0,13}")  # of a cube in a hub: an address, as the others are
ORIGIN = re.compile(r"https?://(\*\.)?[a-z0-9.-]{1,253}(:[0-9]{1,5})?")  # a site whose pages may hold a frame
TAKEN = ("api", "static", "health", "metrics", "s")
ROLES = ("public", "approved", "methodologist", "admin")  # each includes those before it


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What a worker needs to start: a cube (or data and codebook), a policy, a store, and the limits of its users.

    ``rate`` is requests a minute, ``tables`` different tables a day, of a public user; approved users have
    ``APPROVED`` times as many. ``https`` says that a proxy in front speaks TLS (cookies are then Secure); ``proxy``
    that the address of a user is the last one of X-Forwarded-For. ``metrics`` opens /metrics to who asks directly.

    >>> Settings(policy="policy.toml", cube="census.cube", rate=60).mode
    'open'
    """

    policy: str
    cube: str | None = None
    data: str | None = None
    codebook: str | None = None
    table: str | None = None
    store: str = "sqlite:///discreet.db"
    mode: str = "open"
    rate: int = 600
    tables: int = 2000
    cache: int = 64
    https: bool = False
    proxy: bool = False
    metrics: bool = False
    roles: Mapping[str, str] = field(default_factory=dict)
    """The policies of roles that have one of their own, which also holds for the roles above."""

    cubes: Mapping[str, str] = field(default_factory=dict)
    """Several cubes by name, instead of one: a hub."""
    policies: Mapping[str, str] = field(default_factory=dict)
    """Of a hub, the policies of cubes that have one of their own ("at"), also of a role in one ("at/approved")."""
    first: str = ""
    """Of a hub, the cube whose addresses are also those without a name (`/api/table`), as before there were others."""
    people: str = ""
    """Of a cube in a hub, the first one that is of the same people."""

    attack_report: str = ""
    """The report of `discreet attack --json` that methodologists are shown."""
    despite_attack: bool = False
    """Whether a policy is served although the report says that it does not hold."""
    embed: tuple[str, ...] = ()
    """Origins whose pages may show tables in a frame ("https://news.example"); none unless stated."""

    key: bytes = field(default=b"", repr=False)
    """The secret of the server (``server_key.with_key``)."""

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            raise InputError(f"mode {self.mode!r} is none of {listed(MODES)}")
        if self.rate < 1 or self.tables < 1 or self.cache < 0:
            raise InputError("rate and tables must be at least 1, and the cache cannot be negative")
        for origin in self.embed:
            if not ORIGIN.fullmatch(origin):
                raise InputError(f"embed is an origin such as 'https://news.example', not {origin!r}")
        for name in self.cubes:
            if not NAME.fullmatch(name) or name in TAKEN:
                raise InputError(
                    f"a cube of a hub is called by 1 to 14 small letters, digits and hyphens, not {name!r}; rename it"
                )
        if self.first and self.first not in self.cubes:
            raise InputError(f"no cube {self.first!r} that could be the first; {nearest(self.first, self.cubes)}")
        if self.cube is None and not self.cubes and (self.data is None or self.codebook is None):
            raise InputError("give a built cube, or data with their codebook")
        for role in (*self.roles, *(name.partition("/")[2] for name in self.policies if "/" in name)):
            if role not in ROLES[1:]:
                raise InputError(f"no role {role!r} that can have a policy of its own; {nearest(role, ROLES[1:])}")
        for name in (name.partition("/")[0] for name in self.policies):
            if name not in self.cubes:
                raise InputError(f"no cube {name!r} that could have a policy of its own; {nearest(name, self.cubes)}")

    @property
    def sites(self) -> dict[str, Settings]:
        """Of a hub, the settings of each cube by itself, with the policies that hold there.

        A cube with a policy of its own has it for everybody, but for the roles that are named with it; the others have
        the common ones.

        >>> hub = Settings(policy="p", roles={"admin": "a"}, cubes={"at": "x", "de": "y"}, policies={"de": "d"})
        >>> [(one.policy, dict(one.roles)) for one in hub.sites.values()]
        [('p', {'admin': 'a'}), ('d', {})]
        """
        found = {}
        for name, folder in self.cubes.items():
            own = {key.partition("/")[2]: file for key, file in self.policies.items() if key.partition("/")[0] == name}
            policy = own.pop("", None)
            roles = own if policy else {**self.roles, **own}
            alone = replace(self, cube=folder, cubes={}, policies={}, first="")
            found[name] = replace(alone, policy=policy or self.policy, roles=roles)
        return found

    @property
    def folders(self) -> list[Path]:
        """Where the cubes lie: one, several of a hub, or none."""
        return [Path(path) for path in ([self.cube] if self.cube is not None else self.cubes.values())]

    @property
    def folder(self) -> Path | None:
        """Where the cube lies."""
        return None if self.cube is None else Path(self.cube)
