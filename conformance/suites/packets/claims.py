"""The requirements that judge a generated packet, by its headers."""

from __future__ import annotations

from conformance.judge.packets import optional_headers, rules_signatures
from conformance.judge.packets.field_compare import PLACES
from conformance.judge.packets.judge import RULES
from conformance.judge.packets.optional_headers import IDS, SIGNED, UNSIGNED
from conformance.judge.packets.packet_verdicts import ALIGNED
from conformance.judge.packets.user_messages import DECODES, ENCODES, READ_APART

# These do not apply to packets of the messages below, which are no internal packets; the headers for several queues and
# for Soap have their own tests.
_OUT_OF_REACH = (
    "MQMQ-2.2.19.1.debug-header-user-message-only",
    "MQMQ-2.2.19.1.time-to-reach-queue-internal",
    "MQMQ-2.2.19.2.multi-queue-header-present",
    "MQMQ-2.2.19.2.soap-header-present",
    "MQMQ-2.2.19.3.encryption-by-privacy",
    *(entry for entry in dict.fromkeys(rule.requirement for rule in rules_signatures.SENDER_RULES)),
    *(entry for entry in dict.fromkeys(rule.requirement for rule in rules_signatures.SIGNATURE_RULES)),
)
_LISTS = "MQDMPR-3.1.1.12.multiple-destination-signature"


def rules_of(*sections: str) -> tuple[str, ...]:
    """Return the requirements of these sections (`MQMQ-2.2.19.1`) that a rule judges in an encoded user message."""
    names = dict.fromkeys(rule.requirement for rule in RULES)
    wanted = tuple(f"{section}." for section in sections)
    return tuple(name for name in names if name.startswith(wanted) and name not in _OUT_OF_REACH)


def layouts_of(section: str) -> tuple[str, ...]:
    """Return the demands of a section on the places of its fields."""
    names = dict.fromkeys(place.requirement for place in PLACES)
    return tuple(name for name in names if name.startswith(f"{section}.") and name.endswith("-layout"))


SESSION = (
    *layouts_of("MQMQ-2.2.20.4"),
    "MQMQ-2.2.19.1.session-header-present",
    "MQMQ-2.2.19.1.packet-size-session-header",
    *rules_of("MQMQ-2.2.20.4"),
)
BASE = (
    ENCODES,
    "MQDMPR-3.1.7.1.30.conforms",
    "MQDMPR-3.1.7.1.32.serialised",
    *layouts_of("MQMQ-2.2.19.1"),
    *(name for name in rules_of("MQMQ-2.2.19.1") if name not in SESSION),
    "MQDMPR-3.1.7.1.32.base-header-fields",
)
USER = (
    *layouts_of("MQMQ-2.2.19.2"),
    *rules_of("MQMQ-2.2.19.2", "MQMQ-2.2.18.1.5.2"),
    *optional_headers.USER_HEADER_DEMANDS,
    "MQDMPR-3.1.7.1.32.user-header-fields",
)
LISTS = tuple(
    dict.fromkeys(
        (
            *rules_of(*(f"MQMQ-2.2.{section}" for section in ("20.1", "20.2", "20.3", "18.1.4", "18.1.7.2"))),
            *optional_headers.LIST_DEMANDS,
            "MQMQ-2.2.19.2.multi-queue-header-present",
        )
    )
)
LISTS_DECODED = (DECODES, *optional_headers.READS.values())
SOAP = tuple(dict.fromkeys((*rules_of("MQMQ-2.2.20.7"), *optional_headers.SOAP_DEMANDS)))
PROPERTIES = (
    *layouts_of("MQMQ-2.2.19.3"),
    *rules_of("MQMQ-2.2.19.3", "MQMQ-2.2.18.1.6"),
    "MQDMPR-3.1.7.1.32.properties-fields",
    "MQDMPR-3.1.7.1.32.body",
)
TRANSACTION = (
    *layouts_of("MQMQ-2.2.20.5"),
    *rules_of("MQMQ-2.2.20.5"),
    *optional_headers.SEQUENCE_DEMANDS,
    "MQDMPR-3.1.7.1.32.transaction-fields",
)
SECURITY = (
    *(name for name in rules_of("MQMQ-2.2.20.6") if not name.endswith("sender-id-none")),
    "MQDMPR-3.1.7.1.32.encrypted-flag",
    "MQDMPR-3.1.7.1.32.security-fields",
)
DEBUG = (*layouts_of("MQMQ-2.2.20.8"), *rules_of("MQMQ-2.2.20.8"))
DECODED = (
    DECODES,
    "MQDMPR-3.1.7.1.31.base-header-fields",
    "MQDMPR-3.1.7.1.31.user-header-fields",
    *READ_APART.values(),
    "MQDMPR-3.1.7.1.31.properties-fields",
    "MQDMPR-3.1.7.1.31.body",
)
# A signature over several destinations needs a multi-queue header, and so does the list of names that goes into it.
SIGNATURES = (
    *dict.fromkeys(
        rule.requirement for rule in rules_signatures.SIGNATURE_RULES if not rule.requirement.startswith(_LISTS)
    ),
    *SIGNED.values(),
    "MQDMPR-3.1.1.12.provider-type",
    "MQDMPR-3.1.1.12.provider-name",
    "MQDMPR-3.1.1.12.provider-name-base",
)
ENCRYPTION = (
    "MQMQ-2.2.19.3.encryption-by-privacy",
    "MQDMPR-3.1.1.12.encryption-algorithm",
    "MQDMPR-3.1.1.12.symmetric-key",
    *(f"MQMQ-2.2.19.3.{word}" for word, _, _ in rules_signatures.CIPHERS.values()),
    *(f"MQDMPR-3.1.1.12.{word}" for word, _, _ in rules_signatures.CIPHERS.values()),
)
SENDERS = (
    *IDS,
    ALIGNED,
    UNSIGNED,
    "MQMQ-2.2.19.3.privacy-none",
    "MQDMPR-3.1.1.12.privacy-level-none",
    "MQDMPR-3.1.1.12.sender-identifier-sid",
    "MQDMPR-3.1.1.12.sender-identifier-queue-manager",
    "MQDMPR-3.1.1.12.sender-identifier-type-values",
)
