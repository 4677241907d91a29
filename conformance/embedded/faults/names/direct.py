"""Faults of the parser of queue names: direct names, by protocol, scope and suffix (MS-MQMQ 2.1.2)."""

from __future__ import annotations

import re

from conformance.embedded.faults.base import Fault
from conformance.embedded.names import Json, Name, NameParser


class _HostForAddressParser(NameParser):
    def _address(self, protocol: str, address: str) -> bool:
        return super()._address("OS" if protocol == "TCP" else protocol, address)


class AcceptsHostNameForTcp(Fault):
    """TCP takes a computer's name where an IP address has to be."""

    name = "accepts-host-name-for-tcp"
    breaks = ("MQMQ-2.1.2.tcp-address-reject",)
    replaces = ("names", _HostForAddressParser)


_FOLDED = str.maketrans("\u017f\u0131", "si")
_KEYWORD = re.compile(r"private\$\\|system\$;|/msmq", re.IGNORECASE)


class _FoldingParser(NameParser):
    def path(self, text: str) -> Name:
        return super().path(_plain_keywords(text))

    def _direct(self, text: str, rest: str) -> Name | None:
        protocol, colon, rest = rest.partition(":")
        return super()._direct(text, f"{protocol.translate(_FOLDED)}{colon}{_plain_keywords(rest)}")


def _plain_keywords(text: str) -> str:
    return _KEYWORD.sub(lambda found: found[0].translate(_FOLDED), text)


class FoldsTheLongS(Fault):
    """Keywords are compared as Unicode folds them, so that U+017F is an s in them and U+0131 an i."""

    name = "folds-the-long-s"
    breaks = (
        "MQMQ-2.1.2.prefix-reject",
        "MQMQ-2.1.2.protocol-reject",
        "MQMQ-2.1.1.queue-name-space-reject",
        "MQMQ-2.1.1.queue-name-backslash-reject",
    )
    replaces = ("names", _FoldingParser)


class _PublicOnlyOverTcpParser(NameParser):
    def _direct(self, text: str, rest: str) -> Name | None:
        found = super()._direct(text, rest)
        lost = found is not None and found.parts["protocol"] == "TCP" and found.parts["scope"] == "private"
        return None if lost else found


class RefusesPrivateQueueOverTcp(Fault):
    """A private queue cannot be named by the address of its computer."""

    name = "refuses-private-queue-over-tcp"
    breaks = (
        "MQMQ-2.1.2.private-queue",
        "MQMQ-2.1.2.tcp",
    )
    replaces = ("names", _PublicOnlyOverTcpParser)


class _ShortComputerParser(NameParser):
    def _direct(self, text: str, rest: str) -> Name | None:
        found = super()._direct(text, rest)
        if found is None or found.parts["protocol"] != "OS":
            return found
        return Name(text, found.kind, found.parts | {"address": str(found.parts["address"]).partition(".")[0]})


class CutsComputerAtDot(Fault):
    """Of the computer of an OS name only the part before the first dot is kept."""

    name = "cuts-computer-at-dot"
    breaks = ("MQMQ-2.1.2.parts",)
    replaces = ("names", _ShortComputerParser)


class _NoPortParser(NameParser):
    def _direct_http(self, text: str, rest: str, parts: dict[str, Json]) -> Name | None:
        return None if re.match(r"//[^/\\]*:[0-9]+/", rest) else super()._direct_http(text, rest, parts)


class RefusesPortOfHttpName(Fault):
    """An HTTP or HTTPS name with a port is refused."""

    name = "refuses-port-of-http-name"
    breaks = (
        "MQMQ-2.1.2.http",
        "MQMQ-2.1.2.https",
    )
    replaces = ("names", _NoPortParser)


class _PlainHttpParser(NameParser):
    def _direct_http(self, text: str, rest: str, parts: dict[str, Json]) -> Name | None:
        return None if parts["protocol"] == "HTTPS" else super()._direct_http(text, rest, parts)


