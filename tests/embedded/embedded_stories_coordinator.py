"""Stories of transactions that a coordinator ends."""

from __future__ import annotations

from typing import Any

from embedded_objects import LEFT_OUT, long, thing
from embedded_stories import FAR, NAME, Teller, of, started_again, subqueue
from embedded_stories_objects import Told
from embedded_talk import Talk

FIRST, OTHER, NEVER = (f"{digit}b6e4d6f-7a1f-4c3b-9a57-6f5b2f3f9a10" for digit in "012")


def _worked(tell: Teller, identifier: str, label: str) -> None:
    """Enlist the manager; receive, move and send in the transaction."""
    into, _ = subqueue(tell.talk)
    send, receive = tell.talk.open(NAME, "send"), tell.talk.open(NAME)
    transaction = tell("coordinator.enlist", transaction=identifier).get("transaction")
    tell.take(receive, transaction=transaction)
    lookup = tell.peek(receive).get("message", {}).get("lookup_identifier")
    tell("messages.move", queue=receive, lookup_identifier=lookup, destination=into, transaction=transaction)
    tell.send(send, label, transaction)


def _left(tell: Teller) -> None:
    for name in (NAME, f"{NAME};sub", f"{NAME};JOURNAL"):
        tell.counts(name)
        tell.few(tell.talk.open(name))


def _told(tell: Teller, *decisions: str, **more: Any) -> None:
    for decision in decisions:
        tell(f"coordinator.{decision}", identifier=FIRST, **more)


def _of_decisions(*decisions: str, **more: Any) -> None:
    """Register the story of a transaction about which the coordinator says this."""

    @of("coordinator")
    def decided(talk: Talk) -> list[Any]:
        tell = Teller(talk)
        tell.filled("abcd", transactional=True, PROPID_Q_JOURNAL=1)
        _worked(tell, FIRST, "sent")
        _told(tell, decisions[0], **more)
        tell.peek(talk.open(NAME))
        tell.counts()
        _told(tell, *decisions[1:])
        _left(tell)
        tell("coordinator.commit", identifier=NEVER)
        tell("coordinator.prepare", identifier=NEVER)
        return tell.seen


_of_decisions("prepare", "commit", "commit", "prepare")
_of_decisions("prepare", "abort", "abort")
_of_decisions("prepare", single_phase=True)
_of_decisions("abort")


def _of_outcomes(*outcomes: str, kills: int = 1, purge: bool = False) -> None:
    """Register the story of two prepared transactions, of one of which these outcomes are told after a start."""

    @of("coordinator")
    def in_doubt(talk: Talk) -> list[Any]:
        tell = Teller(talk)
        tell.filled("abcdef", transactional=True, PROPID_Q_JOURNAL=1)
        for identifier, label in ((FIRST, "sent"), (OTHER, "other")):
            _worked(tell, identifier, label)
            tell("coordinator.prepare", identifier=identifier)
        if purge:
            tell("queues.purge", queue=talk.open(NAME))
        again = talk
        for _ in range(kills):
            again = started_again(again, True)
            again("clock.now")
        later = Teller(again)
        try:
            later("coordinator.in_doubt")
            later("clock.advance", by_ms=90_000)
            for outcome in outcomes:
                later("coordinator.outcome", identifier=FIRST, outcome=outcome)
                later("coordinator.in_doubt")
                later.counts()
            _left(later)
            return [*tell.seen, *later.seen]
        finally:
            again.driver.close()


_of_outcomes("committed", "committed")
_of_outcomes("aborted", kills=2)
_of_outcomes("aborted", purge=True)
_of_outcomes("timeout")


@of("coordinator")
def elsewhere_in_doubt(talk: Talk) -> list[Any]:
    """A send to another computer and an acknowledged receive, in doubt; the coordinator asks once more."""
    tell = Teller(talk)
    asked = "DIRECT=OS:HOST\\private$\\asked"
    talk.queue("private$\\asked")
    send, receive = talk.queue(PROPID_Q_TRANSACTION=1)
    first = tell.begin()
    tell.send(send, "first", first, acknowledgements=["positive_receive"], administration_queue=asked)
    tell.commit(first)
    transaction = tell("coordinator.enlist", transaction=FIRST).get("transaction")
    tell.take(receive, transaction=transaction)
    tell.send(talk.open(FAR, "send"), "far", transaction)
    tell("coordinator.prepare", identifier=FIRST)
    again = started_again(talk, True)
    later = Teller(again)
    try:
        later("coordinator.enlist", transaction=FIRST)
        later("coordinator.in_doubt")
        later("coordinator.prepare", identifier=FIRST)
        later("coordinator.outcome", identifier=FIRST, outcome="committed")
        again.open(FAR, "send")
        later.counts(FAR)
        later("outgoing.take", format_name=FAR)
        later.few(again.open(asked))
        return [*tell.seen, *later.seen]
    finally:
        again.driver.close()


