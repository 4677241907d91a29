"""Parse queue names with regular expressions (MS-MQMQ 2.1).

The parser recognises keywords first, so every name has one parse: `private$` and `system$` are never a queue
or part of a computer's name, and `;JOURNAL` is never a subqueue. Where the grammar of the document allows less
than Windows (spaces, letters beyond ASCII, suffixes of MACHINE= and PUBLIC=, ports), the parser follows Windows.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from conformance.embedded.entities import MqError
from conformance.spec.constants.hresults import (
    MQ_ERROR_ILLEGAL_FORMATNAME,
    MQ_ERROR_ILLEGAL_QUEUE_PATHNAME,
)

Json = Any
MAX_TEXT = 32_768  # characters; longer texts are refused unparsed

# Without ASCII, the long s and the dotless i would be letters of a keyword too.
_ANY_CASE = re.IGNORECASE | re.ASCII
_GUID = r"[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}"
_COMPUTER = r"[\x21-\x2B\x2D-\x3A\x3C-\x5B\x5D-\x7E]"  # printable, without comma, semicolon, backslash
_SYSTEM = "JOURNAL|DEADLETTER|DEADXACT"
_READ_ONLY = frozenset({"journal", "deadletter", "deadxact"})
_RESERVED = frozenset({"journal", "deadletter", "deadxact", "xactonly"})
_IPV4 = re.compile(r"(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!\Z)|\Z)){4}\Z", re.ASCII)
_HTTP_HOST = re.compile(r"(?:\[[0-9A-Fa-f:.]{2,45}\]|[A-Za-z0-9_.\-]{1,255})\Z")
_PORT = re.compile(r"[0-9]{1,5}\Z")
_MULTICAST = re.compile(r"((?:0|[1-9][0-9]*)(?:\.(?:0|[1-9][0-9]*)){3}):(.*)\Z", re.DOTALL)
_MULTICAST_PORT = re.compile(r"(?:0|[1-9][0-9]{0,4})\Z")
_IPX = re.compile(r"[0-9A-Fa-f]{1,8}[:.][0-9A-Fa-f]{1,12}\Z")
_PUBLIC = re.compile(rf"({_GUID})(;JOURNAL)?\Z", _ANY_CASE)
_PRIVATE = re.compile(rf"({_GUID})\\([^;]*)(;JOURNAL)?\Z", _ANY_CASE)
_PRIVATE_DIGITS = re.compile(r"[0-9A-Fa-f]{1,8}\Z")
_LIST = re.compile(rf"({_GUID})(?:@([\x21-\x2B\x2D-\x7E]{{1,255}}))?\Z")
_MACHINE = re.compile(rf"({_GUID});({_SYSTEM})\Z", _ANY_CASE)
_CONNECTOR = re.compile(rf"({_GUID})(;XACTONLY)?\Z", _ANY_CASE)
_SYSTEM_QUEUE = re.compile(rf"system\$;({_SYSTEM})\Z", _ANY_CASE)
_SYSTEM_PREFIX = re.compile(r"system\$;", _ANY_CASE)
_PRIVATE_PREFIX = re.compile(r"private\$\\", _ANY_CASE)
_PRIVATE_PREFIX_HTTP = re.compile(r"private\$[\\/]", _ANY_CASE)
_JOURNAL = re.compile(r";JOURNAL\Z", _ANY_CASE)
_HTTP_ADDRESS = re.compile(r"//(\[[^\]]*\]|[^:/\\]*)(?::[0-9]*)?/MSMQ\Z", _ANY_CASE)
_HTTP = re.compile(r"(//([^/\\]*)/MSMQ)[/\\](.*)\Z", _ANY_CASE | re.DOTALL)

# MS-MQMQ 2.1.1: the characters of a queue name, by version. MSMQ 1.0 excludes only the backslash and the semicolon.
_NAME_CHARS = r"\x20\x21\x23-\x2A\x2D-\x3A\x3C-\x5B\x5D-\x7E\x80-\uD7FF\uE000-\U0010FFFF"
_NAME_CHARS_1 = r"\x20-\x3A\x3C-\x5B\x5D-\x7E\x80-\uD7FF\uE000-\U0010FFFF"


@dataclass(frozen=True, slots=True)
class Name:
    """A parsed name. kind, parts: as in the answer to `names.parse` of the adapter protocol."""

    text: str
    kind: str
    parts: dict[str, Json] = field(default_factory=dict)

    @property
    def suffix(self) -> str | None:
        found = self.parts.get("suffix")
        return str(found) if found is not None else None

    @property
    def host(self) -> str:
        """The computer a direct name designates: the address, without the slashes, port and /MSMQ of HTTP."""
        address = str(self.parts["address"])
        found = _HTTP_ADDRESS.match(address)
        return found[1] if found else address

    @property
    def read_only(self) -> bool:
        """True for a journal or a system queue, to which no application can send."""
        return self.suffix in _READ_ONLY or self.kind == "machine"


class NameParser:
    """The parser of one MSMQ version, such as `msmq-4.0`."""

    def __init__(self, profile: str) -> None:
        self.version = int(profile.removeprefix("msmq-").partition(".")[0])
        shortest, longest = self.queue_name_lengths()
        self._queue_name = re.compile(rf"[{self.name_characters()}]{{{shortest},{longest}}}\Z")
        self._subqueue = re.compile(rf"[{_NAME_CHARS}]{{1,{self.longest_subqueue_name()}}}\Z")
        self._computer = re.compile(rf"{_COMPUTER}{{1,{self.longest_computer_name()}}}\Z")

    def name_characters(self) -> str:
        """The characters allowed in a queue name, as the inside of a regular expression's character class."""
        return _NAME_CHARS_1 if self.version == 1 else _NAME_CHARS

    def queue_name_lengths(self) -> tuple[int, int]:
        """The minimum and maximum length of a queue name, in characters."""
        return 1, 124

    def longest_subqueue_name(self) -> int:
        """The maximum length of a subqueue name, in characters."""
        return 32

    def longest_computer_name(self) -> int:
        """The maximum length of a computer name, in characters."""
        return 256

    def subqueues(self) -> bool:
        """True if this version has subqueues (2.1.1: since MSMQ 4.0)."""
        return self.version >= 4

    def private_digits(self, digits: str) -> bool:
        """Return true if the text is a number of a private format name."""
        return bool(_PRIVATE_DIGITS.match(digits))

    def port(self, digits: str) -> int | None:
        """Return the port of a multicast address; None if the text is not a port."""
        return int(digits) if _MULTICAST_PORT.match(digits) and int(digits) <= 65535 else None

    def multicast_octets(self, octets: list[int]) -> bool:
        """Return true if four numbers are a multicast address."""
        return 224 <= octets[0] <= 239 and max(octets) <= 255

    def elements(self, text: str) -> list[str]:
        """Return the elements of a multiple-element format name."""
        return text.split(",")

    def private_number(self, digits: str) -> int:
        """Return the number after the backslash of a private format name."""
        return int(digits, 16)

    def parse(self, text: str, form: str) -> Name:
        """Parse a path_name, format_name or multiple_element name. Raises MqError for an invalid name."""
        if form == "path_name":
            return self.path(text)
        if form == "multiple_element":
            return self.multiple(text)
        return self.format_name(text)

    def path(self, text: str) -> Name:
        """Parse a queue path name (2.1.1). Raises MqError(MQ_ERROR_ILLEGAL_QUEUE_PATHNAME)."""
        illegal = MqError(MQ_ERROR_ILLEGAL_QUEUE_PATHNAME)
        computer, backslash, rest = text[:MAX_TEXT].partition("\\")
        if len(text) > MAX_TEXT or not backslash or not self._computer.match(computer):
            raise illegal
        parts: dict[str, Json] = {"computer": computer}
        system = _SYSTEM_PREFIX.match(rest)
        prefix = system.end() if system else self.private_prefix(rest)
        parts["scope"] = "system" if system else "private" if prefix else "public"
        if not self._queue(rest[prefix:], parts):
            raise illegal
        return Name(text, "path", parts)

    def format_name(self, text: str) -> Name:
        """Parse one format name (2.1.2 to 2.1.6). Raises MqError(MQ_ERROR_ILLEGAL_FORMATNAME)."""
        if len(text) > MAX_TEXT:
            raise MqError(MQ_ERROR_ILLEGAL_FORMATNAME)
        keyword, equals, rest = text.partition("=")
        handler = {
            "direct": self._direct,
            "public": self._public,
            "private": self._private,
            "dl": self._distribution_list,
            "machine": self._machine,
            "connector": self._connector,
            "multicast": self._multicast,
        }.get(keyword.lower() if keyword.isascii() else "")
        found = handler(text, rest) if handler and equals else None
        if found is None:
            raise MqError(MQ_ERROR_ILLEGAL_FORMATNAME)
        return found

    def multiple(self, text: str) -> Name:
        """Parse a multiple-element format name (2.1.7): two or more elements, none of them read-only."""
        elements = self.elements(text[:MAX_TEXT])
        if len(text) > MAX_TEXT or len(elements) < 2:
            raise MqError(MQ_ERROR_ILLEGAL_FORMATNAME)
        for element in elements:
            if self.format_name(element).read_only:
                raise MqError(MQ_ERROR_ILLEGAL_FORMATNAME)
        return Name(text, "multiple_element", {"elements": elements})

    def private_prefix(self, rest: str) -> int:
        """Return the length of the keyword that marks a private queue; 0 without it."""
        found = _PRIVATE_PREFIX.match(rest)
        return found.end() if found else 0

    def _queue(self, text: str, parts: dict[str, Json]) -> bool:
        """Read `queue[;subqueue]` into parts; return False if the text is neither."""
        queue, semicolon, subqueue = text.partition(";")
        if not self._queue_name.match(queue) or queue.lower() in ("private$", "system$"):
            return False
        parts["queue"] = queue
        if semicolon:
            if not self.subqueues() or not self._subqueue.match(subqueue) or subqueue.lower() in _RESERVED:
                return False
            parts["subqueue"] = subqueue
        return True

    def _direct(self, text: str, rest: str) -> Name | None:
        protocol, colon, rest = rest.partition(":")
        parts: dict[str, Json] = {"protocol": protocol.upper()}
        if not colon or not protocol.isascii():
            return None
        if parts["protocol"] in ("HTTP", "HTTPS"):
            return self._direct_http(text, rest, parts)
        address, backslash, rest = rest.partition("\\")
        if not backslash or not self._address(str(parts["protocol"]), address):
            return None
        parts["address"] = address
        system = _SYSTEM_QUEUE.match(rest)
        if system:
            return Name(text, "direct", parts | {"scope": "system", "suffix": system[1].lower()})
        prefix = self.private_prefix(rest)
        parts["scope"] = "private" if prefix else "public"
        return self._finish_direct(text, rest[prefix:], parts)

    def _direct_http(self, text: str, rest: str, parts: dict[str, Json]) -> Name | None:
        found = _HTTP.match(rest)
        if not found:
            return None
        authority, rest = found[2], found[3]
        port = re.search(r":([^:\]]*)\Z", authority)
        host = authority[: port.start()] if port else authority
        if not _HTTP_HOST.match(host):
            return None
        parts["address"] = found[1]
        # The grammar allows an empty port, `*(%x30-39)`; it means the default.
        if port and port[1] and (not _PORT.match(port[1]) or int(port[1]) > 65535):
            return None
        prefix = _PRIVATE_PREFIX_HTTP.match(rest)
        parts["scope"] = "private" if prefix else "public"
        return self._finish_direct(text, rest[prefix.end() :] if prefix else rest, parts)

    def _finish_direct(self, text: str, rest: str, parts: dict[str, Json]) -> Name | None:
        journal = _JOURNAL.search(rest)
        if journal:
            rest = rest[: journal.start()]
            parts["suffix"] = "journal"
        if not self._queue(rest, parts) or (journal and "subqueue" in parts):
            return None  # a subqueue has no journal
        return Name(text, "direct", parts)

    def _address(self, protocol: str, address: str) -> bool:
        if protocol == "OS":
            return bool(self._computer.match(address))
        if protocol == "TCP":
            return bool(_IPV4.match(address)) or self._ipv6(address)
        if protocol in ("IPX", "SPX"):
            return bool(_IPX.match(address))
        return False

    @staticmethod
    def _ipv6(address: str) -> bool:
        if ":" not in address or len(address) > 64:
            return False
        import ipaddress  # rarely needed and slow to import

        try:
            ipaddress.IPv6Address(address)
        except ValueError:
            return False
        return True

    def _public(self, text: str, rest: str) -> Name | None:
        found = _PUBLIC.match(rest)
        return Name(text, "public", {"guid": found[1], **_journal(found[2])}) if found else None

    def _private(self, text: str, rest: str) -> Name | None:
        found = _PRIVATE.match(rest)
        if not found or not self.private_digits(found[2]):
            return None
        parts = {"guid": found[1], "identifier": self.private_number(found[2]), **_journal(found[3])}
        return Name(text, "private", parts)

    def _distribution_list(self, text: str, rest: str) -> Name | None:
        found = _LIST.match(rest)
        if not found:
            return None
        return Name(text, "distribution_list", {"guid": found[1], **({"domain": found[2]} if found[2] else {})})

    def _machine(self, text: str, rest: str) -> Name | None:
        found = _MACHINE.match(rest)
        return Name(text, "machine", {"guid": found[1], "suffix": found[2].lower()}) if found else None

    def _connector(self, text: str, rest: str) -> Name | None:
        found = _CONNECTOR.match(rest)
        if not found:
            return None
        # The two queues of a connector differ in this suffix (2.2.11); applications can send to both.
        return Name(text, "connector", {"guid": found[1], **({"suffix": "xactonly"} if found[2] else {})})

    def _multicast(self, text: str, rest: str) -> Name | None:
        found = _MULTICAST.match(rest) if self.version >= 3 else None  # 2.1.6: introduced in MSMQ 3.0
        # A number with more digits than an octet needs no conversion.
        octets = [int(octet) for octet in found[1].split(".") if len(octet) <= 5] if found else []
        port = self.port(found[2]) if found else None
        if not found or len(octets) < 4 or not self.multicast_octets(octets) or port is None:
            return None
        return Name(text, "multicast", {"address": found[1], "port": port})


def _journal(suffix: str | None) -> dict[str, Json]:
    return {"suffix": "journal"} if suffix else {}
