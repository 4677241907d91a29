"""Faults of opens that have to be refused, or must not be (MS-MQDMPR 3.1.7.1.5)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import ClassVar

from conformance.embedded.entities import Descriptor, MqError, Queue
from conformance.embedded.faults.base import Fault, fault
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


def of_this(base: type[Opens], case: Case) -> type[Queues]:
    """The deviating class for one case."""
    return type(base.__name__, (base,), {"case": staticmethod(case)})


class _Reaching(Queues):
    def open(self, format_name: str, access: str, share: str) -> Descriptor:
        name = _single(self, format_name)
        if access == "send" and name is not None and name.kind == "direct" and not self.is_local(name.host):
            raise MqError(MQ_ERROR_ACCESS_DENIED)
        return super().open(format_name, access, share)


class RemoteQueueNotOpened(Fault):
    """A queue of another computer cannot be opened for send by its direct name: that computer does not answer."""

    name = "remote-queue-not-opened"
    breaks = ("MQDMPR-3.1.7.1.5.remote-send",)
    replaces = ("queues", _Reaching)


class _PeeksKeptOut(Queues):
    def excluded(self, queue: Queue, access: str, share: str) -> bool:
        taken = any(each.access == "receive" and each.share == "deny_receive" for each in queue.descriptors)
        return (taken and access == "peek" and share == "deny_none") or super().excluded(queue, access, share)


class ExclusiveKeepsPeeksOut(Fault):
    """A queue that is open exclusively for receive cannot be opened for peek; beside a peek it can be opened so."""

    name = "exclusive-keeps-peeks-out"
    # Either reading of who keeps whom out would do; this one is half of each.
    breaks = ("MQDMPR-3.1.7.1.5.exclusive-then-peek",)
    replaces = ("queues", _PeeksKeptOut)


class _CloseAll(Queues):
    def close(self, descriptor: Descriptor) -> None:
        orphan = descriptor.queue is not None and descriptor.queue.deleted
        super().close(descriptor)
        if orphan:
            for other in list(self.manager.descriptors.values()):
                if other.queue is not None and not other.queue.deleted:
                    super().close(other)


class OrphanCloseClosesAll(Fault):
    """Closing a handle whose queue was deleted closes the handles of all other queues too."""

    name = "orphan-close-closes-all"
    breaks = ("MQDMPR-3.1.7.1.6.deleted-queue",)
    replaces = ("queues", _CloseAll)


class _UnknownShared(Queues):
    def open(self, format_name: str, access: str, share: str) -> Descriptor:
        try:
            return super().open(format_name, access, share)
        except MqError:
            if not _unknown_for_send(self, format_name, access, share):
                raise
            raise MqError(MQ_ERROR_SHARING_VIOLATION) from None


class UnknownQueueForSendWrongStatus(Fault):
    """Opening for send a queue that is not there fails with MQ_ERROR_SHARING_VIOLATION."""

    name = "unknown-queue-for-send-wrong-status"
    breaks = ("MQDMPR-3.1.7.1.5.not-found-send-code",)
    replaces = ("queues", _UnknownShared)


def refused_opens(module: str, cases: Iterable[tuple[str, str, str, Case]]) -> None:
    """Register two faults of each case: such an open succeeds, and it is refused with another status."""
    for name, how, broken, case in cases:
        fault(
            module,
            f"{name}-opens",
            f"A queue can be opened {how}.",
            (f"MQDMPR-3.1.7.1.5.{broken}", f"MQDMPR-3.1.7.1.5.{broken}-code"),
            ("queues", of_this(Admitting, case)),
        )
        fault(
            module,
            f"{name}-refused-otherwise",
            f"That a queue cannot be opened {how} is told by MQ_ERROR_INVALID_PARAMETER.",
            (f"MQDMPR-3.1.7.1.5.{broken}-code",),
            ("queues", of_this(Renaming, case)),
        )


refused_opens(__name__, _CASES)
