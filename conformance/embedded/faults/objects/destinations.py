"""Faults of MSMQDestination, and of its use by messages (MC-MQAC 3.12, 3.17.4.1.48, .80 to .82)."""

from __future__ import annotations

from functools import partial
from typing import Any

from conformance.embedded.entities import MqError
from conformance.embedded.faults.base import fault, row
from conformance.embedded.objects.destination import DestinationObject
from conformance.embedded.objects.message import MessageSending
from conformance.embedded.objects.variants import E_INVALIDARG, NOTHING, S_FALSE, Variant, flag, text

_S = "3.12.4.1."
UNIMPLEMENTED = {
    ("get", "IADs"): "4", ("putref", "IADs"): "5", ("get", "Destinations"): "12", ("putref", "Destinations"): "13",
    ("get", "Properties"): "14",
}  # fmt: skip
NAMES = {"path": ("QueuePathName", "8.otherwise-pbstr-path-name"), "directory": ("DirectoryPath",
         "6.output-pbstr-a-ds-path"), "format_name": ("QueueFormatName", "10.output-pbstr-format-name")}  # fmt: skip
INITIAL = {
    "path": ("HOST\\private$\\q", "queue-path-name"), "directory": ("LDAP://CN=q", "directory-path"),
    "format_name": ("DIRECT=OS:HOST\\private$\\q", "queue-format-name"),
}  # fmt: skip
KEEPS = {
    ("put_ads_path", "path"): "7.variable-queue-path-name-null", ("put_path_name", "directory"):
    "9.variable-directory-path-null", ("put_format_name", "path"): "11.variable-queue-path-name-null",
    ("put_format_name", "directory"): "11.variable-directory-path-null",
}  # fmt: skip
SETS = {
    ("put_ads_path", "directory"): "7.variable-directory-path", ("put_ads_path", "format_name"):
    "7.variable-queue-format-name", ("put_path_name", "path"): "9.variable-queue-path-name",
    ("put_path_name", "format_name"): "9.server-queue-format-name", ("put_format_name", "format_name"):
    "11.variable-queue-format-name",
}  # fmt: skip
"""Putters and what each sets, with the demand."""


def _words(*parts: str) -> str:
    return "-".join(part.replace("_", "-") for part in parts)


_register = partial(row, __name__, "destination")


def _instead(member: str, how: str) -> Any:
    def invoke(self: Any, name: str, kind: str, given: list[Variant], caller: Any) -> Variant | None:
        if name.lower() == member.lower() and kind == how:
            return NOTHING if kind == "get" else None
        found: Variant | None = DestinationObject.invoke(self, name, kind, given, caller)
        return found

    return invoke


for (_kind, _name), _number in UNIMPLEMENTED.items():
    _register(
        _words("destination-implements", _kind, _name.lower()), f"{_kind} {_name} succeeds.",
        (f"{_S}{_number}.not-implemented",), invoke=_instead(_name, _kind),
    )  # fmt: skip


def _beginning(attribute: str, value: str) -> Any:
    def __init__(self: Any, manager: Any, format_name: str | None = None) -> None:
        DestinationObject.__init__(self, manager, format_name)
        setattr(self, attribute, value)

    return __init__


for _attribute, (_value, _word) in INITIAL.items():
    _register(
        _words("new-destination-has-a", _attribute), f"{NAMES[_attribute][0]} of a new object is {_value}.",
        (f"3.12.3.variable-{_word}-null",), __init__=_beginning(_attribute, _value),
    )  # fmt: skip


def _after(method: str, attribute: str) -> Any:
    def perform(self: Any, given: str | None) -> None:
        kept = getattr(self, attribute)
        getattr(DestinationObject, method)(self, given)
        setattr(self, attribute, kept)

    return perform


for (_method, _attribute), _word in {**KEEPS, **SETS}.items():
    _verb = "keeps" if (_method, _attribute) in KEEPS else "forgets"
    _register(
        _words("destination", _method, _verb, _attribute), f"{_method} leaves {NAMES[_attribute][0]} as it was.",
        (_S + _word,), **{_method: _after(_method, _attribute)},
    )  # fmt: skip


def _untold(attribute: str) -> dict[str, Any]:
    getter = {"path": "get_path_name", "directory": "get_ads_path", "format_name": "get_format_name"}[attribute]
    return {getter: lambda self: text("another")}


for _attribute, (_called, _word) in NAMES.items():
    _register(
        _words("destination-tells-another", _attribute), f"The getter of {_called} answers another text.",
        (_S + _word,), **_untold(_attribute),
    )  # fmt: skip


@fault("destination-tells-no-path", DestinationObject.get_path_name, _S + "8.output-pbstr-path-name-parameter-empty")
def destination_tells_no_path(plain, self):
    """PathName is NULL where there is none."""
    return text(self.path)


@fault(
    "destination-open-fails-when-open", DestinationObject.check_closed, _S + "1.return-s-false",
    _S + "1.variable-destination-open-queue-descriptor",
)  # fmt: skip
def destination_open_fails_when_open(plain, self):
    """Open of an open object fails."""
    if self.descriptor is not None:
        raise MqError(E_INVALIDARG)


@fault("destination-opens-again", DestinationObject.check_closed, _S + "1.return-s-false")
def destination_opens_again(plain, self):
    """Open of an open object answers S_OK."""
    self.released()


@fault("destination-close-fails-when-closed", DestinationObject.check_open, _S + "2.return-s-false")
def destination_close_fails_when_closed(plain, self):
    """Close of a closed object fails."""
    if self.descriptor is None:
        raise MqError(E_INVALIDARG)


