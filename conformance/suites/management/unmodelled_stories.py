"""Stories whose calls no model has: reports of packets that no queue takes, handles of administrators, lookup
identifiers, full journals.

MS-MQDMPR 3.1.1.12 (Class), 3.1.1.17 (ReceiveAdminAccess, PeekAdminAccess), 3.1.7.1.9, MS-MQMQ 2.2.18.1.6, MC-MQAC
2.2.2.12.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from conformance.activex.plans import Plan, call_on, create
from conformance.activex.values import S_OK, Variant, long, octets, text
from conformance.activex.words import act_line
from conformance.harness.guarded_client import lacking, refusals
from conformance.histories.examples import REAL_MS, unlimited
from conformance.histories.operations.objects import CREATE, operation
from conformance.model.management_rows import QUEUE, ROWS
from conformance.model.rules import LOOKUP_ORDER
from conformance.suites.management.incoming_story import OTHER, SENDER
from conformance.suites.story_table import StoryTable, Untold
from conformance.verdict import Json, Outcome, Verdict

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder

KIND: Final = "told"
_CLASS: Final = "MQDMPR-3.1.1.12.class-"
_NEGATIVE: Final = "MQDMPR-3.1.1.12.ack-neg-arrival"
RECEIVES, PEEKS = "MQDMPR-3.1.1.17.receive-admin-access", "MQDMPR-3.1.1.17.peek-admin-access"
_GOT: Final = "MQMR-3.1.4.1.get"
LOOKUPS: Final = "MQDMPR-3.1.7.1.9.lookup-identifier-priority"
_REMOTE: Final = "DIRECT=TCP:192.0.2.7\\private$\\mqconform-admin"  # RFC 5737
_TRANSACTION: Final[Mapping[str, Json]] = MappingProxyType(
    {
        "sequence_identifier": {"ordinal": 5, "timestamp": 1_600_000_000},
        "sequence_number": 1,
        "previous_sequence_number": 0,
        "index": 1,
        "first": True,
        "last": True,
    }
)
REPORTS: Final[Mapping[str, tuple[str, int, dict[str, Json] | None, int, bool]]] = MappingProxyType(
    {
        "quota": (f"{_CLASS}nack-queue-exceed-quota", 0x8003, {"PROPID_Q_QUOTA": 1}, 4000, False),
        "plain": (f"{_CLASS}nack-not-transactional-queue", 0x8009, {}, 3, True),
        "transactional": (
            f"{_CLASS}nack-not-transactional-message",
            0x800A,
            {"PROPID_Q_TRANSACTION": 1},
            3,
            False,
        ),
        "absent": (f"{_CLASS}nack-bad-dest-queue", 0x8000, None, 3, False),
    }
)
"""Cause to the requirement on the class, its number, the properties of the destination (None: there is none), the size
of the body, and whether the message was sent in a transaction."""


def refused(cause: str, mq: Port, judge: Recorder) -> None:
    """A packet that its queue does not take is reported in the administration queue, to whoever asked for it."""
    demand, number, properties, size, transactional = REPORTS[cause]
    path = f"{mq.hello.computer}\\private$\\mqconform-told-"
    admin = _created(mq, judge, f"{path}admin", {})
    reader = mq.call("queues.open", format_name=admin, access="receive")
    if not reader.ok:
        raise Untold("no administration queue could be opened")
    name = f"DIRECT=OS:{path}nobody" if properties is None else _created(mq, judge, f"{path}{cause}", properties)
    for sender, asked in ((SENDER, True), (OTHER, False)):
        message: dict[str, Json] = {
            "destination": name,
            "body": base64.b64encode(b"x" * size).decode(),
            "administration_queue": admin,
            "acknowledgements": ["negative_arrival"] if asked else ["positive_arrival"],
            "identifier": {"source": sender, "ordinal": 7},
            **({"transaction": dict(_TRANSACTION)} if transactional else {}),
        }
        if _delivered(mq, message):
            raise Untold("the packet is taken, whatever its queue is")
        judge.step(f"deliver a packet that its queue cannot take ({cause})", {"method": "packets.deliver"})
        told = mq.call("messages.receive", queue=reader.values["queue"], timeout_ms=mq.hello.settle_ms)
        found = told.values["message"].get("class") if told.ok else None
        judge.step("receive from the administration queue", {"method": "messages.receive"}, {"class": found})
        if asked:
            _record(judge, _NEGATIVE, told.ok, {"report": True}, {"report": told.ok})
            _record(judge, demand, found == number, number, found)
        else:
            _record(judge, _NEGATIVE, not told.ok, {"report": False}, {"report": told.ok})


def administrators(mq: Port, judge: Recorder) -> None:
    """Handles of administrators reach the messages that wait in an outgoing queue, as far as each may."""
    mq.need("format_names", "remote")
    sender = mq.call("queues.open", format_name=_REMOTE, access="send")
    if not sender.ok:
        raise Untold("no queue of another computer could be opened")
    for label in ("a", "b", "c"):
        mq.call("messages.send", queue=sender.values["queue"], message={"label": label})
    judge.step("send three messages to another computer", {"method": "messages.send"})
    for access, demand in (("peek_admin", PEEKS), ("receive_admin", RECEIVES)):
        opened = _opened(mq, access)
        may_take = access == "receive_admin"
        _record(judge, demand, opened is not None, {"opened": True}, {"opened": opened is not None})
        peeked = mq.call("messages.peek", queue=opened, timeout_ms=0)
        judge.step(f"peek with {access}", {"method": "messages.peek"}, {"status": peeked.status})
        _record(judge, demand, _label(peeked) == "a", "a", _label(peeked))
        taken = mq.call("messages.receive", queue=opened, timeout_ms=0)
        judge.step(f"receive with {access}", {"method": "messages.receive"}, {"status": taken.status})
        _record(judge, demand, taken.ok is may_take, {"received": may_take}, {"received": taken.ok})
        if may_take:
            _record(judge, demand, _label(taken) == "a", "a", _label(taken))
        purged = mq.call("queues.purge", queue=opened)
        judge.step(f"purge with {access}", {"method": "queues.purge"}, {"status": purged.status})
        _record(judge, demand, purged.ok is may_take, {"purged": may_take}, {"purged": purged.ok})
        left = mq.call("messages.peek", queue=opened, timeout_ms=0)
        _record(judge, demand, _label(left) == (None if may_take else "a"), None if may_take else "a", _label(left))


def spellings(mq: Port, judge: Recorder) -> None:
    """A queue is the same however its name is written; an action on one spelling is seen by the other."""
    path = f"{mq.hello.computer}\\private$\\mqconform-Told-Names"
    made, direct = _created(mq, judge, path, {}), f"DIRECT=OS:{path}"
    told = [_shown(mq, judge, name) for name in (made, direct, f"DIRECT=OS:{path.swapcase()}", direct.lower())]
    for other in told[1:]:
        _record(judge, _GOT, other == told[0], told[0], other)
    if not mq.offers("management.act") or not mq.hello.takes("format_names", "remote"):
        return
    if not mq.call("queues.open", format_name=_REMOTE, access="send").ok:
        raise Untold("no queue of another computer could be opened")
    for name, action, state in ((_REMOTE.swapcase(), "PAUSE", "ONHOLD"), (_REMOTE.lower(), "RESUME", "INACTIVE")):
        done = mq.call("management.act", target={"type": "queue", "format_name": name}, action=action)
        judge.step(f"{action} of {name}", {"method": "management.act"}, {"status": done.status})
        for other in (_REMOTE, _REMOTE.upper()):
            shown = _shown(mq, judge, other)
            found = shown[-1] if isinstance(shown, list) else shown
            _record(judge, _GOT, found == {"vt": 31, "value": state}, state, found)


def destinations(mq: Port, judge: Recorder) -> None:
    """An outgoing queue to a private queue is told as such, however the name is written that it was opened with."""
    mq.need("format_names", "remote")
    names = [f"DIRECT=TCP:192.0.2.7\\{word}\\mqconform-spelled" for word in ("private$", "PRIVATE$", "Private$")]
    names += [name.swapcase() for name in names[:1]] + ["direct=tcp:192.0.2.8\\PRIVATE$\\MQCONFORM-SPELLED"]
    for name in names:
        opened = mq.call("queues.open", format_name=name, access="send")
        judge.step(f"open {name} to send", {"method": "queues.open"}, {"status": opened.status})
        if not opened.ok:
            raise Untold("no queue of another computer could be opened")
        for sent in (False, True):
            if sent and not mq.call("messages.send", queue=opened.values["queue"], message={"label": "a"}).ok:
                break
            for spelled in (name, name.lower(), name.upper()):
                _tells(mq, judge, spelled, TYPE="PRIVATE", LOCATION="REMOTE", STATE="INACTIVE")
        mq.call("queues.purge", queue=opened.values["queue"])
        mq.call("queues.close", queue=opened.values["queue"])
        for spelled in (name, name.swapcase()):
            _tells(mq, judge, spelled, TYPE="PRIVATE", LOCATION="REMOTE", STATE="INACTIVE")


def lookups(mq: Port, judge: Recorder) -> None:
    """The high byte of the lookup identifier is 7 less the priority, or 0 for every message outside transactions."""
    name = _created(mq, judge, f"{mq.hello.computer}\\private$\\mqconform-told-lookups", {})
    handles = [mq.call("queues.open", format_name=name, access=access) for access in ("send", "receive")]
    if not all(one.ok for one in handles):
        raise Untold("the queue could not be opened")
    sender, reader = (one.values["queue"] for one in handles)
    for priority in (5, 3, 0):
        mq.call("messages.send", queue=sender, message={"priority": priority})
        given = mq.call("messages.receive", queue=reader, timeout_ms=mq.hello.settle_ms)
        judge.step(
            f"send and receive with priority {priority}", {"method": "messages.receive"}, {"status": given.status}
        )
        if not given.ok or "lookup_identifier" not in given.values["message"]:
            raise Untold("the driver shows no lookup identifiers")
        byte = int(given.values["message"]["lookup_identifier"]) >> 56
        words = {7 - priority: "follows-queue", 0: "within-priority"}
        word = words.get(byte)
        readings = ((LOOKUP_ORDER, word),) if word else ()
        taken = word is not None and word in judge.readings.get(LOOKUP_ORDER, (word,))
        outcome = Outcome.PASS if taken else Outcome.FAIL
        judge.record(Verdict(LOOKUPS, outcome, f"priority {priority}", list(words), byte, readings))


def of_the_system(mq: Port, judge: Recorder) -> None:
    """Journals and dead-letter queues of the computer are queues of the machine, by whichever name they are called."""
    mq.need("format_names", "dead_letter")
    computer = mq.hello.computer
    for word in ("JOURNAL", "DEADLETTER", "DEADXACT"):
        name = f"DIRECT=OS:{computer}\\SYSTEM$;{word}"
        for spelled in (name, name.lower(), name.swapcase()):
            _tells(mq, judge, spelled, TYPE="MACHINE", LOCATION="LOCAL", STATE="LOCAL CONNECTION")


FULL: Final[Mapping[str, tuple[str, int]]] = MappingProxyType(
    {
        "JOURNAL": ("MQAC-2.2.2.12.mqmsg-journal-exceeded-quota", 2),
        "DEADLETTER": ("MQAC-2.2.2.12.mqmsg-deadletter-exceeded-quota", 1),
    }
)
"""Suffix of a queue of the computer to the requirement on it, and the MQMSGJOURNAL that asks for copies there."""
_ROOM, _BIG = 3, 11 * 1024
"""The copies of a body of this size that fit into the quota, with their headers."""


def full(word: str, mq: Port, judge: Recorder) -> None:
    """Objects send messages that ask for a copy, more than have room: what does not is dropped, and sent all the same.

    With MQMSG_DEADLETTER the messages expire, one before the next is sent.
    """
    demand, journal = FULL[word]
    path = f"{mq.hello.computer}\\private$\\mqconform-full"
    name = _created(mq, judge, path, {})
    expires = (call_on("m", "MaxTimeToReceive", long(1), kind="put"),) if word == "DEADLETTER" else ()
    start = (create("MSMQQueueInfo", "i"), call_on("i", "FormatName", text(name), kind="put"))
    handles: dict[str, str] = {}
    _act(mq, judge, handles, (*start, call_on("i", "Open", long(2), long(0), gives="s")))
    try:
        mq.call("limits", message_quota_kb=400, journal_quota_kb=40)
        for label in "abcde":
            message = (
                create("MSMQMessage", "m"),
                call_on("m", "Label", text(label), kind="put"),
                call_on("m", "Body", octets(bytes(_BIG)), kind="put"),
                call_on("m", "Journal", long(journal), kind="put"),
            )
            sent = _act(
                mq, judge, handles, (*message, *expires, call_on("m", "Send", Variant("DISPATCH", "s"), long(0)))
            )
            _record(judge, demand, sent == S_OK, {"status": S_OK}, {"status": sent})
            if expires and mq.hello.clock == "virtual":
                mq.call("clock.advance", by_ms=REAL_MS)
            elif expires:
                mq.time.sleep(REAL_MS / 1000)
        opened = mq.call("queues.open", format_name=f"DIRECT=OS:{mq.hello.computer}\\SYSTEM$;{word}", access="receive")
        found = [_label(mq.call("messages.receive", queue=opened.values["queue"], timeout_ms=0)) for _ in "abcdef"]
    finally:
        mq.call("limits", **unlimited())
    judge.step(f"receive what {word} of the computer has", {"method": "messages.receive"}, {"labels": list(found)})
    if found[:_ROOM] != ["a", "b", "c"]:
        raise Untold("the copies that have room did not come")
    _record(judge, demand, found[_ROOM] is None, ["a", "b", "c"], [label for label in found if label is not None])


def _act(mq: Port, judge: Recorder, handles: dict[str, str], plan: Plan) -> int:
    """Play acts on objects and return the status of the last."""
    status = S_OK
    for act in plan:
        how = operation(act) if act.call is not None else CREATE
        result = mq.call(how.method, **how.request(act, handles))
        status = int(result.status or 0)
        judge.step(act_line(act), {"method": how.method}, {"status": status})
        if act.call is None and status == S_OK:
            handles[act.object] = str(result.values["object"])
        elif act.call is None:
            raise Untold(f"the driver creates no {act.coclass}")
        elif act.gives is not None:
            seen = how.answer(result, handles)
            if seen.value is None or seen.value.value is None:
                raise Untold("an object could not open the queue")
            handles[act.gives] = str(seen.value.value)
    return status


_CLAIMS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "PRIVATE": "MQMQ-2.3.12.3.mgmt-queue-type-private",
        "MACHINE": "MQMQ-2.3.12.3.mgmt-queue-type-machine",
        "REMOTE": "MQMQ-2.3.12.4.mgmt-queue-remote-location",
        "LOCAL": "MQMQ-2.3.12.4.mgmt-queue-local-location",
        "INACTIVE": "MQMQ-2.3.12.11.mgmt-queue-state-nonactive",
        "LOCAL CONNECTION": "MQMQ-2.3.12.11.mgmt-queue-state-local",
    }
)
"""Text of a property to the requirement on it."""


def _tells(mq: Port, judge: Recorder, name: str, **texts: str) -> None:
    """Judge that these properties of a queue have these texts."""
    numbers = [ROWS[f"{QUEUE}{word}"].number for word in texts]
    told = mq.call("management.get", target={"type": "queue", "format_name": name}, properties=numbers)
    judge.step(f"read {', '.join(texts)} of {name}", {"method": "management.get"}, {"status": told.status})
    _record(judge, _GOT, told.ok, {"read": True}, {"read": told.ok})
    for word, found in zip(texts.values(), told.values["values"], strict=False):
        _record(judge, _CLAIMS[word], found == {"vt": 31, "value": word}, word, found)


def _shown(mq: Port, judge: Recorder, name: str) -> Json:
    numbers = [ROWS[f"{QUEUE}{word}"].number for word in ("PATHNAME", "TYPE", "LOCATION", "MESSAGE_COUNT", "STATE")]
    told = mq.call("management.get", target={"type": "queue", "format_name": name}, properties=numbers)
    found: Json = list(told.values["values"]) if told.ok else {"status": told.status}
    judge.step(f"read management properties of {name}", {"method": "management.get"}, {"values": found})
    return found


def _opened(mq: Port, access: str) -> Any:
    mq.need("access", access)
    opened = mq.call("queues.open", format_name=_REMOTE, access=access)
    return opened.values["queue"] if opened.ok else None


def _label(answer: Any) -> str | None:
    return str(answer.values["message"].get("label")) if answer.ok else None


def _created(mq: Port, judge: Recorder, path: str, properties: Mapping[str, Json]) -> str:
    made = mq.call("queues.create", path_name=path, properties=dict(properties))
    judge.step(f"create a queue with {dict(properties)}", {"method": "queues.create"}, {"status": made.status})
    if not made.ok:
        raise Untold("no queue could be created")
    return str(made.values["format_name"])


def _delivered(mq: Port, message: dict[str, Json]) -> bool:
    try:
        packet = mq.call("packets.encode", message=message)
        if not packet.ok:
            raise Untold("no such packet could be made")
        return mq.call("packets.deliver", packet=packet.values["packet"]).ok
    except refusals() as refusal:
        if lacking(refusal) is None:
            raise
        raise Untold("no packet could be made and delivered") from None


def _record(judge: Recorder, demand: str, holds: bool, expected: Json, actual: Json) -> None:
    judge.record(Verdict(demand, Outcome.PASS if holds else Outcome.FAIL, demand.rpartition(".")[2], expected, actual))


def _of(cause: str) -> Callable[[Port, Recorder], None]:
    return lambda mq, judge: refused(cause, mq, judge)


STORIES: Final[Mapping[str, Callable[[Port, Recorder], None]]] = MappingProxyType(
    {
        **{cause: _of(cause) for cause in REPORTS},
        "administrators": administrators,
        "spellings": spellings,
        "destinations": destinations,
        "system-queues": of_the_system,
        **{word: partial(full, word) for word in FULL},
        "lookups": lookups,
    }
)
TABLE: Final = StoryTable("management", KIND, STORIES)
