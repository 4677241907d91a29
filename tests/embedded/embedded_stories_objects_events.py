"""Stories of events and destinations of MC-MQAC: who listens, what is told when, and where messages go by name."""

from __future__ import annotations

from typing import Any

from embedded_objects import EVENTS, LEFT_OUT, NOTHING, Objects, flag, long, text, thing
from embedded_stories import of
from embedded_stories_objects import Told
from embedded_talk import Talk

QUEUE, OTHER = "DIRECT=OS:HOST\\private$\\q", "DIRECT=OS:HOST\\private$\\r"
POLL = (LEFT_OUT, LEFT_OUT, long(0))


class Heard(Told):
    """Objects whose events are written down too."""

    def __call__(self, target: str | None, member: str, *arguments: Any, kind: str = "method") -> Any:
        found = super().__call__(target, member, *arguments, kind=kind)
        self.heard()
        return found

    def heard(self) -> None:
        """Write down the events that came meanwhile."""
        self.seen.append(list(self.objects.events))
        self.objects.events.clear()


@of("objects")
def listeners(talk: Talk) -> list[Any]:
    tell = Heard(talk)
    event, queue = tell.objects.make("MSMQEvent"), tell.objects.make("MSMQQueue")
    for sink in ("events", "other", "null", "events"):
        tell.seen.append(tell.objects.listen(event, sink))
    tell.seen.append(tell.objects.listen(queue))
    for iid in ("d7d6e077-dccd-11d0-aa4b-0060970debae", EVENTS):
        tell.seen.append(talk("objects.advise", object=event, sink="events", iid=iid))
    tell(event, "FireArrivedEvent", thing(queue), long(2))
    for cookie in (1, 1, 99):
        tell.seen.append(talk("objects.unadvise", object=event, cookie=cookie, iid=EVENTS))
    tell(event, "FireArrivedErrorEvent", thing(queue), {"vt": "ERROR", "value": 0x80004005}, long(1))
    for member in ("Hwnd", "Properties"):
        tell(event, member, kind="get")
    for iid in ("b196b284-bab4-101a-b69c-00aa00341d07", "d7ab3341-c9d3-11d1-bb47-0080c7c5a2c0", EVENTS):
        tell.seen.append(talk("objects.query", object=event, iid=iid))
    return tell.seen


@of("objects")
def notifications(talk: Talk) -> list[Any]:
    tell = Heard(talk)
    info = tell.objects.info()
    event = tell.objects.make("MSMQEvent")
    sender, queue = tell.objects.open(info, 2), tell.objects.open(info)
    blank, closed = tell.objects.make("MSMQQueue"), tell.objects.open(info, 2)
    tell(closed, "Close")
    tell.objects.listen(event)
    for target in (blank, closed, sender, queue):
        for given in ([NOTHING, long(7)], [NOTHING], [thing(event), long(7)], [thing(event), LEFT_OUT, long(0)]):
            tell(target, "EnableNotification", *given)
    for access in (0x20, 1):
        queue = str(tell.objects.call(info, "Open", long(access), long(0)))
        for option in (0, 1, 2):
            for time_out in ([], [long(0)], [long(20)]):
                tell(queue, "EnableNotification", thing(event), long(option), *time_out)
                talk.ok("clock.advance", by_ms=19)
                tell.heard()
                talk.ok("clock.advance", by_ms=1)
                tell.heard()
                for label in "ab":
                    tell.objects.send(sender, label)
                    tell.heard()
                tell(tell(queue, "PeekCurrent", *POLL), "Label", kind="get")
                tell(queue, "EnableNotification", thing(event), long(option), *time_out)
                tell(tell(queue, "PeekCurrent", *POLL), "Label", kind="get")
                tell(tell.objects.open(info), "Purge")
                tell(queue, "Reset")
        tell(queue, "EnableNotification", thing(event), LEFT_OUT, LEFT_OUT)
        tell(queue, "Close")
    return tell.seen


