"""Alternatives of readings about notifications and destinations (MC-MQAC 3.11.4.1.9, 3.12, 3.16)."""

from __future__ import annotations

from conformance.embedded.alternatives.base import follows
from conformance.embedded.entities import CursorState, MqError
from conformance.embedded.objects.destination import DestinationObject
from conformance.embedded.objects.events import FIRST, NEXT, EventObject, Notification
from conformance.embedded.objects.message_send import MessageSending
from conformance.embedded.objects.queue import QueueObject
from conformance.spec.constants.hresults import MQ_ERROR_INVALID_HANDLE


@follows("R-MQAC-notification-access=peek-only", QueueObject.check_notification_access)
def mqac_notification_access_peek_only(plain, self):
    """A queue that notifies is open for peeking."""
    self.check_access(("peek", "peek_admin"))


@follows("R-MQAC-notification-cursor=peek-next-loop", Notification.look)
def mqac_notification_cursor_peek_next_loop(plain, self, caller):
    """MQMSG_CURRENT goes one message further, and MQMSG_NEXT two."""
    if self.option == FIRST:
        plain(caller)
        return
    cursors, cursor, opened = self.queue.manager.cursors, self.queue.cursor(), self.queue.opened
    if self.option == NEXT and cursor.state is CursorState.READ:
        cursors.get_next_for_peek(cursor)
    self.queue.manager.reading.peek_next(caller, opened, cursor, self.timeout_ms)


@follows("R-MQAC-destination-failed-name=unchanged", DestinationObject.begin)
def mqac_destination_failed_name_unchanged(plain, self, **names):
    """A name that cannot be looked up leaves the object as it was."""


@follows("R-MQAC-send-unopened-destination=refused", MessageSending.open_for_this)
def mqac_send_unopened_destination_refused(plain, self):
    """Send to a destination that was not opened fails."""
    raise MqError(MQ_ERROR_INVALID_HANDLE)


@follows("R-MQAC-event-connection-point=beside", "event")
class _Beside(EventObject):
    """The connection point is another object, which the container of connection points gives."""

    ALSO = tuple(each for each in EventObject.ALSO if each != "IConnectionPoint")
