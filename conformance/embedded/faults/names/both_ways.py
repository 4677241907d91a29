"""Faults of the parser of queue names: it reads a disputed rule in two ways (MS-MQMQ 2.1).

Each answer can be defended by itself; no single reading explains all of them.
"""

from __future__ import annotations

import re

from conformance.embedded.faults.base import Fault
from conformance.embedded.names import Json, Name, NameParser


class _FullIpv6Parser(NameParser):
    @staticmethod
    def _ipv6(address: str) -> bool:
        return "::" not in address and NameParser._ipv6(address)


class RefusesShortenedIpv6Address(Fault):
    """IPv6 addresses are known, but not those that leave out zeros."""

    name = "refuses-shortened-ipv6-address"
    breaks = (
        "MQMQ-2.1.2.tcp-ipv6",
        "MQMQ-2.1.2.tcp",
    )
    replaces = ("names", _FullIpv6Parser)


class _EmptyPortParser(NameParser):
    def _direct_http(self, text: str, rest: str, parts: dict[str, Json]) -> Name | None:
        empty = parts["protocol"] == "HTTPS" and re.match(r"//[^/\\]*:/", rest)
        return None if empty else super()._direct_http(text, rest, parts)


class RefusesEmptyPortOfHttps(Fault):
    """Behind the colon of an HTTP name there may be no port; behind that of an HTTPS name there must be one."""

    name = "refuses-empty-port-of-https"
    breaks = (
        "MQMQ-2.1.2.http-port-empty",
        "MQMQ-2.1.2.https",
    )
    replaces = ("names", _EmptyPortParser)


class _LargePortParser(NameParser):
    def _direct_http(self, text: str, rest: str, parts: dict[str, Json]) -> Name | None:
        port = re.match(r"//[^/\\:]*:([6-9][0-9]{4})(?=/)", rest, re.ASCII)
        if parts["protocol"] != "HTTPS" or port is None:
            return super()._direct_http(text, rest, parts)
        found = super()._direct_http(text, rest[: port.start(1)] + "60000" + rest[port.end(1) :], parts)
        if found is None:
            return None
        address = rest[: len(str(found.parts["address"]))]
        return Name(text, found.kind, found.parts | {"address": address})


class AcceptsLargePortOfHttps(Fault):
    """A port above 65535 is refused in an HTTP name and accepted in an HTTPS name."""

    name = "accepts-large-port-of-https"
    breaks = ("MQMQ-2.1.2.http-port-range",)
    replaces = ("names", _LargePortParser)


class _PublicOnlyOverIpxParser(NameParser):
    def _direct(self, text: str, rest: str) -> Name | None:
        found = super()._direct(text, rest)
        lost = found is not None and found.parts["protocol"] == "IPX" and found.parts["scope"] == "private"
        return None if lost else found


class RefusesPrivateQueueOverIpx(Fault):
    """IPX is a protocol of the direct names of public queues, not of private ones."""

    name = "refuses-private-queue-over-ipx"
    breaks = (
        "MQMQ-2.1.2.private-queue",
        "MQMQ-2.1.2.ipx",
    )
    replaces = ("names", _PublicOnlyOverIpxParser)


class _PublicSubqueueParser(NameParser):
    def _finish_direct(self, text: str, rest: str, parts: dict[str, Json]) -> Name | None:
        queue, semicolon, suffix = rest.rpartition(";")
        read = dict(parts)
        journal = semicolon and suffix.upper() == "JOURNAL" and parts["scope"] == "public"
        if journal and self._queue(queue, read) and "subqueue" in read:
            return Name(text, "direct", read | {"suffix": "journal"})
        return super()._finish_direct(text, rest, parts)


class AcceptsJournalOfPublicSubqueue(Fault):
    """The subqueue of a public queue has a journal, that of a private one has none."""

    name = "accepts-journal-of-public-subqueue"
    breaks = ("MQMQ-2.1.2.journal-of-subqueue",)
    replaces = ("names", _PublicSubqueueParser)


class _SevenBitParser(NameParser):
    def name_characters(self) -> str:
        return r"\x20\x21\x23-\x2A\x2D-\x3A\x3C-\x5B\x5D-\x7F"


class KeepsToSevenBits(Fault):
    """A queue's name may have spaces and DEL in it, but no character outside ASCII."""

    name = "keeps-to-seven-bits"
    breaks = ("MQMQ-2.1.1.queue-name-space-reject",)
    replaces = ("names", _SevenBitParser)


class _ZerosParser(NameParser):
    def port(self, digits: str) -> int | None:
        filled = re.fullmatch("0[0-9]{4}", digits)
        return int(digits) if filled else super().port(digits)


class AcceptsPortFilledWithZeros(Fault):
    """The port of a multicast name may have leading zeros when it has five digits with them, and none otherwise."""

    name = "accepts-port-filled-with-zeros"
    breaks = ("MQMQ-2.1.6.port-zero-reject",)
    replaces = ("names", _ZerosParser)


class _SinglePublicParser(NameParser):
    def multiple(self, text: str) -> Name:
        if "," in text or not text.upper().startswith("PUBLIC="):
            return super().multiple(text)
        self.format_name(text)
        return Name(text, "multiple_element", {"elements": [text]})


class AcceptsSinglePublicElement(Fault):
    """A public name alone is a multiple-element name; a name of another kind alone is none."""

    name = "accepts-single-public-element"
    breaks = ("MQMQ-2.1.7.single",)
    replaces = ("names", _SinglePublicParser)
