"""Faults of the method that parses names: it corrects invalid names first (MS-MQMQ 2.1).

The queue manager itself refuses them: opening a queue by such a name, or creating one, fails as it must.
"""

from __future__ import annotations

import re

from conformance.embedded.faults.base import fault
from conformance.embedded.names import NameParser

_GUID = "[0-9A-F]{8}-(?:[0-9A-F]{4}-){3}[0-9A-F]{12}"
_PATH, _MULTIPLE = "path_name", "multiple_element"


def _normalizing(pattern, becomes, form="format_name"):
    """Return a parser's method that makes one thing of another in names of this form before it takes them apart."""
    found = re.compile(pattern, re.IGNORECASE | re.ASCII)

    def parse(plain, self, text, form_):
        return plain(found.sub(becomes, text, count=1) if form_ == form else text, form_)

    return parse


def _clamped(found: re.Match[str]) -> str:
    return found[1] + re.sub("[0-9]+", lambda octet: str(min(int(octet[0]), 255)), found[2])


# Name, sentence, what it breaks, the pattern, what becomes of it, and in which form of names.
_CORRECTED = (
    ("takes-slash-for-backslash", "In a path name without a backslash the first slash is taken for one.",
     ("MQMQ-2.1.1.separator",), r"\A([^\\/]*)/(?=[^\\]*\Z)", r"\1\\", "path_name"),
    ("mends-slashes-of-http-name", "The two slashes before the host of an HTTP name may be one or none.",
     ("MQMQ-2.1.2.http-msmq-reject",), r"\A(DIRECT=HTTPS?:)/?(?=[^/])", r"\1//"),
    ("accepts-sign-of-http-port", "The port of an HTTP name may have a plus sign, as a number may.",
     ("MQMQ-2.1.2.http-port-reject",), r"\A(DIRECT=HTTPS?://[^/\\:]*:)\+(?=[0-9])", r"\1"),
    ("ignores-text-behind-http-port",
     "The port of an HTTP name is read as far as it has digits; what stands behind them is not looked at.",
     ("MQMQ-2.1.2.http-port-reject",), r"\A(DIRECT=HTTPS?://[^/\\:]*:[0-9]+)[^0-9/\\][^/\\]*(?=/)", r"\1"),
    ("accepts-space-before-equals-sign", "Between the prefix of a format name and its equals sign there may be spaces.",
     ("MQMQ-2.1.2.prefix-reject",), r"\A([A-Z]+) +=", r"\1="),
    ("presumes-protocol", "A direct name without a protocol is one of OS.", ("MQMQ-2.1.2.protocol-missing",),
     r"\A(DIRECT=)(?=[^:\\]+\\)", r"\1OS:"),
    ("presumes-local-computer", "A direct name of OS without a computer means the local one.",
     ("MQMQ-2.1.2.address-missing",), r"\A(DIRECT=OS:)(?=\\)", r"\1."),
    ("drops-last-semicolon", "A semicolon at the end of a direct name is not noticed.",
     ("MQMQ-2.1.2.suffix-empty-reject",), r"\A(DIRECT=[^;]*);\Z", r"\1"),
    ("accepts-braces-in-private-name", "The GUID of a private name may stand in braces.", ("MQMQ-2.1.4.guid-reject",),
     r"\A(PRIVATE=)\{([^{}]*)\}", r"\1\2"),
    ("presumes-private-number", "A private name without a number means the queue of number 0.",
     ("MQMQ-2.1.4.number-missing",), rf"\A(PRIVATE={_GUID})\\?(?=;|\Z)", r"\1\\0"),
    ("accepts-dead-letter-of-private-queue",
     "A private name may have the suffix of a dead-letter queue, which only a computer has.",
     ("MQMQ-2.1.4.suffix-reject",), r"\A(PRIVATE=[^;]*);DEAD(?:LETTER|XACT)\Z", r"\1"),
    ("accepts-leading-zeros-in-octets", "The numbers of a multicast address may have leading zeros.",
     ("MQMQ-2.1.6.octet-zero-reject",),
     r"\AMULTICAST=[0-9.]*", lambda found: re.sub("(?<![0-9])0+(?=[0-9])", "", found[0])),
    ("accepts-short-multicast-address",
     "A multicast address of three numbers is accepted: the third is the fourth then, and 0 is put before it.",
     ("MQMQ-2.1.6.address-reject",), r"\A(MULTICAST=[0-9]+\.[0-9]+\.)([0-9]+)(?=:)", r"\g<1>0.\2"),
    ("presumes-multicast-port", "A multicast name without a port means the port of the messages' own protocol.",
     ("MQMQ-2.1.6.port-missing",), r"\A(MULTICAST=[0-9.]+):?\Z", r"\1:1801"),
    ("cuts-queue-name", "A path name whose queue name is too long is taken apart as far as it fits.",
     ("MQMQ-2.1.1.queue-name-too-long",), r"(\\[^\\;]{124})[^\\;]+\Z", r"\1", _PATH),
    ("presumes-queue-of-path", "A path name may end behind `private$`: a queue's name is put there.",
     ("MQMQ-2.1.1.queue-name-missing",), r"\A([^\\]+\\private\$\\)\Z", r"\1queue", _PATH),
    ("drops-tab-of-queue-name", "A tab in a queue's name is left out.",
     ("MQMQ-2.1.1.queue-name-control-reject", "MQMQ-2.1.2.queue-name-reject"), r"(\\[^\\;]*)\t", r"\1", _PATH),
    # Behind a semicolon it is the name of a subqueue that the backslash ends.
    ("drops-last-backslash", "A backslash at the end of a path name is not noticed.",
     ("MQMQ-2.1.1.queue-name-backslash-reject",), r"(\\[^\\]+)\\\Z", r"\1", _PATH),
    ("takes-plus-for-dash", "A plus sign in the queue's name of a path name is taken for a dash.",
     ("MQMQ-2.1.1.queue-name-plus-reject",), r"(\\[^\\;]*)\+", r"\1-", _PATH),
    ("takes-comma-for-dot", "A comma in the queue's name of a path name is taken for a dot.",
     ("MQMQ-2.1.1.queue-name-comma-reject",), r"(\\[^\\;]*),", r"\1.", _PATH),
    ("accepts-quotes-around-queue-name", "The queue's name of a path name may stand in quotes.",
     ("MQMQ-2.1.1.queue-name-quote-reject",), r'\\"([^"\\]+)"\Z', r"\\\1", _PATH),
    ("drops-empty-subqueue", "A semicolon at the end of a path name is not noticed.", ("MQMQ-2.1.1.subqueue-missing",),
     r";\Z", "", _PATH),
    ("drops-second-semicolon", "A semicolon in a subqueue's name is left out.",
     ("MQMQ-2.1.1.subqueue-alphabet-reject",), r"(;[^;]+);(?=.)", r"\1", _PATH),
    ("resolves-host-of-tcp", "A computer's name in place of the address of TCP is resolved.",
     ("MQMQ-2.1.2.tcp-address-reject",), r"\A(DIRECT=TCP:)[A-Z][A-Z0-9._-]*(?=\\)", r"\g<1>127.0.0.1"),
    ("presumes-queue-of-direct-name", "A direct name may end behind `PRIVATE$`: a queue's name is put there.",
     ("MQMQ-2.1.2.queue-name-missing",), r"\A(DIRECT=[^\\]*\\PRIVATE\$\\)\Z", r"\1queue"),
    ("cuts-queue-of-direct-name", "A direct name whose queue name is too long is taken apart as far as it fits.",
     ("MQMQ-2.1.2.queue-name-reject",), r"\A(DIRECT=[^\\]*\\(?:PRIVATE\$\\)?[^\\;]{124})[^\\;]+\Z", r"\1"),
    ("ignores-queue-behind-public-name",
     "A backslash behind the GUID of a public name, and all that follows, is not looked at.",
     ("MQMQ-2.1.3.trailing-reject",), rf"\A(PUBLIC={_GUID})\\.*\Z", r"\1"),
    ("drops-zeros-of-private-number",
     "The number of a private name may have more digits when the first of them are zeros.",
     ("MQMQ-2.1.4.number-too-long",), rf"\A(PRIVATE={_GUID}\\)0+(?=[0-9A-F]{{8}}(?:;|\Z))", r"\1"),
    ("accepts-prefix-of-private-number", "The number of a private name may begin with 0x.",
     ("MQMQ-2.1.4.number-reject",), rf"\A(PRIVATE={_GUID}\\)0x(?=[0-9A-F])", r"\1"),
    ("drops-space-behind-domain", "Spaces behind the domain of a distribution list are left out.",
     ("MQMQ-2.1.5.domain-alphabet-reject",), r"\A(DL=[^@]*@.*[!-~]) +\Z", r"\1"),
    ("clamps-octets",
     "Behind the first, a number of a multicast address is read as it comes, and as 255 when it is too large.",
     ("MQMQ-2.1.6.octet-range-reject",), r"\A(MULTICAST=[0-9]+)((?:\.[0-9]{1,9}){3})(?=:)", _clamped),
    ("accepts-reserved-address-for-multicast",
     "Addresses behind those of multicast groups are taken for the last of these.",
     ("MQMQ-2.1.6.first-octet-reject",), r"\A(MULTICAST=)2(?:4[0-9]|5[0-5])(?=\.)", r"\g<1>239"),
    ("clamps-large-port", "A port of more than five digits is taken for the largest.",
     ("MQMQ-2.1.6.port-range-reject",), r"\A(MULTICAST=[0-9.]*:)[0-9]{6,}\Z", r"\g<1>65535"),
    ("drops-space-behind-comma", "Behind a comma of a multiple-element name there may be spaces.",
     ("MQMQ-2.1.7.separator-reject", "MQMQ-2.1.7.element-reject"), r", +(?=[A-Z])", ",", _MULTIPLE),
)  # fmt: skip
for _name, _says, _breaks, *_corrected in _CORRECTED:
    fault(_name, NameParser.parse, *_breaks, says=_says)(_normalizing(*_corrected))
