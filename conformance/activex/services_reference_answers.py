"""Reference answers to plans about services, with passing time and events, and answers that differ from them."""

from __future__ import annotations

import base64
import json
import re
import struct
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from conformance.activex.expected import Readings, Seen
from conformance.activex.plans import Act, Plan
from conformance.activex.queue_store import QueueKind
from conformance.activex.scenes import IDEAL, Scene, Stage, changed, texts_after, with_texts
from conformance.activex.services import Computer, Queue
from conformance.activex.values import Variant, failed, long, text
from conformance.spec.constants.properties import PROPERTIES
from conformance.verdict import Outcome, Verdict

_STATES: Final = {
    "in_process": "WAITING",
    "socket_connect_failure": "WAITING",
    "dns_failure": "NEED VALIDATION",
    "established": "CONNECTED",
    "closing": "DISCONNECTING",
    "closed": "DISCONNECTED",
}
_SIZE: Final = 100


def _number(name: str) -> int:
    return PROPERTIES[f"PROPID_MGMT_{name}"].value


def of_machine(world: Computer) -> Mapping[int, Any]:
    """Return what it says of itself, by property."""
    return {
        _number("MSMQ_DSSERVER"): None if world.directory is None else world.directory.server,
        _number("MSMQ_CONNECTED"): "CONNECTED" if world.online else "DISCONNECTED",
        _number("MSMQ_BYTES_IN_ALL_QUEUES"): _SIZE * sum(one.messages + one.journaled for one in world.queues.values()),
    }


def of_queue(world: Computer, name: str) -> Mapping[int, Any] | None:
    """Return what it says of a queue; None if it does not find it. name: its format name."""
    if name.casefold() in world.outgoing:
        return _outgoing(world, name)
    target = world.target(None, name)
    if target.kind in (QueueKind.MACHINE, QueueKind.OTHER):
        return {_number("QUEUE_TYPE"): "MACHINE", _number("QUEUE_LOCATION"): "LOCAL"}
    queue = world.queues.get(target.key)
    return None if queue is None else _local(queue)


def _local(queue: Queue) -> Mapping[int, Any]:
    return {
        _number("QUEUE_TYPE"): "PRIVATE" if "private$" in queue.path.casefold() else "PUBLIC",
        _number("QUEUE_LOCATION"): "LOCAL",
        _number("QUEUE_XACT"): "YES" if queue.transactional else "NO",
        _number("QUEUE_FOREIGN"): "NO",
        _number("QUEUE_MESSAGE_COUNT"): queue.messages,
        _number("QUEUE_BYTES_IN_QUEUE"): _SIZE * queue.messages,
        _number("QUEUE_JOURNAL_MESSAGE_COUNT"): queue.journaled,
        _number("QUEUE_BYTES_IN_JOURNAL"): _SIZE * queue.journaled,
    }


def _outgoing(world: Computer, name: str) -> Mapping[int, Any]:
    queue = world.outgoing[name.casefold()]
    sequence = base64.b64encode(struct.pack("<QII", 2**40 + 1, 2, 1)).decode("ascii")
    numbers = {"LAST_ACK_TIME": 1_700_000_000, "LAST_ACK_COUNT": 1, "NO_READ_COUNT": 2, "NO_ACK_COUNT": 3}
    numbers |= {"RESEND_TIME": 1_700_000_030, "RESEND_INTERVAL": 30, "RESEND_COUNT": 4}
    sequences = dict.fromkeys(("LAST_ACK", "FIRST_NON_ACK", "LAST_NON_ACK", "NEXT_SEQ"), sequence)
    state = (
        "LOCKED"
        if world.hardened
        else "ONHOLD"
        if queue.held
        else "INACTIVE"
        if queue.held is False
        else _STATES.get(queue.step, "INACTIVE")
    )
    return {
        _number("QUEUE_TYPE"): "MULTICAST" if name.upper().startswith("MULTICAST=") else "PRIVATE",
        _number("QUEUE_LOCATION"): "REMOTE",
        _number("QUEUE_XACT"): "UNKNOWN",
        _number("QUEUE_FOREIGN"): "NO",
        _number("QUEUE_MESSAGE_COUNT"): queue.messages,
        _number("QUEUE_BYTES_IN_QUEUE"): _SIZE * queue.messages,
        _number("QUEUE_STATE"): state,
        _number("QUEUE_NEXTHOPS"): ["IP=192.0.2.7"] if queue.step in ("in_process", "established") else None,
        **{_number(f"QUEUE_EOD_{key}"): value for key, value in {**numbers, **sequences}.items()},
    }


