"""Stories of objects in transactions that a coordinator ends."""

from __future__ import annotations

from typing import Any

from embedded_objects import LEFT_OUT, NOTHING, long, text, thing
from embedded_stories import NAME, Teller, of
from embedded_stories_coordinator import asked_by_objects
from embedded_stories_objects import Told
from embedded_talk import Talk

from conformance.embedded.objects.queue import READS, Read

of("objects")(asked_by_objects)
DIGITS = "0123456789abcdef"


def _identifier(number: int) -> str:
    return f"{number:08x}-7a1f-4c3b-9a57-6f5b2f3f9a10"


def _queue(tell: Told) -> str:
    """An object of a transactional queue with many messages."""
    Teller(tell.talk).filled(DIGITS, transactional=True)
    info = tell.objects.make("MSMQQueueInfo")
    tell(info, "PathName", text("HOST\\private$\\q"), kind="put")
    return info


def _read(tell: Told, queue: str, read: Read, transaction: Any) -> None:
    given = []
    if read.by_identifier:
        verb = "Last" if read.seek == "previous" else "First"
        found = tell(queue, f"Peek{verb}ByLookupId")
        given.append(text(None if found is None else tell.objects.get(found, "LookupId")))
    tell(queue, read.name, *given, transaction, LEFT_OUT, LEFT_OUT, *([long(0)] if read.at else []))


def _there(tell: Told) -> None:
    """What is seen of the queue from outside."""
    outside = Teller(tell.talk)
    outside.counts()
    queue = tell.talk.open(NAME)
    for action in ("first", "last"):
        outside("messages.peek_by_lookup_id", queue=queue, lookup_identifier="0", action=action)
    tell.seen += outside.seen


@of("objects")
def in_a_context(talk: Talk) -> list[Any]:
    """Each receive and Send in a context that the manager knows, or not, whose transaction is aborted or committed."""
    tell = Told(talk)
    info = _queue(tell)
    members = [*(read for read in READS if read.removes), None]
    for number, read in enumerate([*members, *members]):
        known, identifier = number < len(members), _identifier(number)
        if known:
            talk("coordinator.enlist", transaction=identifier)
        talk("coordinator.context", transaction=identifier)
        queue = str(tell(info, "Open", long(2 if read is None else 1), long(0)))
        if read is None:
            tell(tell.objects.make("MSMQMessage"), "Send", thing(queue), long(1))
        else:
            _read(tell, queue, read, long(1 + number % 2))
        talk("coordinator.context", transaction=None)
        _there(tell)
        tell.seen.append(talk("coordinator.commit" if read is None else "coordinator.abort", identifier=identifier))
        _there(tell)
    return tell.seen


@of("objects")
def beside_a_context(talk: Talk) -> list[Any]:
    """Reads that name their own transaction in a context, and reads in one that the coordinator does not let in."""
    tell = Told(talk)
    receive = str(tell(_queue(tell), "Open", long(1), long(0)))
    dispensers = [tell.objects.make(f"MSMQ{kind}TransactionDispenser") for kind in ("", "Coordinated")]
    for dispenser in dispensers:
        begun = tell(dispenser, "BeginTransaction")
        if begun is not None:
            tell.seen.append(talk("objects.query", object=begun, iid="eba96b13-2168-11d3-898c-00e02c074f6b"))
            for _ in range(2):
                inner = tell(begun, "ITransaction", kind="get")
                tell(inner, "GetTransactionInfo")
            tell(receive, "Receive", thing(begun), LEFT_OUT, LEFT_OUT, long(0))
            for end in ("Commit", "Abort"):
                talk("coordinator.refuse", what=end.lower(), refused=True)
                tell(begun, end)
                _there(tell)
                talk("coordinator.refuse", what=end.lower(), refused=False)
                ended = tell(dispenser, "BeginTransaction")
                tell(ended, end)
                tell(ended, end)
    for number, given in enumerate((thing(begun), long(3), NOTHING)):
        talk("coordinator.context", transaction=_identifier(number))
        tell(receive, "Receive", given, LEFT_OUT, LEFT_OUT, long(0))
        talk("coordinator.context", transaction=None)
        tell.seen.append(talk("coordinator.abort", identifier=_identifier(number)))
        _there(tell)
    for what in ("import", "enlist", "connect"):
        talk("coordinator.refuse", what=what, refused=True)
        talk("coordinator.context", transaction=_identifier(99))
        tell(receive, "Receive", long(1), LEFT_OUT, LEFT_OUT, long(0))
        tell.seen.append(talk("coordinator.prepare", identifier=_identifier(99)))
        tell.seen.append(talk("coordinator.requests"))
        _there(tell)
        talk("coordinator.refuse", what=what, refused=False)
    return tell.seen
