"""Faults of queues that are created, opened, closed, purged and deleted, and of their handles."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, ClassVar

from conformance.embedded.delivery import Sending
from conformance.embedded.entities import Descriptor, Message, MqError, Position, Queue, State
from conformance.embedded.faults.base import fault, row
from conformance.embedded.names import Name
from conformance.embedded.queues import Queues
from conformance.embedded.receiving import Cursors, Receiving
from conformance.spec.constants.hresults import (
    MQ_ERROR_ACCESS_DENIED,
    MQ_ERROR_INVALID_PARAMETER,
    MQ_ERROR_QUEUE_EXISTS,
    MQ_ERROR_QUEUE_NOT_FOUND,
    MQ_ERROR_SHARING_VIOLATION,
    MQ_ERROR_UNSUPPORTED_FORMATNAME_OPERATION,
)

if TYPE_CHECKING:
    from conformance.embedded.manager import Manager


@fault(
    "share-mode-ignored", Queues.excluded, "MQDMPR-3.1.7.1.5.exclusive-then-receive",
    "MQDMPR-3.1.7.1.5.exclusive-then-exclusive", "MQDMPR-3.1.7.1.5.exclusive-peek-then-receive",
    "MQDMPR-3.1.7.1.5.exclusive-then-exclusive-peek", "MQDMPR-3.1.7.1.5.exclusive-then-receive-code",
)  # fmt: skip
def share_mode_ignored(plain, self, queue, access, share):
    """A queue can be opened by anybody, whoever has it open exclusively."""
    return False


@fault(
    "exclusive-admits-shared-receive", Queues.excluded, "MQDMPR-3.1.7.1.5.exclusive-then-receive",
    "MQDMPR-3.1.7.1.5.exclusive-then-receive-code", "MQDMPR-3.1.7.1.5.exclusive-peek-then-receive",
    "MQDMPR-3.1.7.1.5.exclusive-peek-then-receive-code",
)  # fmt: skip
def exclusive_admits_shared_receive(plain, self, queue, access, share):
    """A queue that is open exclusively can be opened for receive all the same, shared."""
    return share == "deny_receive" and plain(queue, access, share)


@fault(
    "exclusive-keeps-senders-out", Queues.excluded, "MQDMPR-3.1.7.1.5.exclusive-then-send", "MQDMPR-3.1.7.1.5.success"
)
def exclusive_keeps_senders_out(plain, self, queue, access, share):
    """A queue that is open exclusively for receive cannot be opened for send."""
    exclusive = any(each.share == "deny_receive" for each in queue.descriptors)
    return (exclusive and access == "send") or plain(queue, access, share)


@fault(
    "one-receiver-only", Queues.excluded, "MQDMPR-3.1.7.1.5.receive-then-receive",
    first_seen_as=("MQDMPR-3.1.7.1.5.format-name-matches",),
    because="a queue is opened a second time by another of its names first, and that is where it fails",
)  # fmt: skip
def one_receiver_only(plain, self, queue, access, share):
    """A queue that is open for receive, shared, cannot be opened for receive a second time."""
    taken = any(each.access == "receive" for each in queue.descriptors)
    return (taken and access == "receive") or plain(queue, access, share)


@fault(
    "sharing-violation-is-access-denied", Queues.open, "MQDMPR-3.1.7.1.5.exclusive-then-receive-code",
    "MQDMPR-3.1.7.1.5.exclusive-then-exclusive-code", "MQDMPR-3.1.7.1.5.exclusive-peek-then-receive-code",
    "MQDMPR-3.1.7.1.5.receive-then-exclusive-code",
)  # fmt: skip
def sharing_violation_is_access_denied(plain, self, format_name, access, share):
    """An open that others keep out fails with MQ_ERROR_ACCESS_DENIED."""
    try:
        return plain(format_name, access, share)
    except MqError as refused:
        code = MQ_ERROR_ACCESS_DENIED if refused.status == MQ_ERROR_SHARING_VIOLATION else refused.status
        raise MqError(code) from None


@fault("refused-open-keeps-share", Queues.open, "MQDMPR-3.1.7.1.5.refused-no-handle", "MQDMPR-3.1.7.1.5.success")
def refused_open_keeps_share(plain, self, format_name, access, share):
    """An open that was refused excludes others as if it had succeeded."""
    try:
        return plain(format_name, access, share)
    except MqError as refused:
        queue = self.find_local(format_name)
        if refused.status == MQ_ERROR_SHARING_VIOLATION and queue is not None:
            queue.descriptors.append(Descriptor("nobody", access, share, queue))
        raise


@fault("closed-handle-keeps-share", Queues.close, "MQDMPR-3.1.7.1.6.share-released", "MQDMPR-3.1.7.1.5.success")
def closed_handle_keeps_share(plain, self, descriptor):
    """A queue stays exclusive after the exclusive handle was closed."""
    plain(descriptor)
    if descriptor.queue is not None and descriptor.share == "deny_receive":
        descriptor.queue.descriptors.append(descriptor)


@fault("handle-outlives-close", Queues.close, "MQDMPR-3.1.7.1.6.handle-closed")
def handle_outlives_close(plain, self, descriptor):
    """A handle can still be used after it was closed."""
    plain(descriptor)
    self.manager.descriptors[descriptor.handle] = descriptor


@fault("last-close-drops-express", Queues.close, "MQDMPR-3.1.7.1.6.messages-kept")
def last_close_drops_express(plain, self, descriptor):
    """The express messages of a queue are gone when its last handle is closed."""
    plain(descriptor)
    queue = descriptor.queue
    if queue is not None and not queue.descriptors and not queue.deleted:
        for position in queue.positions:
            if position.state is State.AVAILABLE and not position.message.recoverable:
                self.manager.delivery.remove(position)


@fault(
    "peek-handle-receives", Receiving.readable_queue, "MQDMPR-3.1.1.17.peek-access-no-receive",
    "MQDMPR-3.1.1.17.peek-access-no-purge",
)  # fmt: skip
def peek_handle_receives(plain, self, at, *, destructive=False):
    """A handle opened for peek can receive and purge."""
    return plain(at, destructive=destructive and at.access != "peek")


@fault("send-handle-peeks", Receiving.readable_queue, "MQDMPR-3.1.1.17.send-access-no-receive")
def send_handle_peeks(plain, self, at, *, destructive=False):
    """A handle opened for send can peek."""
    if at.access == "send" and at.queue is not None and not at.queue.deleted and not destructive:
        return at.queue
    return plain(at, destructive=destructive)


@fault(
    "send-handle-receives", Receiving.readable_queue, "MQDMPR-3.1.1.17.send-access-no-receive",
    "MQDMPR-3.1.1.17.send-access-no-purge",
)  # fmt: skip
def send_handle_receives(plain, self, at, *, destructive=False):
    """A handle opened for send can peek, receive and purge."""
    if at.access == "send" and at.queue is not None and not at.queue.deleted:
        return at.queue
    return plain(at, destructive=destructive)


@fault(
    "receive-handle-sends", Sending.send, "MQDMPR-3.1.1.17.receive-access-no-send",
    "MQDMPR-3.1.1.17.peek-access-no-send",
)  # fmt: skip
def receive_handle_sends(plain, self, descriptor, given, transaction):
    """A handle opened for receive or peek can send."""
    access, descriptor.access = descriptor.access, "send"
    try:
        return plain(descriptor, given, transaction)
    finally:
        descriptor.access = access


@fault("purge-leaves-last", Queues.purge, "MQDMPR-3.1.7.1.7.available-deleted")
def purge_leaves_last(plain, self, descriptor):
    """The last message of a queue survives its purge."""
    queue = descriptor.queue
    last = queue.positions.before(1 << 80) if queue is not None else None
    if last is not None:
        last.state = State.LOCKED
    try:
        plain(descriptor)
    finally:
        if last is not None:
            last.state = State.AVAILABLE


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


@fault("deleted-queue-keeps-messages", "queues", "MQDMPR-3.1.7.1.4.messages-deleted", "MQDMPR-3.1.7.1.3.empty")
class DeletedQueueKeepsMessages(Heirlooms):
    """A queue created under the path name of a deleted one has the messages of that one."""

    def delete_position(self, position: Position) -> None:
        self.leave(position)
        super().delete_position(position)

    def create(self, path_name: str, given: dict[str, Any]) -> str:
        made = super().create(path_name, given)
        self.inherit(self.find_local(made))
        return made


@fault(
    "handle-outlives-queue", Queues.delete, "MQDMPR-3.1.7.1.4.handle-invalidated",
    "MQDMPR-3.1.7.1.10.queue-not-available", "MQDMPR-3.1.7.1.15.queue-not-available",
    "MQDMPR-3.1.7.1.13.queue-not-available", "MQDMPR-3.1.7.1.14.queue-not-available-code",
)  # fmt: skip
def handle_outlives_queue(plain, self, format_name):
    """A handle whose queue was deleted goes on working, on a queue that nobody else sees."""
    queue = self.find_local(format_name)
    plain(format_name)
    if queue is not None:
        queue.deleted = False


@fault("open-makes-missing-queue", Queues.open, "MQDMPR-3.1.7.1.5.not-found", "MQDMPR-3.1.7.1.5.not-found-code")
def open_makes_missing_queue(plain, self, format_name, access, share):
    """Opening a private queue that does not exist for reading makes it."""
    try:
        return plain(format_name, access, share)
    except MqError:
        local = self.manager.names.format_name(format_name)
        if local.kind != "direct" or not self.is_local(local.host) or local.parts["scope"] != "private":
            raise
        if "subqueue" in local.parts or self.find_local(format_name) is not None or access == "send":
            raise
        self.create(f"{self.manager.computer}\\private$\\{local.parts['queue']}", {})
        return plain(format_name, access, share)


@fault(
    "open-to-send-makes-missing-queue", Queues.open, "MQDMPR-3.1.7.1.5.not-found-send",
    "MQDMPR-3.1.7.1.5.not-found-send-code",
)  # fmt: skip
def open_to_send_makes_missing_queue(plain, self, format_name, access, share):
    """Opening a private queue that does not exist for sending makes it."""
    try:
        return plain(format_name, access, share)
    except MqError as refused:
        local = self.manager.names.format_name(format_name)
        if access != "send" or refused.status != MQ_ERROR_QUEUE_NOT_FOUND or local.parts.get("scope") != "private":
            raise
        self.create(f"{self.manager.computer}\\private$\\{local.parts['queue']}", {})
        return plain(format_name, access, share)


@fault("create-finds-existing-queue", Queues.create, "MQMP-3.1.4.5.queue-exists", "MQMP-3.1.4.5.queue-exists-code")
def create_finds_existing_queue(plain, self, path_name, given):
    """Creating a private queue that exists succeeds, and leaves it as it is."""
    try:
        return plain(path_name, given)
    except MqError as refused:
        if refused.status != MQ_ERROR_QUEUE_EXISTS:
            raise
        return f"DIRECT=OS:{path_name}"


Case = Callable[[Queues, str, str, str], bool]  # the queues, format name, access and share of an open


class Opens(Queues):
    """Opens of one case."""

    case: ClassVar[Case]

    def of_case(self, format_name: str, access: str, share: str) -> bool:
        return type(self).case(self, format_name, access, share)


class Admitting(Opens):
    """Where an open of this case is refused, it succeeds instead; what is behind the handle nobody else sees."""

    def open(self, format_name: str, access: str, share: str) -> Descriptor:
        try:
            return super().open(format_name, access, share)
        except MqError:
            if not self.of_case(format_name, access, share):
                raise
        queue = Queue("nowhere", "outgoing", format_name, self.manager.parts.positions())
        descriptor = Descriptor(self.manager.new_handle("h"), access, share, queue)
        self.manager.descriptors[descriptor.handle] = descriptor
        return descriptor


class Renaming(Opens):
    """Where an open of this case is refused, it is refused with MQ_ERROR_INVALID_PARAMETER."""

    def open(self, format_name: str, access: str, share: str) -> Descriptor:
        try:
            return super().open(format_name, access, share)
        except MqError:
            if not self.of_case(format_name, access, share):
                raise
            raise MqError(MQ_ERROR_INVALID_PARAMETER) from None


def _single(queues: Queues, format_name: str) -> Name | None:
    """The name, None when it is one of several elements or none at all."""
    if "," in format_name:
        return None
    try:
        return queues.manager.names.format_name(format_name)
    except MqError:
        return None


def _http(queues: Queues, format_name: str, access: str, share: str) -> bool:
    name = _single(queues, format_name)
    return bool(name and name.kind == "direct" and name.parts["protocol"] in ("HTTP", "HTTPS")) and access != "send"


def _multicast(queues: Queues, format_name: str, access: str, share: str) -> bool:
    name = _single(queues, format_name)
    return bool(name and name.kind == "multicast") and access != "send"


def _machine(queues: Queues, format_name: str, access: str, share: str) -> bool:
    name = _single(queues, format_name)
    return bool(name and name.kind == "machine") and access == "send"


def _private(queues: Queues, format_name: str, access: str, share: str) -> bool:
    name = _single(queues, format_name)
    return bool(name and name.kind == "private") and queues.find_local(format_name) is None


def _unknown_for_send(queues: Queues, format_name: str, access: str, share: str) -> bool:
    name = _single(queues, format_name)
    local = bool(name and name.kind == "direct" and queues.is_local(name.host) and "subqueue" not in name.parts)
    return local and access == "send" and queues.find_local(format_name) is None


# The name of it, how the queue is opened, what the text says, and when it is such an open.
_CASES: tuple[tuple[str, str, str, Case], ...] = (
    ("http-name", "for reading by a direct name over HTTP or HTTPS", "http-access", _http),
    ("multicast-name", "for reading by a multicast format name", "multicast-access", _multicast),
    ("machine-name", "for send by a machine format name", "machine-access", _machine),
    ("missing-private-number", "by a private format name nothing has", "private-not-found", _private),
)


@fault("remote-queue-not-opened", Queues.open, "MQDMPR-3.1.7.1.5.remote-send")
def remote_queue_not_opened(plain, self, format_name, access, share):
    """A queue of another computer cannot be opened for send by its direct name: that computer does not answer."""
    name = _single(self, format_name)
    if access == "send" and name is not None and name.kind == "direct" and not self.is_local(name.host):
        raise MqError(MQ_ERROR_ACCESS_DENIED)
    return plain(format_name, access, share)


# Either reading of who keeps whom out would do; this one is half of each.
@fault("exclusive-keeps-peeks-out", Queues.excluded, "MQDMPR-3.1.7.1.5.exclusive-then-peek")
def exclusive_keeps_peeks_out(plain, self, queue, access, share):
    """A queue that is open exclusively for receive cannot be opened for peek; beside a peek it can be opened so."""
    taken = any(each.access == "receive" and each.share == "deny_receive" for each in queue.descriptors)
    return (taken and access == "peek" and share == "deny_none") or plain(queue, access, share)


@fault("orphan-close-closes-all", Queues.close, "MQDMPR-3.1.7.1.6.deleted-queue")
def orphan_close_closes_all(plain, self, descriptor):
    """Closing a handle whose queue was deleted closes the handles of all other queues too."""
    orphan = descriptor.queue is not None and descriptor.queue.deleted
    plain(descriptor)
    if orphan:
        for other in list(self.manager.descriptors.values()):
            if other.queue is not None and not other.queue.deleted:
                plain(other)


@fault("unknown-queue-for-send-wrong-status", Queues.open, "MQDMPR-3.1.7.1.5.not-found-send-code")
def unknown_queue_for_send_wrong_status(plain, self, format_name, access, share):
    """Opening for send a queue that is not there fails with MQ_ERROR_SHARING_VIOLATION."""
    try:
        return plain(format_name, access, share)
    except MqError:
        if not _unknown_for_send(self, format_name, access, share):
            raise
        raise MqError(MQ_ERROR_SHARING_VIOLATION) from None


def refused_opens(module: str, cases: Iterable[tuple[str, str, str, Case]]) -> None:
    """Register two faults of each case: such an open succeeds, and it is refused with another status."""
    for name, how, broken, case in cases:
        row(
            module,
            "queues",
            f"{name}-opens",
            f"A queue can be opened {how}.",
            (f"MQDMPR-3.1.7.1.5.{broken}", f"MQDMPR-3.1.7.1.5.{broken}-code"),
            subclass_of=Admitting,
            case=staticmethod(case),
        )
        row(
            module,
            "queues",
            f"{name}-refused-otherwise",
            f"That a queue cannot be opened {how} is told by MQ_ERROR_INVALID_PARAMETER.",
            (f"MQDMPR-3.1.7.1.5.{broken}-code",),
            subclass_of=Renaming,
            case=staticmethod(case),
        )


refused_opens(__name__, _CASES)


@fault("same-name-twice-is-several", Queues.open, "MQDMPR-3.1.7.3.8.one-left-name")
def same_name_twice_is_several(plain, self, format_name, access, share):
    """A name that names one queue twice counts as one of several queues, which cannot be opened for a read."""
    if "," in format_name and access != "send":
        raise MqError(MQ_ERROR_UNSUPPORTED_FORMATNAME_OPERATION)
    return plain(format_name, access, share)


@fault("duplicate-elements-kept", "queues", "MQDMPR-3.1.7.3.8.no-duplicates")
class DuplicateElementsKept(Queues):
    """A queue that a multiple-element name names twice gets each message twice."""

    def open(self, format_name: str, access: str, share: str) -> Descriptor:
        whole = super().open(format_name, access, share)
        if whole.elements:
            elements = self.manager.names.multiple(format_name).parts["elements"]
            self._close_elements(whole)
            whole.elements.extend(
                super(DuplicateElementsKept, self).open(str(each), access, share) for each in elements
            )
        return whole


class _Lacking(Queues):
    lacks: ClassVar[str]

    def _designated(self, name: Name, *, make_subqueue: bool = False) -> Queue | None:
        found = super()._designated(name, make_subqueue=make_subqueue)
        return None if found is not None and found.id == f"system;{self.lacks}" else found


for _name, _word in (
    ("journal", "journal"),
    ("deadletter", "deadletter"),
    ("deadxact", "transactional-deadletter"),
):
    row(
        __name__,
        "queues",
        f"no-{_word}-queue",
        f"The system has no {_word} queue.",
        (f"MQDMPR-3.1.3.create-{_word}-queue",),
        subclass_of=_Lacking,
        lacks=_name,
    )


@fault("name-finds-shorter-queue", Queues._designated, "MQDMPR-3.1.7.1.5.not-found")
def name_finds_shorter_queue(plain, self, name, *, make_subqueue=False):
    """A direct name that continues the name of a queue finds that queue, where there is none of the whole name."""
    found = plain(name, make_subqueue=make_subqueue)
    if found is None and name.kind == "direct" and name.parts["scope"] == "private":
        wanted = f"private$\\{name.parts['queue']}".lower()
        found = next((queue for path, queue in self._by_path.items() if wanted.startswith(path)), None)
    return found


@fault("opens-share-a-handle", Queues.open, "MQDMPR-3.1.1.16.handle-unique")
def opens_share_a_handle(plain, self, format_name, access, share):
    """A queue that is opened again in the same way gives the handle that is open already."""
    opened = plain(format_name, access, share)
    present = opened.queue.descriptors if opened.queue is not None else []
    for earlier in present:
        if earlier is not opened and (earlier.access, earlier.share) == (access, share):
            present.remove(opened)
            self.manager.descriptors.pop(opened.handle, None)
            return earlier
    return opened


@fault("cursors-share-a-handle", Cursors.open, "MQDMPR-3.2.1.2.handle-unique")
def cursors_share_a_handle(plain, self, descriptor):
    """A handle has one cursor: opening another gives the first again."""
    return descriptor.cursors[0] if descriptor.cursors else plain(descriptor)


@fault("send-tells-another-lookup-identifier", Sending.send, "MQDMPR-3.1.1.12.lookup-identifier-unique")
def send_tells_another_lookup_identifier(plain, self, descriptor, given, transaction):
    """A send answers a lookup identifier that is not the one which reads of the message show."""
    told = plain(descriptor, given, transaction)
    if "lookup_identifier" in told:
        told["lookup_identifier"] = str(int(told["lookup_identifier"]) + 1)
    return told