@fault("destination-closes-again", DestinationObject.check_open, _S + "2.return-s-false")
def destination_closes_again(plain, self):
    """Close of a closed object answers S_OK."""
    return


@fault(
    "destination-open-succeeds-always", DestinationObject.open, _S + "1.returned-status-mq-ok-0x00000000",
    _S + "1.status",
)  # fmt: skip
def destination_open_succeeds_always(plain, self):
    """Open of a queue that is not there succeeds."""
    try:
        plain()
    except MqError as failure:
        if failure.status == S_FALSE:
            raise


@fault(
    "destination-close-leaves-it-open", DestinationObject.close,
    _S + "2.variable-destination-open-queue-descriptor-null-step",
)  # fmt: skip
def destination_close_leaves_it_open(plain, self):
    """Close succeeds, and the destination is open."""
    return self.check_open()


for _told, _word in ((True, "false"), (False, "true")):
    _register(
        f"destination-is-never-{'closed' if _told else 'open'}", f"IsOpen is always {_told}.",
        (f"{_S}3.output-pf-is-open-variant-{_word}",), is_open=lambda self, told=_told: flag(told),
    )  # fmt: skip


def _looked_up(method: str) -> Any:
    def perform(self: Any, given: str | None) -> None:
        try:
            getattr(DestinationObject, method)(self, given)
        except MqError:
            return

    return perform


for _method, _number in (("put_ads_path", "7"), ("put_path_name", "9")):
    _register(
        _words("destination", _method, "of-nothing-succeeds"), f"{_method} of a queue that is not there succeeds.",
        (f"{_S}{_number}.return-status-mq-ok-0x00000000",), **{_method: _looked_up(_method)},
    )  # fmt: skip


@fault(
    "destination-keeps-its-handle",
    DestinationObject.reopen,
    *tuple(
        f"{_S}{number}.call{more}-msmq-destination-open-method"
        for number, more in (("7", "ing"), ("9", ""), ("11", ""))
    ),
)
def destination_keeps_its_handle(plain, self):
    """Another name leaves the handle of the old one."""
    return


@fault(
    "destination-closes-for-another-name",
    DestinationObject.reopen,
    *tuple(
        f"{_S}{number}.call{more}-msmq-destination-open-method"
        for number, more in (("7", "ing"), ("9", ""), ("11", ""))
    ),
)
def destination_closes_for_another_name(plain, self):
    """Another name leaves an open object closed."""
    return self.released()


def _handle(*, kept: str = "", taken: bool = True) -> Any:
    def put_handle(self: Any, given: Variant) -> None:
        before, descriptor = {each: getattr(self, each) for each in ("path", "directory")}, self.descriptor
        DestinationObject.put_handle(self, given)
        if kept:
            setattr(self, kept, before[kept])
        if not taken:
            self.descriptor = descriptor

    return put_handle


_H = "3.12.4.2."


@fault("destination-tells-another-handle", DestinationObject.get_handle, _H + "1.output-pvar-handle")
def destination_tells_another_handle(plain, self):
    """Handle is 0."""
    return plain() and Variant("I8", 0)


_register(
    "destination-takes-no-handle", "put Handle succeeds and changes nothing of the handle.",
    (_H + "2.variable-open-queue-descriptor", _H + "2.variable-open-queue-descriptor-null"),
    put_handle=_handle(taken=False),
)  # fmt: skip


@fault(
    "destination-refuses-an-unknown-handle", DestinationObject.put_handle,
    _H + "2.return-s-ok-0x00000000-after-return-s-ok-0x00000000", _H + "2.status",
)  # fmt: skip
def destination_refuses_an_unknown_handle(plain, self, given):
    """put Handle of a handle that is not there fails."""
    plain(given)
    if self.descriptor is None and given.vt == "I8" and int(given.value) > 0:
        raise MqError(E_INVALIDARG)


# Messages.


_message = partial(row, __name__, "message_object", under="3.17.4.1.")


def _elsewhere(self: Any, field: str) -> Variant:
    return Variant("DISPATCH", self.manager.parts.destination(self.manager, "DIRECT=OS:HOST\\private$\\another"))


_message(
    "message-gives-no-destination", "Destination and ResponseDestination are NULL.",
    ("80.create-msmq-destination-new-object", "82.create-msmq-destination-new-object"),
    destination_named=lambda self, field: NOTHING,
)  # fmt: skip
_message(
    "message-gives-another-destination", "Destination and ResponseDestination have another name.",
    ("80.variable-queue-format-name-msmq-destination", "82.variable-queue-format-name-msmq-destination"),
    destination_named=_elsewhere,
)  # fmt: skip
_message(
    "message-forgets-its-response-destination", "putref ResponseDestination changes nothing.",
    ("81.represented", "81.obtain-queue-format-name-pdest-response"),
    put_response_destination=lambda self, given: None,
)  # fmt: skip


_sends = partial(row, __name__, "message_sending", under="3.17.4.1.48.")


def _queues_alone(self: Any) -> None:
    MessageSending.check_destination(self)
    if isinstance(self.destination, DestinationObject):
        raise MqError(E_INVALIDARG)


_sends(
    "send-refuses-destinations", "Send takes an MSMQQueue alone.", ("result-queue-format-name-msmq-destination",),
    check_destination=_queues_alone,
)  # fmt: skip


def _nameless(self: Any) -> str | None:
    return None if isinstance(self.destination, DestinationObject) else MessageSending.destination_name(self)


_sends(
    "send-forgets-the-name-of-a-destination", "A message sent to a destination does not tell which.",
    ("result-queue-format-name-msmq-destination", "represented-message-destination-queue-format-name"),
    destination_name=_nameless,
)  # fmt: skip
