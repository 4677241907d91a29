"""Faults of opens that have to be refused, or must not be (MS-MQDMPR 3.1.7.1.5)."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from conformance.embedded.entities import Descriptor, MqError, Queue
from conformance.embedded.faults.base import Fault, fault
from conformance.embedded.faults.consequences import dmpr
from conformance.embedded.names import Name
from conformance.embedded.queues import Queues
from conformance.spec.constants.hresults import (
    MQ_ERROR_ACCESS_DENIED,
    MQ_ERROR_INVALID_PARAMETER,
    MQ_ERROR_SHARING_VIOLATION,
)

Case = Callable[[Queues, str, str, str], bool]  # the queues, format name, access and share of an open


class _Opens(Queues):
    """Opens of one case."""

    case: ClassVar[Case]

    def of_case(self, format_name: str, access: str, share: str) -> bool:
        return type(self).case(self, format_name, access, share)


class _Admitting(_Opens):
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


class _Renaming(_Opens):
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


def _several_to_read(queues: Queues, format_name: str, access: str, share: str) -> bool:
    return "," in format_name and access != "send"


def _several_exclusively(queues: Queues, format_name: str, access: str, share: str) -> bool:
    return "," in format_name and access == "send" and share != "deny_none"


def _several_in_part(queues: Queues, format_name: str, access: str, share: str) -> bool:
    return "," in format_name and access == "send" and share == "deny_none"


# The name of it, how the queue is opened, what the text says, and when it is such an open.
_CASES: tuple[tuple[str, str, str, Case], ...] = (
    ("http-name", "for reading by a direct name over HTTP or HTTPS", "http-access", _http),
    ("multicast-name", "for reading by a multicast format name", "multicast-access", _multicast),
    ("machine-name", "for send by a machine format name", "machine-access", _machine),
    ("missing-private-number", "by a private format name nothing has", "private-not-found", _private),
    (
        "several-names-to-read",
        "for reading by a multiple-element format name",
        "multiple-element-access",
        _several_to_read,
    ),
    (
        "several-names-exclusively",
        "exclusively by a multiple-element format name",
        "multiple-element-share",
        _several_exclusively,
    ),
)


def _suite(name: str) -> str:
    """The suite that opens by several names is the one that sends to several queues."""
    return "quotas" if name.startswith("several") else "cursors"


def _of_case(base: type[_Opens], case: Case) -> type[Queues]:
    return type(base.__name__, (base,), {"case": staticmethod(case)})


class _SkippingElements(Queues):
    def open(self, format_name: str, access: str, share: str) -> Descriptor:
        if not _several_in_part(self, format_name, access, share):
            return super().open(format_name, access, share)
        opened = []
        for element in self.manager.names.multiple(format_name).parts["elements"]:
            try:
                opened.append(super().open(str(element), access, share))
            except MqError:
                continue
        whole = Descriptor(self.manager.new_handle("h"), access, share, None, elements=opened)
        self.manager.descriptors[whole.handle] = whole
        return whole


class SeveralNamesOpenInPart(Fault):
    """A multiple-element format name opens although one of its elements cannot be opened."""

    name = "several-names-open-in-part"
    suite = "quotas"
    breaks = dmpr("3.1.7.1.5.multiple-element-failed-element", "3.1.7.1.5.multiple-element-status")
    replaces = ("queues", _SkippingElements)


class _Reaching(Queues):
    def open(self, format_name: str, access: str, share: str) -> Descriptor:
        name = _single(self, format_name)
        if access == "send" and name is not None and name.kind == "direct" and not self.is_local(name.host):
            raise MqError(MQ_ERROR_ACCESS_DENIED)
        return super().open(format_name, access, share)


class RemoteQueueNotOpened(Fault):
    """A queue of another computer cannot be opened for send by its direct name: that computer does not answer."""

    name = "remote-queue-not-opened"
    suite = "cursors"
    breaks = dmpr("3.1.7.1.5.remote-send", "3.1.7.1.5.success", "3.1.7.1.5.multiple-element-success")
    replaces = ("queues", _Reaching)


class _PeeksKeptOut(Queues):
    def excluded(self, queue: Queue, access: str, share: str) -> bool:
        taken = any(each.access == "receive" and each.share == "deny_receive" for each in queue.descriptors)
        return (taken and access == "peek" and share == "deny_none") or super().excluded(queue, access, share)


class ExclusiveKeepsPeeksOut(Fault):
    """A queue that is open exclusively for receive cannot be opened for peek; beside a peek it can be opened so."""

    name = "exclusive-keeps-peeks-out"
    suite = "cursors"
    # Either reading of who keeps whom out would do; this one is half of each.
    breaks = dmpr(
        "3.1.7.1.5.exclusive-then-peek",
        "3.1.7.1.5.exclusive-then-exclusive-peek",
        "3.1.7.1.5.exclusive-peek-then-receive",
        "3.1.7.1.5.exclusive-peek-then-receive-code",
        "3.1.7.1.5.success",
    )
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
    suite = "cursors"
    breaks = dmpr("3.1.7.1.6.deleted-queue")
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
    suite = "cursors"
    breaks = dmpr("3.1.7.1.5.not-found-send-code")
    replaces = ("queues", _UnknownShared)


REFUSED_OPEN_FAULTS: tuple[type[Fault], ...] = (
    *(
        fault(
            f"{name}-opens",
            f"A queue can be opened {how}.",
            _suite(name),
            dmpr(f"3.1.7.1.5.{broken}"),
            ("queues", _of_case(_Admitting, case)),
        )
        for name, how, broken, case in _CASES
    ),
    *(
        fault(
            f"{name}-refused-otherwise",
            f"That a queue cannot be opened {how} is told by MQ_ERROR_INVALID_PARAMETER.",
            _suite(name),
            dmpr(f"3.1.7.1.5.{broken}-code"),
            ("queues", _of_case(_Renaming, case)),
        )
        for name, how, broken, case in _CASES
    ),
    fault(
        "several-names-refused-otherwise",
        "That an element of a multiple-element format name cannot be opened is told by MQ_ERROR_INVALID_PARAMETER.",
        "quotas",
        dmpr("3.1.7.1.5.multiple-element-status"),
        ("queues", _of_case(_Renaming, _several_in_part)),
    ),
    SeveralNamesOpenInPart,
    RemoteQueueNotOpened,
    ExclusiveKeepsPeeksOut,
    OrphanCloseClosesAll,
    UnknownQueueForSendWrongStatus,
)
