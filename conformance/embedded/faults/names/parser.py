"""Faults of the parser of queue names."""

from __future__ import annotations

import re

from conformance.embedded.faults.base import fault
from conformance.embedded.names import NameParser


@fault(
    "accepts-plus-in-queue-name", NameParser.name_characters, "MQMQ-2.1.1.queue-name-plus-reject",
    "MQMQ-2.1.2.queue-name-reject",
)  # fmt: skip
def accepts_plus_in_queue_name(plain, self):
    """A plus sign is taken for an ordinary character of a queue's name; 2.1.1 excludes it since MSMQ 2.0."""
    return plain() + r"\+"


@fault("rejects-uppercase-private", NameParser.private_prefix, "MQMQ-2.1.1.keyword-case", "MQMQ-2.1.2.keyword-case")
def rejects_uppercase_private(plain, self, rest):
    """`PRIVATE$` is recognised in lower case only; literals of a grammar have no case (RFC 5234)."""
    return len("private$\\") if re.match(r"private\$\\", rest) else 0


@fault(
    "accepts-long-queue-name", NameParser.queue_name_lengths, "MQMQ-2.1.1.queue-name-too-long",
    "MQMQ-2.1.2.queue-name-reject",
)  # fmt: skip
def accepts_long_queue_name(plain, self):
    """The limit of 124 characters for a queue's name is not kept."""
    return 1, 4096


@fault("reads-private-number-as-decimal", NameParser.private_number, "MQMQ-2.1.4.parts")
def reads_private_number_as_decimal(plain, self, digits):
    """The number of a private format name is read as decimal where it can be; it is hexadecimal."""
    return int(digits) if digits.isdecimal() else plain(digits)
