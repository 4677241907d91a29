"""Hosts and ports as users write them, and which of them may be sent packets.

A loopback address needs nothing. Any other host needs its own word a second time (`Permit.owned`), and a public address
a typed yes as well. A name is resolved once, and everything afterwards uses the address that was found: no packet goes
to a host that nobody named. Ranges, lists and the short forms of IPv4 that resolvers understand are refused.
"""

from __future__ import annotations

import ipaddress
import os
import re
import socket
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass

MSMQ_PORT, PING_PORT = 1801, 3527
"""The ports of MS-MQQB 2.1: TCP for sessions, UDP for pings."""
RESOLVE_S = 5.0
"""Seconds that the resolution of a name may take."""
OWNED, LAB, YES, FOUND = "MQCONFORM_I_OWN_THIS", "MQCONFORM_LAB", "MQCONFORM_TYPED_YES", "MQCONFORM_ADDRESS"
"""Variables by which a command tells its own worker processes what its user permitted."""

_LABEL = r"[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?"
_NAME = re.compile(rf"{_LABEL}(?:\.{_LABEL})*\.?")
_LOCAL = "localhost"
_SHOWN = 60  # Characters of a wrong word in a message.

Ask = Callable[[str], bool]
"""Shows a sentence at a terminal and tells whether the user typed yes."""


class AddressError(ValueError):
    """A host or port cannot be meant, or must not be sent anything; the message is one sentence."""


class UnresolvedError(AddressError):
    """The name of a host has no address."""


@dataclass(frozen=True, slots=True)
class Place:
    """A host, as a name or address, and a TCP or UDP port."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def pair(self) -> tuple[str, int]:
        """The place as the socket module takes it."""
        return self.host, self.port


@dataclass(frozen=True, slots=True)
class Permit:
    """The user's word. owned: the host that was named a second time. lab: malformed packets may leave this machine.

    yes: the public address to which a typed yes was given. found: the address of the host, once it was resolved.
    """

    owned: str | None = None
    lab: bool = False
    yes: str | None = None
    found: str | None = None

    @classmethod
    def of_environment(cls, environment: Mapping[str, str] = os.environ) -> Permit:
        """Read what the command that started this process was permitted."""
        owned, yes, found = (environment.get(name) or None for name in (OWNED, YES, FOUND))
        return cls(owned, environment.get(LAB) == "1", yes, found)

    def to_environment(self) -> dict[str, str]:
        """Return the variables that `of_environment` reads."""
        told = {OWNED: self.owned, LAB: "1" if self.lab else None, YES: self.yes, FOUND: self.found}
        return {name: value for name, value in told.items() if value}


@dataclass(frozen=True, slots=True)
class Target:
    """A host that may be sent packets. word: as the user named it. address: the one that is used. public: on the
    internet."""

    word: str
    address: str
    loopback: bool
    public: bool

    @property
    def family(self) -> socket.AddressFamily:
        """The family of its sockets."""
        return socket.AF_INET6 if ":" in self.address else socket.AF_INET


def place(text: str, port: int = MSMQ_PORT, *, free: bool = False) -> Place:
    """Read `HOST`, `HOST:PORT` or `[IPv6]:PORT`. port: the default. free: 0, any free port, is allowed.

    Raises AddressError.
    """
    form = re.fullmatch(r"(?:\[([^\]]*)\]|([^:\[\]]*))(?::([0-9]{1,5}))?", text, re.ASCII)
    if form is None and text.count(":") > 1:
        return Place(one_host(text), port)
    number = port if form is None or form[3] is None else int(form[3])
    if form is None or not (0 if free else 1) <= number < 65536:
        raise AddressError(f"{_short(text)} is no address: write HOST:PORT, with a port from 1 to 65535.")
    return Place(one_host(form[1] or form[2] or ""), number)


def one_host(text: str) -> str:
    """Return the name or address of exactly one host. Raises AddressError for anything that may mean several."""
    try:
        return str(ipaddress.ip_address(text))
    except ValueError:
        pass
    if not _NAME.fullmatch(text) or len(text) > 253:
        raise AddressError(f"{_short(text)} does not name one host: give one name or address, no range and no list.")
    if re.match(r"[0-9]", text.rstrip(".").rpartition(".")[2]):
        # Resolvers read 127.1, 0x7f.1 and 2130706433 as addresses, and 10.0.0.1-9 looks like a name.
        raise AddressError(f"{_short(text)} does not name one host: write an IPv4 address with four numbers.")
    return text


def target(host: str, permit: Permit, ask: Ask | None = None) -> Target:
    """Return the host to send packets to.

    ask: for a yes to a public address, None without a terminal. Raises AddressError, before any resolution when the
    host was not named twice; UnresolvedError for a name without an address.
    """
    word = one_host(host)
    literal = _literal(word)
    near = word.lower() == _LOCAL or (literal is not None and literal.is_loopback)
    if not near and permit.owned != word:
        said = f"{word} is not this machine: say --i-own-this {word} if it is yours to test."
        if permit.owned is not None:
            said = f"--i-own-this {_short(permit.owned)} does not name {word}: both words must be the same."
        raise AddressError(said)
    known = None if near or permit.found is None else _literal(permit.found)
    found = literal or known or _resolved(word)
    if near and not found.is_loopback:
        raise AddressError(f"{word} is {found} here, which is not this machine.")
    if not found.is_loopback and (found.is_multicast or found.is_unspecified or found.is_reserved):
        raise AddressError(f"{word} is {found}, which is not the address of one host.")
    public = found.is_global
    if public and permit.yes != str(found):
        question = f"{word} is {found}, an address of the public internet."
        if ask is None or not ask(question):
            raise AddressError(f"{question} Packets go there only after a typed yes at a terminal.")
    return Target(word, str(found), found.is_loopback, public)


def _literal(word: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        found = ipaddress.ip_address(word)
    except ValueError:
        return None
    return getattr(found, "ipv4_mapped", None) or found


def _resolved(word: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    """Ask for the addresses of a name once, and take the first, an IPv4 address if there is one."""
    answers: list[list[str]] = []

    def resolve() -> None:
        try:
            found = socket.getaddrinfo(word, None, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError):
            found = []
        answers.append([str(each[4][0]) for each in sorted(found, key=lambda each: each[0] != socket.AF_INET)])

    asking = threading.Thread(target=resolve, daemon=True)
    asking.start()
    asking.join(RESOLVE_S)
    if not answers:
        raise UnresolvedError(f"{word} was not resolved within {RESOLVE_S:g} s.")
    if not answers[0]:
        raise UnresolvedError(f"{word} has no address: check the name.")
    return ipaddress.ip_address(answers[0][0].partition("%")[0])


def near(address: str) -> bool:
    """Tell whether an address is one of this machine's loopback addresses."""
    found = _literal(address)
    return found is not None and found.is_loopback


def _short(text: str) -> str:
    shown = text if text.isprintable() else ascii(text)[1:-1]
    return (shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}...") or "''"
