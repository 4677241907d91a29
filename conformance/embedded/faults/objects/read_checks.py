"""Faults of the checks of each read of MSMQQueue (MC-MQAC 3.11.4.1): codes, their order, and arguments left out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from conformance.embedded.entities import INFINITE, MqError
from conformance.embedded.faults.base import kebab, row
from conformance.embedded.objects.codes import E_INVALIDARG
from conformance.embedded.objects.queue_reads import READS, Perform, Read
from conformance.spec.constants.hresults import (
    MQ_ERROR_ACCESS_DENIED,
    MQ_ERROR_INVALID_HANDLE,
    MQ_ERROR_UNSUPPORTED_ACCESS_MODE,
)

SECTIONS = {
    "Receive_v1": 7, "Peek_v1": 8, "ReceiveCurrent_v1": 11, "PeekNext_v1": 12, "PeekCurrent_v1": 13, "Receive": 14,
    "Peek": 15, "ReceiveCurrent": 16, "PeekNext": 17, "PeekCurrent": 18, "ReceiveByLookupId": 21,
    "ReceiveNextByLookupId": 22, "ReceivePreviousByLookupId": 23, "ReceiveFirstByLookupId": 24,
    "ReceiveLastByLookupId": 25, "PeekByLookupId": 26, "PeekNextByLookupId": 27, "PeekPreviousByLookupId": 28,
    "PeekFirstByLookupId": 29, "PeekLastByLookupId": 30, "ReceiveByLookupIdAllowPeek": 33,
}  # fmt: skip
"""Reads with their number in 3.11.4.1."""


OWN_WORDS = {
    "PeekLastByLookupId want-destination-queue-false": "want-destination-queue-server-msmq-message-return",
    "ReceiveByLookupIdAllowPeek define-suitable-message-message-position-list":
    "define-suitable-message-message-position-table",
}  # fmt: skip
"""Demands of one read that have other words than those of the others."""


def demands(read: Read, *words: str) -> tuple[str, ...]:
    """Return the requirements of a read with these words."""
    section = f"MQAC-3.11.4.1.{SECTIONS[read.name]}"
    return tuple(f"{section}.{OWN_WORDS.get(f'{read.name} {word}', word)}" for word in words)


class ForOne(Perform):
    """A read that deviates if it is the one of `only`."""

    only: str

    @property
    def deviates(self) -> bool:
        """True for the read that is wrong."""
        return self.read.name == self.only


def _blank_as_closed(self: Any) -> tuple[Any, ...]:
    found = tuple(Perform.checks(self))
    return (self.queue.check_open, *found) if self.deviates else found


def _closed_told_blank(self: Any) -> tuple[Any, ...]:
    def check() -> None:
        if self.queue.is_initialized and self.queue.is_closed:
            raise MqError(E_INVALIDARG)

    found = tuple(Perform.checks(self))
    return (check, *found) if self.deviates else found


def _access_before_closed(self: Any) -> tuple[Any, ...]:
    def check() -> None:
        allowed = (1, 0x81) if self.read.removes else (1, 0x81, 0x20, 0xA0)
        if self.queue.is_initialized and self.queue.access not in allowed:
            raise MqError(MQ_ERROR_ACCESS_DENIED)

    found = tuple(Perform.checks(self))
    return (check, *found) if self.deviates else found


def _wrong_access_code(self: Any) -> None:
    try:
        Perform.check_access(self)
    except MqError as failure:
        if self.deviates and failure.status != MQ_ERROR_INVALID_HANDLE:
            raise MqError(MQ_ERROR_UNSUPPORTED_ACCESS_MODE) from None
        raise


def _zero_passes(self: Any) -> None:
    self.asked.lookup = self.lookup(self.asked.named("LookupId"))
    if not self.deviates:
        Perform.check_lookup(self)


def _zero_finds(self: Any, caller: Any, unit: Any) -> None:
    if self.asked.lookup != 0:
        Perform.look_up(self, caller, unit)
        return
    self.manager.reading.by_lookup_id(
        caller, self.queue.opened, 0, "first", destructive=self.read.removes, transaction=unit.transaction
    )


def _other_default(flag: str, value: bool) -> Callable[[Any, str, bool], bool]:
    def wanted(self: Any, name: str, default: bool) -> bool:
        return bool(Perform.wanted(self, name, value if self.deviates and name == flag else default))

    return wanted


def _flag_turned(flag: str) -> Callable[[Any, str, bool], bool]:
    def wanted(self: Any, name: str, default: bool) -> bool:
        found = bool(Perform.wanted(self, name, default))
        return not found if self.deviates and name == flag and not self.asked.named(name).left_out else found

    return wanted


def _polls(self: Any) -> int:
    left_out = self.asked.named("ReceiveTimeout").left_out
    return 0 if self.deviates and left_out else int(Perform.timeout(self))


def _in_seconds(self: Any) -> int:
    found = int(Perform.timeout(self))
    return min(found * 1000, INFINITE) if self.deviates and found != INFINITE else found


def register(module: str, read: Read, name: str, story: str, words: tuple[str, ...], **methods: Any) -> None:
    """Register a fault of one read. words: of its demands, behind its section."""
    name = f"{kebab(read.name)}-{name}"
    says = f"{read.name}: {story}"
    row(module, "queue_reads", name, says, demands(read, *words), subclass_of=ForOne, only=read.name, **methods)


for _each in READS:
    register(
        __name__, _each, "tells-a-blank-object-it-is-closed",
        "an object that nobody opened is answered as a closed one.",
        ("return-ole-e-blank", "variable-is-initialized-equals-false"), checks=_blank_as_closed,
    )  # fmt: skip
    register(
        __name__, _each, "refuses-a-closed-object-with-another-code", "a closed object answers E_INVALIDARG.",
        ("return-mq-error-invalid-handle", "variable-is-closed-equals-true"), checks=_closed_told_blank,
    )  # fmt: skip
    register(
        __name__, _each, "refuses-access-with-another-code",
        "an object opened for something else answers another code.",
        ("return-mq-error-access-denied", "equal-ref-queue-access-type"), check_access=_wrong_access_code,
    )  # fmt: skip
    register(
        __name__, _each, "looks-at-access-first", "a closed object opened for sending answers that access is denied.",
        ("return-mq-error-invalid-handle", "variable-is-closed-equals-true"), checks=_access_before_closed,
    )  # fmt: skip
    register(
        __name__, _each, "leaves-the-body-out", "without WantBody there is no body.", ("want-body-default",),
        wanted=_other_default("WantBody", False),
    )  # fmt: skip
    if _each.by_identifier:
        register(
            __name__, _each, "takes-zero-for-an-identifier", "LookupId 0 finds the message at an end of the queue.",
            ("input-lookup-id-parameter-equals",), check_lookup=_zero_passes, look_up=_zero_finds,
        )  # fmt: skip
    if _each.at:
        register(
            __name__, _each, "polls-by-default", "without ReceiveTimeout it does not wait.",
            ("receive-timeout-default",),
            timeout=_polls,
        )  # fmt: skip
    if _each.at and not _each.name.endswith("_v1"):
        register(
            __name__, _each, "counts-seconds", "ReceiveTimeout is taken for seconds.", ("receive-timeout-limit",),
            timeout=_in_seconds,
        )  # fmt: skip
    if _each.at and _each.wants_connector:
        register(
            __name__, _each, "shows-the-connector-unasked", "without WantConnectorType there is a connector type.",
            ("want-connector-type-default",), wanted=_other_default("WantConnectorType", True),
        )  # fmt: skip
        register(
            __name__, _each, "shows-the-destination-unasked", "without WantDestinationQueue there is a destination.",
            ("want-destination-queue-default",), wanted=_other_default("WantDestinationQueue", True),
        )  # fmt: skip
        register(
            __name__, _each, "turns-want-body", "WantBody means its opposite.", ("want-body-true", "want-body-false"),
            wanted=_flag_turned("WantBody"),
        )  # fmt: skip
