"""MSMQQueue (MC-MQAC 3.11): an open queue, and its cursor. The reads are in `queue_reads`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from conformance.embedded.entities import INFINITE, Cursor, CursorState, Descriptor, MqError
from conformance.embedded.objects.dispatch import GET, METHOD, OBJECT, OPTIONAL, ComObject, NoAnswer, Signature, member
from conformance.embedded.objects.events import EventObject
from conformance.embedded.objects.queue_reads import SIGNATURES, Asked, milliseconds
from conformance.embedded.objects.variants import (
    E_INVALIDARG,
    NOTHING,
    OLE_E_BLANK,
    Variant,
    as_integer,
    flag,
    long,
    short,
)
from conformance.embedded.receiving import Caller
from conformance.spec.constants.hresults import (
    MQ_ERROR_ACCESS_DENIED,
    MQ_ERROR_ILLEGAL_CURSOR_ACTION,
    MQ_ERROR_INVALID_HANDLE,
)

if TYPE_CHECKING:
    from conformance.embedded.manager import Manager
    from conformance.embedded.objects.queue_info import QueueInfoObject

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