def _names(tell: Told, destination: str) -> None:
    for member in ("ADsPath", "PathName", "FormatName", "IsOpen", "IADs", "Destinations", "Properties", "Handle"):
        tell(destination, member, kind="get")


@of("objects")
def destinations(talk: Talk) -> list[Any]:
    tell = Told(talk)
    infos = [tell.objects.info(), tell.objects.info("HOST\\private$\\r")]
    readers = [tell.objects.open(each) for each in infos]
    public = tell.objects.info("HOST\\pub")
    directory = text(tell.objects.get(public, "ADsPath"))
    destination = tell.objects.make("MSMQDestination")
    message = tell.objects.message("d", ConnectorTypeGuid=text("{0123ABCD-4567-89AB-CDEF-0123456789AB}"))
    _names(tell, destination)
    for member in ("Open", "Close"):
        tell(destination, member)
    for member in ("IADs", "Destinations"):
        tell(destination, member, NOTHING, kind="putref")
    puts = [
        ("FormatName", text(QUEUE)), ("PathName", text("HOST\\private$\\r")),
        ("PathName", text("HOST\\private$\\none")),
        ("ADsPath", directory), ("ADsPath", text("LDAP://CN=none")), ("FormatName", text(f"{QUEUE},{OTHER}")),
        ("FormatName", text("DIRECT=OS:HOST\\private$\\none")), ("ADsPath", directory),
        ("PathName", text("HOST\\private$\\r")), ("FormatName", text(OTHER)),
    ]  # fmt: skip
    for opened in (False, True):
        for member, value in puts:
            tell(destination, member, value, kind="put")
            _names(tell, destination)
            tell(message, "Send", thing(destination), long(0))
            for read in ("DestinationQueueInfo", "Destination", "ResponseDestination"):
                tell(tell(message, read, kind="get"), "FormatName", kind="get")
            for reader in readers:
                found = tell(reader, "Receive", long(0), flag(True), LEFT_OUT, long(0))
                for read in ("DestinationQueueInfo", "Destination", "ResponseDestination"):
                    tell(tell(found, read, kind="get") if found else None, "FormatName", kind="get")
        if not opened:
            tell(message, "ResponseDestination", thing(destination), kind="putref")
            for member in ("Open", "Open", "Close", "Close", "Open"):
                tell(destination, member)
            for other in (thing(infos[0]), NOTHING):
                tell(tell.objects.message("e"), "ResponseDestination", other, kind="putref")
    handle = tell.objects.typed(tell.objects.open(infos[0], 2), "Handle2")
    taken = [handle] if isinstance(handle, dict) else []
    for given in ({"vt": "I8", "value": "-1"}, {"vt": "I8", "value": "12345"}, *taken, {"vt": "EMPTY"}):
        tell(destination, "Handle", given, kind="put")
        _names(tell, destination)
        tell(message, "Send", thing(destination), long(0))
        tell(readers[0], "Receive", long(0), *POLL)
    return tell.seen


def events_read_otherwise(talk: Talk) -> list[Any]:
    tell = Heard(talk)
    info = tell.objects.make("MSMQQueueInfo")
    tell(info, "PathName", text("HOST\\private$\\q"), kind="put")
    tell(info, "Create")
    sender, queue = tell(info, "Open", long(2), long(0)), tell(info, "Open", long(1), long(0))
    event, destination = tell.objects.make("MSMQEvent"), tell.objects.make("MSMQDestination")
    Objects.listen(tell.objects, event)
    for label in "abcd":
        tell(tell.objects.message(label), "Send", thing(sender), long(0))
    tell(queue, "PeekCurrent", *POLL)
    for option in (1, 2):
        tell(queue, "EnableNotification", thing(event), long(option), long(0))
        tell(tell(queue, "PeekCurrent", *POLL), "Label", kind="get")
    tell(destination, "FormatName", text(QUEUE), kind="put")
    tell(tell.objects.message("e"), "Send", thing(destination), long(0))
    tell(destination, "PathName", text("HOST\\private$\\none"), kind="put")
    tell(destination, "PathName", kind="get")
    return tell.seen
