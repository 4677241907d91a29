"""Compares user messages of the adapter protocol with packets: the values that must agree, and their requirements.

A message, a packet and a message read back are each converted to one plain form, member by member; a difference breaks
a requirement of MS-MQDMPR 3.1.7.1.32 (making a packet) or 3.1.7.1.31 (reading one).
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Collection, Mapping
from typing import Any, TypeAlias

from conformance.spec.catalogue import requirement_id
from conformance.verdict import Evidence, Outcome, Verdict
from conformance.wire import Packet

Message: TypeAlias = Mapping[str, Any]
Plain: TypeAlias = dict[str, Any]

NULL = "00000000-0000-0000-0000-000000000000"
INFINITE = 0xFFFFFFFF
ACKNOWLEDGEMENTS = ("positive_arrival", "positive_receive", "negative_arrival", "negative_receive")  # PA PR NA NR
SENDER_TYPES = ("none", "sid", "queue_manager")  # SecurityHeader.Flags.ST
DEFAULT_PRIORITY = 3
_U, _M, _T, _S, _X = (
    "UserHeader.",
    "MessagePropertiesHeader.",
    "TransactionHeader.",
    "SecurityHeader.",
    "SessionHeader.",
)

# Member of the plain form to its group of fields.
GROUPS: dict[str, str] = {
    **dict.fromkeys(("priority", "trace", "trace_queue", "time_to_reach_queue"), "base-header-fields"),
    **dict.fromkeys(
        (
            "source",
            "ordinal",
            "destination_queue_manager",
            "time_to_be_received",
            "sent_time",
            "hop_count",
            "delivery",
            "positive_journaling",
            "negative_journaling",
            "destination",
            "administration_queue",
            "response_queue",
            "connector_type",
        ),
        "user-header-fields",
    ),
    **dict.fromkeys(
        (
            "class",
            "label",
            "application_tag",
            "correlation_identifier",
            "body_type",
            "acknowledgements",
            "privacy_level",
            "hash_algorithm",
            "encryption_algorithm",
        ),
        "properties-fields",
    ),
    **dict.fromkeys(("body", "extension"), "body"),
    "transaction": "transaction-fields",
    **dict.fromkeys(
        (
            "sender_identifier_type",
            "sender_identifier",
            "sender_certificate",
            "signature",
            "provider_type",
            "provider_name",
        ),
        "security-fields",
    ),
    "session": "session",
}
_SESSION_REQUIREMENT = requirement_id("MQMQ-2.2.19.1.session-header-present")
_ENCODE = {
    group: requirement_id(f"MQDMPR-3.1.7.1.32.{group}") if group != "session" else _SESSION_REQUIREMENT
    for group in dict.fromkeys(GROUPS.values())
}
# MS-MQDMPR 3.1.7.1.31 reads neither: what a reader owes them is in MS-MQMQ.
READ_APART: dict[str, str] = {
    "hop_count": requirement_id("MQMQ-2.2.19.2.flags-rc-layout"),
    "connector_type": requirement_id("MQMQ-2.2.19.2.connector-type-ignored"),
}
_DECODE = {
    **{
        group: requirement_id(f"MQDMPR-3.1.7.1.31.{group}") if group != "session" else _SESSION_REQUIREMENT
        for group in dict.fromkeys(GROUPS.values())
    },
    **READ_APART,
}
ENCODES = requirement_id("MQDMPR-3.1.7.1.30.constructs")
DECODES = requirement_id("MQDMPR-3.1.7.1.31.reads")
PRIORITY_READING = "R-MQMQ-transactional-priority"
_TRANSACTION = {
    "sequence_number": _T + "TxSequenceNumber",
    "previous_sequence_number": _T + "PreviousTxSequenceNumber",
    "index": _T + "Flags.ID",
}
_TRANSACTION_FLAGS = {"first": "FM", "last": "LM", "final_ack_required": "FA"}
_SESSION = {
    "ack_sequence_number": "AckSequenceNumber",
    "recoverable_ack_sequence_number": "RecoverableMsgAckSeqNumber",
    "recoverable_ack_flags": "RecoverableMsgAckFlags",
    "user_message_sequence_number": "UserMsgSequenceNumber",
    "recoverable_message_sequence_number": "RecoverableMsgSeqNumber",
    "window_size": "WindowSize",
}


def plain_of_message(message: Message) -> Plain:
    """Convert a message to the plain form. Members left out take their defaults (MS-MQDMPR 3.1.1.12).

    Three have no required default and are None when left out: the two algorithms, whose defaults are recommended, and
    the time to reach the queue.
    """
    get = message.get
    transactional = get("transaction") is not None
    identifier = get("identifier") or {"source": NULL, "ordinal": 0}
    return {
        # A transactional message has priority 0, whatever the application asks for (MS-MQMQ 2.2.19.1).
        "priority": 0 if transactional else get("priority", DEFAULT_PRIORITY),
        "trace": bool(get("trace", False)),
        "trace_queue": _guid(get("trace_queue", NULL)) if get("trace") else NULL,
        "time_to_reach_queue": get("time_to_reach_queue"),
        "source": _guid(identifier["source"]),
        "ordinal": identifier["ordinal"],
        "destination_queue_manager": _guid(get("destination_queue_manager", NULL)),
        "time_to_be_received": get("time_to_be_received", INFINITE),
        "sent_time": get("sent_time", 0),
        "hop_count": get("hop_count", 0),
        "delivery": get("delivery", "recoverable" if transactional else "express"),
        "positive_journaling": bool(get("positive_journaling", False)),
        "negative_journaling": bool(get("negative_journaling", False)),
        "destination": canonical(get("destination")),
        "administration_queue": canonical(get("administration_queue")),
        "response_queue": canonical(get("response_queue")),
        "connector_type": _guid(get("connector_type", NULL)),
        "class": get("class", 0),
        "label": get("label", ""),
        "application_tag": get("application_tag", 0),
        "correlation_identifier": _octets(get("correlation_identifier"), bytes(20)),
        "body_type": get("body_type", 0),
        "acknowledgements": sorted(get("acknowledgements", ())),
        "privacy_level": get("privacy_level", 0),
        "hash_algorithm": get("hash_algorithm"),
        "encryption_algorithm": get("encryption_algorithm"),
        "body": _octets(get("body"), b""),
        "extension": _octets(get("extension"), b""),
        "transaction": _plain_transaction(get("transaction")),
        "sender_identifier_type": get("sender_identifier_type", "none"),
        "sender_identifier": _octets(get("sender_identifier"), b""),
        "sender_certificate": _octets(get("sender_certificate"), b""),
        "signature": _octets(get("signature"), b""),
        "provider_type": get("provider_type", 0) if get("provider_name") else 0,
        "provider_name": get("provider_name", ""),
        "session": dict(message["session"]) if get("session") else None,
    }


def plain_of_packet(packet: Packet) -> Plain:
    """Convert a decoded packet to the plain form; members whose fields could not be decoded are None."""
    get = packet.fields.get
    mark = get(_M + "Flags")
    return {
        "priority": get("BaseHeader.Flags.PR"),
        "trace": _flag(get("BaseHeader.Flags.TR")),
        "trace_queue": get("DebugHeader.Queue.QueueIdentifier", NULL),
        "time_to_reach_queue": get("BaseHeader.TimeToReachQueue"),
        "source": get(_U + "SourceQueueManager"),
        "ordinal": get(_U + "MessageID"),
        "destination_queue_manager": get(_U + "QueueManagerAddress"),
        "time_to_be_received": get(_U + "TimeToBeReceived"),
        "sent_time": get(_U + "SentTime"),
        "hop_count": get(_U + "Flags.RC"),
        "delivery": {0: "express", 1: "recoverable"}.get(int(get(_U + "Flags.DM", 9))),
        "positive_journaling": _flag(get(_U + "Flags.JP")),
        "negative_journaling": _flag(get(_U + "Flags.JN")),
        "destination": queue_name(packet, "DestinationQueue"),
        "administration_queue": queue_name(packet, "AdminQueue"),
        "response_queue": queue_name(packet, "ResponseQueue"),
        "connector_type": get(_U + "ConnectorType", NULL),
        "class": get(_M + "MessageClass"),
        "label": get(_M + "Label", "" if get(_M + "LabelLength") == 0 else None),
        "application_tag": get(_M + "ApplicationTag"),
        "correlation_identifier": _hex(get(_M + "CorrelationID")),
        "body_type": get(_M + "BodyType"),
        "acknowledgements": None
        if mark is None
        else sorted(name for at, name in enumerate(ACKNOWLEDGEMENTS) if int(mark) >> at & 1),
        "privacy_level": get(_M + "PrivacyLevel"),
        "hash_algorithm": get(_M + "HashAlgorithm"),
        "encryption_algorithm": get(_M + "EncryptionAlgorithm"),
        "body": _hex(get(_M + "MessageBody", b"" if get(_M + "MessageSize") == 0 else None)),
        "extension": _hex(get(_M + "ExtensionData", b"" if get(_M + "ExtensionSize") == 0 else None)),
        "transaction": _packet_transaction(packet),
        "sender_identifier_type": _sender_type(get(_S + "Flags.ST", 0)),
        "sender_identifier": _hex(get(_S + "SecurityData.SecurityID", b"")),
        "sender_certificate": _hex(get(_S + "SecurityData.SenderCert", b"")),
        "signature": _hex(get(_S + "SecurityData.Signature", b"")),
        "provider_type": get(_S + "SecurityData.ProviderInfo.ProviderType", 0),
        "provider_name": get(_S + "SecurityData.ProviderInfo.ProviderName", ""),
        "session": {name: get(_X + field) for name, field in _SESSION.items()} if packet.has("SessionHeader") else None,
    }


def queue_name(packet: Packet, field: str) -> str | None:
    """Return the format name of a queue field of UserHeader; None for no queue (MS-MQMQ 2.2.19.2)."""
    get = packet.fields.get
    kind = get(f"{_U}Flags.{field[0]}Q")
    prefix = f"{_U}{field}."
    number = get(prefix + "PrivateQueueIdentifier")
    hosts: dict[Any, Any] = {2: get(_U + "SourceQueueManager"), 3: get(_U + "QueueManagerAddress")}
    if kind == 1 and field == "ResponseQueue":
        return queue_name(packet, "AdminQueue")
    if kind == 4 and field == "ResponseQueue":
        admin = (queue_name(packet, "AdminQueue") or "").partition("\\")[0]
        known = admin.startswith("PRIVATE=") and number is not None
        return f"{admin}\\{int(number or 0):08x}" if known else None
    if kind == 5:
        guid = get(prefix + "PublicQueueIdentifier")
        return f"PUBLIC={guid}" if isinstance(guid, str) else None
    if kind == 7:
        name = get(prefix + "DirectFormatName")
        return f"DIRECT={name}" if isinstance(name, str) else None
    owner = get(prefix + "SourceQueueManager") if kind == 6 else hosts.get(kind)
    return f"PRIVATE={owner}\\{int(number):08x}" if isinstance(owner, str) and number is not None else None


def canonical(name: str | None) -> str | None:
    """Return a format name in one spelling of keyword, GUIDs and numbers; a direct name's address is unchanged."""
    if not name:
        return None
    keyword, _, rest = name.partition("=")
    if keyword.upper() == "PRIVATE":
        host, _, number = rest.partition("\\")
        return f"PRIVATE={host.lower()}\\{int(number, 16):08x}" if _is_hex(number) else name
    return f"{keyword.upper()}={rest.lower() if keyword.upper() == 'PUBLIC' else rest}"


