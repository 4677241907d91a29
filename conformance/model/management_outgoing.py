"""The values that management properties of outgoing queues must have, and a value in the state it was told in."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final, TypeAlias

from conformance.model.calls import Answer
from conformance.model.content import counted
from conformance.model.journals import HTTP, SYSTEM_JOURNAL, SYSTEM_QUEUES, is_kept, is_multicast
from conformance.model.management_rows import QUEUE, STATUSES, ManagementRow, Numbered, columns, sequence_of
from conformance.model.outgoing import INTERVALS, LOCKED_AT_START, LOCKED_WHEN_MADE, STATES, locked_claims, session_of
from conformance.model.property_refusals import by_reading, equal
from conformance.model.rules import (
    ACK_COUNT,
    COUNT_HELD,
    LAST_ACK,
    RESENDS,
    STATE_LOCKED,
    STEP_ADDRESSES,
    UNREAD,
    Rules,
)
from conformance.model.state import Management, Queue, Session, State, Step
from conformance.model.tables import OutgoingState, PositionState
from conformance.model.values import replace, value
from conformance.verdict import Json, Outcome, Verdict, held

_MOST_LISTED: Final = 60  # of what an answer lists, in a verdict


@value
class Shown:
    """One value. queue: that of the call, None for the machine. given: the variant; value: what it holds."""

    rules: Rules
    state: State
    queue: Queue | None
    row: ManagementRow
    subject: str
    value: Json
    given: Json
    answer: Answer

    @property
    def name(self) -> str:
        """Name of the queue."""
        return self.queue.name if self.queue is not None else ""

    def equal(self, demand: str, holds: bool, expected: Json) -> Verdict:
        """Return the verdict that this value holds a demand or does not.

        What was expected and told is in a failure alone: most values are right, and some are long.
        """
        if holds:
            return held(demand, self.subject)
        return equal(demand, self.subject, holds, expected, short(self.value))

    def texts(self, expected: str) -> Iterator[Verdict]:
        """Judge a text of an enumeration."""
        yield self.equal(self.row.values[expected], self.value == expected, expected)


def short(value: Json) -> Json:
    """Return a value, of a long list its beginning and its length."""
    if isinstance(value, list) and len(value) > _MOST_LISTED:
        return [*value[:_MOST_LISTED], f"... {len(value)} in all"]
    return value


Told: TypeAlias = tuple[State, list[Verdict]]
Judging: TypeAlias = Callable[[Shown], Told]


def stateless(judge: Callable[[Shown], Iterator[Verdict]]) -> Judging:
    """Return the judging of a value that teaches nothing beside its verdicts."""
    return lambda shown: (shown.state, list(judge(shown)))


def passes(demand: str, shown: Shown) -> Verdict:
    """Return the verdict that a demand holds."""
    return held(demand, shown.subject)


_DELETED: Final = PositionState.DELETED


def messages(shown: Shown, queue: Queue) -> Iterator[Verdict]:
    """Judge the number of messages in a queue."""
    if any(position.doubtful for position in queue.positions):
        return
    left = sum(position.state is not _DELETED for position in queue.positions)
    if is_kept(queue.name) and is_kept(shown.name) and shown.value != left and isinstance(shown.value, int):
        yield shown.equal(_kept_wrongly(queue, more=shown.value > left), False, left)
    available = sum(position.available for position in queue.positions)
    if left == available:
        yield shown.equal(shown.row.shown, shown.value == left, left)
        return
    allowed: dict[str, Json] = {"counted": left, "available": available}
    fits = {name: shown.value == number for name, number in allowed.items()}
    yield by_reading(shown.rules, shown.row.shown, COUNT_HELD, fits, shown.subject, allowed, shown.value)


def _kept_wrongly(queue: Queue, *, more: bool) -> str:
    """Return the requirement broken by a copy too many in a journal or dead-letter queue, or by one that is lacking."""
    copies = sorted(queue.positions, key=lambda position: position.since)
    claims = [position.claim for position in copies if (position.state is _DELETED) == more]
    if claims and not claims[-1].endswith("-off"):
        return claims[-1]
    if queue.name not in SYSTEM_QUEUES:
        return claims[-1] if claims else "MQMQ-2.3.1.4.journal-none"
    journal = queue.name == SYSTEM_JOURNAL
    return "MQDMPR-3.1.1.12.positive-journaling" if journal else "MQDMPR-3.1.1.12.negative-journaling"


def count(shown: Shown) -> Iterator[Verdict]:
    """Judge the number of messages in the queue itself."""
    assert shown.queue is not None
    yield from messages(shown, shown.queue)


def weighed(shown: Shown, place: str) -> Told:
    """Judge the bytes in a queue, and note them for the sum of all queues."""
    queue = shown.state.queues.get(place)
    if queue is None:
        return shown.state, [shown.equal(shown.row.shown, shown.value == 0, 0)]
    state, found = counted(shown.rules, shown.state, place, "", {"bytes": shown.value})
    wrong = next((verdict for verdict in found if verdict.outcome is Outcome.FAIL), None)
    verdicts = [shown.equal(shown.row.shown, False, wrong.expected)] if wrong is not None else []
    if found and wrong is None:
        verdicts = [passes(shown.row.shown, shown)]
    if isinstance(shown.value, int):
        management = state.management or Management()
        others = tuple(one for one in management.weights if one[0] != place)
        weights = (*others, (place, content_of(queue), shown.value))
        state = replace(state, management=replace(management, weights=weights))
    return state, [*verdicts, *found]


def content_of(queue: Queue) -> frozenset[str]:
    """Return what is in a queue: each message that is left, with its state."""
    return frozenset(f"{one.message} {one.state.name}" for one in queue.positions if one.state is not _DELETED)


def bytes_in_queue(shown: Shown) -> Told:
    """Judge the bytes in the queue itself."""
    return weighed(shown, shown.name)


_OCTET: Final = r"(25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)"
_IP, _FOREIGN, _IPV6 = "IP=", "FOREIGN=", "IPv6="
_IPV4: Final = re.compile(rf"{_OCTET}(\.{_OCTET}){{3}}\Z", re.ASCII)  # RFC 3986, appendix A
_GUID: Final = re.compile(r"[0-9A-F]{8}-([0-9A-F]{4}-){3}[0-9A-F]{12}\Z", re.IGNORECASE)
_DIGITS: Final = re.compile(r"\d{1,3}(\.\d{1,3}){3}\Z", re.ASCII)  # IPaddress of MS-MQMQ 2.3.12.25
_LETTERS: Final = re.compile(r"\\\\[A-Za-z]+\Z")
_HOPS, _NO_HOPS = "MQDMPR-3.1.1.3.next-hops", "MQDMPR-3.1.7.1.5.outgoing-no-next-hops"
_HISTORY: Final = "MQDMPR-3.1.1.3.connection-history"
_LAST: Final = "MQDMPR-3.1.1.3.connection-history-status"
_MULTICAST, _MARKED = "MQDMPR-3.1.1.3.multicast", "MQDMPR-3.1.7.1.5.outgoing-multicast"
_NOT_MARKED: Final = "MQDMPR-3.1.7.1.5.outgoing-multicast-set"
_ELEMENT: Final = "MQDMPR-3.1.1.4"
_LOCKED, _UNLOCKS = "LOCKED", ("MQDMPR-3.1.3.unlock", "MQDMPR-3.1.3.locked-not-hardened")
_HARDENED: Final = "MQDMPR-3.1.1.1.hardened-security"
_WRONGLY_LOCKED: Final = {"unlock": _UNLOCKS[0], "queues.open": LOCKED_WHEN_MADE[0], "restart": LOCKED_AT_START[1]}
"""The requirement that a queue breaks which must not be locked, by what last affected its state."""


def _session(shown: Shown) -> Session:
    return session_of(shown.state, shown.name)


def _expected_state(shown: Shown) -> str | None:
    """Return the text of the queue's state; None where only a network would know."""
    assert shown.queue is not None and shown.queue.outgoing is not None
    if shown.queue.outgoing.state is OutgoingState.ON_HOLD:
        return "ONHOLD"
    if shown.queue.outgoing.state is OutgoingState.LOCKED:
        return _LOCKED
    session, management = _session(shown), shown.state.management or Management()
    if management.played or session.steps or not any(one.state is not _DELETED for one in shown.queue.positions):
        return session.state
    return None


