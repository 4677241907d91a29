"""Faults of the method that parses names: it corrects invalid names first (MS-MQMQ 2.1).

The queue manager itself refuses them: opening a queue by such a name, or creating one, fails as it must.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from conformance.embedded.faults.base import Fault
from conformance.embedded.names import Name, NameParser

_GUID = "[0-9A-F]{8}-(?:[0-9A-F]{4}-){3}[0-9A-F]{12}"


def mending(pattern: str, becomes: str | Callable[[re.Match[str]], str], form: str = "format_name") -> type[NameParser]:
    """A parser that makes one thing of another in names of this form before it takes them apart."""
    found = re.compile(pattern, re.IGNORECASE | re.ASCII)

    class Mending(NameParser):
        def parse(self, text: str, form_: str) -> Name:
            return super().parse(found.sub(becomes, text, count=1) if form_ == form else text, form_)

    return Mending


class TakesSlashForBackslash(Fault):
    """In a path name without a backslash the first slash is taken for one."""

    name = "takes-slash-for-backslash"
    breaks = ("MQMQ-2.1.1.separator",)
    replaces = ("names", mending(r"\A([^\\/]*)/(?=[^\\]*\Z)", r"\1\\", "path_name"))


class MendsSlashesOfHttpName(Fault):
    """The two slashes before the host of an HTTP name may be one or none."""

    name = "mends-slashes-of-http-name"
    breaks = ("MQMQ-2.1.2.http-msmq-reject",)
    replaces = ("names", mending(r"\A(DIRECT=HTTPS?:)/?(?=[^/])", r"\1//"))


class AcceptsSignOfHttpPort(Fault):
    """The port of an HTTP name may have a plus sign, as a number may."""

    name = "accepts-sign-of-http-port"
    breaks = ("MQMQ-2.1.2.http-port-reject",)
    replaces = ("names", mending(r"\A(DIRECT=HTTPS?://[^/\\:]*:)\+(?=[0-9])", r"\1"))


class IgnoresTextBehindHttpPort(Fault):
    """The port of an HTTP name is read as far as it has digits; what stands behind them is not looked at."""

    name = "ignores-text-behind-http-port"
    breaks = ("MQMQ-2.1.2.http-port-reject",)
    replaces = ("names", mending(r"\A(DIRECT=HTTPS?://[^/\\:]*:[0-9]+)[^0-9/\\][^/\\]*(?=/)", r"\1"))


class AcceptsSpaceBeforeEqualsSign(Fault):
    """Between the prefix of a format name and its equals sign there may be spaces."""

    name = "accepts-space-before-equals-sign"
    breaks = ("MQMQ-2.1.2.prefix-reject",)
    replaces = ("names", mending(r"\A([A-Z]+) +=", r"\1="))


class PresumesProtocol(Fault):
    """A direct name without a protocol is one of OS."""

    name = "presumes-protocol"
    breaks = ("MQMQ-2.1.2.protocol-missing",)
    replaces = ("names", mending(r"\A(DIRECT=)(?=[^:\\]+\\)", r"\1OS:"))


class PresumesLocalComputer(Fault):
    """A direct name of OS without a computer means the local one."""

    name = "presumes-local-computer"
    breaks = ("MQMQ-2.1.2.address-missing",)
    replaces = ("names", mending(r"\A(DIRECT=OS:)(?=\\)", r"\1."))


class DropsLastSemicolon(Fault):
    """A semicolon at the end of a direct name is not noticed."""

    name = "drops-last-semicolon"
    breaks = ("MQMQ-2.1.2.suffix-empty-reject",)
    replaces = ("names", mending(r"\A(DIRECT=[^;]*);\Z", r"\1"))


class AcceptsBracesInPrivateName(Fault):
    """The GUID of a private name may stand in braces."""

    name = "accepts-braces-in-private-name"
    breaks = ("MQMQ-2.1.4.guid-reject",)
    replaces = ("names", mending(r"\A(PRIVATE=)\{([^{}]*)\}", r"\1\2"))


class PresumesPrivateNumber(Fault):
    """A private name without a number means the queue of number 0."""

    name = "presumes-private-number"
    breaks = ("MQMQ-2.1.4.number-missing",)
    replaces = ("names", mending(rf"\A(PRIVATE={_GUID})\\?(?=;|\Z)", r"\1\\0"))


class AcceptsDeadLetterOfPrivateQueue(Fault):
    """A private name may have the suffix of a dead-letter queue, which only a computer has."""

    name = "accepts-dead-letter-of-private-queue"
    breaks = ("MQMQ-2.1.4.suffix-reject",)
    replaces = ("names", mending(r"\A(PRIVATE=[^;]*);DEAD(?:LETTER|XACT)\Z", r"\1"))


class AcceptsLeadingZerosInOctets(Fault):
    """The numbers of a multicast address may have leading zeros."""

    name = "accepts-leading-zeros-in-octets"
    breaks = ("MQMQ-2.1.6.octet-zero-reject",)
    replaces = (
        "names",
        mending(r"\AMULTICAST=[0-9.]*", lambda found: re.sub("(?<![0-9])0+(?=[0-9])", "", found[0])),
    )


class AcceptsShortMulticastAddress(Fault):
    """A multicast address of three numbers is accepted: the third is the fourth then, and 0 is put before it."""

    name = "accepts-short-multicast-address"
    breaks = ("MQMQ-2.1.6.address-reject",)
    replaces = ("names", mending(r"\A(MULTICAST=[0-9]+\.[0-9]+\.)([0-9]+)(?=:)", r"\g<1>0.\2"))


class PresumesMulticastPort(Fault):
    """A multicast name without a port means the port of the messages' own protocol."""

    name = "presumes-multicast-port"
    breaks = ("MQMQ-2.1.6.port-missing",)
    replaces = ("names", mending(r"\A(MULTICAST=[0-9.]+):?\Z", r"\1:1801"))
