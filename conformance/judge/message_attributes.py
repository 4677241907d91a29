"""Compares a received message with the message that was sent (MS-MQDMPR 3.1.1.12).

Both are in the form of the adapter protocol. The API cannot show a member that a received message lacks, so the member
is not judged. An API that shows one of the two queues a message names is expected to show the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from conformance.model.message_properties import ATTRIBUTES, QUEUES
from conformance.spec.catalogue import reading_id, requirement_id
from conformance.verdict import Json, Outcome, Verdict

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
    queues_shown: bool = False,
) -> Iterator[Verdict]:
    """Judge the attributes of a received message. queues_shown: the API shows queues (see the module docstring).

    before: the received form of a message sent with the same values before a restart; the message must equal it.
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
            wanted, demand = sent, attribute.unchanged
        elif attribute.default is not None:
            wanted, demand = attribute.default
        if demand is not None:
            yield _equal(demand, f"{subject}: {member}", wanted, seen)


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
    return Verdict(demand, Outcome.PASS if expected == actual else Outcome.FAIL, subject, expected, actual)
