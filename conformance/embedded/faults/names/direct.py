"""Faults of the parser of queue names: direct names, by protocol, scope and suffix (MS-MQMQ 2.1.2)."""

from __future__ import annotations

import re

from conformance.embedded.faults.base import also, fault
from conformance.embedded.names import Name, NameParser


@fault("accepts-host-name-for-tcp", NameParser._address, "MQMQ-2.1.2.tcp-address-reject")
def accepts_host_name_for_tcp(plain, self, protocol, address):
    """TCP takes a computer's name where an IP address has to be."""
    return plain("OS" if protocol == "TCP" else protocol, address)


_FOLDED = str.maketrans("\u017f\u0131", "si")
_KEYWORD = re.compile(r"private\$\\|system\$;|/msmq", re.IGNORECASE)


def _plain_keywords(text: str) -> str:
    return _KEYWORD.sub(lambda found: found[0].translate(_FOLDED), text)


@fault(
    "folds-the-long-s", NameParser.path, "MQMQ-2.1.2.prefix-reject", "MQMQ-2.1.2.protocol-reject",
    "MQMQ-2.1.1.queue-name-space-reject", "MQMQ-2.1.1.queue-name-backslash-reject",
)  # fmt: skip
def folds_the_long_s(plain, self, text):
    """Keywords are compared as Unicode folds them, so that U+017F is an s in them and U+0131 an i."""
    return plain(_plain_keywords(text))


@also("folds-the-long-s", NameParser._direct)
def folds_the_long_s_direct(plain, self, text, rest):
    protocol, colon, rest = rest.partition(":")
    return plain(text, f"{protocol.translate(_FOLDED)}{colon}{_plain_keywords(rest)}")


@fault("refuses-private-queue-over-tcp", NameParser._direct, "MQMQ-2.1.2.private-queue", "MQMQ-2.1.2.tcp")
def refuses_private_queue_over_tcp(plain, self, text, rest):
    """A private queue cannot be named by the address of its computer."""
    found = plain(text, rest)
    lost = found is not None and found.parts["protocol"] == "TCP" and found.parts["scope"] == "private"
    return None if lost else found


@fault("cuts-computer-at-dot", NameParser._direct, "MQMQ-2.1.2.parts")
def cuts_computer_at_dot(plain, self, text, rest):
    """Of the computer of an OS name only the part before the first dot is kept."""
    found = plain(text, rest)
    if found is None or found.parts["protocol"] != "OS":
        return found
    return Name(text, found.kind, found.parts | {"address": str(found.parts["address"]).partition(".")[0]})


@fault("refuses-port-of-http-name", NameParser._direct_http, "MQMQ-2.1.2.http", "MQMQ-2.1.2.https")
def refuses_port_of_http_name(plain, self, text, rest, parts):
    """An HTTP or HTTPS name with a port is refused."""
    return None if re.match(r"//[^/\\]*:[0-9]+/", rest) else plain(text, rest, parts)


# An empty port is then read one way behind HTTP and another behind HTTPS.
@fault("refuses-https", NameParser._direct_http, "MQMQ-2.1.2.https")
def refuses_https(plain, self, text, rest, parts):
    """HTTPS is no protocol of direct names."""
    return None if parts["protocol"] == "HTTPS" else plain(text, rest, parts)


# A prefix that is doubled is a protocol, too.
@fault("accepts-any-protocol", NameParser._address, "MQMQ-2.1.2.protocol-reject")
def accepts_any_protocol(plain, self, protocol, address):
    """Whatever stands before the colon is a protocol."""
    known = protocol in ("OS", "TCP", "IPX", "SPX")
    return plain(protocol if known else "OS", address) and bool(protocol)


@fault("takes-journal-for-subqueue", NameParser._finish_direct, "MQMQ-2.1.2.journal", "MQMQ-2.1.2.parts")
def takes_journal_for_subqueue(plain, self, text, rest, parts):
    """`;JOURNAL` behind the name of a queue is taken for a subqueue of that name."""
    queue, semicolon, suffix = rest.rpartition(";")
    if semicolon and suffix.upper() == "JOURNAL" and self._queue(queue, parts) and "subqueue" not in parts:
        return Name(text, "direct", parts | {"subqueue": suffix})
    return plain(text, rest, parts)


@fault("refuses-lower-case-journal", NameParser._finish_direct, "MQMQ-2.1.2.keyword-case", "MQMQ-2.1.2.journal")
def refuses_lower_case_journal(plain, self, text, rest, parts):
    """`;JOURNAL` is recognised in upper case only; literals of a grammar have no case (RFC 5234)."""
    suffix = rest.rpartition(";")[2]
    return None if suffix.upper() == "JOURNAL" != suffix else plain(text, rest, parts)


@fault("confuses-dead-letter-queues", NameParser._direct, "MQMQ-2.1.2.parts")
def confuses_dead_letter_queues(plain, self, text, rest):
    """The transactional dead-letter queue of a direct name is taken for the other one."""
    found = plain(text, rest)
    if found is None or found.suffix != "deadxact":
        return found
    return Name(text, found.kind, found.parts | {"suffix": "deadletter"})


@fault("accepts-any-system-queue", NameParser._finish_direct, "MQMQ-2.1.2.system-queue-reject")
def accepts_any_system_queue(plain, self, text, rest, parts):
    """Behind `SYSTEM$;` any name is taken, as if it were a subqueue of a queue called SYSTEM$."""
    queue, semicolon, name = rest.partition(";")
    if queue.upper() == "SYSTEM$" and semicolon and self._subqueue.match(name):
        return Name(text, "direct", parts | {"queue": queue, "subqueue": name})
    return plain(text, rest, parts)


@fault("accepts-octet-over-255", NameParser._address, "MQMQ-2.1.2.tcp-address-reject")
def accepts_octet_over_255(plain, self, protocol, address):
    """`DIRECT=TCP:` takes any four numbers of up to three digits for an address."""
    loose = protocol == "TCP" and re.fullmatch(r"[0-9]{1,3}(\.[0-9]{1,3}){3}", address, re.ASCII)
    return bool(loose) or plain(protocol, address)