def _state(shown: Shown) -> Told:
    """Judge the state of an outgoing queue, and note that it was told as locked."""
    assert shown.queue is not None and shown.queue.outgoing is not None
    found = shown.queue.outgoing
    if found.state is not OutgoingState.LOCKED:
        return shown.state, list(_unlocked_state(shown))
    if shown.value != _LOCKED:
        fits = {"locked-too": False, "listed": shown.value in shown.row.values}
        claim = locked_claims(shown.state, shown.queue, found)[0]
        return shown.state, [
            by_reading(shown.rules, claim, STATE_LOCKED, fits, shown.subject, {"locked-too": _LOCKED}, shown.value)
        ]
    claims = (*locked_claims(shown.state, shown.queue, found), STATES[_LOCKED])
    demand, fits = str(shown.row.among), {"locked-too": True, "listed": False}
    verdicts = [passes(claim, shown) for claim in claims]
    verdicts.append(
        by_reading(shown.rules, demand, STATE_LOCKED, fits, shown.subject, {"listed": list(shown.row.values)}, _LOCKED)
    )
    return shown.state.put(replace(shown.queue, outgoing=replace(found, held=True))), verdicts


def is_locked(shown: Shown) -> bool:
    """Tell whether this is the state of a queue that is locked, which not every list of its values has."""
    outgoing = shown.queue.outgoing if shown.queue is not None else None
    locked = outgoing is not None and outgoing.state is OutgoingState.LOCKED
    return shown.row.name == f"{QUEUE}STATE" and locked and shown.value == _LOCKED


