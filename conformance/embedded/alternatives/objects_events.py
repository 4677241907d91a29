"""Alternatives of readings about notifications and destinations (MC-MQAC 3.11.4.1.9, 3.12, 3.16)."""

from __future__ import annotations

from conformance.embedded.alternatives.base import follows
from conformance.embedded.entities import CursorState, Descriptor, MqError
from conformance.embedded.objects.destination import DestinationObject
from conformance.embedded.objects.events import FIRST, NEXT, EventObject, Notification
from conformance.embedded.objects.message_send import MessageSending
from conformance.embedded.objects.queue import QueueObject
from conformance.embedded.receiving import Caller
from conformance.spec.constants.hresults import MQ_ERROR_INVALID_HANDLE


@follows("R-MQAC-notification-access=peek-only", "queue_object")
class _Peeking(QueueObject):
    """A queue that notifies is open for peeking."""

    def check_notification_access(self) -> None:
        self.check_access(("peek", "peek_admin"))


@follows("R-MQAC-notification-cursor=peek-next-loop", "notification")
class _PeeksOn(Notification):
    """MQMSG_CURRENT goes one message further, and MQMSG_NEXT two."""

    def look(self, caller: Caller) -> None:
        if self.option == FIRST:
            super().look(caller)
            return
        cursors, cursor, opened = self.queue.manager.cursors, self.queue.cursor(), self.queue.opened
        if self.option == NEXT and cursor.state is CursorState.READ:
            cursors.get_next_for_peek(cursor)
        self.queue.manager.reading.peek_next(caller, opened, cursor, self.timeout_ms)


@follows("R-MQAC-destination-failed-name=unchanged", "destination")
class _Unchanged(DestinationObject):
    """A name that cannot be looked up leaves the object as it was."""

    def begin(self, **names: str | None) -> None:
        return


@follows("R-MQAC-send-unopened-destination=refused", "message_sending")
class _Unopened(MessageSending):
    """Send to a destination that was not opened fails."""

    def open_for_this(self) -> Descriptor:
        raise MqError(MQ_ERROR_INVALID_HANDLE)


@follows("R-MQAC-event-connection-point=beside", "event")
class _Beside(EventObject):
    """The connection point is another object, which the container of connection points gives."""

    ALSO = tuple(each for each in EventObject.ALSO if each != "IConnectionPoint")
