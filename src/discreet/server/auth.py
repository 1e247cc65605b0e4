"""Who asks: passwords and tokens (kept as hashes), sessions, roles, and tokens against forged forms."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import hashlib
import hmac
import ipaddress
import re
import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.responses import Response

from discreet.errors import InputError, listed
from discreet.server.record.server_key import keyed_name
from discreet.server.record.store import Store, Unreachable
from discreet.server.settings import ROLES, Settings

SESSION, NONCE = "discreet_session", "discreet_form"
SESSION_SECONDS = 8 * 3600
TOKEN_SECONDS = 30.0  # how long a checked token is believed without asking the store again
DAY = 86_400  # an address has another name each day
KEY_SECONDS = 5.0  # between two looks at the keys
APPROVED = 5  # times the limits of the public
SITE_BITS, SITE = 48, 16  # of IPv6 a site has 65,536 networks to turn to: together so many times the limits of one
COST = {"n": 2**14, "r": 8, "p": 1}
MOST_FORM = 16_384  # bytes: an address, with its signs written out, and room
TOKEN = re.compile("dsc_[0-9a-f]{12}_[0-9a-f]{48}")


@dataclass(frozen=True)
class Caller:
    """Somebody who asks: the name that goes into the record, the role, and the site of an address of IPv6."""

    who: str
    role: str = "public"
    signed_in: bool = False
    site: str = field(default="", compare=False)

    def may(self, role: str) -> bool:
        """Whether the role includes another."""
        return ROLES.index(self.role) >= ROLES.index(role)

    @property
    def share(self) -> int:
        """How many times the public's limits this caller has."""
        return APPROVED if self.may("approved") else 1

    @property
    def limited(self) -> tuple[tuple[str, int], ...]:
        """Who is limited when this caller asks, each with so many times the public's limits: the caller, then the site.

        In this order, so that what a caller asks beyond its own limit is not at the cost of the site.
        """
        return ((self.who, self.share), *([(self.site, SITE)] if self.site else []))