def _unlocked_state(shown: Shown) -> Iterator[Verdict]:
    assert shown.queue is not None and shown.queue.outgoing is not None
    expected, by = _expected_state(shown), shown.queue.outgoing.by
    if shown.value == _LOCKED:
        hardened = shown.state.hardened or by == "unlock"
        yield shown.equal(_WRONGLY_LOCKED.get(by, _HARDENED) if hardened else _HARDENED, False, "not LOCKED")
        return
    if shown.name == HTTP and shown.state.hardened and by in ("queues.open", "restart"):
        yield passes(_WRONGLY_LOCKED[by], shown)
    if by == "unlock":
        yield from (passes(demand, shown) for demand in _UNLOCKS)
        if expected == "INACTIVE":  # the start makes it Waiting, as far as the state from before is there at all
            yield shown.equal(_UNLOCKS[0], shown.value in ("INACTIVE", "WAITING"), ["INACTIVE", "WAITING"])
            return
    if expected is None:
        if shown.value == "ONHOLD":
            yield shown.equal("MQDMPR-3.1.7.2.4.inactive", by != "outgoing.resume", "not ONHOLD")
        return
    right = shown.value == expected
    if shown.value in shown.row.values:
        yield shown.equal(STATES[expected], right, expected)
        if expected == "ONHOLD":
            yield shown.equal("MQDMPR-3.1.7.2.3.on-hold", right, expected)
            yield shown.equal("MQDMPR-3.1.4.14.pauses", right, expected)
        elif expected == "INACTIVE" and by == "outgoing.resume":
            yield shown.equal("MQDMPR-3.1.7.2.4.inactive", right, expected)
            yield shown.equal("MQDMPR-3.1.4.15.resumes", right, expected)
        elif expected == "INACTIVE" and by == "queues.open":
            yield shown.equal("MQDMPR-3.1.7.1.5.outgoing-inactive", right, expected)
        elif expected == "INACTIVE" and by == "restart":
            yield shown.equal("MQDMPR-3.1.1.volatile", right, expected)
        yield from _beside_others(shown, expected)
    yield from shown.texts(expected)


def _beside_others(shown: Shown, expected: str) -> Iterator[Verdict]:
    """Judge that a pause or a resumption of another queue was of that queue alone."""
    assert shown.queue is not None and shown.queue.outgoing is not None
    queues = shown.state.queues.values()
    others = [one.outgoing for one in queues if one.outgoing is not None and one is not shown.queue]
    held, since = shown.value == "ONHOLD", shown.queue.outgoing.since
    if expected == "ONHOLD":
        if any(other.by == "outgoing.resume" and other.since > since for other in others):
            yield shown.equal("MQDMPR-3.1.4.15.resumed-queue", held, expected)
    elif any(other.state is OutgoingState.ON_HOLD for other in others):
        yield shown.equal("MQDMPR-3.1.4.14.paused-queue", not held, expected)