Step = tuple[Scene, Act, Seen, tuple[Verdict, ...]]


def played(plan: Plan, stage: Stage, readings: Readings) -> Iterator[Step]:
    """Yield each act that has an answer, with the scene before it, its ideal answer and the verdicts on that."""
    scene, texts = stage(readings, IDEAL), IDEAL.texts
    for planned in plan:
        act = with_texts(planned, texts)
        if act.call is None and not act.passes_ms:
            scene.do(act, None)
            continue
        if act.call is not None and not scene.knows(act.object):
            continue
        seen, before = scene.ideal(act), scene.copy()
        yield before, act, seen, scene.do(act, seen)
        texts = texts_after(act, seen, texts)


def judged(plans: Iterable[Plan], stage: Stage, readings: Readings | None = None) -> tuple[str, ...]:
    """Return the requirements that plans judge, in the order in which an ideal object meets them."""
    found: dict[str, None] = {}
    for plan in plans:
        for _, _, _, verdicts in played(plan, stage, readings or {}):
            found.update(dict.fromkeys(verdict.requirement for verdict in verdicts))
    return tuple(found)


def claimed(plans: Iterable[Plan], stage: Stage) -> tuple[str, ...]:
    """Return the requirements that plans judge in one reading or another."""
    some = tuple(plans)
    short = tuple(plan for plan in some if len(plan) <= _SHORT)
    return tuple(dict.fromkeys((*judged(some, stage), *judged(short, stage, _OTHER))))


_OTHER: Final[Readings] = {"R-MQAC-path-name-conversion": ("direct",)}
"""The reading in which other requirements decide."""
_SHORT: Final = 100  # acts: short plans show what the reading decides, and long ones take long to play


def refuted(plans: Iterable[Plan], stage: Stage, readings: Readings | None = None) -> tuple[Verdict, ...]:
    """Return the verdicts on ideal answers that are not passes: there should be none."""
    every = (verdicts for plan in plans for _, _, _, verdicts in played(plan, stage, readings or {}))
    return tuple(verdict for verdicts in every for verdict in verdicts if verdict.outcome is not Outcome.PASS)


def caught(plans: Iterable[Plan], stage: Stage, readings: Readings | None = None) -> frozenset[str]:
    """Return the requirements that hold for an ideal answer and fail for one that differs from it in one thing."""
    found: set[str] = set()
    for plan in plans:
        for before, act, seen, verdicts in played(plan, stage, readings or {}):
            passed = {verdict.requirement for verdict in verdicts if verdict.outcome is Outcome.PASS}
            of_call = (*with_other_words(seen), *changed(seen)) if act.call is not None else ()
            for wrong in (*with_other_events(seen), *of_call):
                if not passed - found:
                    break
                broken = {v.requirement for v in before.copy().do(act, wrong) if v.outcome is Outcome.FAIL}
                found |= broken & passed
    return frozenset(found)


def with_other_words(seen: Seen) -> Iterator[Seen]:
    """Yield answers of a coordinator's manager with another word, and with other numbers of a transaction."""
    told = str(seen.value.value) if seen.value is not None and seen.value.vt == "BSTR" else ""
    if told == json.dumps("prepared"):
        yield replace(seen, value=text(json.dumps("aborted")))
    if told.startswith("[") and '"information"' in told:
        for number in sorted(set(re.findall(r": (\d+)", told))):
            yield replace(seen, value=text(told.replace(f": {number}", f": {number}1")))


def with_other_events(seen: Seen) -> Iterator[Seen]:
    """Yield answers with an event left out, with one told twice, with another argument, and a refusal with a value.

    Where there is none, one comes that nobody asked for: plans call event objects `e` and `f`, and a queue object `q`.
    """
    if failed(seen.status) and seen.value is None:
        yield replace(seen, value=long(99))
    if not seen.shown and not failed(seen.status):
        queue = Variant("DISPATCH", "q")
        for source in ("e", "f"):
            told = Seen(0, Variant("ARRAY", (queue, long(0)), "VARIANT"))
            yield replace(seen, shown={f"0 {source} Arrived": told})
    for key, event in seen.shown.items():
        yield replace(seen, shown={name: one for name, one in seen.shown.items() if name != key})
        yield replace(seen, shown={**seen.shown, f"again{key}": event})
        arguments = event.value.value if event.value is not None else ()
        for at in range(len(arguments)):
            changed_one = (*arguments[:at], long(99), *arguments[at + 1 :])
            yield replace(seen, shown={**seen.shown, key: Seen(0, Variant("ARRAY", changed_one, "VARIANT"))})
