"""Faults of opens that have to be refused, or must not be (MS-MQDMPR 3.1.7.1.5)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import ClassVar

from conformance.embedded.entities import Descriptor, MqError, Queue
from conformance.embedded.faults.base import fault, row
from conformance.embedded.names import Name
from conformance.embedded.queues import Queues
from conformance.spec.constants.hresults import (
    MQ_ERROR_ACCESS_DENIED,
    MQ_ERROR_INVALID_PARAMETER,
    MQ_ERROR_SHARING_VIOLATION,
)

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