def _foreign(shown: Shown) -> Iterator[Verdict]:
    """Judge that the destination is not told to be foreign: it may be unknown (MS-MQMR 3.1.4.1)."""
    yield shown.equal("MQDMPR-3.1.1.1.foreign-system", shown.value != "YES", "not YES")


def _location(shown: Shown) -> Iterator[Verdict]:
    yield from shown.texts("REMOTE")


def _type(shown: Shown) -> Iterator[Verdict]:
    """Judge the type of a queue that leads to a multicast address, or to a queue: that is private by its name."""
    if is_multicast(shown.name):
        right = shown.value == "MULTICAST"
        if shown.value in shown.row.values:
            for demand in (_MULTICAST, _MARKED):
                yield shown.equal(demand, right, "MULTICAST")
        yield from shown.texts("MULTICAST")
    else:
        yield shown.equal(_NOT_MARKED, shown.value != "MULTICAST", "not MULTICAST")
        yield from shown.texts("PRIVATE")


# Next hops and the history of the connection
def _is_ipv6(text: str) -> bool:
    try:
        ipaddress.IPv6Address(text)
    except ValueError:
        return False
    return "%" not in text


def _hop(address: str) -> str:
    return f"{_IPV6}{ipaddress.IPv6Address(address)}" if ":" in address else f"{_IP}{address}"


def _plain(hop: str) -> str:
    rest = hop.removeprefix(_IPV6)
    return f"{_IPV6}{ipaddress.IPv6Address(rest)}" if rest != hop and _is_ipv6(rest) else hop


def _next_hops(shown: Shown) -> Iterator[Verdict]:
    listed = [str(one) for one in shown.value] if isinstance(shown.value, list) else []
    for text in listed:
        yield shown.equal(
            "MQMQ-2.3.12.12.address-rule", text.startswith((_IP, _FOREIGN, _IPV6)), "IP=, FOREIGN=, IPv6="
        )
        if text.startswith(_IP):
            yield shown.equal("MQMQ-2.3.12.12.ip-addr-rule", bool(_IPV4.match(text[len(_IP) :])), "an IPv4 address")
        elif text.startswith(_FOREIGN):
            yield shown.equal("MQMQ-2.3.12.12.foreign-address-rule", bool(_GUID.match(text[len(_FOREIGN) :])), "a GUID")
        elif text.startswith(_IPV6):
            yield shown.equal("MQMQ-2.3.12.12.ipv6-addr-rule", _is_ipv6(text[len(_IPV6) :]), "an IPv6 address")
    expected = _expected_state(shown)
    if expected is None:
        return
    session = _session(shown)
    hops = sorted(map(_hop, session.hops)) if expected in ("WAITING", "CONNECTED") else []
    fresh = not session.steps and expected == "INACTIVE"
    yield shown.equal(_NO_HOPS if fresh else _HOPS, sorted(map(_plain, listed)) == hops, list(hops))


def _history(shown: Shown) -> Iterator[Verdict]:
    statuses, times, errors, addresses = _entries(shown.given)
    numbers = {number: step for step, (number, _, _) in STATUSES.items()}
    yield shown.equal("MQMQ-2.3.12.25.status-values", all(one in numbers for one in statuses), "statuses listed")
    for each in addresses:
        for text in each:
            backslashes = str(text).startswith("\\\\")
            if ":" not in str(text):  # the grammar of the section has no IPv6 addresses
                fits = bool(_LETTERS.match(str(text)) if backslashes else _DIGITS.match(str(text)))
                yield shown.equal("MQMQ-2.3.12.25.address-rule", fits, "a name or an address")
                rule = "MQMQ-2.3.12.25.name-rule" if backslashes else "MQMQ-2.3.12.25.ip-address-rule"
                yield shown.equal(rule, fits, "as the rule derives it")
    if not (shown.state.management or Management()).played and not _session(shown).steps:
        return
    steps = _session(shown).steps
    yield shown.equal(_HISTORY, len(statuses) == len(steps), {"entries": len(steps)})
    if len(statuses) != len(steps):
        return
    for at, step in enumerate(steps):
        yield from _entry(shown, step, statuses[at], times[at], errors[at], addresses[at])
    if steps:
        yield shown.equal(_LAST, statuses[-1] == STATUSES[steps[-1].name][0], STATUSES[steps[-1].name][0])