def compare_encoded(message: Message, packet: Packet, *, evidence: Evidence | None = None) -> list[Verdict]:
    """Judge whether the packet holds the values of the message, one verdict per group (MS-MQDMPR 3.1.7.1.32)."""
    wanted, found = plain_of_message(message), plain_of_packet(packet)
    _forget_defaults(wanted, found)
    return [
        _group(_ENCODE[group], "packets.encode", members, wanted, found, evidence)
        for group, members in _members().items()
    ]


def compare_decoded(
    message: Message,
    answer: Message,
    *,
    readings: Mapping[str, tuple[str, ...]],
    evidence: Evidence | None = None,
) -> list[Verdict]:
    """Judge whether the message read equals the packed one, one verdict per group (MS-MQDMPR 3.1.7.1.31)."""
    return _read_back(plain_of_message(message), answer, readings, evidence)


def compare_read(
    packet: Packet,
    answer: Message,
    *,
    readings: Mapping[str, tuple[str, ...]],
    evidence: Evidence | None = None,
) -> list[Verdict]:
    """Judge what an implementation reads from a packet of any origin against the packet's bytes."""
    return _read_back(plain_of_packet(packet), answer, readings, evidence)


def _read_back(
    wanted: Plain, answer: Message, readings: Mapping[str, tuple[str, ...]], evidence: Evidence | None
) -> list[Verdict]:
    found = plain_of_message(answer)
    _forget_defaults(wanted, found)
    followed: tuple[tuple[str, str], ...] = ()
    outcome = Outcome.PASS
    if wanted["transaction"] is not None and found["priority"] in (0, DEFAULT_PRIORITY):
        chosen = "zero" if found["priority"] == 0 else "default"
        accepted = readings[PRIORITY_READING]
        if chosen in accepted:
            wanted["priority"] = found["priority"]
            followed = ((PRIORITY_READING, chosen),)
            outcome = Outcome.PASS if chosen == accepted[0] else Outcome.READING
    out = []
    for group, members in _members(READ_APART).items():
        verdict = _group(_DECODE[group], "packets.decode", members, wanted, found, evidence)
        if group == "base-header-fields" and verdict.outcome is Outcome.PASS and followed:
            verdict = Verdict(verdict.requirement, outcome, verdict.subject, readings=followed, evidence=evidence)
        out.append(verdict)
    return out


