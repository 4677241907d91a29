"""Faults of bodies, of queues in a message, and of Send (MC-MQAC 3.17.4.1.22, .48, .49)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from conformance.embedded.entities import NULL_GUID, MqError
from conformance.embedded.faults.base import fault, row
from conformance.embedded.objects import message_values
from conformance.embedded.objects.message import CARRIED, MessageObject
from conformance.embedded.objects.message_send import MessageSending
from conformance.embedded.objects.transactions import Unit
from conformance.embedded.objects.variants import E_INVALIDARG, EMPTY, Variant
from conformance.spec.constants.hresults import MQ_ERROR_INSUFFICIENT_PROPERTIES, MQ_ERROR_MISSING_CONNECTOR_TYPE

Json = Any


def _without(vt: str) -> dict[str, Any]:
    def body_types(self: Any) -> dict[str, int]:
        return {name: number for name, number in message_values.TYPES.items() if name != vt}

    return {"body_types": body_types}


for _vt in message_values.TYPES:
    row(
        __name__, "message_object", f"body-refuses-{_vt.lower()}", f"put Body refuses VT_{_vt}.",
        (f"MQAC-3.17.4.1.22.vt-{_vt.lower()}",),
        **_without(_vt),
    )  # fmt: skip


@fault(
    "body-takes-every-type", MessageObject.put_body, "MQAC-3.17.4.1.22.input-var-body-variant-parameter",
    "MQAC-3.17.4.1.22.return-e-invalidarg",
)  # fmt: skip
def body_takes_every_type(plain, self, given):
    """A body of a type that none has is taken for an empty one."""
    try:
        plain(given)
    except MqError:
        self.values["body"] = (b"", 0)


@fault("body-refuses-arrays", MessageObject.put_body, "MQAC-3.17.4.1.22.combined-vt-array-types")
def body_refuses_arrays(plain, self, given):
    """A body cannot be an array."""
    if given.vt == "ARRAY":
        raise MqError(E_INVALIDARG)
    plain(given)


@fault(
    "body-forgets-its-type", MessageObject.get_body, "MQAC-3.17.4.1.21.output-pvar-body-message-body-parameter",
    "MQAC-3.17.4.1.22.represented-message-body-var-body-contained",
)  # fmt: skip
def body_forgets_its_type(plain, self):
    """Every body is told as bytes."""
    body = self.values["body"]
    return EMPTY if body is None else message_values.read(body[0], 0)


@fault(
    "attaching-sets-the-sender", MessageObject.attach, "MQAC-3.17.4.1.49.represented-message-sender-identifier",
    "MQAC-3.17.4.1.87.represented-message-sender-identifier",
)  # fmt: skip
def attaching_sets_the_sender(plain, self):
    """AttachCurrentSecurityContext sets the sender of the message, and so its successor does."""
    plain()
    self.values["sender"] = self.cached_sender


_PUTREFS = {
    "response_queue": ("77", "16", "72", "represented-message-response-queue-format-name"),
    "administration_queue": ("79", "24", "74", "represented-message-administration-queue-format-name"),
}


def _losing(field: str) -> dict[str, Any]:
    def row(self: Any, signature: Any, values: list[Any]) -> Variant | None:
        found: Variant | None = MessageObject.row(self, signature, values)
        if signature.kind == "putref" and isinstance(signature.row, tuple) and signature.row[1] == field:
            self.values[field] = None
        return found

    return {"row": row}


for _field, (*_numbers, _word) in _PUTREFS.items():
    row(
        __name__, "message_object", f"message-forgets-its-{_field.replace('_', '-')}",
        f"A {_field.replace('_', ' ')} that is set is lost.",
        tuple(f"MQAC-3.17.4.1.{number}.{_word}" for number in _numbers), **_losing(_field),
    )  # fmt: skip

# Send.

_SEND = "MQAC-3.17.4.1.48."
_CONNECTOR = ("either-message-class-message-sender-identifier", "return-mq-error-missing-connector-type")
_PROVIDER = ("represented-message-authentication-provider-type-null", "return-mq-error-insufficient-properties")


_sends = partial(row, __name__, "message_sending", under=_SEND)


def _nothing(self: Any) -> None:
    return


def _in_order(*names: str) -> Callable[[Any], tuple[Callable[[], None], ...]]:
    def checks(self: Any) -> tuple[Callable[[], None], ...]:
        return tuple(getattr(self, name) for name in names)

    return checks


def _with_code(check: str, status: int) -> Callable[[Any], None]:
    def refuse(self: Any) -> None:
        try:
            getattr(MessageSending, check)(self)
        except MqError:
            raise MqError(status) from None

    return refuse


_D, _C, _P = "check_destination", "check_connector", "check_provider"
_sends("send-needs-no-connector", "A class can be sent without a connector type.", _CONNECTOR, check_connector=_nothing)
_sends("send-needs-no-provider", "A provider can have a type and no name.", _PROVIDER, check_provider=_nothing)
_sends(
    "send-refuses-nothing-as-connector", "Without destination it answers as without connector type.",
    ("return-e-invalidarg",), check_destination=_with_code(_D, MQ_ERROR_MISSING_CONNECTOR_TYPE),
)  # fmt: skip
_sends(
    "send-misses-a-connector-with-another-code", "Without connector type it answers insufficient properties.",
    _CONNECTOR[1:], check_connector=_with_code(_C, MQ_ERROR_INSUFFICIENT_PROPERTIES),
)  # fmt: skip
_sends(
    "send-misses-a-provider-with-another-code", "Without a provider's name it answers E_INVALIDARG.",
    _PROVIDER[1:], check_provider=_with_code(_P, E_INVALIDARG),
)  # fmt: skip
_sends(
    "send-looks-at-the-connector-first", "NULL is refused after the connector type.",
    ("return-e-invalidarg", "input-destination-queue-null-parameter"), checks=_in_order(_C, _D, _P),
)  # fmt: skip
_sends(
    "send-looks-at-the-provider-before-the-connector", "The provider is looked at before the connector type.",
    _CONNECTOR, checks=_in_order(_D, _P, _C),
)  # fmt: skip


@fault("send-keeps-another-class", MessageSending.complete, _SEND + "represented-message-class-mqmsg-class-normal")
def send_keeps_another_class(plain, self):
    """A message without connector type is sent as a report."""
    kept = self.message.values["class"]
    plain()
    self.message.values["class"] = kept or 1


@fault("send-tells-no-source", MessageSending.complete, _SEND + "represented-message-source-machine-identifier")
def send_tells_no_source(plain, self):
    """The object does not tell which computer sent it."""
    plain()
    self.message.values["source"] = NULL_GUID


@fault("send-sets-no-time", MessageSending.complete, _SEND + "represented-message-sent-time-current-time")
def send_sets_no_time(plain, self):
    """The object does not tell when it was sent."""
    before = self.message.values["sent"]
    plain()
    self.message.values["sent"] = before


@fault("second-send-keeps-the-identifier", MessageSending.enqueue, _SEND + "represented-message-identifier-new-unique")
def second_send_keeps_the_identifier(plain, self, descriptor, unit):
    """The object tells the identifier of its first send after the second."""
    before = self.message.values["identifier"]
    plain(descriptor, unit)
    self.message.values["identifier"] = before or self.message.values["identifier"]


@fault("send-sends-nothing", MessageSending.enqueue, _SEND + "purpose")
def send_sends_nothing(plain, self, descriptor, unit):
    """Send succeeds and puts nothing into the queue."""


@fault("send-succeeds-always", MessageSending.enqueue, _SEND + "return-status-mq-ok-0x00000000", _SEND + "status")
def send_succeeds_always(plain, self, descriptor, unit):
    """Send answers success where the queue manager refused the message."""
    try:
        plain(descriptor, unit)
    except MqError:
        return


@fault("send-takes-any-transaction", MessageSending.unit, _SEND + "return-hresult-error-after-else")
def send_takes_any_transaction(plain, self):
    """What is no transaction is taken for none, in sends."""
    try:
        return plain()
    except MqError:
        return Unit(self.manager, None)


@fault(
    "send-leaves-the-transaction", MessageSending.unit, _SEND + "true-transactional-send-after-define-transaction",
    _SEND + "define-transaction-identifier-i-transaction",
)  # fmt: skip
def send_leaves_the_transaction(plain, self):
    """A message sent in a transaction arrives at once."""
    plain()
    return Unit(self.manager, self.manager.transactions.begin(), own=True)


@fault(
    "send-loses-levels-and-algorithms", MessageSending.accompanying, "MQAC-3.17.4.1.36.output-pl-hash-alg-mqcalg",
    "MQAC-3.17.4.1.38.output-p-encrypt-alg-mqcalg", "MQAC-3.17.4.1.2.output-pl-priv-level-mqmsgprivlevel",
)  # fmt: skip
def send_loses_levels_and_algorithms(plain, self):
    """A received message has no privacy level, no hash and no encryption algorithm of the sender."""
    return {name: value for name, value in plain().items() if name not in CARRIED[:4]}