def _entries(given: Json) -> tuple[list[Json], list[Json], list[Json], list[list[Json]]]:
    """Return the columns of a connection history; none where it has no value."""
    found = columns(given)
    if not found:
        return [], [], [], []
    statuses, times, errors, addresses = (columns(each) for each in found)
    return statuses, times, errors, [columns(each) for each in addresses]


def _entry(shown: Shown, step: Step, status: Json, time: Json, error: Json, addresses: list[Json]) -> Iterator[Verdict]:
    number, numbered, meant = STATUSES[step.name]
    known = {one for one, _, _ in STATUSES.values()}
    if status in known:
        yield shown.equal(meant, status == number, {"status": number})
    yield shown.equal(numbered, status == number, {"status": number})
    if step.at is not None and isinstance(time, int):
        within = step.at[0] <= time <= step.at[1]
        yield shown.equal("MQDMPR-3.1.1.3.history-time", within, {"seconds": list(step.at)})
    signed = step.error - (1 << 32) if step.error >= 1 << 31 else step.error
    yield shown.equal("MQDMPR-3.1.1.3.history-error", error == signed, {"error": signed})
    if step.addresses:
        fits = {"tried": addresses == [step.addresses[0]], "possible": addresses == list(step.addresses)}
        wanted: dict[str, Json] = {"tried": step.addresses[0], "possible": list(step.addresses)}
        demand = "MQDMPR-3.1.1.3.history-address-list"
        yield by_reading(shown.rules, demand, STEP_ADDRESSES, fits, shown.subject, wanted, addresses)


# The order of transactional messages
def _numbered(shown: Shown, demand: str, number: int | None, sequence: int | None) -> Iterator[Verdict]:
    """Judge a SEQUENCE_INFO. number: of the message that it names, None for none. sequence: where it is known."""
    found: Numbered | None = sequence_of(shown.given)
    if number is None:
        nothing = found is None or found[1] == 0
        yield shown.equal(demand, nothing, "no message")
        return
    right = found is not None and found[1:] == (number, max(0, number - 1))
    if right and found is not None and sequence is not None:
        right = found[0] & 0xFFFFFFFFFFFFFFFF == sequence
    expected: Json = {"sequence": None if sequence is None else str(sequence), "number": number}
    actual: Json = None if found is None else {"sequence": str(found[0]), "number": found[1], "previous": found[2]}
    yield _saying(shown.equal(demand, right, expected), actual)


def _saying(verdict: Verdict, actual: Json) -> Verdict:
    """Return a verdict whose actual value is said in members."""
    return Verdict(verdict.requirement, verdict.outcome, verdict.subject, verdict.expected, actual)


def _first_unacknowledged(shown: Shown) -> Iterator[Verdict]:
    session = _session(shown)
    pending = sorted(session.awaiting.values())
    yield from _numbered(shown, f"{_ELEMENT}.eod-first-non-ack", pending[0] if pending else None, session.sequence)


def _last_unacknowledged(shown: Shown) -> Iterator[Verdict]:
    session = _session(shown)
    pending = sorted(session.awaiting.values())
    yield from _numbered(shown, f"{_ELEMENT}.eod-last-non-ack", pending[-1] if pending else None, session.sequence)


def _following(shown: Shown) -> Iterator[Verdict]:
    session = _session(shown)
    if sequence_of(shown.given) is None and not session.used:
        return  # no transactional message has made a sequence yet
    sequence = session.sequence
    if sequence is None and session.before is not None:
        sequence = session.before + 1
    yield from _numbered(shown, f"{_ELEMENT}.eod-next-seq", session.following, sequence)


def _last_acknowledged(shown: Shown) -> Iterator[Verdict]:
    session, demand = _session(shown), f"{_ELEMENT}.eod-last-ack"
    if session.acked is None:
        return
    sequence, number = session.acked
    found = sequence_of(shown.given)
    if number == 0:
        yield shown.equal(demand, found is None or found[1] == 0, "no message")
        return
    right = found is not None and found[1:] == (number, number - 1)
    right = right and (sequence is None or (found is not None and found[0] & 0xFFFFFFFFFFFFFFFF == sequence))
    expected: Json = {"sequence": None if sequence is None else str(sequence), "number": number}
    if session.numbers:
        yield shown.equal(demand, right, expected)
        return
    fits = {"always": right, "pending": found is None}
    yield by_reading(
        shown.rules, demand, LAST_ACK, fits, shown.subject, {"always": expected, "pending": None}, shown.value
    )


