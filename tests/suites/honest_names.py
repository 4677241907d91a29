"""An honest parser of queue names for the tests of the suite: MSMQ 4.0 under the windows readings, plain string work.

Deviations are subclasses named after their defect.
"""

from __future__ import annotations

import ipaddress
import string
from typing import Any

import honest_names as parsers

from conformance.adapter.session import Result

MALFORMED_PATH, MALFORMED_FORMAT = 0xC00E0014, 0xC00E001E
HEX = frozenset(string.hexdigits)
DIGITS = frozenset(string.digits)
SYSTEM = ("journal", "deadletter", "deadxact")


class Refused(Exception):
    """The text is no name."""


def need(condition: bool) -> None:
    if not condition:
        raise Refused


class HonestNames:
    """`parse` answers as the adapter protocol's names.parse does."""

    forbidden = '\\;+,"'
    path_code = MALFORMED_PATH

    def parse(self, text: str, form: str) -> dict[str, Any]:
        taken = {"path_name": self.path, "format_name": self.format, "multiple_element": self.multiple}[form]
        try:
            kind, parts = taken(text)
        except Refused:
            return {"status": self.path_code if form == "path_name" else MALFORMED_FORMAT}
        return {"status": 0, "kind": kind, "parts": parts}

    def path(self, text: str) -> tuple[str, dict[str, Any]]:
        computer, separator, rest = text.partition("\\")
        need(bool(separator) and 0 < len(computer) <= 256)
        need(all("!" <= char <= "~" and char not in ";," for char in computer))
        if rest.casefold().startswith("system$;"):
            return "path", {"computer": computer, "scope": "system", **self.queue(rest[8:], subqueue=False)}
        return "path", {"computer": computer, **self.scoped(rest)}

    def scoped(self, rest: str) -> dict[str, Any]:
        if rest.casefold().startswith("private$\\"):
            return {"scope": "private", **self.queue(rest[9:])}
        return {"scope": "public", **self.queue(rest)}

    def queue(self, text: str, *, subqueue: bool = True) -> dict[str, Any]:
        name, semicolon, sub = text.partition(";")
        need(0 < len(name) <= 124 and self.spelled(name))
        if not semicolon:
            return {"queue": name}
        need(subqueue and 0 < len(sub) <= 32 and self.spelled(sub))
        return {"queue": name, "subqueue": sub}

    def spelled(self, name: str) -> bool:
        return all(char >= " " and char != "\x7f" and char not in self.forbidden for char in name)

    def format(self, text: str) -> tuple[str, dict[str, Any]]:
        prefix, equals, rest = text.partition("=")
        need(bool(equals))
        table = {
            "direct": self.direct,
            "public": self.public,
            "private": self.private,
            "dl": self.distribution_list,
            "machine": self.machine,
            "connector": self.connector,
            "multicast": self.multicast,
        }
        need(prefix.casefold() in table)
        kind = {"dl": "distribution_list"}.get(prefix.casefold(), prefix.casefold())
        return kind, table[prefix.casefold()](rest)

    def direct(self, rest: str) -> dict[str, Any]:
        protocol, colon, rest = rest.partition(":")
        need(bool(colon))
        if protocol.casefold() in ("http", "https"):
            return {"protocol": protocol, **self.http(rest)}
        need(protocol.casefold() in ("tcp", "os", "ipx", "spx"))
        address, separator, rest = rest.partition("\\")
        need(bool(address) and bool(separator))
        if protocol.casefold() == "tcp" and ":" in address:
            need(self.ipv6(address))
        elif protocol.casefold() == "tcp":
            octets = address.split(".")
            need(len(octets) == 4 and all(octet and set(octet) <= DIGITS and int(octet) < 256 for octet in octets))
        found: dict[str, Any] = {"protocol": protocol, "address": address}
        if rest.casefold().startswith("system$;"):
            need(rest[8:].casefold() in SYSTEM)
            return {**found, "scope": "system", "suffix": rest[8:].casefold()}
        return {**found, **self.journalled(rest)}

    def ipv6(self, address: str) -> bool:
        try:
            return bool(ipaddress.IPv6Address(address))
        except ValueError:
            return False

    def journalled(self, rest: str) -> dict[str, Any]:
        if rest.casefold().endswith(";journal"):
            need(";" not in rest[:-8])
            return {**self.scoped(rest[:-8]), "suffix": "journal"}
        return self.scoped(rest)

    def http(self, rest: str) -> dict[str, Any]:
        at = rest.casefold().find("/msmq", 2)
        need(rest.startswith("//") and at > 2 and rest[at + 5 : at + 6] in ("/", "\\"))
        host, _, port = rest[2:at].partition(":")
        need("[" not in host)  # an address of an IP version to come is none yet
        need(bool(host) and "/" not in host and "\\" not in host and set(port) <= DIGITS)
        need(not port or int(port[:6]) < 65536)
        return {"address": rest[: at + 5], **self.scoped(rest[at + 6 :].replace("/", "\\"))}

    def guid(self, text: str) -> str:
        groups = text.split("-")
        need([len(group) for group in groups] == [8, 4, 4, 4, 12] and all(set(group) <= HEX for group in groups))
        return text

    def suffixed(self, rest: str, allowed: tuple[str, ...]) -> tuple[str, dict[str, str]]:
        head, semicolon, suffix = rest.partition(";")
        need(not semicolon or suffix.casefold() in allowed)
        return head, {"suffix": suffix.casefold()} if semicolon else {}

    def public(self, rest: str) -> dict[str, Any]:
        head, suffix = self.suffixed(rest, ("journal",))
        return {"guid": self.guid(head), **suffix}

    def private(self, rest: str) -> dict[str, Any]:
        head, suffix = self.suffixed(rest, ("journal",))
        guid, _, number = head.partition("\\")
        need(0 < len(number) <= 8 and set(number) <= HEX)
        return {"guid": self.guid(guid), "identifier": int(number, 16), **suffix}

    def distribution_list(self, rest: str) -> dict[str, Any]:
        guid, at, domain = rest.partition("@")
        need(not at or (0 < len(domain) <= 255 and all("!" <= char <= "~" and char != "," for char in domain)))
        return {"guid": self.guid(guid), **({"domain": domain} if at else {})}

    def machine(self, rest: str) -> dict[str, Any]:
        head, suffix = self.suffixed(rest, SYSTEM)
        need(bool(suffix))
        return {"guid": self.guid(head), **suffix}

    def connector(self, rest: str) -> dict[str, Any]:
        head, suffix = self.suffixed(rest, ("xactonly",))
        return {"guid": self.guid(head), **suffix}

    def multicast(self, rest: str) -> dict[str, Any]:
        address, colon, port = rest.partition(":")
        octets = address.split(".")
        need(bool(colon) and len(octets) == 4 and all(map(self.number, octets)) and self.number(port))
        need(all(int(octet) < 256 for octet in octets) and 224 <= int(octets[0]) <= 239 and int(port) < 65536)
        return {"address": address, "port": int(port)}

    def number(self, text: str) -> bool:
        return 0 < len(text) <= 5 and set(text) <= DIGITS and (text == "0" or text[0] != "0")

    def multiple(self, text: str) -> tuple[str, dict[str, Any]]:
        elements = text.split(",")
        need(len(elements) > 1)
        for element in elements:
            kind, parts = self.format(element)
            need(kind != "machine" and parts.get("suffix") in (None, "xactonly"))
        return "multiple_element", {"elements": elements}


