"""Faults of the method that parses names: it tidies up invalid names first (MS-MQMQ 2.1).

The queue manager itself refuses them, as in `mended`.
"""

from __future__ import annotations

import re

from conformance.embedded.faults.base import Fault
from conformance.embedded.faults.names.mended import mending

_GUID = "[0-9A-F]{8}-(?:[0-9A-F]{4}-){3}[0-9A-F]{12}"
_PATH, _MULTIPLE = "path_name", "multiple_element"


def _clamped(found: re.Match[str]) -> str:
    return found[1] + re.sub("[0-9]+", lambda octet: str(min(int(octet[0]), 255)), found[2])


class CutsQueueName(Fault):
    """A path name whose queue name is too long is taken apart as far as it fits."""

    name = "cuts-queue-name"
    breaks = ("MQMQ-2.1.1.queue-name-too-long",)
    replaces = ("names", mending(r"(\\[^\\;]{124})[^\\;]+\Z", r"\1", _PATH))


class PresumesQueueOfPath(Fault):
    """A path name may end behind `private$`: a queue's name is put there."""

    name = "presumes-queue-of-path"
    breaks = ("MQMQ-2.1.1.queue-name-missing",)
    replaces = ("names", mending(r"\A([^\\]+\\private\$\\)\Z", r"\1queue", _PATH))


class DropsTabOfQueueName(Fault):
    """A tab in a queue's name is left out."""

    name = "drops-tab-of-queue-name"
    breaks = (
        "MQMQ-2.1.1.queue-name-control-reject",
        "MQMQ-2.1.2.queue-name-reject",
    )
    replaces = ("names", mending(r"(\\[^\\;]*)\t", r"\1", _PATH))


class DropsLastBackslash(Fault):
    """A backslash at the end of a path name is not noticed."""

    name = "drops-last-backslash"
    # Behind a semicolon it is the name of a subqueue that the backslash ends.
    breaks = ("MQMQ-2.1.1.queue-name-backslash-reject",)
    replaces = ("names", mending(r"(\\[^\\]+)\\\Z", r"\1", _PATH))


class TakesPlusForDash(Fault):
    """A plus sign in the queue's name of a path name is taken for a dash."""

    name = "takes-plus-for-dash"
    breaks = ("MQMQ-2.1.1.queue-name-plus-reject",)
    replaces = ("names", mending(r"(\\[^\\;]*)\+", r"\1-", _PATH))


class TakesCommaForDot(Fault):
    """A comma in the queue's name of a path name is taken for a dot."""

    name = "takes-comma-for-dot"
    breaks = ("MQMQ-2.1.1.queue-name-comma-reject",)
    replaces = ("names", mending(r"(\\[^\\;]*),", r"\1.", _PATH))


class AcceptsQuotesAroundQueueName(Fault):
    """The queue's name of a path name may stand in quotes."""

    name = "accepts-quotes-around-queue-name"
    breaks = ("MQMQ-2.1.1.queue-name-quote-reject",)
    replaces = ("names", mending(r'\\"([^"\\]+)"\Z', r"\\\1", _PATH))


class DropsEmptySubqueue(Fault):
    """A semicolon at the end of a path name is not noticed."""

    name = "drops-empty-subqueue"
    breaks = ("MQMQ-2.1.1.subqueue-missing",)
    replaces = ("names", mending(r";\Z", "", _PATH))


class DropsSecondSemicolon(Fault):
    """A semicolon in a subqueue's name is left out."""

    name = "drops-second-semicolon"
    breaks = ("MQMQ-2.1.1.subqueue-alphabet-reject",)
    replaces = ("names", mending(r"(;[^;]+);(?=.)", r"\1", _PATH))


class ResolvesHostOfTcp(Fault):
    """A computer's name in place of the address of TCP is resolved."""

    name = "resolves-host-of-tcp"
    breaks = ("MQMQ-2.1.2.tcp-address-reject",)
    replaces = ("names", mending(r"\A(DIRECT=TCP:)[A-Z][A-Z0-9._-]*(?=\\)", r"\g<1>127.0.0.1"))


