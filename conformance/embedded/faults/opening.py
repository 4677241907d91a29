"""Faults of handles and of whole queues: open, share, close, purge and delete (MS-MQDMPR 3.1.7.1.4 to .7)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from conformance.embedded.entities import Descriptor, Message, MqError, Position, Queue, Reason, State, Transaction
from conformance.embedded.faults.base import Fault
from conformance.embedded.faults.consequences import LOST, SURPLUS, dmpr
from conformance.embedded.queues import Queues
from conformance.embedded.reading import Reading
from conformance.embedded.sending import Sending
from conformance.spec.constants.hresults import MQ_ERROR_ACCESS_DENIED, MQ_ERROR_SHARING_VIOLATION

if TYPE_CHECKING:
    from conformance.embedded.manager import Manager

_EXCLUSIVE = dmpr(
    "3.1.7.1.5.exclusive-then-receive",
    "3.1.7.1.5.exclusive-then-exclusive",
    "3.1.7.1.5.exclusive-then-exclusive-peek",
    "3.1.7.1.5.exclusive-peek-then-receive",
    "3.1.7.1.5.receive-then-exclusive",
)
_EXCLUSIVE_CODE = dmpr(
    "3.1.7.1.5.exclusive-then-receive-code",
    "3.1.7.1.5.exclusive-then-exclusive-code",
    "3.1.7.1.5.exclusive-peek-then-receive-code",
    "3.1.7.1.5.receive-then-exclusive-code",
)


class _Open(Queues):
    def excluded(self, queue: Queue, access: str, share: str) -> bool:
        return False


class ShareModeIgnored(Fault):
    """A queue can be opened by anybody, whoever has it open exclusively."""

    name = "share-mode-ignored"
    suite = "cursors"
    breaks = (*_EXCLUSIVE, *_EXCLUSIVE_CODE, *dmpr("3.1.1.17.deny-receive", "3.1.1.16.share-mode"))
    replaces = ("queues", _Open)


class _HalfOpen(Queues):
    def excluded(self, queue: Queue, access: str, share: str) -> bool:
        return share == "deny_receive" and super().excluded(queue, access, share)


class ExclusiveAdmitsSharedReceive(Fault):
    """A queue that is open exclusively can be opened for receive all the same, shared."""

    name = "exclusive-admits-shared-receive"
    suite = "cursors"
    breaks = (
        *dmpr("3.1.7.1.5.exclusive-then-receive", "3.1.7.1.5.exclusive-then-receive-code", "3.1.1.17.deny-receive"),
        *dmpr("3.1.7.1.5.exclusive-peek-then-receive", "3.1.7.1.5.exclusive-peek-then-receive-code"),
        *dmpr("3.1.1.16.share-mode"),
    )
    replaces = ("queues", _HalfOpen)


class _Blocking(Queues):
    def excluded(self, queue: Queue, access: str, share: str) -> bool:
        exclusive = any(each.share == "deny_receive" for each in queue.descriptors)
        return (exclusive and access == "send") or super().excluded(queue, access, share)


class ExclusiveKeepsSendersOut(Fault):
    """A queue that is open exclusively for receive cannot be opened for send."""

    name = "exclusive-keeps-senders-out"
    suite = "cursors"
    breaks = dmpr("3.1.7.1.5.exclusive-then-send", "3.1.7.1.5.success", "3.1.7.1.5.multiple-element-success")
    replaces = ("queues", _Blocking)


class _Monopoly(Queues):
    def excluded(self, queue: Queue, access: str, share: str) -> bool:
        taken = any(each.access == "receive" for each in queue.descriptors)
        return (taken and access == "receive") or super().excluded(queue, access, share)


class OneReceiverOnly(Fault):
    """A queue that is open for receive, shared, cannot be opened for receive a second time."""

    name = "one-receiver-only"
    suite = "cursors"
    breaks = dmpr(
        "3.1.7.1.5.receive-then-receive",
        "3.1.7.1.5.format-name-matches",
        "3.1.7.1.5.success",
        "3.1.1.17.deny-none",
        "3.1.1.16.share-mode",
    )
    replaces = ("queues", _Monopoly)


class _OtherRefusal(Queues):
    def open(self, format_name: str, access: str, share: str) -> Descriptor:
        try:
            return super().open(format_name, access, share)
        except MqError as refused:
            code = MQ_ERROR_ACCESS_DENIED if refused.status == MQ_ERROR_SHARING_VIOLATION else refused.status
            raise MqError(code) from None


class SharingViolationIsAccessDenied(Fault):
    """An open that others keep out fails with MQ_ERROR_ACCESS_DENIED."""

    name = "sharing-violation-is-access-denied"
    suite = "cursors"
    breaks = _EXCLUSIVE_CODE
    replaces = ("queues", _OtherRefusal)


class _Squatting(Queues):
    def open(self, format_name: str, access: str, share: str) -> Descriptor:
        try:
            return super().open(format_name, access, share)
        except MqError as refused:
            queue = self.find_local(format_name)
            if refused.status == MQ_ERROR_SHARING_VIOLATION and queue is not None:
                queue.descriptors.append(Descriptor("nobody", access, share, queue))
            raise


class RefusedOpenKeepsShare(Fault):
    """An open that was refused excludes others as if it had succeeded."""

    name = "refused-open-keeps-share"
    suite = "cursors"
    breaks = dmpr(
        "3.1.7.1.5.refused-no-handle", "3.1.7.1.6.share-released", "3.1.7.1.5.success", "3.1.7.1.5.receive-then-receive"
    )
    replaces = ("queues", _Squatting)


class _Clinging(Queues):
    def close(self, descriptor: Descriptor) -> None:
        super().close(descriptor)
        if descriptor.queue is not None and descriptor.share == "deny_receive":
            descriptor.queue.descriptors.append(descriptor)


class ClosedHandleKeepsShare(Fault):
    """A queue stays exclusive after the exclusive handle was closed."""

    name = "closed-handle-keeps-share"
    suite = "cursors"
    breaks = dmpr("3.1.7.1.6.share-released", "3.1.7.1.5.success", "3.1.1.2.active", "3.1.1.2.inactive")
    replaces = ("queues", _Clinging)


class _Usable(Queues):
    def close(self, descriptor: Descriptor) -> None:
        super().close(descriptor)
        self.manager.descriptors[descriptor.handle] = descriptor


class HandleOutlivesClose(Fault):
    """A handle can still be used after it was closed."""

    name = "handle-outlives-close"
    suite = "cursors"
    breaks = dmpr("3.1.7.1.6.handle-closed", "3.1.7.1.6.multiple-closes-elements")
    replaces = ("queues", _Usable)


class _Tidying(Queues):
    def close(self, descriptor: Descriptor) -> None:
        super().close(descriptor)
        queue = descriptor.queue
        if queue is not None and not queue.descriptors and not queue.deleted:
            for position in queue.positions:
                if position.state is State.AVAILABLE and not position.message.recoverable:
                    self.manager.delivery.remove(position)


class LastCloseDropsExpress(Fault):
    """The express messages of a queue are gone when its last handle is closed."""

    name = "last-close-drops-express"
    suite = "cursors"
    breaks = (*dmpr("3.1.7.1.6.messages-kept"), *LOST)
    replaces = ("queues", _Tidying)


class _AnyReader(Reading):
    def readable_queue(self, at: Descriptor, *, destructive: bool = False) -> Queue:
        return super().readable_queue(at, destructive=destructive and at.access != "peek")


class PeekHandleReceives(Fault):
    """A handle opened for peek can receive and purge."""

    name = "peek-handle-receives"
    suite = "cursors"
    breaks = (*dmpr("3.1.1.17.peek-access-no-receive", "3.1.1.17.peek-access-no-purge"), *LOST)
    replaces = ("reading", _AnyReader)


class _AnyAccess(Reading):
    def readable_queue(self, at: Descriptor, *, destructive: bool = False) -> Queue:
        if at.access == "send" and at.queue is not None and not at.queue.deleted and not destructive:
            return at.queue
        return super().readable_queue(at, destructive=destructive)


class SendHandlePeeks(Fault):
    """A handle opened for send can peek."""

    name = "send-handle-peeks"
    suite = "cursors"
    breaks = dmpr("3.1.1.17.send-access-no-receive")
    replaces = ("reading", _AnyAccess)


class _AnySender(Sending):
    def send(self, descriptor: Descriptor, given: dict[str, Any], transaction: Transaction | None) -> dict[str, Any]:
        access, descriptor.access = descriptor.access, "send"
        try:
            return super().send(descriptor, given, transaction)
        finally:
            descriptor.access = access


class ReceiveHandleSends(Fault):
    """A handle opened for receive or peek can send."""

    name = "receive-handle-sends"
    suite = "cursors"
    breaks = (*dmpr("3.1.1.17.receive-access-no-send", "3.1.1.17.peek-access-no-send"), *SURPLUS)
    replaces = ("sending", _AnySender)


class _LeavingOne(Queues):
    def purge(self, descriptor: Descriptor) -> None:
        queue = descriptor.queue
        last = queue.positions.before(1 << 80) if queue is not None else None
        if last is not None:
            last.state = State.LOCKED
        super().purge(descriptor)
        if last is not None:
            last.state = State.AVAILABLE


class PurgeLeavesLast(Fault):
    """The last message of a queue survives its purge."""

    name = "purge-leaves-last"
    suite = "cursors"
    breaks = (
        # What is left behind a purge is first seen by a peek that expects the queue to be as it was.
        *("MQDMPR-3.1.7.1.15.keeps",),
        *dmpr("3.1.7.1.7.available-deleted"),
        *SURPLUS,
    )
    replaces = ("queues", _LeavingOne)


class _Heirlooms(Queues):
    """Keeps what was in queues that are deleted for the queues made under their names, until a reset."""

    def __init__(self, manager: Manager) -> None:
        self._left: dict[str, list[Message]] = {}
        super().__init__(manager)

    def leave(self, position: Position) -> None:
        """Keep the message of a position that goes with its queue."""
        self._left.setdefault(position.queue.path.lower(), []).append(position.message)

    def inherit(self, queue: Queue | None) -> None:
        """Put into a queue what was kept for one of its name."""
        if queue is not None:
            for message in self._left.pop(queue.path.lower(), []):
                self.manager.delivery.place(queue, message, limited=False)

    def forget(self) -> None:
        self._left.clear()
        super().forget()


class _Remembering(_Heirlooms):
    def delete_position(self, position: Position) -> None:
        self.leave(position)
        super().delete_position(position)

    def create(self, path_name: str, given: dict[str, Any]) -> str:
        made = super().create(path_name, given)
        self.inherit(self.find_local(made))
        return made


class DeletedQueueKeepsMessages(Fault):
    """A queue created under the path name of a deleted one has the messages of that one."""

    name = "deleted-queue-keeps-messages"
    suite = "cursors"
    breaks = (
        # The old message is taken for the new one, with another content.
        *(
            "MQDMPR-3.1.1.12.body-unchanged",
            "MQDMPR-3.1.1.12.label-unchanged",
        ),
        *dmpr("3.1.7.1.4.messages-deleted", "3.1.7.1.3.empty", "3.1.7.1.3.total-bytes-zero"),
        *SURPLUS,
    )
    replaces = ("queues", _Remembering)


class _Detached(Queues):
    def delete(self, format_name: str) -> None:
        queue = self.find_local(format_name)
        super().delete(format_name)
        if queue is not None:
            queue.deleted = False


class HandleOutlivesQueue(Fault):
    """A handle whose queue was deleted goes on working, on a queue that nobody else sees."""

    name = "handle-outlives-queue"
    suite = "cursors"
    breaks = (
        *dmpr(
            "3.1.7.1.4.handle-invalidated",
            "3.1.7.1.10.queue-not-available",
            "3.1.7.1.10.queue-not-available-code",
            "3.1.7.1.10.queue-not-available-ends",
            "3.1.7.1.11.queue-not-available",
            "3.1.7.1.11.queue-not-available-code",
            "3.1.7.1.13.queue-not-available",
            "3.1.7.1.13.queue-not-available-code",
            "3.1.7.1.14.queue-not-available",
            "3.1.7.1.14.queue-not-available-code",
            "3.1.7.1.15.queue-not-available",
            "3.1.7.1.15.queue-not-available-code",
            "3.1.7.1.15.queue-not-available-ends",
            "3.1.7.1.14.queue-not-available-ends",
            "3.1.7.3.1.queue-gone",
            "3.2.7.1.queue-gone",
            "3.2.7.1.queue-gone-ends",
            "3.1.7.1.4.send-after-delete",
            "3.1.7.1.4.messages-deleted",
        ),
    )
    replaces = ("queues", _Detached)


class _Obliging(Queues):
    def open(self, format_name: str, access: str, share: str) -> Descriptor:
        try:
            return super().open(format_name, access, share)
        except MqError:
            local = self.manager.names.format_name(format_name)
            if local.kind != "direct" or not self.is_local(local.host) or local.parts["scope"] != "private":
                raise
            if "subqueue" in local.parts or self.find_local(format_name) is not None or access == "send":
                raise
            self.create(f"{self.manager.computer}\\private$\\{local.parts['queue']}", {})
            return super().open(format_name, access, share)


class OpenMakesMissingQueue(Fault):
    """Opening a private queue that does not exist for reading makes it."""

    name = "open-makes-missing-queue"
    suite = "cursors"
    breaks = dmpr("3.1.7.1.5.not-found", "3.1.7.1.5.not-found-code", "3.1.7.1.4.removed", "3.1.7.1.3.success")
    replaces = ("queues", _Obliging)


class _Straggling(_Heirlooms):
    def delete_position(self, position: Position) -> None:
        if position.queue.kind != "journal":
            super().delete_position(position)
        else:
            self.manager.delivery.delete(position, Reason.PURGED)
            self.leave(position)

    def create(self, path_name: str, given: dict[str, Any]) -> str:
        made = super().create(path_name, given)
        queue = self.find_local(made)
        self.inherit(queue.journal if queue is not None else None)
        return made


class JournalOutlivesItsQueue(Fault):
    """A queue created under the path name of a deleted one has the journal of that one."""

    name = "journal-outlives-its-queue"
    suite = "journals"
    breaks = (*dmpr("3.1.7.1.3.journal-queue", "3.1.7.1.4.messages-deleted"), "MQMQ-2.3.1.4.journal-none", *SURPLUS)
    replaces = ("queues", _Straggling)


OPENING_FAULTS: tuple[type[Fault], ...] = (
    ShareModeIgnored,
    ExclusiveAdmitsSharedReceive,
    ExclusiveKeepsSendersOut,
    OneReceiverOnly,
    SharingViolationIsAccessDenied,
    RefusedOpenKeepsShare,
    ClosedHandleKeepsShare,
    HandleOutlivesClose,
    LastCloseDropsExpress,
    PeekHandleReceives,
    SendHandlePeeks,
    ReceiveHandleSends,
    PurgeLeavesLast,
    DeletedQueueKeepsMessages,
    HandleOutlivesQueue,
    OpenMakesMissingQueue,
    JournalOutlivesItsQueue,
)
