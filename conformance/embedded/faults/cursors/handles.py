"""Faults of handles and of whole queues: open, share, close, purge and delete (MS-MQDMPR 3.1.7.1.4 to .7)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from conformance.embedded.entities import Descriptor, Message, MqError, Position, Queue, State, Transaction
from conformance.embedded.faults.base import Fault
from conformance.embedded.queues import Queues
from conformance.embedded.receiving import Receiving
from conformance.embedded.sending import Sending
from conformance.spec.constants.hresults import (
    MQ_ERROR_ACCESS_DENIED,
    MQ_ERROR_QUEUE_EXISTS,
    MQ_ERROR_QUEUE_NOT_FOUND,
    MQ_ERROR_SHARING_VIOLATION,
)

if TYPE_CHECKING:
    from conformance.embedded.manager import Manager


class _Open(Queues):
    def excluded(self, queue: Queue, access: str, share: str) -> bool:
        return False


class ShareModeIgnored(Fault):
    """A queue can be opened by anybody, whoever has it open exclusively."""

    name = "share-mode-ignored"
    breaks = (
        "MQDMPR-3.1.7.1.5.exclusive-then-receive",
        "MQDMPR-3.1.7.1.5.exclusive-then-exclusive",
        "MQDMPR-3.1.7.1.5.exclusive-peek-then-receive",
        "MQDMPR-3.1.7.1.5.exclusive-then-exclusive-peek",
        "MQDMPR-3.1.7.1.5.exclusive-then-receive-code",
    )
    replaces = ("queues", _Open)


class _HalfOpen(Queues):
    def excluded(self, queue: Queue, access: str, share: str) -> bool:
        return share == "deny_receive" and super().excluded(queue, access, share)


class ExclusiveAdmitsSharedReceive(Fault):
    """A queue that is open exclusively can be opened for receive all the same, shared."""

    name = "exclusive-admits-shared-receive"
    breaks = (
        "MQDMPR-3.1.7.1.5.exclusive-then-receive",
        "MQDMPR-3.1.7.1.5.exclusive-then-receive-code",
        "MQDMPR-3.1.7.1.5.exclusive-peek-then-receive",
        "MQDMPR-3.1.7.1.5.exclusive-peek-then-receive-code",
    )
    replaces = ("queues", _HalfOpen)


class _Blocking(Queues):
    def excluded(self, queue: Queue, access: str, share: str) -> bool:
        exclusive = any(each.share == "deny_receive" for each in queue.descriptors)
        return (exclusive and access == "send") or super().excluded(queue, access, share)


class ExclusiveKeepsSendersOut(Fault):
    """A queue that is open exclusively for receive cannot be opened for send."""

    name = "exclusive-keeps-senders-out"
    breaks = (
        "MQDMPR-3.1.7.1.5.exclusive-then-send",
        "MQDMPR-3.1.7.1.5.success",
    )
    replaces = ("queues", _Blocking)


class _Monopoly(Queues):
    def excluded(self, queue: Queue, access: str, share: str) -> bool:
        taken = any(each.access == "receive" for each in queue.descriptors)
        return (taken and access == "receive") or super().excluded(queue, access, share)


class OneReceiverOnly(Fault):
    """A queue that is open for receive, shared, cannot be opened for receive a second time."""

    name = "one-receiver-only"
    breaks = ("MQDMPR-3.1.7.1.5.receive-then-receive",)
    first_seen_as = ("MQDMPR-3.1.7.1.5.format-name-matches",)
    because = "a queue is opened a second time by another of its names first, and that is where it fails"
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
    breaks = (
        "MQDMPR-3.1.7.1.5.exclusive-then-receive-code",
        "MQDMPR-3.1.7.1.5.exclusive-then-exclusive-code",
        "MQDMPR-3.1.7.1.5.exclusive-peek-then-receive-code",
        "MQDMPR-3.1.7.1.5.receive-then-exclusive-code",
    )
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
    breaks = (
        "MQDMPR-3.1.7.1.5.refused-no-handle",
        "MQDMPR-3.1.7.1.5.success",
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
    breaks = (
        "MQDMPR-3.1.7.1.6.share-released",
        "MQDMPR-3.1.7.1.5.success",
    )
    replaces = ("queues", _Clinging)


class _Usable(Queues):
    def close(self, descriptor: Descriptor) -> None:
        super().close(descriptor)
        self.manager.descriptors[descriptor.handle] = descriptor


class HandleOutlivesClose(Fault):
    """A handle can still be used after it was closed."""

    name = "handle-outlives-close"
    breaks = ("MQDMPR-3.1.7.1.6.handle-closed",)
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
    breaks = ("MQDMPR-3.1.7.1.6.messages-kept",)
    replaces = ("queues", _Tidying)


class _AnyReader(Receiving):
    def readable_queue(self, at: Descriptor, *, destructive: bool = False) -> Queue:
        return super().readable_queue(at, destructive=destructive and at.access != "peek")


class PeekHandleReceives(Fault):
    """A handle opened for peek can receive and purge."""

    name = "peek-handle-receives"
    breaks = (
        "MQDMPR-3.1.1.17.peek-access-no-receive",
        "MQDMPR-3.1.1.17.peek-access-no-purge",
    )
    replaces = ("reading", _AnyReader)


class _AnyAccess(Receiving):
    def readable_queue(self, at: Descriptor, *, destructive: bool = False) -> Queue:
        if at.access == "send" and at.queue is not None and not at.queue.deleted and not destructive:
            return at.queue
        return super().readable_queue(at, destructive=destructive)


class SendHandlePeeks(Fault):
    """A handle opened for send can peek."""

    name = "send-handle-peeks"
    breaks = ("MQDMPR-3.1.1.17.send-access-no-receive",)
    replaces = ("reading", _AnyAccess)


class _NoAccess(Receiving):
    def readable_queue(self, at: Descriptor, *, destructive: bool = False) -> Queue:
        if at.access == "send" and at.queue is not None and not at.queue.deleted:
            return at.queue
        return super().readable_queue(at, destructive=destructive)


class SendHandleReceives(Fault):
    """A handle opened for send can peek, receive and purge."""

    name = "send-handle-receives"
    breaks = (
        "MQDMPR-3.1.1.17.send-access-no-receive",
        "MQDMPR-3.1.1.17.send-access-no-purge",
    )
    replaces = ("reading", _NoAccess)


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
    breaks = (
        "MQDMPR-3.1.1.17.receive-access-no-send",
        "MQDMPR-3.1.1.17.peek-access-no-send",
    )
    replaces = ("sending", _AnySender)


class _LeavingOne(Queues):
    def purge(self, descriptor: Descriptor) -> None:
        queue = descriptor.queue
        last = queue.positions.before(1 << 80) if queue is not None else None
        if last is not None:
            last.state = State.LOCKED
        try:
            super().purge(descriptor)
        finally:
            if last is not None:
                last.state = State.AVAILABLE


class PurgeLeavesLast(Fault):
    """The last message of a queue survives its purge."""

    name = "purge-leaves-last"
    breaks = ("MQDMPR-3.1.7.1.7.available-deleted",)
    replaces = ("queues", _LeavingOne)


class Heirlooms(Queues):
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


class _Remembering(Heirlooms):
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
    breaks = (
        "MQDMPR-3.1.7.1.4.messages-deleted",
        "MQDMPR-3.1.7.1.3.empty",
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
    breaks = (
        "MQDMPR-3.1.7.1.4.handle-invalidated",
        "MQDMPR-3.1.7.1.10.queue-not-available",
        "MQDMPR-3.1.7.1.15.queue-not-available",
        "MQDMPR-3.1.7.1.13.queue-not-available",
        "MQDMPR-3.1.7.1.14.queue-not-available-code",
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
    breaks = (
        "MQDMPR-3.1.7.1.5.not-found",
        "MQDMPR-3.1.7.1.5.not-found-code",
    )
    replaces = ("queues", _Obliging)


class _ObligingSenders(Queues):
    def open(self, format_name: str, access: str, share: str) -> Descriptor:
        try:
            return super().open(format_name, access, share)
        except MqError as refused:
            local = self.manager.names.format_name(format_name)
            if access != "send" or refused.status != MQ_ERROR_QUEUE_NOT_FOUND or local.parts.get("scope") != "private":
                raise
            self.create(f"{self.manager.computer}\\private$\\{local.parts['queue']}", {})
            return super().open(format_name, access, share)


class OpenToSendMakesMissingQueue(Fault):
    """Opening a private queue that does not exist for sending makes it."""

    name = "open-to-send-makes-missing-queue"
    breaks = (
        "MQDMPR-3.1.7.1.5.not-found-send",
        "MQDMPR-3.1.7.1.5.not-found-send-code",
    )
    replaces = ("queues", _ObligingSenders)


class _Finding(Queues):
    def create(self, path_name: str, given: dict[str, Any]) -> str:
        try:
            return super().create(path_name, given)
        except MqError as refused:
            if refused.status != MQ_ERROR_QUEUE_EXISTS:
                raise
            return f"DIRECT=OS:{path_name}"


class CreateFindsExistingQueue(Fault):
    """Creating a private queue that exists succeeds, and leaves it as it is."""

    name = "create-finds-existing-queue"
    breaks = (
        "MQMP-3.1.4.5.queue-exists",
        "MQMP-3.1.4.5.queue-exists-code",
    )
    replaces = ("queues", _Finding)
