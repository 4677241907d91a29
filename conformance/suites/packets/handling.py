"""A table of how a reader must handle the mutation of each packet rule: refuse it, read it alike, or either.

By MS-MQQB 3.1.5.1.3, receivers discard packets that do not conform to the structures. The table demands it where the
structure cannot be followed: a size or a flag promises missing bytes, or a selector has no layout. A value out of range
leaves the structure intact; MS-MQDMPR 3.1.7.1.31 copies it, and the text assigns its check to a later step or to none.
There a reader may refuse or read, but must go on reading afterwards.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from conformance.judge.packets import rules_user
from conformance.judge.packets.judge import RULES
from conformance.judge.packets.rules_causes import CAUSE_RULES as CAUSES
from conformance.judge.packets.rules_security import CERTIFICATE_RULES as CERTIFICATES
from conformance.judge.packets.rules_security import ENCRYPTION_RULES as ENCRYPTED
from conformance.judge.packets.rules_user import NAME_RULES as NAMED
from conformance.judge.rules import Rule
from conformance.spec.catalogue import requirement_id

Way = Literal["refused", "same", "either"]
_B, _U, _M = "MQMQ-2.2.19.1.", "MQMQ-2.2.19.2.", "MQMQ-2.2.19.3."
_MALFORMED = "MQQB-3.1.5.1.3.malformed-refused"


@dataclass(frozen=True, slots=True)
class Handling:
    """way: the action of the reader. requirement: the demand for it; none for `either`. section: its source."""

    way: Way
    requirement: str
    section: str


def _words(prefix: str, text: str) -> Iterator[str]:
    return (f"{prefix}{word}" for word in text.split())


_NOT_THERE = (
    *_words(_B, "packet-size packet-size-maximum session-header-present debug-header-present"),
    *_words(_U, "message-properties-present transaction-header-present security-header-present"),
    *_words(_U, "connector-type-present multi-queue-header-present soap-header-present"),
    *_words(_U, "destination-private destination-public destination-direct"),
    *_words(_U, "admin-private-source admin-private-destination admin-public admin-private-other admin-direct"),
    *_words(_U, "response-private-source response-private-destination response-private-admin response-public"),
    *_words(_U, "response-private-other response-direct"),
    *_words(_M, "message-size extension-size"),
    "MQMQ-2.2.20.required-headers",
    *_words("MQMQ-2.2.18.1.4.", "format-type-values format-name-structure 1.null-terminated"),
    *_words("MQMQ-2.2.20.", "2.header-size 3.size 5.connector-present 6.security-data-fits 8.queue-identifier-present"),
)
_REFUSED: dict[str, tuple[str, str]] = {
    _B + "version-number": ("MQQB-3.1.5.1.2.version-refused", "MS-MQQB 3.1.5.1.2"),
    _B + "signature": ("MQQB-3.1.5.1.2.signature-refused", "MS-MQQB 3.1.5.1.2"),
    _U + "destination-type": (_U + "destination-type-refused", "MS-MQMQ 2.2.19.2"),
    _U + "admin-type": (_U + "admin-type-refused", "MS-MQMQ 2.2.19.2"),
    **dict.fromkeys(_NOT_THERE, (_MALFORMED, "MS-MQQB 3.1.5.1.3")),
}


def _bits(section: str, names: Iterator[int] | tuple[int, ...]) -> dict[str, str]:
    return {f"{section}.flags-x{at}": f"{section}.flags-reserved-ignored" for at in names}


_SAME: dict[str, str] = {
    **_bits("MQMQ-2.2.19.1", (*range(7), 8, 9)),
    **_bits("MQMQ-2.2.19.2", (1, 2, 3, 4)),
    _M + "flags-unused": _M + "flags-unused-ignored",
    **_bits("MQMQ-2.2.20.6", (12, 13, 14, 15)),
    **_bits("MQMQ-2.2.20.8", tuple(range(2, 16))),
    **{
        f"MQMQ-2.2.20.{name}": f"MQMQ-2.2.20.{name}-ignored"
        for name in ("2.reserved", "3.reserved", "7.reserved", "7.reserved1", "8.reserved")
    },
}
# Section to the rules whose mutations it leaves to the reader.
_EITHER: dict[str, tuple[str, ...]] = {
    "MS-MQDMPR 3.1.7.1.31": (
        *_words(_B, "packet-size-headers packet-size-session-header trace-debug-header transactional-priority-zero"),
        *_words(_U, "hop-count delivery-mode message-properties-flag http-flag transactional-recoverable"),
        *_words(_U, "address-direct admin-queue-required admin-queue-absent response-queue-admin-host"),
        *_words(_M, "label-length-maximum label-length label-format message-class body-type allocation-body-size"),
        *_words(_M, "padding"),
        *_words("MQMQ-2.2.18.1.", "5.2.count 5.2.null-terminated 5.2.direct-format-name 6.custom-class"),
        *_words("MQMQ-2.2.18.1.", "4.1.direct-format-name 4.public-format-name 4.2.alignment 7.2.source-queue-manager"),
        *_words("MQMQ-2.2.20.", "2.header-id 2.header-size/names 2.element-count 2.format-name-list 3.id"),
        *_words("MQMQ-2.2.20.", "7.header-section-id 7.body-section-id 7.header-terminated 7.body-terminated"),
        *_words("MQMQ-2.2.20.", "8.queue-type"),
        *dict.fromkeys(rule.requirement for rule in NAMED if rule.breaks.kind == "UserMessage"),
    ),
    # What a clear flag denies, a size, an order: bytes are read as something else, which may be refused or not.
    "MS-MQMQ 2.2.20": ("MQMQ-2.2.20.not-internal", *dict.fromkeys(rule.requirement for rule in CAUSES)),
    # The place of a message in its transaction is checked on arrival.
    "MS-MQQB 3.1.5.8.6": (*_words("MQMQ-2.2.20.5.", "sequence-number-range previous-before first-has-no-previous"),),
    # R-MQMQ-transaction-reserved-bits: one sentence ignores them, another makes them an error.
    "MS-MQMQ 2.2.20.5": tuple(_words("MQMQ-2.2.20.5.", " ".join(f"flags-x{at}" for at in range(1, 9)))),
    # Signatures, senders and encryption are checked when a message arrives, not when its packet is read.
    "MS-MQQB 3.1.5.8.3": (
        *_words(_M, "privacy-level privacy-none hash-algorithm encryption-algorithm encryption-by-privacy"),
        *_words(_M, "hash-md2 hash-md4 hash-md5 hash-sha1 hash-sha256 hash-sha512"),
        *_words(_M, "encryption-rc2 encryption-rc4 encryption-aes128 encryption-aes192 encryption-aes256"),
        *_words("MQMQ-2.2.20.6.", "sender-id-type sender-id-none sender-id-sid sender-id-guid authenticated"),
        *_words("MQMQ-2.2.20.6.", "signature-type security-data some-size sender-cert-size sender-cert-layout"),
        *_words("MQMQ-2.2.20.6.", "provider-named provider-absent provider-name"),
        *dict.fromkeys(rule.requirement for rule in CERTIFICATES),
        *dict.fromkeys(rule.requirement for rule in ENCRYPTED),
        "MQDMPR-3.1.7.1.32.encrypted-flag",
        "MQQB-2.4.2.session-key-algorithm",
        *dict.fromkeys(rule.requirement for rule in RULES if rule.requirement.startswith("MQDMPR-3.1.1.12.")),
        *dict.fromkeys(rule.requirement for rule in RULES if rule.requirement.startswith("MQMQ-2.5.")),
    ),
}
HANDLED: dict[str, Handling] = {
    **{name: Handling("refused", requirement_id(by), section) for name, (by, section) in _REFUSED.items()},
    **{
        name: Handling("same", requirement_id(by), "MS-MQMQ " + by.partition("-")[2].rpartition(".")[0])
        for name, by in _SAME.items()
    },
    **{name: Handling("either", "", section) for section, names in _EITHER.items() for name in names},
}


# The packet can be read; whose host a queue is on is another matter.
_HOSTS = frozenset(rule.id for rule in rules_user.HOST_RULES)


def handling(rule: Rule) -> Handling:
    """Return how a reader handles the rule's mutation. Raises KeyError for a rule outside the table."""
    if rule.id in _HOSTS:
        return Handling("either", "", "MS-MQDMPR 3.1.7.1.31")
    word = rule.id.partition("/")[2]
    return HANDLED[rule.requirement + ("/names" if word.endswith("-names") else "")]


def mutated(way: Way) -> Iterator[tuple[Rule, Handling]]:
    """Yield the rules with a mutation of a user message that a reader handles in this way."""
    for rule in RULES:
        if rule.breaks.kind == "UserMessage" and handling(rule).way == way:
            yield rule, handling(rule)
