"""Small scripted stories, by suite: what a driver shows in each. A fault changes one of its suite's."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from embedded_talk import NAME, Talk

Story = Callable[[Talk], list[Any]]
STORIES: dict[str, list[Story]] = {}
SECOND = "DIRECT=OS:HOST\\private$\\second"
FAR = "DIRECT=OS:ELSEWHERE\\private$\\q"
WAIT = 1000
BODY = "AAECAwQFBgcICQ=="  # ten bytes


def _of(suite: str) -> Callable[[Story], Story]:
    def register(story: Story) -> Story:
        STORIES.setdefault(suite, []).append(story)
        return story

    return register


class Teller:
    """Calls whose answers are all written down, a blocked one's when the story ends."""

    def __init__(self, talk: Talk) -> None:
        self.talk = talk
        self.seen: list[Any] = []

    def __call__(self, method: str, **params: Any) -> dict[str, Any]:
        answers = self.talk.start(method, **params)
        self.seen.append(answers)
        self.seen.append([sum(map(len, self.seen))])  # how many are answered by now
        return answers[0] if answers else {}

    def peek(self, queue: str, **more: Any) -> dict[str, Any]:
        return self("messages.peek", **{"queue": queue, "timeout_ms": 0, **more})

    def take(self, queue: str, **more: Any) -> dict[str, Any]:
        return self("messages.receive", **{"queue": queue, "timeout_ms": 0, **more})

    def send(self, queue: str, label: str, transaction: str | None = None, **message: Any) -> dict[str, Any]:
        return self("messages.send", queue=queue, message={"label": label, **message}, transaction=transaction)

    def counts(self, name: str = NAME) -> None:
        self("queues.counts", format_name=name)

    def few(self, queue: str) -> None:
        """The first messages of a queue, taken out: some faults leave them there for ever."""
        for _ in range(4):
            self.take(queue)

    def begin(self) -> str:
        return str(self("transactions.begin").get("transaction"))

    def commit(self, transaction: str) -> None:
        self("transactions.commit", transaction=transaction)

    def abort(self, transaction: str) -> None:
        self("transactions.abort", transaction=transaction)

    def filled(
        self, labels: str = "abc", *, transactional: bool = False, **properties: Any
    ) -> tuple[str, str, list[str]]:
        """A queue with messages: its handles for send and receive, and the lookup identifiers."""
        send, receive = self.talk.queue(PROPID_Q_TRANSACTION=int(transactional), **properties)
        fill = self.begin() if transactional else None
        lookups = [str(self.send(send, label, fill).get("lookup_identifier")) for label in labels]
        if fill is not None:
            self.commit(fill)
        return send, receive, lookups


def _opened(talk: Talk, access: str, share: str = "deny_none", name: str = NAME) -> Any:
    return talk("queues.open", format_name=name, access=access, share=share)


# Transactions


