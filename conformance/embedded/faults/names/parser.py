"""Faults of the parser of queue names."""

from __future__ import annotations

import re

from conformance.embedded.faults.base import Fault
from conformance.embedded.names import NameParser


class _PlusParser(NameParser):
    def name_characters(self) -> str:
        return super().name_characters() + r"\+"


class AcceptsPlusInQueueName(Fault):
    """A plus sign is taken for an ordinary character of a queue's name; 2.1.1 excludes it since MSMQ 2.0."""

    name = "accepts-plus-in-queue-name"
    breaks = (
        "MQMQ-2.1.1.queue-name-plus-reject",
        "MQMQ-2.1.2.queue-name-reject",
    )
    replaces = ("names", _PlusParser)


class _LowerCaseParser(NameParser):
    def private_prefix(self, rest: str) -> int:
        return len("private$\\") if re.match(r"private\$\\", rest) else 0


class RejectsUppercasePrivate(Fault):
    """`PRIVATE$` is recognised in lower case only; literals of a grammar have no case (RFC 5234)."""

    name = "rejects-uppercase-private"
    breaks = (
        "MQMQ-2.1.1.keyword-case",
        "MQMQ-2.1.2.keyword-case",
    )
    replaces = ("names", _LowerCaseParser)


class _LongNameParser(NameParser):
    def queue_name_lengths(self) -> tuple[int, int]:
        return 1, 4096


class AcceptsLongQueueName(Fault):
    """The limit of 124 characters for a queue's name is not kept."""

    name = "accepts-long-queue-name"
    breaks = (
        "MQMQ-2.1.1.queue-name-too-long",
        "MQMQ-2.1.2.queue-name-reject",
    )
    replaces = ("names", _LongNameParser)


class _DecimalParser(NameParser):
    def private_number(self, digits: str) -> int:
        return int(digits) if digits.isdecimal() else super().private_number(digits)


class ReadsPrivateNumberAsDecimal(Fault):
    """The number of a private format name is read as decimal where it can be; it is hexadecimal."""

    name = "reads-private-number-as-decimal"
    breaks = ("MQMQ-2.1.4.parts",)
    replaces = ("names", _DecimalParser)