class PresumesQueueOfDirectName(Fault):
    """A direct name may end behind `PRIVATE$`: a queue's name is put there."""

    name = "presumes-queue-of-direct-name"
    breaks = ("MQMQ-2.1.2.queue-name-missing",)
    replaces = ("names", mending(r"\A(DIRECT=[^\\]*\\PRIVATE\$\\)\Z", r"\1queue"))


class CutsQueueOfDirectName(Fault):
    """A direct name whose queue name is too long is taken apart as far as it fits."""

    name = "cuts-queue-of-direct-name"
    breaks = ("MQMQ-2.1.2.queue-name-reject",)
    replaces = ("names", mending(r"\A(DIRECT=[^\\]*\\(?:PRIVATE\$\\)?[^\\;]{124})[^\\;]+\Z", r"\1"))


class IgnoresQueueBehindPublicName(Fault):
    """A backslash behind the GUID of a public name, and all that follows, is not looked at."""

    name = "ignores-queue-behind-public-name"
    breaks = ("MQMQ-2.1.3.trailing-reject",)
    replaces = ("names", mending(rf"\A(PUBLIC={_GUID})\\.*\Z", r"\1"))


class DropsZerosOfPrivateNumber(Fault):
    """The number of a private name may have more digits when the first of them are zeros."""

    name = "drops-zeros-of-private-number"
    breaks = ("MQMQ-2.1.4.number-too-long",)
    replaces = ("names", mending(rf"\A(PRIVATE={_GUID}\\)0+(?=[0-9A-F]{{8}}(?:;|\Z))", r"\1"))


class AcceptsPrefixOfPrivateNumber(Fault):
    """The number of a private name may begin with 0x."""

    name = "accepts-prefix-of-private-number"
    breaks = ("MQMQ-2.1.4.number-reject",)
    replaces = ("names", mending(rf"\A(PRIVATE={_GUID}\\)0x(?=[0-9A-F])", r"\1"))


class DropsSpaceBehindDomain(Fault):
    """Spaces behind the domain of a distribution list are left out."""

    name = "drops-space-behind-domain"
    breaks = ("MQMQ-2.1.5.domain-alphabet-reject",)
    replaces = ("names", mending(r"\A(DL=[^@]*@.*[!-~]) +\Z", r"\1"))


class ClampsOctets(Fault):
    """Behind the first, a number of a multicast address is read as it comes, and as 255 when it is too large."""

    name = "clamps-octets"
    breaks = ("MQMQ-2.1.6.octet-range-reject",)
    replaces = ("names", mending(r"\A(MULTICAST=[0-9]+)((?:\.[0-9]{1,9}){3})(?=:)", _clamped))


class AcceptsReservedAddressForMulticast(Fault):
    """Addresses behind those of multicast groups are taken for the last of these."""

    name = "accepts-reserved-address-for-multicast"
    breaks = ("MQMQ-2.1.6.first-octet-reject",)
    replaces = ("names", mending(r"\A(MULTICAST=)2(?:4[0-9]|5[0-5])(?=\.)", r"\g<1>239"))


class ClampsLargePort(Fault):
    """A port of more than five digits is taken for the largest."""

    name = "clamps-large-port"
    breaks = ("MQMQ-2.1.6.port-range-reject",)
    replaces = ("names", mending(r"\A(MULTICAST=[0-9.]*:)[0-9]{6,}\Z", r"\g<1>65535"))


class DropsSpaceBehindComma(Fault):
    """Behind a comma of a multiple-element name there may be spaces."""

    name = "drops-space-behind-comma"
    breaks = (
        "MQMQ-2.1.7.separator-reject",
        "MQMQ-2.1.7.element-reject",
    )
    replaces = ("names", mending(r", +(?=[A-Z])", ",", _MULTIPLE))
