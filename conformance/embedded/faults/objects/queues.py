"""Faults of MSMQQueue beside its reads (MC-MQAC 3.11.3, 3.11.4.1.1 to .6, .10, .17, .20, .31 to .33)."""

from __future__ import annotations

from functools import partial
from typing import Any

from conformance.embedded.entities import CursorState, MqError
from conformance.embedded.faults.base import fault, kebab, row
from conformance.embedded.objects.queue import RECEIVING, QueueObject
from conformance.embedded.objects.queue_reads import Perform
from conformance.embedded.objects.variants import E_INVALIDARG, Variant, flag, long, short
from conformance.spec.constants.hresults import MQ_ERROR_INVALID_HANDLE, MQ_ERROR_OPERATION_CANCELLED

_S = "MQAC-3.11.4.1."
MEMBERS = {
    "Access": ("get", "1"), "ShareMode": ("get", "2"), "QueueInfo": ("get", "3"), "Handle": ("get", "4"),
    "IsOpen": ("get", "5"), "Close": ("method", "6"), "Reset": ("method", "10"), "Purge": ("method", "31"),
}  # fmt: skip
"""Members that refuse a blank object, with their number in 3.11.4.1."""
CLOSED = {"Reset": "10", "Purge": "31"}


_register = partial(row, __name__, "queue_object")


def _blank_code(name: str) -> Any:
    def invoke(self: Any, member: str, kind: str, given: list[Variant], caller: Any) -> Variant | None:
        if member.lower() == name.lower() and not self.is_initialized:
            raise MqError(MQ_ERROR_INVALID_HANDLE)
        found: Variant | None = QueueObject.invoke(self, member, kind, given, caller)
        return found

    return invoke


def _closed_code(name: str) -> Any:
    def invoke(self: Any, member: str, kind: str, given: list[Variant], caller: Any) -> Variant | None:
        if member.lower() == name.lower() and self.is_initialized and self.is_closed:
            raise MqError(MQ_ERROR_OPERATION_CANCELLED)
        found: Variant | None = QueueObject.invoke(self, member, kind, given, caller)
        return found

    return invoke


for _name, (_kind, _number) in MEMBERS.items():
    _check = "variable-is-initialized-equals-false" if _name == "Purge" else "variable-is-initialized-false"
    _register(
        f"{kebab(_name)}-tells-a-blank-object-it-is-closed", f"{_name} of a blank object answers as of a closed one.",
        (f"{_S}{_number}.return-ole-e-blank", f"{_S}{_number}.{_check}"), invoke=_blank_code(_name),
    )  # fmt: skip
for _name, _number in CLOSED.items():
    _register(
        f"{kebab(_name)}-refuses-a-closed-object-with-another-code", f"{_name} of a closed object answers cancelled.",
        (f"{_S}{_number}.return-mq-error-invalid-handle", f"{_S}{_number}.variable-is-closed-equals-true"),
        invoke=_closed_code(_name),
    )  # fmt: skip


def _closed_success(name: str) -> Any:
    def invoke(self: Any, member: str, kind: str, given: list[Variant], caller: Any) -> Variant | None:
        if member.lower() == name.lower() and self.is_initialized and self.is_closed:
            return None
        found: Variant | None = QueueObject.invoke(self, member, kind, given, caller)
        return found

    return invoke


for _name, _number in CLOSED.items():
    _register(
        f"{kebab(_name)}-succeeds-when-closed", f"{_name} of a closed object succeeds.",
        (f"{_S}{_number}.variable-is-closed-equals-true", "MQAC-3.11.1.1.call-closed-mq-error-invalid-handle"),
        invoke=_closed_success(_name),
    )  # fmt: skip


def _told(answer: Any) -> Any:
    def get(self: Any) -> Variant:
        self.check_usable()
        found: Variant = answer(self)
        return found

    return get


_register(
    "access-is-always-receive", "Access is 1 for every open queue.", (_S + "1.output-p-i-access",),
    get_access=_told(lambda self: long(1)),
)  # fmt: skip
_register(
    "share-mode-is-always-none", "ShareMode is 0 for every open queue.",
    (_S + "2.output-p-i-share-mode-mq-deny-receive-share",), get_share_mode=_told(lambda self: long(0)),
)  # fmt: skip
_register(
    "share-mode-is-always-deny", "ShareMode is 1 for every open queue.",
    (_S + "2.output-p-i-share-mode-mq-deny-none",), get_share_mode=_told(lambda self: long(1)),
)  # fmt: skip
_register(
    "queue-gives-another-info", "QueueInfo is a new object.",
    (_S + "3.output-ppqinfo-msmq-queue-info-object", "MQAC-3.11.3.variable-msmq-queue-info-object"),
    get_queue_info=_told(
        lambda self: Variant("DISPATCH", self.manager.parts.queue_info(self.manager, self.info.known_format_name()))
    ),
)  # fmt: skip