def refusal(requirement: str, status: int | None, refused: bool, *, evidence: Evidence | None = None) -> Verdict:
    """Judge whether a packet that must be refused was refused."""
    outcome = Outcome.PASS if refused else Outcome.FAIL
    return Verdict(
        requirement_id(requirement), outcome, "packets.decode", {"refused": True}, {"status": status}, evidence=evidence
    )


def _forget_defaults(wanted: Plain, found: Plain) -> None:
    """Ignore members that the message left to a merely recommended default, which differs between versions."""
    for member in ("time_to_reach_queue", "hash_algorithm", "encryption_algorithm"):
        if wanted[member] is None:
            found[member] = None


def _members(apart: Collection[str] = ()) -> dict[str, list[str]]:
    """Return the members of each group. apart: members that are a group of their own, named as they are."""
    out: dict[str, list[str]] = {}
    for member, group in GROUPS.items():
        out.setdefault(member if member in apart else group, []).append(member)
    return out


def _group(
    requirement: str, subject: str, members: list[str], wanted: Plain, found: Plain, evidence: Evidence | None
) -> Verdict:
    wrong = [member for member in members if wanted[member] != found[member]]
    if not wrong:
        return Verdict(requirement, Outcome.PASS, subject, evidence=evidence)
    expected = {member: wanted[member] for member in wrong}
    actual = {member: found[member] for member in wrong}
    return Verdict(requirement, Outcome.FAIL, subject, expected, actual, evidence=evidence)


