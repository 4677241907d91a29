"""Compares a message that was received, or read from a packet, with the one that was sent (MS-MQDMPR 3.1.1.12)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from conformance.judge.packets.field_compare import (
    ADMIN_TYPES,
    CIPHERS,
    CLASSES,
    DESTINATION_TYPES,
    FULL,
    GUIDS,
    HASHES,
    PRIVACY,
    RESPONSE_TYPES,
    SENDERS,
    M,
    S,
    U,
    When,
    whole,
)
from conformance.judge.packets.user_messages import plain_of_message, plain_of_packet
from conformance.model.message_properties import ATTRIBUTES, QUEUES
from conformance.runlog.cutting import clipped
from conformance.spec.catalogue import reading_id, requirement_id
from conformance.verdict import Evidence, Json, Outcome, Verdict
from conformance.wire import Packet, dissect, encode

MARKS = reading_id("R-MQDMPR-first-last-in-transaction")
MARKS_SCOPE = reading_id("R-MQDMPR-transaction-marks-scope")
BODY = requirement_id("MQDMPR-3.1.1.12.body-unchanged")
SURVIVES = requirement_id("MQDMPR-3.1.1.12.recoverable-attributes-survive")
UNIQUE = requirement_id("MQDMPR-3.1.1.12.identifier-unique")
SOURCE = requirement_id("MQDMPR-3.1.1.12.source-machine-identifier")
SENT_TIME = requirement_id("MQDMPR-3.1.1.12.sent-time")
ARRIVAL_TIME = requirement_id("MQDMPR-3.1.1.12.arrival-time")
FIRST = requirement_id("MQDMPR-3.1.1.12.first-in-transaction")
LAST = requirement_id("MQDMPR-3.1.1.12.last-in-transaction")
_SEVERAL = {
    requirement_id(f"MQDMPR-3.1.1.12.{member}-queue"): requirement_id(f"MQDMPR-3.1.1.12.{member}-queues")
    for member in ("response", "administration")
}
_LONGEST = 1_000  # characters of a value that verdicts tell


@dataclass(frozen=True, slots=True)
class Sending:
    """How a message was sent. identifier: the identifier that the send returned.

    began_ms, ended_ms: the implementation's own time. transactional: sent in a transaction, where the sender does not
    choose priority and delivery.
    """

    message: Mapping[str, Any]
    identifier: Json = None
    began_ms: int | None = None
    ended_ms: int | None = None
    transactional: bool = False


def judge_attributes(
    sending: Sending,
    received: Mapping[str, Any],
    subject: str,
    *,
    before: Mapping[str, Any] | None = None,
    demand: str | None = None,
    queues_shown: bool = False,
) -> Iterator[Verdict]:
    """Judge the attributes of a received message. queues_shown: the API shows queues (see the module docstring).

    before: the received form of a message sent with the same values before a restart; the message must equal it.
    demand: what a change of an attribute that was sent breaks, after something else than a receive; nothing else is
    judged then.
    """
    for attribute in ATTRIBUTES:
        member = attribute.member
        if sending.transactional and member in ("priority", "delivery"):
            continue
        sent = sending.message.get(member)
        if member not in received and not (queues_shown and member in QUEUES and sent is not None):
            continue
        seen = received.get(member)
        if before is not None:
            if member in before:
                yield _equal(SURVIVES, f"{subject}: {member}", before[member], seen)
            continue
        if member in sending.message:
            wanted, broken = sent, attribute.unchanged and (demand or _own(attribute.unchanged, sent))
        elif attribute.default is not None:
            wanted, broken = (attribute.default[0], None) if demand else attribute.default
        if broken is not None:
            yield _equal(broken, f"{subject}: {member}", wanted, seen)


def _own(unchanged: str, sent: Any) -> str:
    """Return the requirement on this value of an attribute: several queues have their own."""
    return _SEVERAL.get(unchanged, unchanged) if isinstance(sent, str) and "," in sent else unchanged


def demanded(message: Mapping[str, Any]) -> str:
    """Return the requirement broken by a message that is refused or does not arrive.

    It is the requirement on the message's only attribute, otherwise the one on the body.
    """
    if len(message) == 1:
        found = next((each.unchanged for each in ATTRIBUTES if each.member in message), None)
        return found or BODY
    return BODY


def judge_identity(
    sending: Sending, received: Mapping[str, Any], subject: str, earlier: Sequence[Json], queue_manager: str | None
) -> Iterator[Verdict]:
    """Judge the identifier and the times. earlier: the identifiers of other messages."""
    identifier = received.get("identifier")
    if isinstance(identifier, Mapping):
        wanted = {"identifier of no other message": dict(identifier)}
        outcome = Outcome.FAIL if identifier in earlier else Outcome.PASS
        yield Verdict(UNIQUE, outcome, f"{subject}: identifier", wanted, dict(identifier))
        if sending.identifier is not None:
            yield _equal(UNIQUE, f"{subject}: identifier", sending.identifier, dict(identifier))
        if queue_manager:
            source = str(identifier.get("source"))
            yield _equal(SOURCE, f"{subject}: source", queue_manager.casefold(), source.casefold())
    if sending.began_ms is None or sending.ended_ms is None:
        return
    first, last = sending.began_ms // 1000, -(-sending.ended_ms // 1000)
    for member, demand in (("sent_time", SENT_TIME), ("arrival_time", ARRIVAL_TIME)):
        seen = received.get(member)
        if isinstance(seen, int):
            outcome = Outcome.PASS if first <= seen <= last else Outcome.FAIL
            yield Verdict(demand, outcome, f"{subject}: {member}", {"from": first, "to": last}, seen)


def judge_marks(received: Sequence[Mapping[str, Any]], readings: Mapping[str, tuple[str, ...]]) -> Iterator[Verdict]:
    """Judge the transaction marks of all messages that one transaction sent to one queue, in their order."""
    if "all-by-sequence" in readings[MARKS_SCOPE]:
        return  # the marks depend on the earlier messages of the sequence
    count = len(received)
    for member, marked, demand in (("first_in_transaction", 0, FIRST), ("last_in_transaction", count - 1, LAST)):
        seen = [message.get(member) for message in received]
        if None in seen:
            continue
        fits = {"per-destination": seen == [at == marked for at in range(count)], "unprepared-unmarked": not any(seen)}
        usable = [name for name in readings[MARKS] if fits[name]]
        outcome = Outcome.FAIL if not usable else Outcome.PASS if usable[0] == readings[MARKS][0] else Outcome.READING
        assumed = ((MARKS, usable[0]),) if usable else ()
        wanted = {"marked": f"message {marked + 1} of {count} alone"}
        yield Verdict(demand, outcome, f"{member} of {count} messages", wanted, seen, assumed)


def _equal(demand: str, subject: str, expected: Any, actual: Any) -> Verdict:
    outcome = Outcome.PASS if expected == actual else Outcome.FAIL
    return Verdict(demand, outcome, subject, clipped(expected, _LONGEST), clipped(actual, _LONGEST))


SUBJECT = "packets.decode"
_QUEUES = ("destination", "administration_queue", "response_queue")
_TYPES = tuple(f"{member}:" for member in _QUEUES)
_31 = "MQDMPR-3.1.7.1.31"


@dataclass(frozen=True, slots=True)
class Attribute:
    """An attribute to compare. member: a member of the plain form; `transaction.first` for one of a transaction's,
    `destination:` for the type of a queue.

    when: compare only for packets where a field has one of these values.
    """

    requirement: str
    member: str
    when: When | None = None


def _attributes(words: str) -> Iterator[Attribute]:
    for word in words.split():
        slug, _, member = word.partition("=")
        yield Attribute(requirement_id(f"{_31}.{slug}-attribute"), member)


def _values(member: str, selector: str, words: str) -> Iterator[Attribute]:
    for word in words.split():
        slug, _, number = word.partition("=")
        yield Attribute(requirement_id(f"{_31}.{slug}"), member, (selector, (int(number, 0),)))


# Left out: 0x8003, which the table reads as MD4 and MS-MQMQ 2.2.19.3 as MD5; a message of the adapter protocol carries
# the number. AuthenticationLevel, SymmetricKey and the attributes of several queues have no member in the plain form.
_HASHES = " ".join(word for word in HASHES.split() if "8003" not in word)
PACKED_ATTRIBUTES: tuple[Attribute, ...] = (
    *_attributes(
        "priority=priority tracing-requested=trace time-to-reach-queue=time_to_reach_queue body-type=body_type "
        "encryption-algorithm=encryption_algorithm hash-algorithm=hash_algorithm app-specific=application_tag "
        "correlation-identifier=correlation_identifier acknowledgements-requested=acknowledgements class=class "
        "extension=extension label=label body=body privacy-level=privacy_level "
        "authentication-provider-type=provider_type authentication-provider-name=provider_name "
        "sender-identifier-type=sender_identifier_type sender-identifier=sender_identifier "
        "sender-certificate=sender_certificate final-ack-required=transaction.final_ack_required "
        "transaction-identifier=transaction.index transaction-sequence-number=transaction.sequence_number "
        "transactional-message-sequence-identifier=transaction.sequence_identifier "
        "connector-queue-manager-identifier=transaction.connector_queue_manager "
        "first-in-transaction=transaction.first last-in-transaction=transaction.last "
        "destination-queue-manager-identifier=destination_queue_manager sent-time=sent_time "
        "destination-queue-type=destination: administration-queue-type=administration_queue: "
        "response-queue-type=response_queue: time-to-be-received=time_to_be_received identifier=ordinal "
        "source-machine-identifier=source administration-queue-format-name=administration_queue "
        "destination-queue-format-name=destination delivery-guarantee=delivery "
        "positive-journaling-requested=positive_journaling negative-journaling-requested=negative_journaling "
        "response-queue-format-name=response_queue tracing-queue-identifier=trace_queue"
    ),
    *_values("class", M + "MessageClass", f"{CLASSES} class-nack-receive-rejected=0xC004"),
    *_values("privacy_level", M + "PrivacyLevel", PRIVACY),
    *_values("encryption_algorithm", M + "EncryptionAlgorithm", CIPHERS),
    *_values("hash_algorithm", M + "HashAlgorithm", _HASHES),
    *_values("sender_identifier_type", S + "Flags.ST", SENDERS),
    *(
        each
        for name, bit in (("positive", "JP"), ("negative", "JN"))
        for each in _values(
            f"{name}_journaling",
            f"{U}Flags.{bit}",
            f"{name}-journaling-requested-true=1 {name}-journaling-requested-false=0",
        )
    ),
    *(
        each
        for name, member, letter, types in (
            ("destination", "destination:", "D", DESTINATION_TYPES),
            ("administration", "administration_queue:", "A", ADMIN_TYPES),
            ("response", "response_queue:", "R", RESPONSE_TYPES),
        )
        for each in _values(
            member,
            f"{U}Flags.{letter}Q",
            " ".join(f"{name}-queue-type-{slug}={number}" for slug, number in types.items()),
        )
    ),
)
REQUIREMENTS: tuple[str, ...] = tuple(attribute.requirement for attribute in PACKED_ATTRIBUTES)


def compare_attributes(
    message: Mapping[str, Any], answer: Mapping[str, Any], packet: Packet, *, evidence: Evidence | None = None
) -> list[Verdict]:
    """Compare attributes: one verdict for each requirement on an attribute that this packet exercises.

    message: what was packed; answer: what was read; packet: what it was read from. Left out are members that the
    message leaves to a merely recommended default, members of headers that the packet lacks, and the priority of a
    transactional message, which is a reading.
    """
    return list(compare_plain(plain_of_message(message), plain_of_message(answer), packet, evidence=evidence))


def compare_plain(
    wanted: Mapping[str, Any], found: Mapping[str, Any], packet: Packet, *, evidence: Evidence | None = None
) -> Iterable[Verdict]:
    """Compare two plain forms, as `compare_attributes` compares two messages."""
    for attribute in PACKED_ATTRIBUTES:
        when, member = attribute.when, attribute.member
        if when is not None and packet.fields.get(when[0]) not in when[1]:
            continue
        if member == "priority" and wanted["transaction"]:
            continue
        value, other = part(wanted, member), part(found, member)
        if value is None and member not in _QUEUES + _TYPES:  # for a queue, None is the value "no queue"
            continue
        if value == other:
            yield Verdict(attribute.requirement, Outcome.PASS, SUBJECT, evidence=evidence)
        else:
            expected, actual = {member: value}, {member: other}
            yield Verdict(attribute.requirement, Outcome.FAIL, SUBJECT, expected, actual, evidence=evidence)


def part(plain: Mapping[str, Any], member: str) -> Any:
    """Return a member of the plain form; None for a member of a transaction that is absent."""
    if member in _TYPES:
        return _type(plain.get(member[:-1]))
    whole, _, inner = member.partition(".")
    value = plain.get(whole)
    return value.get(inner) if inner and isinstance(value, Mapping) else None if inner else value


def _type(name: str | None) -> str | None:
    """Return the type of a queue that a format name gives: its keyword and, for a private queue, the host."""
    if name is None:
        return None
    keyword = name.partition("=")[0]
    return name.partition("\\")[0] if keyword == "PRIVATE" else keyword


_TRANSACTION = "TransactionHeader."
_QUEUE_MUTATIONS = tuple(
    f"{member}{end}" for member in ("destination", "administration_queue", "response_queue") for end in ("", ":")
)


def packet_for(attribute: Attribute) -> Packet:
    """Return a right packet that exercises the requirement: priority is compared only without a transaction."""
    if attribute.member != "priority":
        return whole(attribute.when)
    values = {key: value for key, value in FULL.items() if not key.startswith(_TRANSACTION)}
    return dissect(encode("UserMessage", values), transport="buffer")


def misread(plain: Mapping[str, Any], member: str) -> dict[str, Any]:
    """Return the message with another value of this member, as a decoder reads it that looks in the wrong place."""
    outer, _, inner = member.removesuffix(":").partition(".")
    if inner:
        return {**plain, outer: {**plain[outer], inner: _other(plain[outer][inner])}}
    if member in _QUEUE_MUTATIONS:
        direct = str(plain[outer]).startswith("DIRECT=")
        return {**plain, outer: f"PUBLIC={GUIDS[7]}" if direct else "DIRECT=OS:x\\y"}
    return {**plain, outer: _other(plain[outer])}


def caught() -> frozenset[str]:
    """Return the requirements that hold for a message as it was packed and fail for the misread message."""
    found = set()
    for attribute in PACKED_ATTRIBUTES:
        packet = packet_for(attribute)
        plain = plain_of_packet(packet)
        right, wrong = (
            {one.requirement: one.outcome for one in compare_plain(plain, read, packet)}
            for read in (plain, misread(plain, attribute.member))
        )
        if right.get(attribute.requirement) is Outcome.PASS and wrong[attribute.requirement] is Outcome.FAIL:
            found.add(attribute.requirement)
    return frozenset(found)


def _other(value: Any) -> Any:
    """Return a different value of the same kind."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value ^ 1
    if isinstance(value, list):
        return [*value, "another"]
    if isinstance(value, dict):
        return {name: _other(one) for name, one in value.items()}
    return f"{value}0"