def _open_as(value: Any) -> Any:
    def get(self: Any) -> Variant:
        self.check_initialized()
        found: Variant = value(self)
        return found

    return get


_register(
    "is-open-is-all-bits", "IsOpen of an open queue is -1.",
    (_S + "5.output-pis-open-true-0x0001", _S + "5.pis-open-pointer-short-true"),
    get_is_open=_open_as(lambda self: short(0 if self.is_closed else -1)),
)  # fmt: skip
_register(
    "is-open-when-closed", "IsOpen of a closed queue is 1.",
    (_S + "5.output-pis-open-false-0x0000", _S + "6.variable-is-closed-true"),
    get_is_open=_open_as(lambda self: short(1)), get_is_open2=_open_as(lambda self: flag(True)),
)  # fmt: skip


@fault("close-leaves-the-queue-open", QueueObject.close, _S + "6.remove-ref-queue", _S + "6.variable-is-closed-true")
def close_leaves_the_queue_open(plain, self):
    """Close succeeds, and the queue is open."""
    self.check_usable()


@fault("reset-leaves-the-cursor", QueueObject.reset, _S + "10.cursor-uninitialized-represented-variable")
def reset_leaves_the_cursor(plain, self):
    """Reset succeeds, and the cursor stays."""
    self.check_usable()


_ACCESS = (_S + "31.equal-ref-queue-access-type", _S + "31.return-mq-error-access-denied")


@fault("purge-takes-every-access", QueueObject.purge, *_ACCESS)
def purge_takes_every_access(plain, self):
    """Purge of a queue opened for peeking succeeds."""
    self.check_usable()
    if self.opened.access not in RECEIVING:
        return
    self.manager.queues.purge(self.opened)


@fault("purge-refuses-access-with-another-code", QueueObject.purge, *_ACCESS[1:])
def purge_refuses_access_with_another_code(plain, self):
    """Purge answers E_INVALIDARG."""
    self.check_usable()
    if self.opened.access not in RECEIVING:
        raise MqError(E_INVALIDARG)
    self.manager.queues.purge(self.opened)


@fault("purge-of-an-object-leaves-all", QueueObject.purge, _S + "31.remove-message-locked")
def purge_of_an_object_leaves_all(plain, self):
    """Purge succeeds and deletes nothing."""
    self.check_usable()
    self.check_access(RECEIVING)


@fault(
    "peek-next-begins-the-queue", QueueObject.check_cursor_read, _S + "17.state-cursor-uninitialized-end-queue",
    _S + "17.return-mq-error-illegal-cursor-action", _S + "12.return-mq-error-illegal-cursor-action",
)  # fmt: skip
def peek_next_begins_the_queue(plain, self):
    """PeekNext of an unread cursor gives the first message."""
    cursor = self.cursor()
    if cursor.state is CursorState.UNREAD:
        cursor.state = CursorState.READ


@fault(
    "head-is-the-cursor", Perform.cursor, _S + "14.define-suitable-message-message-position-list",
    _S + "15.define-suitable-message-message-position-list", _S + "7.define-suitable-message-message-position-list",
)  # fmt: skip
def head_is_the_cursor(plain, self):
    """Receive and Peek read at the cursor, once it is used."""
    return self.queue.cursor() if self.read.at == "head" and self.queue.own_cursor is not None else plain()


@fault("allow-peek-shows-nothing", Perform.show, _S + "33.property-message-allow-peek-when-locked")
def allow_peek_shows_nothing(plain, self, position, unit):
    """ReceiveByLookupIdAllowPeek hides the message from peeks as other receives do."""


def _seeking(name: str, seek: str) -> dict[str, Any]:
    def look_up(self: Any, caller: Any, unit: Any) -> None:
        if self.read.name != name:
            Perform.look_up(self, caller, unit)
            return
        self.manager.reading.by_lookup_id(
            caller, self.queue.opened, self.asked.lookup, seek, destructive=self.read.removes,
            transaction=unit.transaction,
        )  # fmt: skip

    return {"look_up": look_up}


for _name, _seek, _id in (
    ("ReceiveByLookupId", "next", "21.define-suitable-message-message-position-list"),
    ("ReceiveFirstByLookupId", "last", "24.define-suitable-message-message-position-list"),
    ("ReceiveLastByLookupId", "first", "25.define-suitable-message-message-position-list"),
):
    row(
        __name__, "queue_reads", f"{kebab(_name)}-seeks-{_seek}", f"{_name} looks for the {_seek} message.", (_S + _id,
        ),
        **_seeking(_name, _seek),
    )  # fmt: skip


@fault(
    "lookup-finds-nothing-quietly", Perform.not_found,
    *tuple(f"{_S}{number}.return-mq-error-message-not-found" for number in (21, 24, 25, 26, 33)),
)  # fmt: skip
def lookup_finds_nothing_quietly(plain, self, failure):
    """A lookup that finds nothing succeeds without a message."""
    return Variant("DISPATCH", None)
