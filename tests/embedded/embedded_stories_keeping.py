"""Stories of quotas, journals, times, acknowledgements, properties and attributes."""

from __future__ import annotations

from typing import Any

from embedded_stories import BODY, FAR, NAME, SECOND, Teller, begun, of
from embedded_talk import Talk


def _big(tell: Teller, queue: str, label: str, **more: Any) -> dict[str, Any]:
    """A message of 834 bytes of body: with its headers, one fits a kilobyte and two fit two."""
    return tell.send(queue, label, body="A" * 1112, **more)


@of("quotas")
def full_queue(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    send, receive = talk.queue(PROPID_Q_QUOTA=2, PROPID_Q_JOURNAL=1)
    _, there = talk.queue("private$\\second")
    for label in "abcd":
        _big(tell, send, label)
    tell.counts()
    tell.take(receive)
    _big(tell, send, "e")
    _big(tell, send, "f")
    both = talk.open(f"{NAME},{SECOND}", "send")
    _big(tell, both, "g")
    tell("queues.purge", queue=receive)
    _big(tell, send, "h")
    tell.few(receive)
    tell.few(there)
    tell.counts()
    return tell.seen


@of("quotas")
def full_manager(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    send, receive = talk.queue()
    other, _ = talk.queue("private$\\second")
    tell("limits", message_quota_kb=2)
    for queue, label in ((send, "a"), (other, "b"), (send, "c"), (other, "d")):
        _big(tell, queue, label)
    tell.few(receive)
    _big(tell, other, "e")
    _big(tell, other, "f")
    return tell.seen


@of("quotas")
def full_journal(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    send, receive = talk.queue(PROPID_Q_JOURNAL=1, PROPID_Q_JOURNAL_QUOTA=1)
    for label in "ab":
        _big(tell, send, label)
    tell.few(receive)
    tell.counts()
    tell.few(talk.open(NAME + ";JOURNAL"))
    return tell.seen


@of("quotas")
def full_of_dead_letters(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    send, _ = talk.queue()
    tell("limits", journal_quota_kb=2)
    for label in "abc":
        tell.send(send, label, body="A" * 1000, time_to_be_received=0, negative_journaling=True)
        tell("clock.advance", by_ms=2000)
    tell.few(talk.open(f"MACHINE={talk.driver.manager.guid};DEADLETTER"))
    return tell.seen


@of("quotas")
def transactions_give_room(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    send, receive = talk.queue(PROPID_Q_QUOTA=2, PROPID_Q_TRANSACTION=1)
    for end in (tell.abort, tell.commit):
        transaction = tell.begin()
        _big(tell, send, "a", transaction=transaction)
        end(transaction)
        tell.counts()
    tell.take(receive, transaction=(held := tell.begin()))
    tell.abort(held)
    tell.counts()
    return tell.seen


def _kept(tell: Teller) -> None:
    """What is in the journal of the queue and in the queues of the system."""
    guid = tell.talk.driver.manager.guid
    for name in (f"{NAME};JOURNAL", *(f"MACHINE={guid};{suffix}" for suffix in ("JOURNAL", "DEADLETTER", "DEADXACT"))):
        opened = tell.talk("queues.open", format_name=name, access="receive")
        if "queue" in opened:
            tell.few(opened["queue"])


ASKS = {"positive_journaling": True, "negative_journaling": True}


@of("journals")
def journaled(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    send, receive = talk.queue(PROPID_Q_JOURNAL=1)
    for label in "abc":
        tell.send(send, label, body=BODY)
    tell.peek(receive)
    tell.take(receive)
    tell("queues.purge", queue=receive)
    _kept(tell)
    return tell.seen


@of("journals")
def not_journaled(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    send, receive = talk.queue()
    tell.send(send, "a")
    tell.send(send, "b", **ASKS)
    tell.few(receive)
    tell.send(send, "c", time_to_be_received=1)
    tell.send(send, "d", time_to_be_received=1, **ASKS)
    tell("clock.advance", by_ms=3000)
    tell("clock.advance", by_ms=3000)
    tell.counts()
    _kept(tell)
    tell("queues.delete", format_name=NAME)
    return tell.seen


@of("journals")
def journaled_in_transactions(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    send, receive = talk.queue(PROPID_Q_JOURNAL=1, PROPID_Q_TRANSACTION=1)
    for end in (tell.abort, tell.commit):
        transaction = tell.begin()
        for label in "ab":
            tell.send(send, label, transaction, **ASKS)
        tell.send(send, "short", transaction, time_to_be_received=5, **ASKS)
        end(transaction)
    for end in (tell.abort, tell.commit):
        held = tell.begin()
        tell.take(receive, transaction=held)
        end(held)
    tell("clock.advance", by_ms=6000)
    _kept(tell)
    return tell.seen


@of("journals")
def made_with_journal_again(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    _, receive, _ = tell.filled("a", PROPID_Q_JOURNAL=1)
    tell.take(receive)
    tell("queues.delete", format_name=NAME)
    tell.filled("b", PROPID_Q_JOURNAL=1)
    _kept(tell)
    return tell.seen


@of("journals")
def expired(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    send, receive = talk.queue()
    far = talk.open(FAR, "send")
    tell.send(send, "zero", time_to_be_received=0)
    tell.send(send, "ten", time_to_be_received=10, time_to_reach_queue=2)
    tell.send(far, "far", time_to_reach_queue=5)
    tell.send(send, "ever", time_to_reach_queue=1)
    for by in (4000, 4000, 2500, 5000):
        tell.peek(receive)
        tell("clock.advance", by_ms=by)
        tell.counts()
        tell.counts(FAR)
    tell.few(receive)
    return tell.seen


@of("journals")
def expiry_goes_on(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    send, receive = talk.queue()
    tell.send(send, "a", time_to_be_received=10)
    tell("clock.advance", by_ms=6000)
    read = begun(tell, receive)
    tell("messages.receive_end", read=read, acknowledge=False)
    tell("clock.advance", by_ms=6000)
    tell.few(receive)
    return tell.seen


@of("journals")
def acknowledged(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    send, receive = talk.queue()
    _, told = talk.queue("private$\\second")
    every = ["positive_arrival", "positive_receive", "negative_arrival", "negative_receive"]
    asks = {"administration_queue": SECOND, "acknowledgements": every}
    for label in "ab":
        tell.send(send, label, **asks)
    tell.send(send, "c", administration_queue=SECOND)
    tell.take(receive)
    tell("queues.purge", queue=receive)
    for _ in range(3):
        tell.few(told)
    return tell.seen


_ASKED = [
    "PROPID_Q_INSTANCE",
    "PROPID_Q_TYPE",
    "PROPID_Q_PATHNAME",
    "PROPID_Q_JOURNAL",
    "PROPID_Q_QUOTA",
    "PROPID_Q_JOURNAL_QUOTA",
    "PROPID_Q_LABEL",
    "PROPID_Q_CREATE_TIME",
    "PROPID_Q_MODIFY_TIME",
    "PROPID_Q_AUTHENTICATE",
    "PROPID_Q_PRIV_LEVEL",
    "PROPID_Q_TRANSACTION",
    "PROPID_Q_SCOPE",
    "PROPID_Q_QMID",
    "PROPID_Q_PATHNAME_DNS",
    "PROPID_Q_MULTICAST_ADDRESS",
]


@of("properties")
def properties(talk: Talk) -> list[Any]:
    tell = Teller(talk)

    def look() -> None:
        tell("queues.get", format_name=NAME, properties=_ASKED)

    talk.queue()
    look()
    tell("queues.delete", format_name=NAME)
    talk.queue(PROPID_Q_LABEL="made", PROPID_Q_QUOTA=50, PROPID_Q_PRIV_LEVEL=2)
    look()
    tell("queues.create", path_name="HOST\\private$\\q", properties={"PROPID_Q_LABEL": "again"})
    look()
    tell("clock.advance", by_ms=5000)
    for given in (
        {"PROPID_Q_JOURNAL": 1},
        {"PROPID_Q_LABEL": "set", "PROPID_Q_PRIV_LEVEL": 3},
        {"PROPID_Q_TRANSACTION": 1},
        {"PROPID_Q_INSTANCE": "7a1f3c52-0b6e-4d6f-9a57-6f5b2f3f9a10"},
        {"PROPID_Q_NONE": 1},
    ):
        tell("queues.set", format_name=NAME, properties=given)
        look()
    return tell.seen


@of("properties")
def refused_properties(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    wrong: tuple[dict[str, Any], ...] = (
        {"PROPID_Q_NONE": 1},
        {"PROPID_Q_INSTANCE": "7a1f3c52-0b6e-4d6f-9a57-6f5b2f3f9a10"},
        {"PROPID_Q_HASHKEY": 1},
        {"PROPID_Q_QUOTA": "7"},
        {"PROPID_Q_QUOTA": None},
        {"PROPID_Q_QUOTA": 1 << 32},
    )
    tell("queues.get", format_name=NAME, properties=["PROPID_Q_LABEL"])
    tell("queues.set", format_name=NAME, properties={"PROPID_Q_LABEL": "set"})
    for given in wrong:
        tell("queues.create", path_name="HOST\\private$\\q", properties=given)
        tell("queues.delete", format_name=NAME)
    talk.queue(PROPID_Q_TRANSACTION=1)
    tell("queues.get", format_name=NAME, properties=["PROPID_Q_TRANSACTION", "PROPID_Q_ADS_PATH"])
    for name in ("PROPID_Q_NONE", "PROPID_QM_QUOTA"):
        tell("queues.get", format_name=NAME, properties=[name])
    return tell.seen


@of("properties")
def attributes(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    send, receive = talk.queue()
    tell.send(send, "plain")
    tell.send(
        send,
        " full ",
        priority=7,
        body=BODY,
        extension="AAEC",
        application_tag=0x12345678,
        correlation_identifier="AQIDBAUGBwgJCgsMDQ4PEBESExQ=",
        response_queue=SECOND,
    )
    for label in "cd":
        tell.send(send, label)
    tell("clock.advance", by_ms=3000)
    tell.few(receive)
    return tell.seen