def _last_acknowledged_at(shown: Shown) -> Iterator[Verdict]:
    times = _session(shown).acked_at
    if times is not None:
        within = isinstance(shown.value, int) and times[0] <= shown.value <= times[1]
        yield shown.equal(f"{_ELEMENT}.eod-last-ack-time", within, {"seconds": list(times)})


def _acknowledgments(shown: Shown) -> Iterator[Verdict]:
    session, demand = _session(shown), f"{_ELEMENT}.eod-last-ack-count"
    value = shown.value if shown.given is not None and shown.value is not None else 0
    if session.acks is None:
        return
    if session.acks == session.repeats:
        yield shown.equal(demand, value == session.acks, session.acks)
        return
    last: Json = session.repeats if session.repeats is not None else {"from": 1, "to": session.acks}
    allowed: dict[str, Json] = {"all": session.acks, "repeats": last}
    among = isinstance(value, int) and 1 <= value <= session.acks
    fits = {"all": value == session.acks, "repeats": value == last if session.repeats is not None else among}
    yield by_reading(shown.rules, demand, ACK_COUNT, fits, shown.subject, allowed, shown.value)


def _unacknowledged(shown: Shown) -> Iterator[Verdict]:
    value = 0 if shown.value is None else shown.value
    number = len(_session(shown).numbers)
    yield shown.equal(f"{_ELEMENT}.eod-no-ack-count", value == number, number)


def _unread(shown: Shown) -> Iterator[Verdict]:
    session, demand = _session(shown), f"{_ELEMENT}.eod-no-read-count"
    value = 0 if shown.value is None else shown.value
    allowed: dict[str, Json] = {"journaled": len(session.unread), "all": len(session.unread) + session.unread_plain}
    if not session.unread_plain:
        yield shown.equal(demand, value == len(session.unread), len(session.unread))
        return
    fits = {name: value == number for name, number in allowed.items()}
    yield by_reading(shown.rules, demand, UNREAD, fits, shown.subject, allowed, shown.value)


def _interval(shown: Shown) -> Told:
    """Judge the resend interval, and note it: the next entry of the table after each order acknowledgment.

    Its first three entries are one value, which may be configured; so may the others, where the first is.
    """
    session, demand = _session(shown), f"{_ELEMENT}.eod-resend-interval"
    if not isinstance(shown.value, int):
        return shown.state, [shown.equal(demand, not session.numbers, "more than 0")]
    base, place = session.base, session.place
    wanted = base if place is not None and INTERVALS[place] == INTERVALS[0] else None
    if wanted is None and place is not None and base == INTERVALS[0]:
        wanted = INTERVALS[place]
    right = wanted in (None, shown.value) or session.emptied
    verdict = shown.equal(demand, shown.value > 0 and right, "more than 0" if right else wanted)
    management = shown.state.management or Management()
    base = shown.value if session.acks == 0 else base
    noted = management.having(shown.name, replace(session, interval=shown.value, base=base))
    return replace(shown.state, management=noted), [verdict]


def _resend_time(shown: Shown) -> Iterator[Verdict]:
    """Judge when messages will be sent again: the interval after the last one was sent."""
    session = _session(shown)
    interval = session.waits or (session.interval if session.acks == 0 else None)
    if session.sent_at is None or interval is None or not session.numbers:
        return
    first, last = (second + interval for second in session.sent_at)
    value = shown.value if isinstance(shown.value, int) else 0
    if not first <= value <= last and interval not in INTERVALS:
        began, ended = session.sent_at
        meant = [each for each in INTERVALS if began + each <= value <= ended + each]
        if meant:  # the time is one that the table has: what does not fit is the interval
            demand, told = f"{_ELEMENT}.eod-resend-interval", {"interval": interval, "resend time": value}
            yield _saying(shown.equal(demand, False, {"interval": meant[0]}), told)
            return
    yield shown.equal(f"{_ELEMENT}.eod-resend-time", first <= value <= last, {"seconds": [first, last]})