def _plain_transaction(value: Mapping[str, Any] | None) -> Plain | None:
    if value is None:
        return None
    return {
        "sequence_identifier": {name: value["sequence_identifier"][name] for name in ("ordinal", "timestamp")},
        **{name: value[name] for name in _TRANSACTION},
        **{name: bool(value.get(name, False)) for name in _TRANSACTION_FLAGS},
        "connector_queue_manager": _guid(value.get("connector_queue_manager", NULL)),
    }


def _packet_transaction(packet: Packet) -> Plain | None:
    if not packet.has("TransactionHeader"):
        return None
    get = packet.fields.get
    return {
        "sequence_identifier": {
            "ordinal": get(_T + "TxSequenceID.Ordinal"),
            "timestamp": get(_T + "TxSequenceID.TimeStamp"),
        },
        **{name: get(key) for name, key in _TRANSACTION.items()},
        **{name: _flag(get(f"{_T}Flags.{bit}")) for name, bit in _TRANSACTION_FLAGS.items()},
        "connector_queue_manager": get(_T + "ConnectorQMGuid", NULL),
    }


def _sender_type(value: Any) -> Any:
    return SENDER_TYPES[value] if isinstance(value, int) and value < len(SENDER_TYPES) else value


def _flag(value: Any) -> bool | None:
    return None if value is None else bool(value)


def _guid(text: Any) -> Any:
    return text.lower() if isinstance(text, str) else text


def _octets(text: str | None, default: bytes) -> str:
    try:
        return (base64.b64decode(text, validate=True) if text is not None else default).hex()
    except binascii.Error:
        return f"not base64: {text}"


def _hex(value: Any) -> str | None:
    return value.hex() if isinstance(value, bytes) else None


def _is_hex(text: str) -> bool:
    return 0 < len(text) <= 8 and all(letter in "0123456789abcdefABCDEF" for letter in text)