class AcceptsPlusInQueueName(HonestNames):
    forbidden = '\\;,"'


class WrongCode(HonestNames):
    path_code = MALFORMED_FORMAT


class RefusesUppercasePrivate(HonestNames):
    def scoped(self, rest: str) -> dict[str, Any]:
        need(not rest.startswith("PRIVATE$"))
        return super().scoped(rest)


class TakesPrivateForPublic(HonestNames):
    def scoped(self, rest: str) -> dict[str, Any]:
        return {**super().scoped(rest), "scope": "public"}


class ReadsIdentifierAsDecimal(HonestNames):
    def private(self, rest: str) -> dict[str, Any]:
        parts = super().private(rest)
        number = rest.partition("\\")[2].partition(";")[0]
        return {**parts, "identifier": int(number)} if set(number) <= DIGITS else parts


class TellsMachineAsPublic(HonestNames):
    def format(self, text: str) -> tuple[str, dict[str, Any]]:
        kind, parts = super().format(text)
        return "public" if kind == "machine" else kind, parts


class AcceptsAnyDigit(HonestNames):
    def number(self, text: str) -> bool:
        return text.isdecimal() and super().number(str(int(text)))


class StripsSpace(HonestNames):
    def parse(self, text: str, form: str) -> dict[str, Any]:
        return super().parse(text.strip(), form)


class AcceptsEverything(HonestNames):
    def parse(self, text: str, form: str) -> dict[str, Any]:
        return {"status": 0, "kind": "path" if form == "path_name" else "direct", "parts": {}}


class RefusesEverything(HonestNames):
    def parse(self, text: str, form: str) -> dict[str, Any]:
        return {"status": MALFORMED_FORMAT}


class BreaksAfterHostileName(HonestNames):
    broken = False

    def parse(self, text: str, form: str) -> dict[str, Any]:
        answer = super().parse(text, form)
        self.broken = self.broken or len(text) > 2000
        return {"status": MALFORMED_PATH} if self.broken else answer


class InMemoryClient:
    """The calls the checks make, answered by a parser in this process."""

    def __init__(self, parser: parsers.HonestNames) -> None:
        self.parser = parser

    def call(self, method: str, /, **params: Any) -> Result:
        assert method == "names.parse"
        return Result.from_json(self.parser.parse(**params))

    def offers(self, method: str) -> bool:
        return method == "names.parse"
