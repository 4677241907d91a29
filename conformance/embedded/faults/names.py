"""Faults of the parser of queue names."""

from __future__ import annotations

import re

from conformance.embedded.faults.base import Fault
from conformance.embedded.names import NameParser

# A queue name that is taken though it is none: direct and multiple-element names contain it, and queues are created and
# opened by it.
_A_BAD_QUEUE_NAME = (
    "MQMQ-2.1.2.queue-name-reject",
    "MQMQ-2.1.7.element-reject",
    "MQDMPR-3.1.7.1.3.invalid-path-name",
    "MQDMPR-3.1.7.1.3.invalid-path-name-no-queue",
    "MQMP-3.1.4.17.malformed-format-name",
)


class _PlusParser(NameParser):
    def name_characters(self) -> str:
        return super().name_characters() + r"\+"


class AcceptsPlusInQueueName(Fault):
    """A plus sign is taken for an ordinary character of a queue's name; 2.1.1 excludes it since MSMQ 2.0."""

    name = "accepts-plus-in-queue-name"
    suite = "names"
    breaks = ("MQMQ-2.1.1.queue-name-plus-reject", *_A_BAD_QUEUE_NAME)
    replaces = ("names", _PlusParser)


class _LowerCaseParser(NameParser):
    def private_prefix(self, rest: str) -> int:
        return len("private$\\") if re.match(r"private\$\\", rest) else 0


class RejectsUppercasePrivate(Fault):
    """`PRIVATE$` is recognised in lower case only; literals of a grammar have no case (RFC 5234)."""

    name = "rejects-uppercase-private"
    suite = "names"
    breaks = (
        "MQMQ-2.1.1.keyword-case",
        "MQMQ-2.1.2.keyword-case",
        "MQMQ-2.1.2.private-queue",
        "MQMQ-2.1.2.subqueue",
        "MQMQ-2.1.7.elements",
        "MQMQ-2.1.7.mixed",
        "MQMQ-2.1.7.parts",
        "MQMQ-2.1.2.journal",
        "MQMQ-2.1.2.parts",
        # An IPX name with it is refused as if the protocol were none of the list.
        *("MQMQ-2.1.2.ipx", "MQMQ-2.1.2.protocol-reject"),
    )
    replaces = ("names", _LowerCaseParser)


class _LongNameParser(NameParser):
    def queue_name_lengths(self) -> tuple[int, int]:
        return 1, 4096


class AcceptsLongQueueName(Fault):
    """The limit of 124 characters for a queue's name is not kept."""

    name = "accepts-long-queue-name"
    suite = "names"
    breaks = ("MQMQ-2.1.1.queue-name-too-long", *_A_BAD_QUEUE_NAME)
    replaces = ("names", _LongNameParser)


class _DecimalParser(NameParser):
    def private_number(self, digits: str) -> int:
        return int(digits) if digits.isdecimal() else super().private_number(digits)


class ReadsPrivateNumberAsDecimal(Fault):
    """The number of a private format name is read as decimal where it can be; it is hexadecimal."""

    name = "reads-private-number-as-decimal"
    suite = "names"
    breaks = ("MQMQ-2.1.4.parts",)
    replaces = ("names", _DecimalParser)


NAME_FAULTS: tuple[type[Fault], ...] = (
    AcceptsPlusInQueueName,
    RejectsUppercasePrivate,
    AcceptsLongQueueName,
    ReadsPrivateNumberAsDecimal,
)
