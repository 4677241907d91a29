"""MSMQEvent (MC-MQAC 3.16) and the notifications that MSMQQueue.EnableNotification asks for (3.11.4.1.9)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from conformance.embedded.entities import CursorState, MqError
from conformance.embedded.objects import variants
from conformance.embedded.objects.variants import (
    CONNECT_E_ADVISELIMIT,
    CONNECT_E_CANNOTCONNECT,
    CONNECT_E_NOCONNECTION,
    E_POINTER,
    GET,
    LONG,
    METHOD,
    OBJECT,
    ComObject,
    Kind,
    Variant,
    long,
    member,
)
from conformance.embedded.receiving import Caller
from conformance.spec.constants.hresults import (
    MQ_ERROR_ILLEGAL_CURSOR_ACTION,
    MQ_ERROR_IO_TIMEOUT,
    MQ_ERROR_MESSAGE_NOT_FOUND,
)

if TYPE_CHECKING:
    from conformance.embedded.manager import Manager
    from conformance.embedded.objects.queue import QueueObject

Json = Any
FIRST, NEXT = 0, 2
CONNECTION_LIMIT = 1000
_NOTHING_THERE = (MQ_ERROR_IO_TIMEOUT, MQ_ERROR_ILLEGAL_CURSOR_ACTION)
HRESULT = Kind("ERROR", lambda value: value.value if value.vt == "ERROR" else variants.as_integer(value))


class Listener(Protocol):
    """Who is told of events."""

    def emit(self, event: dict[str, Json]) -> None:
        """Send an event, after what was to be answered before."""


class EventObject(ComObject):
    """An event source. connections: who listens, by cookie, with the handle of the object that they know."""

    CLASS = "MSMQEvent"
    INTERFACES = ("IMSMQEvent3", "IMSMQEvent2", "IMSMQEvent", "IMSMQPrivateEvent")
    SOURCES: ClassVar[tuple[str, ...]] = ("_DMSMQEventEvents",)
    ALSO: ClassVar[tuple[str, ...]] = ("IConnectionPointContainer", "IConnectionPoint")

    def __init__(self, manager: Manager) -> None:
        """Make an object to which nobody listens (3.16.3)."""
        super().__init__(manager)
        self.connections: dict[int, tuple[Listener, str]] = {}
        self.last_cookie = 0

    def advise(self, sink: str, listener: Listener, handle: str) -> int:
        """Register a sink (3.16.4.5.3). Returns its cookie. Raises MqError."""
        if sink == "null":
            raise MqError(E_POINTER)
        if len(self.connections) >= self.limit():
            raise MqError(CONNECT_E_ADVISELIMIT)
        if sink == "other":
            raise MqError(CONNECT_E_CANNOTCONNECT)
        self.last_cookie += 1
        self.connections[self.last_cookie] = (listener, handle)
        return self.last_cookie

    def limit(self) -> int:
        """Return how many can listen."""
        return CONNECTION_LIMIT

    def unadvise(self, cookie: int) -> None:
        """Let go of a sink (3.16.4.5.4). Raises MqError."""
        if self.connections.pop(cookie, None) is None:
            raise MqError(CONNECT_E_NOCONNECTION)

    def released(self) -> None:
        """Let go of every sink."""
        self.connections.clear()

    @member(GET, "Hwnd")
    def hwnd(self) -> Variant:
        """Return a number that means nothing (3.16.4.3.1)."""
        return long(0)

    @member(METHOD, "FireArrivedEvent", pq=OBJECT, msgcursor=LONG)
    def fire_arrived(self, queue: ComObject | None, cursor: int) -> None:
        """Tell of a message (3.16.4.3.2)."""
        self.fire("Arrived", [Variant("DISPATCH", queue), long(cursor)])

    @member(METHOD, "FireArrivedErrorEvent", pq=OBJECT, hrStatus=HRESULT, msgcursor=LONG)
    def fire_error(self, queue: ComObject | None, status: int, cursor: int) -> None:
        """Tell of an error (3.16.4.3.3)."""
        self.fire("ArrivedError", [Variant("DISPATCH", queue), long(status), long(cursor)])

    def fire(self, name: str, arguments: list[Variant]) -> None:
        """Tell everyone who listens."""
        told = [self.manager.objects.write(each) for each in arguments]
        for listener, handle in list(self.connections.values()):
            listener.emit({"object": handle, "name": name, "arguments": told})


class Notification:
    """One event that a call of EnableNotification asked for."""

    def __init__(self, queue: QueueObject, event: EventObject, option: int, timeout_ms: int) -> None:
        """option: the cursor option, an MQMSGCURSOR."""
        self.queue = queue
        self.event = event
        self.option = option
        self.timeout_ms = timeout_ms

    def start(self, session: object) -> None:
        """Look for a message, and wait for one if there is none."""
        caller = Caller(session, self, self.ended, lambda: None)
        try:
            self.look(caller)
        except MqError as failure:
            self.ended({"status": failure.status})

    def look(self, caller: Caller) -> None:
        """Peek: at the head, at the cursor, or one further."""
        reading, opened = self.queue.manager.reading, self.queue.opened
        if self.option == NEXT and (self.timeout_ms == 0 or self.queue.cursor().state is not CursorState.UNREAD):
            reading.peek_next(caller, opened, self.queue.cursor(), self.timeout_ms)
        else:
            cursor = None if self.option == FIRST else self.queue.cursor()
            reading.peek(caller, opened, cursor, self.timeout_ms)

    def ended(self, result: dict[str, Json]) -> None:
        """Fire the event of an answer."""
        status = result["status"]
        if status == 0:
            self.event.fire_arrived(self.queue, self.option)
        else:
            self.event.fire_error(self.queue, self.code(status), self.option)

    def code(self, status: int) -> int:
        """Return the code of an error: what is not there at once is not found."""
        return MQ_ERROR_MESSAGE_NOT_FOUND if self.timeout_ms == 0 and status in _NOTHING_THERE else status