@_of("transactions")
def prepared(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    send, receive = talk.queue(PROPID_Q_TRANSACTION=1)
    for end in ("commit", "abort"):
        transaction = tell.begin()
        for label in "abc":
            tell.send(send, label, transaction)
        tell("transactions.prepare", transaction=transaction)
        tell.peek(receive)
        tell(f"transactions.{end}", transaction=transaction)
        tell.few(receive)
        tell("transactions.prepare", transaction=transaction)
        tell("transactions.abort", transaction=transaction)
    return tell.seen


@_of("transactions")
def two_queues_and_waiters(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    send, receive = talk.queue(PROPID_Q_TRANSACTION=1)
    other, there = talk.queue("private$\\second", PROPID_Q_TRANSACTION=1)
    transaction = tell.begin()
    for queue, label in ((send, "a"), (other, "x"), (send, "b"), (send, "c")):
        tell.send(queue, label, transaction)
    tell.take(receive, timeout_ms=WAIT)
    tell.commit(transaction)
    tell.peek(there)
    tell.take(receive, transaction=(held := tell.begin()))
    tell.take(receive, transaction=held)
    tell.peek(receive, timeout_ms=WAIT)
    tell.abort(held)
    tell.few(receive)
    tell.counts()
    return tell.seen


@_of("transactions")
def held_and_given_back(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    _, receive, lookups = tell.filled("abcd", transactional=True)
    cursor = talk.ok("cursors.open", queue=receive)["cursor"]
    tell.take(receive, cursor=cursor, transaction=(first := tell.begin()))
    tell.peek(receive, cursor=cursor)
    held = tell.begin()
    tell(
        "messages.receive_by_lookup_id", queue=receive, lookup_identifier=lookups[2], action="current", transaction=held
    )
    tell("messages.peek_next", queue=receive, cursor=cursor, timeout_ms=0)
    for lookup in lookups:
        tell("messages.peek_by_lookup_id", queue=receive, lookup_identifier=lookup, action="current")
    tell("messages.receive_by_lookup_id", queue=receive, lookup_identifier=lookups[2], action="current")
    tell.commit(first)
    tell.abort(held)
    for lookup in lookups[2:]:
        tell("messages.peek_by_lookup_id", queue=receive, lookup_identifier=lookup, action="current")
    tell.counts()
    tell.few(receive)
    return tell.seen


@_of("transactions")
def order_after_abort(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    _, receive, lookups = tell.filled("abc", transactional=True)
    held = tell.begin()
    action = {"lookup_identifier": lookups[1], "action": "current"}
    tell("messages.receive_by_lookup_id", queue=receive, **action, transaction=held)
    tell.abort(held)
    tell.few(receive)
    return tell.seen


@_of("transactions")
def purged_meanwhile(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    _, receive, _ = tell.filled("ab", transactional=True)
    for end in (tell.commit, tell.abort):
        held = tell.begin()
        tell.take(receive, transaction=held)
        tell("queues.purge", queue=receive)
        end(held)
        tell.few(receive)
        tell.send(talk.open(access="send"), "c", fill := tell.begin())
        tell.commit(fill)
    tell.few(receive)
    return tell.seen


@_of("transactions")
def wrong_usage(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    send, receive = talk.queue(PROPID_Q_TRANSACTION=1)
    plain, there = talk.queue("private$\\second")
    tell.send(send, "a")
    tell.send(plain, "b", transaction := tell.begin())
    tell.commit(transaction)
    tell.few(receive)
    tell.few(there)
    return tell.seen


@_of("transactions")
def lost_and_found(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    _, receive, _ = tell.filled("abc", transactional=True)
    held = tell.begin()
    for _ in range(3):
        tell.take(receive, transaction=held)
    tell.abort(held)
    tell.few(receive)
    return tell.seen


# Reads in two phases, moves and subqueues


def _begun(tell: Teller, queue: str, **more: Any) -> str:
    return str(tell("messages.receive_begin", **{"queue": queue, "timeout_ms": 0, **more}).get("read"))


@_of("subqueues")
def two_phases(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    send, receive, lookups = tell.filled("abcd")
    for acknowledge in (False, True):
        read = _begun(tell, receive)
        tell.counts()
        tell.peek(receive)
        tell("messages.peek_by_lookup_id", queue=receive, lookup_identifier=lookups[0], action="current")
        tell("messages.receive_end", read=read, acknowledge=acknowledge)
        tell.peek(receive)
        tell.counts()
    read = _begun(tell, receive)
    tell("queues.purge", queue=receive)
    tell("messages.receive_end", read=read, acknowledge=False)
    tell.few(receive)
    tell.send(send, "e")
    read = _begun(tell, receive)
    tell.take(receive, timeout_ms=WAIT)
    tell("messages.receive_end", read=read, acknowledge=False)
    tell.counts()
    return tell.seen


@_of("subqueues")
def two_phases_and_loss(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    send, receive = talk.queue()
    tell.send(send, "a", time_to_be_received=5)
    read = _begun(tell, receive)
    tell("messages.receive_end", read=read, acknowledge=False)
    tell("clock.advance", by_ms=6000)
    tell.peek(receive)
    tell.send(send, "b")
    read = _begun(tell, receive)
    tell("queues.delete", format_name=NAME)
    tell("messages.receive_end", read=read, acknowledge=True)
    return tell.seen


def _subqueue(talk: Talk, name: str = "sub") -> tuple[str, str]:
    """A subqueue, open for move and for receive."""
    return talk.open(f"{NAME};{name}", "move"), talk.open(f"{NAME};{name}")


@_of("subqueues")
def moved(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    send, receive, lookups = tell.filled("abc")
    into, there = _subqueue(talk)
    into_second, in_second = _subqueue(talk, "other")
    tell("messages.move", queue=receive, lookup_identifier=lookups[1], destination=into)
    tell.counts()
    tell.peek(there)
    tell.take(in_second)
    tell.take(in_second, timeout_ms=WAIT)
    tell("messages.move", queue=receive, lookup_identifier=lookups[2], destination=into_second)
    urgent = tell.send(send, "d", priority=7)["lookup_identifier"]
    low = tell.send(send, "e", priority=1)["lookup_identifier"]
    for lookup in (urgent, low):
        tell("messages.move", queue=receive, lookup_identifier=lookup, destination=into)
    tell("queues.purge", queue=receive)
    tell.counts()
    for queue in (there, into, into_second, in_second):
        tell("queues.close", queue=queue)
    tell.few(talk.open(f"{NAME};sub"))
    return tell.seen


@_of("subqueues")
def moved_in_transactions(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    _, receive, lookups = tell.filled("abc", transactional=True)
    into, there = _subqueue(talk)
    for lookup, end in ((lookups[0], tell.abort), (lookups[1], tell.commit)):
        transaction = tell.begin()
        tell("messages.move", queue=receive, lookup_identifier=lookup, destination=into, transaction=transaction)
        tell.peek(there)
        tell.peek(receive)
        end(transaction)
        tell.peek(there)
        tell.counts()
    held = tell.begin()
    tell.take(receive, transaction=held)
    tell("messages.move", queue=receive, lookup_identifier=lookups[0], destination=into)
    tell("messages.move", queue=receive, lookup_identifier=lookups[2], destination=into)
    tell.abort(held)
    tell.few(there)
    tell.few(receive)
    return tell.seen


# Waiting, seeking and handles


@_of("cursors")
def readers_in_line(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    send, receive = talk.queue()
    other = talk.open()
    cursor = talk.ok("cursors.open", queue=receive)["cursor"]
    tell.take(receive, timeout_ms=WAIT)
    tell.take(other, timeout_ms=WAIT)
    tell.send(send, "a")
    tell.send(send, "b")
    tell.counts()
    tell.peek(receive, timeout_ms=WAIT)
    tell.send(send, "c")
    tell.few(receive)
    tell.take(receive, cursor=cursor, timeout_ms=WAIT)
    tell.send(send, "d")
    tell.few(receive)
    return tell.seen


@_of("cursors")
def ended_waits(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    send, receive = talk.queue()
    tell.take(receive, timeout_ms=WAIT)
    for _ in range(3):
        tell("clock.advance", by_ms=WAIT // 2)
    tell.send(send, "a")
    tell.few(receive)
    number = talk.driver._requests + 1
    tell.take(receive, timeout_ms=WAIT)
    tell.peek(receive, timeout_ms=0xFFFFFFFF)
    tell("messages.cancel", request=number)
    tell("messages.cancel", request=number)
    tell("clock.advance", by_ms=10 * WAIT)
    tell.send(send, "b")
    tell.few(receive)
    return tell.seen


@_of("cursors")
def closed_and_deleted(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    send, receive = talk.queue()
    other = talk.open()
    tell.take(receive, timeout_ms=WAIT)
    tell.take(other, timeout_ms=WAIT)
    tell("queues.close", queue=other)
    tell.peek(other)
    tell.send(send, "a")
    tell.take(receive, timeout_ms=WAIT)
    tell.send(send, "b")
    tell.take(receive)
    tell.send(send, "kept")
    tell.take(receive, timeout_ms=WAIT)
    tell.send(send, "c")
    tell.send(send, "d")
    for queue in (send, receive):
        tell("queues.close", queue=queue)
    send, receive = talk.open(access="send"), talk.open()
    tell.peek(receive)
    tell.send(send, "e")
    tell("queues.purge", queue=receive)
    tell.few(receive)
    tell.take(receive, timeout_ms=WAIT)
    tell("queues.delete", format_name=NAME)
    tell("clock.advance", by_ms=WAIT)
    tell.peek(receive)
    return tell.seen


@_of("cursors")
def made_again(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    tell.filled("ab")
    tell("queues.delete", format_name=NAME)
    tell("queues.open", format_name=NAME, access="peek")
    tell("queues.create", path_name="HOST\\private$\\q")
    tell.few(talk.open())
    return tell.seen


@_of("cursors")
def shared(talk: Talk) -> list[Any]:
    talk.queue("private$\\second")
    talk.ok("queues.create", path_name="HOST\\private$\\q")
    seen: list[Any] = []
    for access, share in (("receive", "deny_receive"), ("peek", "deny_receive"), ("receive", "deny_none")):
        held = _opened(talk, access, share)
        seen.append(held)
        others = [("receive", "deny_none"), ("receive", "deny_receive"), ("send", "deny_none"), ("peek", "deny_none")]
        for wanted in others:
            got = _opened(talk, *wanted)
            seen.append(got)
            if "queue" in got:
                talk("queues.close", queue=got["queue"])
        if "queue" in held:
            talk("queues.close", queue=held["queue"])
    return seen


@_of("cursors")
def used_otherwise(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    send, receive, _ = tell.filled("ab")
    peek = talk.open(access="peek")
    tell.take(peek)
    tell("queues.purge", queue=peek)
    tell.peek(send)
    tell.send(receive, "c")
    tell.few(receive)
    return tell.seen


@_of("cursors")
def looked_up(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    _, receive, lookups = tell.filled("abcd")
    for lookup in (*lookups, "77"):
        for action in ("first", "previous", "current", "next", "last"):
            tell("messages.peek_by_lookup_id", queue=receive, lookup_identifier=lookup, action=action)
    return tell.seen


@_of("cursors")
def with_cursors(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    _, receive, _ = tell.filled("abcd")
    cursor, other = (talk.ok("cursors.open", queue=receive)["cursor"] for _ in range(2))
    at = {"queue": receive, "cursor": cursor, "timeout_ms": 0}
    tell("messages.peek", **at)
    tell.take(receive)
    for method in ("peek", "peek", "receive", "peek_next", "peek"):
        tell(f"messages.{method}", **at)
    for method in ("receive", "peek_next", "peek"):
        tell(f"messages.{method}", **{**at, "cursor": other})
    tell.take(receive, cursor=talk.ok("cursors.open", queue=receive)["cursor"])
    tell.peek(receive)
    return tell.seen


@_of("cursors")
def a_receive_goes_on(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    send, receive, _ = tell.filled("ab")
    cursor = talk.ok("cursors.open", queue=receive)["cursor"]
    tell.take(receive, cursor=cursor)
    tell("messages.peek_next", queue=receive, cursor=cursor, timeout_ms=0)
    tell.send(send, "urgent", priority=7)
    tell("messages.peek_next", queue=receive, cursor=cursor, timeout_ms=0)
    tell.peek(receive, cursor=cursor)
    return tell.seen


# Quotas


def _big(tell: Teller, queue: str, label: str, **more: Any) -> dict[str, Any]:
    """A message of 834 bytes of body: with its headers, one fits a kilobyte and two fit two."""
    return tell.send(queue, label, body="A" * 1112, **more)


@_of("quotas")
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


@_of("quotas")
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


@_of("quotas")
def full_journal(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    send, receive = talk.queue(PROPID_Q_JOURNAL=1, PROPID_Q_JOURNAL_QUOTA=1)
    for label in "ab":
        _big(tell, send, label)
    tell.few(receive)
    tell.counts()
    tell.few(talk.open(NAME + ";JOURNAL"))
    return tell.seen


@_of("quotas")
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


# Journals, times and acknowledgements


def _kept(tell: Teller) -> None:
    """What is in the journal of the queue and in the queues of the system."""
    guid = tell.talk.driver.manager.guid
    for name in (f"{NAME};JOURNAL", *(f"MACHINE={guid};{suffix}" for suffix in ("JOURNAL", "DEADLETTER", "DEADXACT"))):
        opened = tell.talk("queues.open", format_name=name, access="receive")
        if "queue" in opened:
            tell.few(opened["queue"])


ASKS = {"positive_journaling": True, "negative_journaling": True}


@_of("journals")
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


@_of("journals")
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


@_of("journals")
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


@_of("journals")
def made_with_journal_again(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    _, receive, _ = tell.filled("a", PROPID_Q_JOURNAL=1)
    tell.take(receive)
    tell("queues.delete", format_name=NAME)
    tell.filled("b", PROPID_Q_JOURNAL=1)
    _kept(tell)
    return tell.seen


@_of("journals")
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


@_of("journals")
def expiry_goes_on(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    send, receive = talk.queue()
    tell.send(send, "a", time_to_be_received=10)
    tell("clock.advance", by_ms=6000)
    read = _begun(tell, receive)
    tell("messages.receive_end", read=read, acknowledge=False)
    tell("clock.advance", by_ms=6000)
    tell.few(receive)
    return tell.seen


@_of("journals")
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


# Properties and attributes

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


@_of("properties")
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


@_of("properties")
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


# Restart


def _started_again(talk: Talk, kill: bool) -> Talk:
    """The driver after a stop and a start, or after a kill."""
    if not kill:
        talk.driver.close()
    return Talk(talk.state_dir, talk.faults, **talk.options)


def _left(talk: Talk, queues: list[str], *, kill: bool) -> Iterator[Any]:
    again = _started_again(talk, kill)
    tell = Teller(again)
    try:
        tell("clock.advance", by_ms=20_000)
        for name in queues:
            opened = again("queues.open", format_name=name, access="receive")
            tell("queues.get", format_name=NAME, properties=["PROPID_Q_LABEL", "PROPID_Q_QUOTA"])
            tell.counts(name)
            if "queue" in opened:
                tell.few(opened["queue"])
                tell.few(opened["queue"])
        yield from tell.seen
    finally:
        again.driver.close()


SURE = {"delivery": "recoverable"}


@_of("restart")
def stopped(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    send, receive = talk.queue(PROPID_Q_LABEL="kept", PROPID_Q_QUOTA=100, PROPID_Q_JOURNAL=1)
    into, _ = _subqueue(talk)
    for label, priority in (("a", 3), ("b", 7), ("d", 1), ("c", 3)):
        tell.send(send, label, priority=priority, application_tag=9, **SURE)
    tell.send(send, "brief", time_to_be_received=10, negative_journaling=True, **SURE)
    tell.send(send, "dead", time_to_be_received=0, negative_journaling=True, **SURE)
    tell.send(send, "express")
    tell.take(receive)
    _begun(tell, receive)
    there = tell.send(send, "moved", **SURE)["lookup_identifier"]
    tell("messages.move", queue=receive, lookup_identifier=there, destination=into)
    names = [NAME, f"{NAME};sub", f"{NAME};JOURNAL", f"MACHINE={talk.driver.manager.guid};DEADLETTER"]
    return [*tell.seen, *_left(talk, names, kill=False)]


@_of("restart")
def stopped_in_transactions(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    send, receive, _ = tell.filled("ab", transactional=True)
    held, sent, ready = tell.begin(), tell.begin(), tell.begin()
    tell.take(receive, transaction=held)
    tell.send(send, "never", sent)
    tell.send(send, "prepared", ready)
    tell("transactions.prepare", transaction=ready)
    return [*tell.seen, *_left(talk, [NAME], kill=False)]


@_of("restart")
def killed_after_sends_and_receives(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    send, receive = talk.queue()
    for label in "abc":
        tell.send(send, label, **SURE)
    for _ in range(20):
        tell("clock.now")
    tell.take(receive)
    tell.send(send, "d", **SURE)
    return [*tell.seen, *_left(talk, [NAME], kill=True)]


@_of("restart")
def killed_after_a_commit(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    _, receive, _ = tell.filled("abc", transactional=True)
    other, _ = talk.queue("private$\\second", PROPID_Q_TRANSACTION=1)
    for _ in range(20):
        tell("clock.now")
    both = tell.begin()
    tell.take(receive, transaction=both)
    tell.take(receive, transaction=both)
    for label in "xyz":
        tell.send(other, label, both)
    tell.commit(both)
    return [*tell.seen, *_left(talk, [NAME, SECOND], kill=True)]


@_of("restart")
def killed_after_sends_only(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    send, _ = talk.queue(PROPID_Q_TRANSACTION=1)
    both = tell.begin()
    for label in "xyz":
        tell.send(send, label, both)
    tell.commit(both)
    return [*tell.seen, *_left(talk, [NAME], kill=True)]


@_of("restart")
def killed_after_a_purge(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    send, receive = talk.queue()
    for label in "abc":
        tell.send(send, label, **SURE)
    for _ in range(20):
        tell("clock.now")
    tell("queues.purge", queue=receive)
    return [*tell.seen, *_left(talk, [NAME], kill=True)]


@_of("restart")
def killed_after_changes(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    talk.queue("private$\\second")
    talk.queue()
    for _ in range(20):
        tell("clock.now")
    tell("queues.set", format_name=NAME, properties={"PROPID_Q_LABEL": "new"})
    tell("queues.delete", format_name=SECOND)
    return [*tell.seen, *_left(talk, [NAME, SECOND], kill=True)]


# Concurrency: what comes in the hole of another call


class Meanwhile:
    """Does one thing the first time a call lets others go first."""

    def __init__(self, talk: Talk, other: Callable[[], object]) -> None:
        self.talk = talk
        self.others = [other]
        talk.driver.do_meanwhile(self)

    def __call__(self) -> None:
        if self.others:
            self.others.pop()()


def _raced(talk: Talk, one: Callable[[], object], other: Callable[[], object]) -> None:
    """Both: the other in the hole of the one, or behind it where there is none."""
    meanwhile = Meanwhile(talk, other)
    one()
    meanwhile()
    talk.driver.do_meanwhile(lambda: None)


@_of("concurrency")
def received_at_once(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    _, receive, _ = tell.filled("abcdef")
    _raced(talk, lambda: tell.take(receive), lambda: tell.take(receive))
    _raced(talk, lambda: _begun(tell, receive), lambda: _begun(tell, receive))
    tell.few(receive)
    return tell.seen


@_of("concurrency")
def received_in_transactions_at_once(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    _, receive, _ = tell.filled("abc", transactional=True)
    first, second = tell.begin(), tell.begin()
    _raced(talk, lambda: tell.take(receive, transaction=first), lambda: tell.take(receive, transaction=second))
    tell.commit(first)
    tell.abort(second)
    tell.few(receive)
    return tell.seen


@_of("concurrency")
def sent_to_a_read_about_to_wait(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    send, receive = talk.queue()
    _raced(talk, lambda: tell.take(receive, timeout_ms=WAIT), lambda: tell.send(send, "a"))
    tell.counts()
    return tell.seen


@_of("concurrency")
def committed_and_looked_at(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    send, receive = talk.queue(PROPID_Q_TRANSACTION=1)
    other, there = talk.queue("private$\\second", PROPID_Q_TRANSACTION=1)
    transaction = tell.begin()
    tell.send(send, "a", transaction)
    tell.send(other, "x", transaction)
    _raced(talk, lambda: tell.commit(transaction), lambda: [tell.peek(receive), tell.peek(there)])
    return tell.seen


@_of("concurrency")
def aborted_and_taken(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    _, receive, _ = tell.filled("ab", transactional=True)
    held = tell.begin()
    for _ in range(2):
        tell.take(receive, transaction=held)
    _raced(talk, lambda: tell.abort(held), lambda: tell.take(receive))
    return tell.seen


@_of("concurrency")
def ended_twice(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    send, receive = talk.queue(PROPID_Q_TRANSACTION=1)
    transaction = tell.begin()
    tell.send(send, "a", transaction)
    _raced(talk, lambda: tell.commit(transaction), lambda: tell.abort(transaction))
    tell.few(receive)
    return tell.seen


@_of("concurrency")
def sent_at_once(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    send, receive = talk.queue()
    _raced(talk, lambda: tell.send(send, "a"), lambda: tell.send(send, "b"))
    tell.counts()
    return [tell.seen[-2], *_drained(tell, receive)]


def _drained(tell: Teller, receive: str) -> list[str]:
    """The labels left in a queue, whatever their order."""
    answers = [tell.take(receive) for _ in range(4)]
    return sorted(str(answer["message"]["label"]) for answer in answers if "message" in answer)


@_of("concurrency")
def two_for_one_waiter(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    send, receive = talk.queue()
    tell.take(receive, timeout_ms=WAIT)
    _raced(talk, lambda: tell.send(send, "a"), lambda: tell.send(send, "b"))
    return _drained(tell, receive)


@_of("concurrency")
def cancelled_and_sent(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    send, receive = talk.queue()
    number = talk.driver._requests + 1
    tell.take(receive, timeout_ms=WAIT)
    _raced(talk, lambda: tell("messages.cancel", request=number), lambda: tell.send(send, "a"))
    return [tell.seen[0], *_drained(tell, receive)]


@_of("concurrency")
def moved_and_taken(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    _, receive, [lookup] = tell.filled("a")
    into, there = _subqueue(talk)

    def move() -> None:
        tell("messages.move", queue=receive, lookup_identifier=lookup, destination=into)

    _raced(talk, move, lambda: tell.take(receive))
    tell.few(there)
    return tell.seen


@_of("concurrency")
def opened_and_made_at_once(talk: Talk) -> list[Any]:
    tell = Teller(talk)

    def make() -> None:
        tell("queues.create", path_name="HOST\\private$\\q")

    def take_over() -> None:
        tell("queues.open", format_name=NAME, access="receive", share="deny_receive")

    _raced(talk, make, make)
    _raced(talk, take_over, take_over)
    return sorted(len(each[0]) for each in tell.seen[::2])


@_of("concurrency")
def three_wait(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    send, receive = talk.queue()
    for _ in range(3):
        tell.take(receive, timeout_ms=WAIT)
    tell.send(send, "a")
    return tell.seen
