"""MSMQQueue (MC-MQAC 3.11): an open queue and its cursor, and its 22 reads as a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from conformance.embedded.entities import INFINITE, Cursor, CursorState, Descriptor, MqError, Position
from conformance.embedded.objects.events import EventObject
from conformance.embedded.objects.transactions import TransactionArguments, Unit
from conformance.embedded.objects.variants import (
    ANY,
    DISP_E_TYPEMISMATCH,
    E_INVALIDARG,
    GET,
    INTEGERS,
    METHOD,
    NOTHING,
    OBJECT,
    OLE_E_BLANK,
    OPTIONAL,
    ComObject,
    Kind,
    NoAnswer,
    Signature,
    Variant,
    as_flag,
    as_integer,
    flag,
    long,
    member,
    short,
)
from conformance.embedded.receiving import Caller
from conformance.spec.constants.hresults import (
    MQ_ERROR_ACCESS_DENIED,
    MQ_ERROR_ILLEGAL_CURSOR_ACTION,
    MQ_ERROR_INVALID_HANDLE,
    MQ_ERROR_IO_TIMEOUT,
    MQ_ERROR_MESSAGE_NOT_FOUND,
)

if TYPE_CHECKING:
    from conformance.embedded.manager import Manager
    from conformance.embedded.objects.queue_info import QueueInfoObject

Json = Any
HEAD, CURRENT, NEXT = "head", "current", "next"
_NOTHING_CAME = (MQ_ERROR_IO_TIMEOUT, MQ_ERROR_MESSAGE_NOT_FOUND)


@dataclass(frozen=True, slots=True)
class Read:
    """A read. removes: it takes the message. at: the head, or the cursor (current, next); empty for a lookup.

    seek: of a lookup, the direction. wants_connector: it has the argument WantConnectorType.
    """

    name: str
    removes: bool
    at: str = ""
    seek: str = ""
    wants_connector: bool = True
    shown_to_peeks: bool = False

    @property
    def by_identifier(self) -> bool:
        """True if it has the argument LookupId."""
        return self.seek in ("current", "next", "previous")

    def arguments(self) -> dict[str, Kind]:
        """Return the arguments, in their order."""
        given: dict[str, Kind] = {"LookupId": ANY} if self.by_identifier else {}
        if self.removes:
            given["Transaction"] = OPTIONAL
        given |= {"WantDestinationQueue": OPTIONAL, "WantBody": OPTIONAL}
        if self.at:
            given["ReceiveTimeout"] = OPTIONAL
        if self.wants_connector:
            given["WantConnectorType"] = OPTIONAL
        return given


def _reads() -> tuple[Read, ...]:
    found = []
    for suffix, connector in (("_v1", False), ("", True)):
        for name, removes, at in (
            ("Receive", True, HEAD), ("ReceiveCurrent", True, CURRENT),
            ("Peek", False, HEAD), ("PeekNext", False, NEXT), ("PeekCurrent", False, CURRENT),
        ):  # fmt: skip
            found.append(Read(name + suffix, removes, at, wants_connector=connector))
    for verb, removes in (("Receive", True), ("Peek", False)):
        found.append(Read(f"{verb}ByLookupId", removes, seek="current"))
        for seek in ("Next", "Previous", "First", "Last"):
            found.append(Read(f"{verb}{seek}ByLookupId", removes, seek=seek.lower()))
    found.append(Read("ReceiveByLookupIdAllowPeek", True, seek="current", shown_to_peeks=True))
    return tuple(found)


READS = _reads()
SIGNATURES = tuple(Signature(read.name, METHOD, read.arguments(), "", read, waits=True) for read in READS)


@dataclass(slots=True)
class Asked:
    """The arguments of a read, by name; those that the read does not have are left out."""

    given: Mapping[str, Variant]
    body: bool = field(default=True)
    destination: bool = field(default=False)
    connector: bool = field(default=False)
    timeout_ms: int = field(default=INFINITE)
    lookup: int = field(default=0)

    def named(self, name: str) -> Variant:
        """Return an argument, left out if it is not there."""
        return self.given.get(name, Variant("ERROR", 0x80020004))


def milliseconds(given: Variant) -> int:
    """Return a time-out. Raises MqError for what is no number; a negative one is that of its bits."""
    if given.vt not in INTEGERS:
        raise MqError(DISP_E_TYPEMISMATCH)
    return as_integer(given, 64) & INFINITE


class Perform:
    """One read in progress: its checks in the order of the text, then the event of the queue manager."""

    def __init__(self, queue: QueueObject, read: Read, asked: Asked, caller: Caller | None) -> None:
        """queue: the object it is called on. caller: whom it may answer later."""
        self.queue = queue
        self.manager = queue.manager
        self.read = read
        self.asked = asked
        self.caller = caller
        self.transactions: TransactionArguments = self.manager.parts.transaction_arguments(self.manager)

    def perform(self) -> Variant | None:
        """Check, then read. Raises NoAnswer if it answers through its caller, MqError for a failure."""
        for check in self.checks():
            check()
        self.understand()
        unit = self.unit() if self.read.removes else Unit(self.manager, None)
        try:
            self.start(unit)
        except MqError as failure:
            unit.failed()
            if self.read.at == "" or failure.status in _NOTHING_CAME:
                return self.not_found(failure)
            raise
        raise NoAnswer

    def checks(self) -> tuple[Any, ...]:
        """Return the checks, in the order in which they are made."""
        found: list[Any] = [self.check_lookup] if self.read.by_identifier else []
        found += [self.queue.check_initialized, self.queue.check_open, self.check_access]
        if self.read.at == NEXT:
            found.append(self.queue.check_cursor_read)
        return tuple(found)

    def check_lookup(self) -> None:
        """Refuse a lookup identifier of 0, or one that is none."""
        self.asked.lookup = self.lookup(self.asked.named("LookupId"))
        if self.asked.lookup == 0:
            raise MqError(E_INVALIDARG)

    def lookup(self, given: Variant) -> int:
        """Return a lookup identifier, given as the text that a message has or as a number."""
        if given.vt == "BSTR" and isinstance(given.value, str):
            digits = given.value.strip()
            if not (digits.isascii() and digits.isdigit() and int(digits) < 1 << 64):
                raise MqError(E_INVALIDARG)
            return int(digits)
        if given.vt in INTEGERS:
            return int(given.value) & 0xFFFFFFFFFFFFFFFF
        raise MqError(E_INVALIDARG)

    def check_access(self) -> None:
        """Refuse a queue that was opened for something else."""
        receiving = ("receive", "receive_admin")
        self.queue.check_access(receiving if self.read.removes else ("peek", "peek_admin", *receiving))

    def understand(self) -> None:
        """Read the flags and the time-out. Raises MqError for a value of another type."""
        asked = self.asked
        asked.body = self.wanted("WantBody", True)
        asked.destination = self.wanted("WantDestinationQueue", False)
        asked.connector = self.wanted("WantConnectorType", not self.read.wants_connector)
        asked.timeout_ms = self.timeout()

    def wanted(self, name: str, default: bool) -> bool:
        """Return a flag, its default if it is left out."""
        given = self.asked.named(name)
        return default if given.left_out else as_flag(given)

    def timeout(self) -> int:
        """Return the time-out in milliseconds, INFINITE if it is left out."""
        given = self.asked.named("ReceiveTimeout")
        return INFINITE if given.left_out else milliseconds(given)

    def unit(self) -> Unit:
        """Return the unit of work that the argument Transaction means."""
        return self.transactions.unit(self.asked.named("Transaction"))

    def start(self, unit: Unit) -> None:
        """Raise the event. Its answer comes now or later."""
        reading, queue = self.manager.reading, self.queue
        caller = self.through(unit)
        if self.read.seek:
            self.look_up(caller, unit)
        elif self.read.removes:
            reading.receive(caller, queue.opened, self.cursor(), self.asked.timeout_ms, unit.transaction)
        elif self.read.at == NEXT:
            reading.peek_next(caller, queue.opened, self.cursor(), self.asked.timeout_ms)
        else:
            reading.peek(caller, queue.opened, self.cursor(), self.asked.timeout_ms)

    def look_up(self, caller: Caller, unit: Unit) -> None:
        """Read Message By Lookup Identifier."""
        self.manager.reading.by_lookup_id(
            caller, self.queue.opened, self.asked.lookup, self.read.seek,
            destructive=self.read.removes, transaction=unit.transaction,
        )  # fmt: skip

    def cursor(self) -> Cursor | None:
        """Return the cursor that it reads at, None for the head."""
        return None if self.read.at == HEAD else self.queue.cursor()

    def through(self, unit: Unit) -> Caller:
        """Return a caller that makes an object of the message before it passes the answer on."""
        caller = self.caller
        if caller is None:
            raise MqError(E_INVALIDARG)
        answer = caller.answer

        def passed_on(result: dict[str, Json]) -> None:
            if result["status"] == 0:
                position: Position | None = getattr(result["message"], "position", None)
                unit.succeeded()
                self.show(position, unit)
                answer(self.manager.objects.value_result(self.message(result, position)))
                return
            unit.failed()
            if result["status"] in _NOTHING_CAME:
                answer(self.timed_out(result["status"]))
            else:
                answer(result)

        return Caller(caller.session, caller.tag[1], passed_on, caller.pending)

    def show(self, position: Position | None, unit: Unit) -> None:
        """Let peeks see a message that was received in a transaction, for the method that allows it."""
        if self.read.shown_to_peeks and position is not None and unit.transaction is not None:
            position.queue.shown.append(position)

    def message(self, result: dict[str, Json], position: Position | None) -> Variant:
        """Return the object of a message, with what is wanted of it."""
        received = self.manager.parts.message_object(self.manager)
        carried = position.message.carried if position is not None else None
        received.receive(result["message"], (carried or {}).get("object") or {}, self.queue, self.asked)
        return Variant("DISPATCH", received)

    def timed_out(self, status: int) -> dict[str, Json]:
        """Return the answer of a read whose time is over: no message."""
        return self.manager.objects.value_result(NOTHING)

    def not_found(self, failure: MqError) -> Variant | None:
        """Answer a read that found nothing: a lookup fails, whatever the reason."""
        if self.read.seek:
            raise MqError(self.nothing_found())
        return NOTHING

    def nothing_found(self) -> int:
        """Return the status of a lookup that finds nothing."""
        return MQ_ERROR_MESSAGE_NOT_FOUND


RECEIVING = ("receive", "receive_admin")
READING = ("peek", "peek_admin", *RECEIVING)
MQMSG_CURSORS = (0, 1, 2)


class QueueObject(ComObject):
    """An open queue; blank if a client made it, closed after Close.

    descriptor: the handle, None if the object is not open. info: the object it was opened by.
    """

    CLASS = "MSMQQueue"
    INTERFACES = ("IMSMQQueue4", "IMSMQQueue3", "IMSMQQueue2", "IMSMQQueue")

    def __init__(
        self,
        manager: Manager,
        descriptor: Descriptor | None = None,
        info: QueueInfoObject | None = None,
        access: int = 0,
        share: int = 0,
    ) -> None:
        """Make a blank object, or one for a handle."""
        super().__init__(manager)
        self.descriptor = descriptor
        self.info = info
        self.access = access
        self.share = share
        self.is_initialized = descriptor is not None
        self.is_closed = descriptor is None
        self.number = int(descriptor.handle.lstrip("h")) if descriptor is not None else 0
        self.own_cursor: Cursor | None = None

    @classmethod
    def rows(cls) -> tuple[Signature, ...]:
        """Return the reads."""
        return SIGNATURES

    def invoke(self, name: str, kind: str, given: list[Variant], caller: Caller | None) -> Variant | None:
        """Perform a member; a read may answer its caller later."""
        signature = self.find(name, kind)
        if signature.row is None:
            return super().invoke(name, kind, given, caller)
        asked = Asked(dict(zip(signature.arguments, self.converted(signature, given), strict=True)))
        return self.manager.parts.queue_reads(self, signature.row, asked, caller).perform()

    # Checks.

    def check_initialized(self) -> None:
        """Refuse an object that a client made."""
        if not self.is_initialized:
            raise MqError(OLE_E_BLANK)

    def check_open(self) -> None:
        """Refuse a closed object."""
        if self.is_closed:
            raise MqError(MQ_ERROR_INVALID_HANDLE)

    def check_access(self, allowed: tuple[str, ...]) -> None:
        """Refuse an object that was opened for something else."""
        if self.opened.access not in allowed:
            raise MqError(MQ_ERROR_ACCESS_DENIED)

    def check_usable(self) -> None:
        """Refuse a blank object, then a closed one."""
        self.check_initialized()
        self.check_open()

    def check_listed(self) -> None:
        """Refuse a blank object, then a closed one, for members whose own steps do not ask whether it is closed."""
        self.check_usable()

    @property
    def opened(self) -> Descriptor:
        """The handle. Raises MqError if there is none; its queue may have been deleted."""
        if self.descriptor is None:
            raise MqError(MQ_ERROR_INVALID_HANDLE)
        return self.descriptor

    # The cursor.

    def cursor(self) -> Cursor:
        """Return the object's cursor, opened when it is first used."""
        if self.own_cursor is None:
            self.own_cursor = self.manager.cursors.open(self.opened)
        return self.own_cursor

    def check_cursor_read(self) -> None:
        """Refuse to go on from a cursor that has not read (3.11.4.1.17).

        One that stands on the last message waits. One behind it has not read (MS-MQDMPR 3.2.7.6), so both readings of
        EndQueue refuse it.
        """
        if self.own_cursor is None or self.own_cursor.state is CursorState.UNREAD:
            raise MqError(MQ_ERROR_ILLEGAL_CURSOR_ACTION)

    # Members.

    @member(GET, "Access")
    def get_access(self) -> Variant:
        """Return the access it was opened with (3.11.4.1.1)."""
        self.check_listed()
        return long(self.access)

    @member(GET, "ShareMode")
    def get_share_mode(self) -> Variant:
        """Return the share mode it was opened with (3.11.4.1.2)."""
        self.check_listed()
        share = self.share if self.descriptor is None else int(self.descriptor.share == "deny_receive")
        return long(share)

    @member(GET, "QueueInfo")
    def get_queue_info(self) -> Variant:
        """Return the object it was opened by (3.11.4.1.3)."""
        self.check_listed()
        return NOTHING if self.info is None else Variant("DISPATCH", self.info)

    @member(GET, "Handle")
    def get_handle(self) -> Variant:
        """Return the number of the handle (3.11.4.1.4)."""
        self.check_listed()
        return long(self.number)

    @member(GET, "Handle2")
    def get_handle2(self) -> Variant:
        """Return the number of the handle, in 64 bits (3.11.4.1.20)."""
        self.check_listed()
        return Variant("I8", self.number)

    @member(GET, "IsOpen")
    def get_is_open(self) -> Variant:
        """Return 1 if the queue is open (3.11.4.1.5)."""
        self.check_initialized()
        return short(int(not self.is_closed))

    @member(GET, "IsOpen2")
    def get_is_open2(self) -> Variant:
        """Return whether the queue is open (3.11.4.1.32)."""
        self.check_initialized()
        return flag(not self.is_closed)

    @member(METHOD, "Close")
    def close(self) -> None:
        """Close the queue (3.11.4.1.6); its waiting reads end."""
        self.check_listed()
        self.end()

    def end(self) -> None:
        """Close the handle."""
        descriptor, self.descriptor = self.descriptor, None
        self.own_cursor = None
        self.is_closed = True
        if descriptor is not None:
            self.manager.queues.close(descriptor)

    def released(self) -> None:
        """Close the queue that nobody can close any more."""
        self.end()

    @member(METHOD, "Reset")
    def reset(self) -> None:
        """Put the cursor in front of the queue (3.11.4.1.10)."""
        self.check_usable()
        if self.own_cursor is not None:
            cursor, self.own_cursor = self.own_cursor, None
            self.manager.cursors.close(cursor)

    @member(METHOD, "Purge")
    def purge(self) -> None:
        """Delete the messages (3.11.4.1.31)."""
        self.check_usable()
        self.check_access(RECEIVING)
        self.manager.queues.purge(self.opened)

    @member(METHOD, "EnableNotification", waits=True, Event=OBJECT, Cursor=OPTIONAL, ReceiveTimeout=OPTIONAL)
    def enable_notification(self, caller: Caller, event: Any, cursor: Variant, timeout: Variant) -> None:
        """Have an event told of a message (3.11.4.1.9). The answer comes before it."""
        asked = Asking(event, cursor)
        for check in self.notification_checks(asked):
            check()
        if not isinstance(event, EventObject):
            raise MqError(E_INVALIDARG)
        timeout_ms = self.notification_timeout(timeout)
        caller.answer({"status": 0})
        self.manager.parts.notification(self, event, asked.option, timeout_ms).start(caller.session)
        raise NoAnswer

    def notification_checks(self, asked: Asking) -> tuple[Callable[[], None], ...]:
        """Return the checks of EnableNotification, in the order in which they are made."""
        return (
            lambda: self.check_option(asked), self.check_initialized, self.check_open, lambda: self.check_event(asked),
            self.check_notification_access,
        )  # fmt: skip

    def check_option(self, asked: Asking) -> None:
        """Refuse a cursor option that is no MQMSGCURSOR; FIRST if it is left out."""
        asked.option = self.default_option() if asked.cursor.left_out else _number(asked.cursor)
        if asked.option not in MQMSG_CURSORS:
            raise MqError(E_INVALIDARG)

    def default_option(self) -> int:
        """Return the cursor option of a call that leaves it out."""
        return 0

    def check_event(self, asked: Asking) -> None:
        """Refuse NULL."""
        if asked.event is None:
            raise MqError(E_INVALIDARG)

    def check_notification_access(self) -> None:
        """Refuse a queue that was opened for sending."""
        self.check_access(READING)

    def notification_timeout(self, given: Variant) -> int:
        """Return the milliseconds to wait, INFINITE if they are left out."""
        return INFINITE if given.left_out else milliseconds(given)


class Asking:
    """The arguments Event and Cursor of EnableNotification, and the cursor option that they mean."""

    def __init__(self, event: Any, cursor: Variant) -> None:
        """Take the arguments as they were given."""
        self.event = event
        self.cursor = cursor
        self.option = 0


def _number(given: Variant) -> int:
    try:
        return as_integer(given)
    except MqError:
        raise MqError(E_INVALIDARG) from None
