"""Faults of MSMQEvent and of EnableNotification (MC-MQAC 3.11.4.1.9, 3.16)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from conformance.embedded.entities import INFINITE, MqError
from conformance.embedded.faults.base import row
from conformance.embedded.objects.events import EventObject, Notification
from conformance.embedded.objects.queue import MQMSG_CURSORS, Asking, QueueObject
from conformance.embedded.objects.variants import (
    CONNECT_E_CANNOTCONNECT,
    E_INVALIDARG,
    E_POINTER,
    NOTHING,
    Variant,
    long,
)
from conformance.embedded.receiving import Caller
from conformance.spec.constants.hresults import (
    MQ_ERROR_INVALID_HANDLE,
    MQ_ERROR_IO_TIMEOUT,
    MQ_ERROR_MESSAGE_NOT_FOUND,
    MQ_ERROR_UNSUPPORTED_ACCESS_MODE,
)

_N, _E = "3.11.4.1.9.", "3.16.4."
_ARRIVED = tuple(
    f"{_N}fire-arrived-msmq-event-after-{when}" for when in ("more-suitable-messages", "becomes-suitable-message")
)
_OTHER_TIMEOUT = "fire-arrived-error-msmq-event-after-time-receive-timeout-out"


_queue = partial(row, __name__, "queue_object")
_event = partial(row, __name__, "event")
_notification = partial(row, __name__, "notification")


# The checks of EnableNotification.


def _in_order(*places: int) -> Any:
    def checks(self: Any, asked: Asking) -> tuple[Callable[[], None], ...]:
        found = QueueObject.notification_checks(self, asked)
        return tuple(found[place] for place in places)

    return checks


def _check(index: int, status: int) -> Any:
    def checks(self: Any, asked: Asking) -> tuple[Callable[[], None], ...]:
        found = list(QueueObject.notification_checks(self, asked))
        present = found[index]

        def refuse() -> None:
            try:
                present()
            except MqError:
                raise MqError(status) from None

        found[index] = refuse
        return tuple(found)

    return checks


_CURSOR = (_N + "input-cursor-mqmsg-first-mqmsg-current", _N + "return-e-invalidarg")
_BLANK = (_N + "return-ole-e-blank", _N + "variable-is-initialized-equals-false")
_CLOSED = (_N + "return-mq-error-invalid-handle", _N + "variable-is-closed-equals-true")
_NULL = (_N + "return-e-invalidarg-0x80070057-after-input-event-null", _N + "input-event-null-parameter")
_ACCESS = (_N + "return-mq-error-access-denied", _N + "equal-ref-queue-access-type")
for _index, (_word, _ids) in enumerate(
    (("a-wrong-cursor", _CURSOR), ("a-blank-object", _BLANK), ("a-closed-object", _CLOSED), ("no-event", _NULL),
     ("a-queue-for-sending", _ACCESS))
):  # fmt: skip
    _queue(
        f"notification-refuses-{_word}-with-another-code", f"{_word.replace('-', ' ').capitalize()} has another code.",
        _ids[::-1] if _ids is _CURSOR else _ids, notification_checks=_check(_index, MQ_ERROR_UNSUPPORTED_ACCESS_MODE),
    )  # fmt: skip
_queue(
    "notification-looks-at-blank-before-the-cursor", "A wrong cursor of a blank object is answered OLE_E_BLANK.",
    _CURSOR, notification_checks=_in_order(1, 0, 2, 3, 4),
)  # fmt: skip
_queue(
    "notification-looks-at-closed-before-blank", "A blank object is answered as a closed one.", _BLANK,
    notification_checks=_in_order(0, 2, 1, 3, 4),
)  # fmt: skip
_queue(
    "notification-looks-at-the-event-before-closed", "A closed object without event is answered E_INVALIDARG.",
    _CLOSED, notification_checks=_in_order(0, 1, 3, 2, 4),
)  # fmt: skip
_queue(
    "notification-looks-at-access-before-the-event", "A queue for sending without event is answered access denied.",
    _NULL, notification_checks=_in_order(0, 1, 2, 4, 3),
)  # fmt: skip


def _any_option(self: Any, asked: Asking) -> None:
    try:
        QueueObject.check_option(self, asked)
    except MqError:
        asked.option = MQMSG_CURSORS[0]


_queue(
    "notification-takes-any-cursor", "A cursor that is no MQMSGCURSOR is taken for MQMSG_FIRST.", _CURSOR,
    check_option=_any_option,
)  # fmt: skip
for _option in (1, 2):
    _queue(
        f"notification-has-cursor-{_option}-by-default", f"Cursor is {_option} where it is left out.",
        (_N + "cursor-default",), default_option=lambda self, option=_option: option,
    )  # fmt: skip


def _polls(self: Any, given: Variant) -> int:
    return 0 if given.left_out else QueueObject.notification_timeout(self, given)


def _doubled(self: Any, given: Variant) -> int:
    found = QueueObject.notification_timeout(self, given)
    return found if found == INFINITE else 2 * found


_queue(
    "notification-polls-by-default", "Without ReceiveTimeout it does not wait.",
    (_N + "receive-timeout-default", _N + "wait-suitable-message-until"), notification_timeout=_polls,
)  # fmt: skip
_queue(
    "notification-waits-twice-as-long", "It waits for twice the ReceiveTimeout.",
    (_N + "receive-timeout-limit", _N + "time-receive-timeout-out-input"), notification_timeout=_doubled,
)  # fmt: skip


# What is told.


def _not_told(name: str) -> Any:
    def fire(self: Any, told: str, arguments: list[Variant]) -> None:
        if told != name:
            EventObject.fire(self, told, arguments)

    return fire


_event(
    "event-tells-of-no-message", "Arrived is never fired.",
    (*_ARRIVED,
     _E + "3.2.call-dmsmq-event-events-arrived-method", _E + "4.1.arrived-method"), fire=_not_told("Arrived"),
)  # fmt: skip
_event(
    "event-tells-of-no-error", "ArrivedError is never fired.",
    (_N + _OTHER_TIMEOUT, _N + "fire-arrived-error-msmq-event-after-input-receive-timeout",
     _E + "3.3.call-dmsmq-event-events-arrived-error", _E + "4.2.method-arrived-error-implemented-client"),
    fire=_not_told("ArrivedError"),
)  # fmt: skip


def _changed(name: str, place: int, value: Variant) -> Any:
    def fire(self: Any, told: str, arguments: list[Variant]) -> None:
        if told == name:
            arguments = [value if at == place else each for at, each in enumerate(arguments)]
        EventObject.fire(self, told, arguments)

    return fire


for _told, _place, _value, _word, _told_ids in (
    ("Arrived", 0, NOTHING, "queue", (_E + "4.1.arrived-method", _E + "3.2.cast-pq-i-dispatch-pq1")),
    ("Arrived", 1, long(9), "cursor", (_E + "4.1.arrived-method", _E + "3.2.call-dmsmq-event-events-arrived-method")),
    ("ArrivedError", 0, NOTHING, "queue", (_E + "4.2.arrived-error-method", _E + "3.3.cast-pq-i-dispatch-pq1")),
    ("ArrivedError", 1, long(0), "code", (_E + "4.2.arrived-error-method", _E + "3.3.cast-hr-status-hr-status1-long")),
    ("ArrivedError", 2, long(9), "cursor", (_E + "4.2.arrived-error-method",)),
):
    _event(
        f"event-{'arrived' if _told == 'Arrived' else 'error'}-has-another-{_word}", f"{_told} has another {_word}.",
        _told_ids, fire=_changed(_told, _place, _value),
    )  # fmt: skip


def _first_alone(self: Any, told: str, arguments: list[Variant]) -> None:
    kept = self.connections
    self.connections = dict(list(kept.items())[:1])
    EventObject.fire(self, told, arguments)
    self.connections = kept


_event(
    "event-tells-the-first-alone", "Only the first who listens is told.",
    (_E + "5.3.add-connection-collection-pdw-cookie", _E + "3.2.purpose"), fire=_first_alone,
)  # fmt: skip


def _code(when: Callable[[Any], bool], status: int) -> Any:
    def code(self: Any, given: int) -> int:
        return status if when(self) else Notification.code(self, given)

    return code


_notification(
    "notification-times-out-at-once", "Where nothing is there at once, the error is a time-out.",
    (_N + "fire-arrived-error-msmq-event-after-input-receive-timeout",),
    code=_code(lambda self: self.timeout_ms == 0, MQ_ERROR_IO_TIMEOUT),
)  # fmt: skip
_notification(
    "notification-finds-nothing-later", "Where nothing came in time, the error is that nothing was found.",
    (_N + _OTHER_TIMEOUT, _N + "fire-arrived-error-msmq-event-after-returned-status-mq-error"),
    code=_code(lambda self: self.timeout_ms != 0, MQ_ERROR_MESSAGE_NOT_FOUND),
)  # fmt: skip


def _looking(option: int, other: int) -> Any:
    def look(self: Any, caller: Caller) -> None:
        kept, self.option = self.option, other if self.option == option else self.option
        try:
            Notification.look(self, caller)
        finally:
            self.option = kept

    return look


for _option, _other, _word, _look_ids in (
    (1, 0, "current-looks-at-the-head", (_N + "define-suitable-message-cursor",)),
    (2, 1, "next-looks-at-the-cursor", (_N + "advance-cursor-represented-variable",)),
    (0, 2, "first-moves-the-cursor", (_N + "define-suitable-message-message-position-list",)),
):
    _notification(
        f"notification-{_word}", f"A notification with cursor {_option} looks as one with {_other}.", _look_ids,
        look=_looking(_option, _other),
    )  # fmt: skip


def _again(self: Any, result: dict[str, Any]) -> None:
    Notification.ended(self, result)
    if result["status"] == 0:
        self.event.fire_arrived(self.queue, self.option)


_notification(
    "notification-tells-twice", "Arrived is fired twice for one call.",
    _ARRIVED,
    ended=_again,
)  # fmt: skip


# Who listens.


def _advising(sink: str, status: int) -> Any:
    def advise(self: Any, given: str, listener: Any, handle: str) -> int:
        if given == sink:
            raise MqError(status)
        return EventObject.advise(self, given, listener, handle)

    return advise


_event(
    "advise-takes-null-for-another-object", "Advise without a sink answers that it cannot connect.",
    (_E + "5.3.return-e-pointer", _E + "5.3.input-p-unk-sink-null-parameter"),
    advise=_advising("null", CONNECT_E_CANNOTCONNECT),
)  # fmt: skip
_event(
    "advise-takes-another-object-for-null", "Advise with an object that takes no events answers E_POINTER.",
    (_E + "5.3.return-connect-e-cannotconnect",), advise=_advising("other", E_POINTER),
)  # fmt: skip


def _one_cookie(self: Any, sink: str, listener: Any, handle: str) -> int:
    found = EventObject.advise(self, sink, listener, handle)
    self.connections[1] = self.connections.pop(found)
    return 1


def _lost(self: Any, sink: str, listener: Any, handle: str) -> int:
    found = EventObject.advise(self, sink, listener, handle)
    del self.connections[found]
    return found


_event(
    "advise-gives-one-cookie-to-all", "Every sink has cookie 1.",
    (_E + "5.3.pointer-pdw-cookie-dword-connection-collection",), advise=_one_cookie,
)  # fmt: skip
_event(
    "advise-registers-nobody", "Advise succeeds, and nobody is told.",
    (_E + "5.3.add-connection-collection-pdw-cookie", _E + "5.3.purpose"), advise=_lost,
)  # fmt: skip


def _forgiving(self: Any, cookie: int) -> None:
    self.connections.pop(cookie, None)


def _unadvise_code(self: Any, cookie: int) -> None:
    try:
        EventObject.unadvise(self, cookie)
    except MqError:
        raise MqError(E_INVALIDARG) from None


def _kept(self: Any, cookie: int) -> None:
    kept = dict(self.connections)
    EventObject.unadvise(self, cookie)
    self.connections = kept


_NONE = (_E + "5.4.return-connect-e-noconnection", _E + "5.4.input-dw-cookie-connection-collection-parameter")
_event("unadvise-takes-any-cookie", "Unadvise of an unknown cookie succeeds.", _NONE, unadvise=_forgiving)
_event(
    "unadvise-has-another-code", "Unadvise of an unknown cookie answers E_INVALIDARG.", _NONE, unadvise=_unadvise_code
)
_event(
    "unadvise-leaves-the-sink", "Unadvise succeeds, and the sink is told on.",
    (_E + "5.4.remove-connection-collection-dw-cookie-item", _E + "5.4.purpose"), unadvise=_kept,
)  # fmt: skip


def _instead(member: str, value: Variant | None, status: int = 0) -> Any:
    def invoke(self: Any, name: str, kind: str, given: list[Variant], caller: Any) -> Variant | None:
        if name.lower() != member.lower():
            found: Variant | None = EventObject.invoke(self, name, kind, given, caller)
            return found
        if status:
            raise MqError(status)
        return value

    return invoke


_event(
    "event-implements-properties", "get Properties of MSMQEvent succeeds.", (_E + "1.1.not-implemented",),
    invoke=_instead("Properties", NOTHING),
)  # fmt: skip
_event(
    "event-has-no-window", "get Hwnd of MSMQEvent fails.", (_E + "3.1.status",),
    invoke=_instead("Hwnd", None, MQ_ERROR_INVALID_HANDLE),
)  # fmt: skip
