"""Faults of MSMQQueue (MC-MQAC 3.11): its members, and each of its reads."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from conformance.embedded.entities import INFINITE, CursorState, MqError
from conformance.embedded.faults.base import fault, kebab, row
from conformance.embedded.objects.queue import NEXT, READS, RECEIVING, Perform, QueueObject, Read
from conformance.embedded.objects.transactions import SINGLE_MESSAGE, Unit
from conformance.embedded.objects.variants import E_INVALIDARG, Variant, flag, long, short
from conformance.spec.constants.hresults import (
    MQ_ERROR_ACCESS_DENIED,
    MQ_ERROR_ILLEGAL_CURSOR_ACTION,
    MQ_ERROR_INVALID_HANDLE,
    MQ_ERROR_IO_TIMEOUT,
    MQ_ERROR_MESSAGE_ALREADY_RECEIVED,
    MQ_ERROR_OPERATION_CANCELLED,
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

_LIST = "suitable-message-message-position-list"
LOCKS = {
    "Receive_v1": "message-position-state-suitable-message-locked",
    "ReceivePreviousByLookupId": "property-state-suitable-message",
    "ReceiveLastByLookupId": "property-state-suitable-message",
}
"""Receives that say otherwise than `state-suitable-message-property` that they lock a message."""
OTHER_WAY = {
    "ReceiveNextByLookupId": "previous", "ReceivePreviousByLookupId": "next", "PeekByLookupId": "next",
    "PeekNextByLookupId": "previous", "PeekPreviousByLookupId": "next", "PeekFirstByLookupId": "last",
    "PeekLastByLookupId": "first", "ReceiveByLookupIdAllowPeek": "next",
}  # fmt: skip
"""Lookups, and where the fault of each looks."""
COPIES = tuple(read.name for read in READS if read.removes and not read.shown_to_peeks)


def _alone(self: ForOne) -> Unit:
    left_out = self.asked.named("Transaction").left_out
    return self.transactions.numbered(SINGLE_MESSAGE) if self.deviates and left_out else Perform.unit(self)


def _any_transaction(self: ForOne) -> Unit:
    try:
        return Perform.unit(self)
    except MqError:
        if self.deviates:
            return Unit(self.manager, None)
        raise


def _outside(self: ForOne) -> Unit:
    found = Perform.unit(self)
    if not self.deviates or found.transaction is None:
        return found
    return Unit(self.manager, self.manager.transactions.begin(), own=True)


def _peeks(self: ForOne, unit: Unit) -> None:
    if not self.deviates:
        Perform.start(self, unit)
        return
    reading, opened = self.manager.reading, self.queue.opened
    if self.read.seek:
        reading.by_lookup_id(
            self.through(unit), opened, self.asked.lookup, self.read.seek, destructive=False, transaction=None
        )
    else:
        reading.peek(self.through(unit), opened, self.cursor(), self.asked.timeout_ms)


def _without_journal(self: ForOne, unit: Unit) -> None:
    queue = self.queue.opened.queue
    if not self.deviates or queue is None:
        Perform.start(self, unit)
        return
    kept, queue.properties = queue.properties, {**queue.properties, "PROPID_Q_JOURNAL": 0}
    try:
        Perform.start(self, unit)
    finally:
        queue.properties = kept


def _gone_code(self: ForOne, unit: Unit) -> None:
    try:
        Perform.start(self, unit)
    except MqError as failure:
        if self.deviates and failure.status == MQ_ERROR_MESSAGE_ALREADY_RECEIVED:
            raise MqError(E_INVALIDARG) from None
        raise


def _cursor_code(self: ForOne) -> tuple[Any, ...]:
    def check() -> None:
        try:
            self.queue.check_cursor_read()
        except MqError:
            raise MqError(E_INVALIDARG) from None

    found = tuple(Perform.checks(self))
    return (*found[:-1], check) if self.deviates else found


def _cursor_first(self: ForOne) -> tuple[Any, ...]:
    def check() -> None:
        if self.queue.own_cursor is None:
            raise MqError(MQ_ERROR_ILLEGAL_CURSOR_ACTION)

    found = tuple(Perform.checks(self))
    return (*found[:2], check, *found[2:]) if self.deviates else found


def _turned(flag: str) -> Any:
    def wanted(self: ForOne, name: str, default: bool) -> bool:
        found = bool(Perform.wanted(self, name, default))
        return not found if self.deviates and name == flag and not self.asked.named(name).left_out else found

    return wanted


def _by_default(flag: str) -> Any:
    def wanted(self: ForOne, name: str, default: bool) -> bool:
        return bool(Perform.wanted(self, name, True if self.deviates and name == flag else default))

    return wanted


def _other_way(self: ForOne, caller: Any, unit: Unit) -> None:
    if not self.deviates:
        Perform.look_up(self, caller, unit)
        return
    self.manager.reading.by_lookup_id(
        caller, self.queue.opened, self.asked.lookup, OTHER_WAY[self.read.name], destructive=self.read.removes,
        transaction=unit.transaction,
    )  # fmt: skip


def _wrong_code(self: ForOne) -> int:
    return MQ_ERROR_IO_TIMEOUT if self.deviates else Perform.nothing_found(self)


def _none_instead(self: ForOne, result: dict[str, Any], position: Any) -> Variant:
    return Variant("DISPATCH", None) if self.deviates else Perform.message(self, result, position)


def _of_receives(each: Read) -> None:
    register(
        __name__, each, "is-alone-by-default", "without Transaction it has a transaction to itself.",
        ("transaction-default",), unit=_alone,
    )  # fmt: skip
    register(
        __name__, each, "takes-any-transaction", "what is no transaction is taken for none.", ("return-error",),
        unit=_any_transaction,
    )  # fmt: skip
    register(
        __name__, each, "leaves-its-transaction", "a message received in a transaction is gone at once.",
        ("define-transaction-identifier", LOCKS.get(each.name, "state-suitable-message-property")), unit=_outside,
    )  # fmt: skip
    if each.name in COPIES:
        register(
            __name__, each, "keeps-the-message", "the message stays in its queue.", (f"remove-{_LIST}",), start=_peeks
        )
        register(
            __name__, each, "copies-nothing", "the journal of the queue does not get the message.", (f"copy-{_LIST}",),
            start=_without_journal,
        )  # fmt: skip


def _of_cursors(each: Read) -> None:
    if each.at == NEXT:
        register(
            __name__, each, "refuses-the-cursor-with-another-code", "an unread cursor is refused with E_INVALIDARG.",
            ("return-mq-error-illegal-cursor-action",), checks=_cursor_code,
        )  # fmt: skip
        register(
            __name__, each, "looks-at-the-cursor-before-access",
            "a queue opened for sending has no cursor that was read.",
            ("return-mq-error-access-denied", "equal-ref-queue-access-type"), checks=_cursor_first,
        )  # fmt: skip
    else:
        register(
            __name__, each, "misses-its-message-with-another-code",
            "a message that somebody else received is answered with E_INVALIDARG.",
            ("return-mq-error-message-already",), start=_gone_code,
        )  # fmt: skip


def _of_lookups(each: Read) -> None:
    if each.name in OTHER_WAY:
        register(
            __name__, each, f"seeks-{OTHER_WAY[each.name]}", f"it looks for the {OTHER_WAY[each.name]} message.",
            (f"define-{_LIST}",), look_up=_other_way,
        )  # fmt: skip
    register(
        __name__, each, "finds-nothing-with-another-code", "what is not there is answered as a time-out.",
        ("return-mq-error-message-not-found",), nothing_found=_wrong_code,
    )  # fmt: skip


for _each in READS:
    register(
        __name__, _each, "turns-want-destination-queue", "WantDestinationQueue means its opposite.",
        ("want-destination-queue-true", "want-destination-queue-false"), wanted=_turned("WantDestinationQueue"),
    )  # fmt: skip
    register(
        __name__,
        _each,
        "hands-nothing-out",
        "it succeeds without a message.",
        ("ppmsg-set",),
        message=_none_instead,
    )
    if _each.wants_connector:
        register(
            __name__, _each, "turns-want-connector-type", "WantConnectorType means its opposite.",
            ("want-connector-type-true", "want-connector-type-false"), wanted=_turned("WantConnectorType"),
        )  # fmt: skip
    if not (_each.at and _each.wants_connector):
        register(
            __name__, _each, "turns-want-body", "WantBody means its opposite.", ("want-body-true", "want-body-false"),
            wanted=_turned("WantBody"),
        )  # fmt: skip
        register(
            __name__, _each, "shows-the-destination-unasked", "without WantDestinationQueue there is a destination.",
            ("want-destination-queue-default",), wanted=_by_default("WantDestinationQueue"),
        )  # fmt: skip
    if _each.seek:
        register(
            __name__, _each, "shows-the-connector-unasked", "without WantConnectorType there is a connector type.",
            ("want-connector-type-default",), wanted=_by_default("WantConnectorType"),
        )  # fmt: skip
        _of_lookups(_each)
    if _each.removes:
        _of_receives(_each)
    if _each.at not in ("", "head"):
        _of_cursors(_each)

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
