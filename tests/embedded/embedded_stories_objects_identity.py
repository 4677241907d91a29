"""Stories of what can be made and asked for, and of dispensers, sinks and collections (MC-MQAC 1.9, 3.6 to 3.16)."""

from __future__ import annotations

from typing import Any

from embedded_objects import EVENTS, LEFT_OUT, long, text
from embedded_stories import of
from embedded_stories_objects import Told
from embedded_stories_objects_managing import ELSEWHERE, QUEUE
from embedded_stories_objects_more import CLASSES
from embedded_talk import Talk

from conformance.spec.constants.interfaces import INTERFACES

IIDS = (
    *(each.uuid for each in INTERFACES.values()),
    "00020400-0000-0000-c000-000000000046",
    "00000000-0000-0000-c000-000000000046",
    "00020404-0000-0000-c000-000000000046",
    "11111111-2222-3333-4444-555555555555",
)


@of("objects")
def interfaces_of_every_object(talk: Talk) -> list[Any]:
    tell = Told(talk)
    tell.objects.info()
    talk.open(ELSEWHERE, "send")
    held = []
    for name in CLASSES:
        made = talk("objects.create", **{"class": name})
        tell.seen.append(made)
        held.append(made.get("object"))
    for given in ([LEFT_OUT, text(QUEUE)], [LEFT_OUT, LEFT_OUT, text(ELSEWHERE)]):
        target = tell.objects.make("MSMQManagement")
        tell(target, "Init", *given)
        held.append(target)
    begun = tell(tell.objects.make("MSMQTransactionDispenser"), "BeginTransaction")
    held += [tell(begun, "ITransaction", kind="get")] if isinstance(begun, str) else []
    held.append(tell(tell.objects.make("MSMQCollection"), "_NewEnum"))
    for each in held:
        for iid in IIDS if isinstance(each, str) else ():
            tell.seen.append(talk("objects.query", object=each, iid=iid))
    return tell.seen


@of("objects")
def dispensers_and_what_they_give(talk: Talk) -> list[Any]:
    tell = Told(talk)
    for name in ("MSMQTransactionDispenser", "MSMQCoordinatedTransactionDispenser"):
        dispenser = tell.objects.make(name)
        for end, given in (("Commit", [{"vt": "BOOL", "value": True}]), ("Abort", []), ("Commit", []), ("Commit", [])):
            begun = tell(dispenser, "BeginTransaction")
            inner = tell(begun, "ITransaction", kind="get") if isinstance(begun, str) else None
            for vt in ("UNKNOWN", "DISPATCH", "I4"):
                other = tell.objects.make("MSMQTransaction")
                tell(other, "InitNew", {"vt": vt, "value": 7 if vt == "I4" else inner})
            for _ in range(2):
                tell(begun, end, *given)
            tell(begun, "Abort")
    return tell.seen


@of("objects")
def sinks_that_come_and_go(talk: Talk) -> list[Any]:
    tell = Told(talk)
    event = tell.objects.make("MSMQEvent")
    for sink in ("events", "other", "events", "null"):
        tell.seen.append(tell.objects.listen(event, sink))
    for iid in (EVENTS, IIDS[0]):
        tell.seen.append(talk("objects.advise", object=event, sink="events", iid=iid))
    for cookie in (1, 1, 77):
        tell.seen.append(talk("objects.unadvise", object=event, cookie=cookie, iid=EVENTS))
    queue = tell.objects.open(tell.objects.info())
    tell(event, "FireArrivedEvent", {"vt": "DISPATCH", "value": queue}, long(0))
    return [*tell.seen, tell.objects.events]


@of("objects")
def collections_of_a_transfer(talk: Talk) -> list[Any]:
    tell = Told(talk)
    talk.open(ELSEWHERE, "send")
    target = tell.objects.make("MSMQManagement")
    tell(target, "Init", LEFT_OUT, LEFT_OUT, text(ELSEWHERE))
    found = tell(target, "EodGetSendInfo")
    for index in (text("EodNoAckCount"), text("eodnoackcount"), long(0), text("EodNoAckCount"), text("")):
        tell(found, "Item", index)
        tell(found, "Count", kind="get")
    tell(found, "_NewEnum")
    return tell.seen
