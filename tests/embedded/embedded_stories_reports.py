"""Stories of administration acknowledgements: every class there is, and what was taken in every way."""

from __future__ import annotations

from typing import Any

from embedded_stories import FAR, NAME, SECOND, Teller, of
from embedded_talk import Talk

EVERY = ["positive_arrival", "positive_receive", "negative_arrival", "negative_receive"]
ASKS = {"administration_queue": SECOND, "acknowledgements": EVERY}
TRANSACTION = {"sequence_number": 1, "previous_sequence_number": 0, "first": True, "last": True}


def _deliver(tell: Teller, label: str, **message: Any) -> None:
    asked = {"destination": NAME, "label": label, "identifier": {"source": tell.talk.driver.manager.guid, "ordinal": 9}}
    packet = tell.talk.ok("packets.encode", message={**asked, **ASKS, **message})["packet"]
    tell("packets.deliver", packet=packet, source="10.0.0.1")


@of("journals")
def every_class(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    _, told = talk.queue("private$\\second")
    far = talk.open(FAR, "send")
    send, receive = talk.queue(PROPID_Q_QUOTA=2)
    tell.send(far, "late", time_to_reach_queue=1, **ASKS)
    tell.send(send, "short", time_to_be_received=1, **ASKS)
    tell("clock.advance", by_ms=3000)
    tell.few(told)
    tell.send(send, "taken", **ASKS)
    tell.take(receive)
    _deliver(tell, "in a transaction", transaction=TRANSACTION)
    _deliver(tell, "large", body="A" * 4000)
    tell.few(told)
    tell.send(send, "purged", **ASKS)
    tell("queues.purge", queue=receive)
    tell.send(send, "deleted", **ASKS)
    tell("queues.delete", format_name=NAME)
    tell.few(told)
    tell.few(told)
    talk.queue(PROPID_Q_TRANSACTION=1)
    _deliver(tell, "in none")
    tell.few(told)
    return tell.seen


@of("journals")
def looked_up_and_purged(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    _, told = talk.queue("private$\\second")
    send, receive = talk.queue()
    lookup = tell.send(send, "a", **ASKS)["lookup_identifier"]
    at = {"queue": receive, "lookup_identifier": lookup, "action": "current"}
    tell("messages.receive_by_lookup_id", **at)
    tell.few(told)
    tell("queues.delete", format_name=NAME)
    send, receive, _ = tell.filled("", transactional=True)
    fill = tell.begin()
    lookup = tell.send(send, "b", fill, **ASKS)["lookup_identifier"]
    tell.send(send, "c", fill, **ASKS)
    tell.commit(fill)
    held = tell.begin()
    at = {"queue": receive, "lookup_identifier": lookup, "action": "current"}
    tell("messages.receive_by_lookup_id", **at, transaction=held)
    tell.take(receive, transaction=held)
    tell.commit(held)
    tell.few(told)
    fill = tell.begin()
    tell.send(send, "d", fill, **ASKS)
    tell.commit(fill)
    held = tell.begin()
    tell.take(receive, transaction=held)
    tell("queues.purge", queue=receive)
    tell.commit(held)
    tell.few(told)
    tell.few(told)
    return tell.seen


@of("journals")
def several_kinds_asked_for(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    _, told = talk.queue("private$\\second")
    send, receive = talk.queue()
    for kinds in (("positive_arrival", "negative_arrival"), EVERY[2:], EVERY[1:]):
        asks = {"administration_queue": SECOND, "acknowledgements": list(kinds)}
        tell.send(send, "taken", **asks)
        tell.take(receive)
        tell.send(send, "short", time_to_be_received=1, **asks)
        tell("clock.advance", by_ms=3000)
        tell.few(told)
    return tell.seen


@of("journals")
def purged_while_held(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    _, told = talk.queue("private$\\second")
    send, receive = talk.queue()
    tell.send(send, "begun", **ASKS)
    read = tell("messages.receive_begin", queue=receive, timeout_ms=0)["read"]
    tell("queues.purge", queue=receive)
    tell("messages.receive_end", read=read, acknowledge=True)
    tell("queues.delete", format_name=NAME)
    send, receive, _ = tell.filled("", transactional=True)
    fill = tell.begin()
    tell.send(send, "locked", fill, **ASKS)
    tell.commit(fill)
    held = tell.begin()
    tell.take(receive, transaction=held)
    tell("queues.purge", queue=receive)
    tell("transactions.abort", transaction=held)
    tell.few(told)
    return tell.seen
