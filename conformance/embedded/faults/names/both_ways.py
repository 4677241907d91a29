"""Faults of the parser of queue names: it reads a disputed rule in two ways (MS-MQMQ 2.1).

Each answer can be defended by itself; no single reading explains all of them.
"""

from __future__ import annotations

import re

from conformance.embedded.faults.base import fault
from conformance.embedded.names import Name, NameParser


@fault("refuses-shortened-ipv6-address", "names", "MQMQ-2.1.2.tcp-ipv6", "MQMQ-2.1.2.tcp")
class RefusesShortenedIpv6Address(NameParser):
    """IPv6 addresses are known, but not those that leave out zeros."""

    @staticmethod
    def _ipv6(address: str) -> bool:
        return "::" not in address and NameParser._ipv6(address)


@fault("refuses-empty-port-of-https", NameParser._direct_http, "MQMQ-2.1.2.http-port-empty", "MQMQ-2.1.2.https")
def refuses_empty_port_of_https(plain, self, text, rest, parts):
    """Behind the colon of an HTTP name there may be no port; behind that of an HTTPS name there must be one."""
    empty = parts["protocol"] == "HTTPS" and re.match(r"//[^/\\]*:/", rest)
    return None if empty else plain(text, rest, parts)


@fault("accepts-large-port-of-https", NameParser._direct_http, "MQMQ-2.1.2.http-port-range")
def accepts_large_port_of_https(plain, self, text, rest, parts):
    """A port above 65535 is refused in an HTTP name and accepted in an HTTPS name."""
    port = re.match(r"//[^/\\:]*:([6-9][0-9]{4})(?=/)", rest, re.ASCII)
    if parts["protocol"] != "HTTPS" or port is None:
        return plain(text, rest, parts)
    found = plain(text, rest[: port.start(1)] + "60000" + rest[port.end(1) :], parts)
    if found is None:
        return None
    address = rest[: len(str(found.parts["address"]))]
    return Name(text, found.kind, found.parts | {"address": address})


@fault("refuses-private-queue-over-ipx", NameParser._direct, "MQMQ-2.1.2.private-queue", "MQMQ-2.1.2.ipx")
def refuses_private_queue_over_ipx(plain, self, text, rest):
    """IPX is a protocol of the direct names of public queues, not of private ones."""
    found = plain(text, rest)
    lost = found is not None and found.parts["protocol"] == "IPX" and found.parts["scope"] == "private"
    return None if lost else found


@fault("accepts-journal-of-public-subqueue", NameParser._finish_direct, "MQMQ-2.1.2.journal-of-subqueue")
def accepts_journal_of_public_subqueue(plain, self, text, rest, parts):
    """The subqueue of a public queue has a journal, that of a private one has none."""
    queue, semicolon, suffix = rest.rpartition(";")
    read = dict(parts)
    journal = semicolon and suffix.upper() == "JOURNAL" and parts["scope"] == "public"
    if journal and self._queue(queue, read) and "subqueue" in read:
        return Name(text, "direct", read | {"suffix": "journal"})
    return plain(text, rest, parts)


@fault("keeps-to-seven-bits", NameParser.name_characters, "MQMQ-2.1.1.queue-name-space-reject")
def keeps_to_seven_bits(plain, self):
    """A queue's name may have spaces and DEL in it, but no character outside ASCII."""
    return r"\x20\x21\x23-\x2A\x2D-\x3A\x3C-\x5B\x5D-\x7F"


@fault("accepts-port-filled-with-zeros", NameParser.port, "MQMQ-2.1.6.port-zero-reject")
def accepts_port_filled_with_zeros(plain, self, digits):
    """The port of a multicast name may have leading zeros when it has five digits with them, and none otherwise."""
    filled = re.fullmatch("0[0-9]{4}", digits)
    return int(digits) if filled else plain(digits)


@fault("accepts-single-public-element", NameParser.multiple, "MQMQ-2.1.7.single")
def accepts_single_public_element(plain, self, text):
    """A public name alone is a multiple-element name; a name of another kind alone is none."""
    if "," in text or not text.upper().startswith("PUBLIC="):
        return plain(text)
    self.format_name(text)
    return Name(text, "multiple_element", {"elements": [text]})