def _resends(shown: Shown) -> Iterator[Verdict]:
    session, demand = _session(shown), f"{_ELEMENT}.eod-resend-count"
    if session.place is None or not session.numbers:
        return
    value = 0 if shown.value is None else shown.value
    places: list[Json] = [session.place, session.place + 1]  # MS-MQQB does not say whether the first place is 0 or 1
    fits = {"sent": value == session.sends, "interval-index": value in places}
    wanted: dict[str, Json] = {"sent": session.sends, "interval-index": places}
    yield by_reading(shown.rules, demand, RESENDS, fits, shown.subject, wanted, shown.value)


# What an outgoing queue has not
def _format_name(shown: Shown) -> Iterator[Verdict]:
    """Judge the format name of the destination, where it is told."""
    known, lacking = shown.answer.values.get("designates"), shown.answer.values.get("no_format_names")
    text = str(shown.value or "")
    named = isinstance(known, dict) and known.get(text) == shown.name
    if text and not named and ((isinstance(lacking, list) and text in lacking) or "=" in text):
        yield shown.equal(shown.row.shown, False, f"a format name of {shown.name}")
    else:
        yield shown.equal(shown.row.shown, True, None)


def _nothing(shown: Shown) -> Iterator[Verdict]:
    """Judge that nothing is told of what such a queue has not: no value, an empty one, or the number 0."""
    numbered = sequence_of(shown.given)
    empty = shown.value in (None, 0, "", []) or (numbered is not None and numbered[1] == 0)
    entries = columns(shown.given) if isinstance(shown.value, list) else []
    empty = empty or (bool(entries) and not any(columns(each) for each in entries))
    yield shown.equal(shown.row.shown, empty, "nothing")


LOCAL_LACKS: Final = tuple(
    f"{QUEUE}{word}"
    for word in (
        *("NEXTHOPS", "CONNECTION_HISTORY", "EOD_LAST_ACK", "EOD_LAST_ACK_COUNT", "EOD_FIRST_NON_ACK"),
        *("EOD_LAST_NON_ACK", "EOD_NO_READ_COUNT", "EOD_NO_ACK_COUNT", "EOD_RESEND_COUNT"),
    )
)
"""Properties of outgoing queues alone, which MS-MQMR 3.1.4.1 gives no value for others."""
NOTHING: Final[Judging] = stateless(_nothing)

OUTGOING_VALUES: Final[Mapping[str, Judging]] = {
    f"{QUEUE}TYPE": stateless(_type),
    f"{QUEUE}FORMATNAME": stateless(_format_name),
    f"{QUEUE}LOCATION": stateless(_location),
    f"{QUEUE}FOREIGN": stateless(_foreign),
    f"{QUEUE}JOURNAL_MESSAGE_COUNT": NOTHING,
    f"{QUEUE}BYTES_IN_JOURNAL": NOTHING,
    f"{QUEUE}EOD_SOURCE_INFO": NOTHING,
    f"{QUEUE}SUBQUEUE_COUNT": NOTHING,
    f"{QUEUE}SUBQUEUE_NAMES": NOTHING,
    f"{QUEUE}MESSAGE_COUNT": stateless(count),
    f"{QUEUE}BYTES_IN_QUEUE": bytes_in_queue,
    f"{QUEUE}STATE": _state,
    f"{QUEUE}NEXTHOPS": stateless(_next_hops),
    f"{QUEUE}EOD_LAST_ACK": stateless(_last_acknowledged),
    f"{QUEUE}EOD_LAST_ACK_TIME": stateless(_last_acknowledged_at),
    f"{QUEUE}EOD_LAST_ACK_COUNT": stateless(_acknowledgments),
    f"{QUEUE}EOD_FIRST_NON_ACK": stateless(_first_unacknowledged),
    f"{QUEUE}EOD_LAST_NON_ACK": stateless(_last_unacknowledged),
    f"{QUEUE}EOD_NEXT_SEQ": stateless(_following),
    f"{QUEUE}EOD_NO_READ_COUNT": stateless(_unread),
    f"{QUEUE}EOD_NO_ACK_COUNT": stateless(_unacknowledged),
    f"{QUEUE}EOD_RESEND_TIME": stateless(_resend_time),
    f"{QUEUE}EOD_RESEND_INTERVAL": _interval,
    f"{QUEUE}EOD_RESEND_COUNT": stateless(_resends),
    f"{QUEUE}CONNECTION_HISTORY": stateless(_history),
}
"""By name. An EOD property of an outgoing queue without a value stands for a count of 0 and for no message."""