class RefusesHttps(Fault):
    """HTTPS is no protocol of direct names."""

    name = "refuses-https"
    # An empty port is then read one way behind HTTP and another behind HTTPS.
    breaks = ("MQMQ-2.1.2.https",)
    replaces = ("names", _PlainHttpParser)


class _AnyProtocolParser(NameParser):
    def _address(self, protocol: str, address: str) -> bool:
        known = protocol in ("OS", "TCP", "IPX", "SPX")
        return super()._address(protocol if known else "OS", address) and bool(protocol)


class AcceptsAnyProtocol(Fault):
    """Whatever stands before the colon is a protocol."""

    name = "accepts-any-protocol"
    # A prefix that is doubled is a protocol, too.
    breaks = ("MQMQ-2.1.2.protocol-reject",)
    replaces = ("names", _AnyProtocolParser)


class _NoJournalParser(NameParser):
    def _finish_direct(self, text: str, rest: str, parts: dict[str, Json]) -> Name | None:
        queue, semicolon, suffix = rest.rpartition(";")
        if semicolon and suffix.upper() == "JOURNAL" and self._queue(queue, parts) and "subqueue" not in parts:
            return Name(text, "direct", parts | {"subqueue": suffix})
        return super()._finish_direct(text, rest, parts)


class TakesJournalForSubqueue(Fault):
    """`;JOURNAL` behind the name of a queue is taken for a subqueue of that name."""

    name = "takes-journal-for-subqueue"
    breaks = (
        "MQMQ-2.1.2.journal",
        "MQMQ-2.1.2.parts",
    )
    replaces = ("names", _NoJournalParser)


class _UpperCaseJournalParser(NameParser):
    def _finish_direct(self, text: str, rest: str, parts: dict[str, Json]) -> Name | None:
        suffix = rest.rpartition(";")[2]
        return None if suffix.upper() == "JOURNAL" != suffix else super()._finish_direct(text, rest, parts)


class RefusesLowerCaseJournal(Fault):
    """`;JOURNAL` is recognised in upper case only; literals of a grammar have no case (RFC 5234)."""

    name = "refuses-lower-case-journal"
    breaks = (
        "MQMQ-2.1.2.keyword-case",
        "MQMQ-2.1.2.journal",
    )
    replaces = ("names", _UpperCaseJournalParser)


class _OneDeadLetterParser(NameParser):
    def _direct(self, text: str, rest: str) -> Name | None:
        found = super()._direct(text, rest)
        if found is None or found.suffix != "deadxact":
            return found
        return Name(text, found.kind, found.parts | {"suffix": "deadletter"})


class ConfusesDeadLetterQueues(Fault):
    """The transactional dead-letter queue of a direct name is taken for the other one."""

    name = "confuses-dead-letter-queues"
    breaks = ("MQMQ-2.1.2.parts",)
    replaces = ("names", _OneDeadLetterParser)


class _AnySystemQueueParser(NameParser):
    def _finish_direct(self, text: str, rest: str, parts: dict[str, Json]) -> Name | None:
        queue, semicolon, name = rest.partition(";")
        if queue.upper() == "SYSTEM$" and semicolon and self._subqueue.match(name):
            return Name(text, "direct", parts | {"queue": queue, "subqueue": name})
        return super()._finish_direct(text, rest, parts)


class AcceptsAnySystemQueue(Fault):
    """Behind `SYSTEM$;` any name is taken, as if it were a subqueue of a queue called SYSTEM$."""

    name = "accepts-any-system-queue"
    breaks = ("MQMQ-2.1.2.system-queue-reject",)
    replaces = ("names", _AnySystemQueueParser)


class _LooseAddresses(NameParser):
    def _address(self, protocol: str, address: str) -> bool:
        loose = protocol == "TCP" and re.fullmatch(r"[0-9]{1,3}(\.[0-9]{1,3}){3}", address, re.ASCII)
        return bool(loose) or super()._address(protocol, address)


class AcceptsOctetOver255(Fault):
    """`DIRECT=TCP:` takes any four numbers of up to three digits for an address."""

    name = "accepts-octet-over-255"
    breaks = ("MQMQ-2.1.2.tcp-address-reject",)
    replaces = ("names", _LooseAddresses)