class Gate:
    """Turns a request into a caller."""

    def __init__(self, store: Store, settings: Settings) -> None:
        self.store, self.settings = store, settings
        self.read_keys()
        self._checked: dict[bytes, tuple[float, Caller]] = {}

    def read_keys(self) -> None:
        """The keys that all servers share, as the store has them now."""
        self.form_key = self.store.key("forms")
        # The store's part changes when keys are rotated; without the server's own, a reader of the store could try all
        # addresses.
        self.address_key = hmac.new(self.settings.key, self.store.key("addresses"), "sha256").digest()

    async def follow_keys(self) -> None:
        """Take up new keys soon after they were made: a caller has one name, whichever server is asked."""
        while True:
            await asyncio.sleep(KEY_SECONDS)
            with contextlib.suppress(Unreachable):  # nothing is answered meanwhile, and the old ones do no harm
                await asyncio.to_thread(self.read_keys)

    async def admit(self, request: Request) -> Caller:
        """The caller; what takes long, the store or a hash, is done off the event loop."""
        header = request.headers.get("authorization", "")
        scheme, _, token = header.partition(" ")
        if scheme.lower() == "bearer" and (known := self._believed(token.strip())):
            return known
        if header or self.cookie(SESSION) in request.cookies:
            return await asyncio.to_thread(self.caller, request)
        return self.stranger(request)

    def caller(self, request: Request) -> Caller:
        """By token, by session, or as one of the public, known by a keyed hash of the address. May ask the store.

        A token that is wrong is an error, not a way to be one of the public.
        """
        header = request.headers.get("authorization", "")
        if header:
            scheme, _, token = header.partition(" ")
            found = self.by_token(token.strip()) if scheme.lower() == "bearer" else None
            if found is None:
                raise PermissionError
            return found
        if name := request.cookies.get(self.cookie(SESSION)):
            user = self.store.session(name)
            if user is not None:
                return Caller(f"user:{user['name']}", user["role"], signed_in=True)
        return self.stranger(request)

    def stranger(self, request: Request) -> Caller:
        """One of the public."""
        address = self._address(request)
        network, site = network_of(address), network_of(address, SITE_BITS)
        return Caller(
            f"address:{self._address_name(network)}", site=f"site:{self._address_name(site)}" if site != network else ""
        )

    def by_token(self, token: str) -> Caller | None:
        """The owner of a token. A checked token is remembered for a moment, by its hash."""
        if known := self._believed(token):
            return known
        if not TOKEN.fullmatch(token):  # nothing that was ever given out: the store is not asked
            return None
        identity, _, secret = token.removeprefix("dsc_").partition("_")
        row = self.store.token(identity)
        if row is None or not matches(secret, row["hash"]):
            return None
        if row["hash"].startswith("scrypt$"):  # of an earlier version: from now on it is checked in microseconds
            self.store.change_token(identity, token_hash(secret))
        caller = Caller(f"user:{row['name']}", row["role"], signed_in=True)
        if len(self._checked) > 1000:
            self._checked.clear()
        self._checked[hashlib.sha256(token.encode()).digest()] = (time.monotonic() + TOKEN_SECONDS, caller)
        return caller

    def _believed(self, token: str) -> Caller | None:
        until, caller = self._checked.get(hashlib.sha256(token.encode()).digest(), (0.0, None))
        return caller if until > time.monotonic() else None

    def sign_in(self, name: str, password: str) -> str | None:
        """A new session's name, or None. Takes as long for a name that does not exist."""
        user = self.store.user(name) if is_name(name) else None
        known = user is not None and user["active"] and user["password"]
        if not matches(password, user["password"] if known and user else DUMMY) or not known or user is None:
            return None
        return self.store.open_session(user["id"], SESSION_SECONDS)

    # -- cookies and forms --------------------------------------------------------------------------------------

    def cookie(self, name: str) -> str:
        """The cookie's name; behind TLS one that a browser ties to this very host."""
        return f"__Host-{name}" if self.settings.https else name

    def set_cookie(self, response: Response, name: str, value: str, seconds: int) -> None:
        """A cookie that scripts cannot read and other sites cannot send along with forms."""
        response.set_cookie(
            self.cookie(name), value, max_age=seconds, path="/", httponly=True, samesite="lax",
            secure=self.settings.https,
        )  # fmt: skip

    def form_token(self, request: Request) -> tuple[str, str]:
        """The nonce of this browser (to be set as a cookie) and the token that its forms carry."""
        nonce = request.cookies.get(self.cookie(NONCE), "")
        nonce = nonce if len(nonce) == 32 and nonce.isalnum() else secrets.token_hex(16)
        return nonce, self._sign(nonce)

    async def form(self, request: Request) -> Mapping[str, str] | None:
        """The fields of a form that this browser got from us, or None."""
        body = b""
        async for chunk in request.stream():
            body += chunk
            if len(body) > MOST_FORM:
                return None
        values = parse_qs(body.decode("utf-8", "replace"), keep_blank_values=True)
        if any(len(several) > 1 for several in values.values()):
            return None
        fields = {name: only for name, (only,) in values.items()}
        nonce = request.cookies.get(self.cookie(NONCE), "")
        good = hmac.compare_digest(self._sign(nonce).encode(), fields.get("token", "").encode())
        return fields if nonce and good else None

    def _sign(self, nonce: str) -> str:
        return hmac.new(self.form_key, nonce.encode(), "sha256").hexdigest()

    def account(self, name: str) -> str:
        """A name that somebody tries to sign in by, as a keyed hash: what is typed there may be a password."""
        return keyed_name(self.address_key, "account", name)

    def _address(self, request: Request) -> str:
        address = request.client.host if request.client else ""
        if self.settings.proxy and (forwarded := request.headers.get("x-forwarded-for")):
            address = forwarded.rsplit(",", 1)[-1].strip()
        return address

    def _address_name(self, network: str) -> str:
        """A name of the day, which nobody can turn back into the address."""
        return keyed_name(self.address_key, str(int(time.time()) // DAY), network)


@lru_cache(maxsize=4096)
def network_of(address: str, bits: int = 64) -> str:
    """Who an address stands for: of IPv6 the network that one customer has, of which any number can be used in turn.

    >>> network_of("2001:db8:1:2:3::4"), network_of("::ffff:192.0.2.1"), network_of("192.0.2.1"), network_of("x")
    ('2001:db8:1:2::/64', '192.0.2.1', '192.0.2.1', 'x')
    """
    try:
        whole = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(whole, ipaddress.IPv4Address):
        return str(whole)
    return str(whole.ipv4_mapped or ipaddress.ip_network((whole, bits), strict=False))


# -- hashes -----------------------------------------------------------------------------------------------------


def hashed(secret: str) -> str:
    """A password or token as scrypt hash with its salt.

    >>> matches("correct horse", hashed("correct horse")), matches("wrong", hashed("correct horse"))
    (True, False)
    """
    salt = secrets.token_bytes(16)
    return f"scrypt${_text(salt)}${_text(_scrypt(secret, salt))}"


def token_hash(secret: str) -> str:
    """The hash of a token's secret part: 192 random bits need no slow one, and a wrong token shall cost nothing."""
    return f"sha256$${_text(hashlib.sha256(secret.encode()).digest())}"


def matches(secret: str, kept: str) -> bool:
    """Whether a secret is the one that was hashed, compared in constant time."""
    if kept.startswith("sha256$"):
        return hmac.compare_digest(token_hash(secret).encode(), kept.encode())
    _, salt, digest = kept.split("$")
    return hmac.compare_digest(_scrypt(secret, base64.b64decode(salt)), base64.b64decode(digest))


def _scrypt(secret: str, salt: bytes) -> bytes:
    return hashlib.scrypt(secret.encode(), salt=salt, dklen=32, **COST)


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()


DUMMY = f"scrypt${_text(bytes(16))}${_text(bytes(32))}"


def new_user(store: Store, name: str, role: str, password: str | None) -> None:
    """Add a user; a password has at least 12 characters."""
    if role not in ROLES:
        raise InputError(f"role {role!r} is none of {listed(ROLES)}")
    if not is_name(name):
        raise InputError("a user's name has 1 to 100 printable characters and no colon")
    store.add_user(name, role, None if password is None else hashed(checked_password(password)))


def is_name(name: str) -> bool:
    """Whether a user could have this name; what a form sends may hold anything."""
    return 0 < len(name) <= 100 and name.isprintable() and ":" not in name


def checked_password(password: str) -> str:
    """A password that is long enough."""
    if len(password) < 12:
        raise InputError("a password has at least 12 characters")
    return password


def new_token(store: Store, name: str) -> str:
    """A new token of a user, shown this once."""
    user = store.user(name)
    if user is None:
        raise InputError(f"no user {name!r}")
    identity, secret = secrets.token_hex(6), secrets.token_hex(24)
    store.add_token(user["id"], identity, token_hash(secret))
    return f"dsc_{identity}_{secret}"