@of("coordinator")
def nothing_done(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    tell("coordinator.enlist", transaction=FIRST)
    tell("coordinator.prepare", identifier=FIRST)
    tell("coordinator.commit", identifier=FIRST)
    return tell.seen


@of("coordinator")
def enlisted_twice(talk: Talk) -> list[Any]:
    """Two transactions at once, in each of which the manager is enlisted again after it has worked."""
    tell = Teller(talk)
    tell.filled("ab", transactional=True)
    for identifier in (FIRST, OTHER, FIRST):
        transaction = tell("coordinator.enlist", transaction=identifier).get("transaction")
        if transaction is not None:
            tell.send(talk.open(NAME, "send"), identifier, transaction)
            tell.take(talk.open(NAME), transaction=transaction)
    for identifier in (OTHER, FIRST):
        tell("coordinator.prepare", identifier=identifier)
        tell("coordinator.commit", identifier=identifier)
        tell.counts()
    tell.few(talk.open(NAME))
    return tell.seen


@of("coordinator")
def of_two_kinds(talk: Talk) -> list[Any]:
    """Work in two queues, with a message that can expire and a move out of a subqueue; each end."""
    tell = Teller(talk)
    tell.filled("abcdefghijkl", transactional=True)
    into, out_of = subqueue(talk)
    other = "DIRECT=OS:HOST\\private$\\other"
    sends, receives = [talk.open(NAME, "send")], [talk.open(NAME)]
    for handles, handle in zip((sends, receives), talk.queue("private$\\other", PROPID_Q_TRANSACTION=1), strict=True):
        handles.append(handle)
    for number, (decision, more) in enumerate((("prepare", {"single_phase": True}), ("commit", {}), ("abort", {}))):
        for send in sends:
            filling = tell.begin()
            tell.send(send, f"filling{number}", filling)
            tell.commit(filling)
        lookup = tell.peek(receives[0]).get("message", {}).get("lookup_identifier")
        tell("messages.move", queue=receives[0], lookup_identifier=lookup, destination=into)
        identifier = f"{number}{FIRST[1:]}"
        transaction = tell("coordinator.enlist", transaction=identifier)["transaction"]
        for send, receive in zip(sends, receives, strict=True):
            tell.take(receive, transaction=transaction)
            tell.send(send, "plain", transaction)
            tell.send(send, "brief", transaction, time_to_be_received=900)
        lookup = tell.peek(out_of).get("message", {}).get("lookup_identifier")
        back = talk.open(NAME, "move")
        tell("messages.move", queue=out_of, lookup_identifier=lookup, destination=back, transaction=transaction)
        tell(f"coordinator.{decision}", identifier=identifier, **more)
        for name in (NAME, f"{NAME};sub", other):
            tell.counts(name)
    _left(tell)
    tell.few(receives[1])
    return tell.seen


@of("coordinator")
def asked_by_objects(talk: Talk) -> list[Any]:
    """Objects in a context, then in transactions of a dispenser that they end."""
    Teller(talk).filled("abcd", transactional=True)
    tell = Told(talk)
    info = tell.objects.make("MSMQQueueInfo")
    tell(info, "PathName", {"vt": "BSTR", "value": "HOST\\private$\\q"}, kind="put")
    queues = tell(info, "Open", long(2), long(0)), tell(info, "Open", long(1), long(0))
    dispenser = tell.objects.make("MSMQCoordinatedTransactionDispenser")
    for end in ("commit", "abort"):
        talk("coordinator.context", transaction=FIRST if end == "commit" else OTHER)
        _by_objects(tell, *queues, LEFT_OUT)
        tell.seen.append(talk(f"coordinator.{end}", identifier=FIRST if end == "commit" else OTHER))
    talk("coordinator.context", transaction=None)
    for what in (None, "import", "enlist", "connect", "begin", "commit", "abort", "info"):
        talk("coordinator.refuse", what=what or "info", refused=what is not None)
        begun = tell(dispenser, "BeginTransaction")
        if begun is not None:
            _by_objects(tell, *queues, thing(begun))
            inner = tell(begun, "ITransaction", kind="get")
            tell(inner, "GetTransactionInfo")
            for end in ("Abort", "Commit", "Commit"):
                tell(begun, end)
        tell.seen.append(talk("coordinator.enlist", transaction=OTHER))
        tell.seen.append(talk("coordinator.requests"))
        talk("coordinator.refuse", what=what or "info", refused=False)
    left = Teller(talk)
    left.counts()
    return [*tell.seen, *left.seen]


def _by_objects(tell: Told, send: str, receive: str, transaction: Any) -> None:
    message = tell.objects.make("MSMQMessage")
    tell(message, "Send", thing(send), transaction)
    tell(receive, "Receive", transaction, LEFT_OUT, LEFT_OUT, long(0))
