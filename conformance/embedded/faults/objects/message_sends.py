"""Faults of bodies, of queues in a message, and of Send (MC-MQAC 3.17.4.1.22, .48, .49)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from conformance.embedded.entities import NULL_GUID, Descriptor, MqError
from conformance.embedded.faults.base import Fault, fault
from conformance.embedded.objects import bodies
from conformance.embedded.objects.codes import E_INVALIDARG
from conformance.embedded.objects.message import MessageObject
from conformance.embedded.objects.message_properties import CARRIED
from conformance.embedded.objects.message_send import MessageSending
from conformance.embedded.objects.transaction_argument import TransactionArguments, Unit
from conformance.embedded.objects.variants import EMPTY, Variant
from conformance.spec.constants.hresults import MQ_ERROR_INSUFFICIENT_PROPERTIES, MQ_ERROR_MISSING_CONNECTOR_TYPE

Json = Any


def _without(vt: str) -> type[MessageObject]:
    def body_types(self: Any) -> dict[str, int]:
        return {name: number for name, number in bodies.TYPES.items() if name != vt}

    return type("_Without", (MessageObject,), {"body_types": body_types})


for _vt in bodies.TYPES:
    fault(
        __name__, f"body-refuses-{_vt.lower()}", f"put Body refuses VT_{_vt}.", (f"MQAC-3.17.4.1.22.vt-{_vt.lower()}",),
        ("message_object", _without(_vt)),
    )  # fmt: skip


class _TakesEverything(MessageObject):
    def put_body(self, given: Variant) -> None:
        try:
            super().put_body(given)
        except MqError:
            self.values["body"] = (b"", 0)


class BodyTakesEveryType(Fault):
    """A body of a type that none has is taken for an empty one."""

    name = "body-takes-every-type"
    breaks = ("MQAC-3.17.4.1.22.input-var-body-variant-parameter", "MQAC-3.17.4.1.22.return-e-invalidarg")
    replaces = ("message_object", _TakesEverything)


class _NoArrays(MessageObject):
    def put_body(self, given: Variant) -> None:
        if given.vt == "ARRAY":
            raise MqError(E_INVALIDARG)
        super().put_body(given)


class BodyRefusesArrays(Fault):
    """A body cannot be an array."""

    name = "body-refuses-arrays"
    breaks = ("MQAC-3.17.4.1.22.combined-vt-array-types",)
    replaces = ("message_object", _NoArrays)


class _Bytes(MessageObject):
    def get_body(self) -> Variant:
        body = self.values["body"]
        return EMPTY if body is None else bodies.read(body[0], 0)


class BodyForgetsItsType(Fault):
    """Every body is told as bytes."""

    name = "body-forgets-its-type"
    breaks = (
        "MQAC-3.17.4.1.21.output-pvar-body-message-body-parameter",
        "MQAC-3.17.4.1.22.represented-message-body-var-body-contained",
    )
    replaces = ("message_object", _Bytes)


class _Attached(MessageObject):
    def attach(self) -> None:
        super().attach()
        self.values["sender"] = self.cached_sender


class AttachingSetsTheSender(Fault):
    """AttachCurrentSecurityContext sets the sender of the message, and so its successor does."""

    name = "attaching-sets-the-sender"
    breaks = (
        "MQAC-3.17.4.1.49.represented-message-sender-identifier",
        "MQAC-3.17.4.1.87.represented-message-sender-identifier",
    )
    replaces = ("message_object", _Attached)


_PUTREFS = {
    "response_queue": ("77", "16", "72", "represented-message-response-queue-format-name"),
    "administration_queue": ("79", "24", "74", "represented-message-administration-queue-format-name"),
}


def _losing(field: str) -> type[MessageObject]:
    def row(self: Any, signature: Any, values: list[Any]) -> Variant | None:
        found: Variant | None = MessageObject.row(self, signature, values)
        if signature.kind == "putref" and isinstance(signature.row, tuple) and signature.row[1] == field:
            self.values[field] = None
        return found

    return type("_Losing", (MessageObject,), {"row": row})


for _field, (*_numbers, _word) in _PUTREFS.items():
    fault(
        __name__, f"message-forgets-its-{_field.replace('_', '-')}",
        f"A {_field.replace('_', ' ')} that is set is lost.",
        tuple(f"MQAC-3.17.4.1.{number}.{_word}" for number in _numbers), ("message_object", _losing(_field)),
    )  # fmt: skip

# Send.

_SEND = "MQAC-3.17.4.1.48."
_CONNECTOR = ("either-message-class-message-sender-identifier", "return-mq-error-missing-connector-type")
_PROVIDER = ("represented-message-authentication-provider-type-null", "return-mq-error-insufficient-properties")


def _sends(name: str, story: str, words: tuple[str, ...], **methods: Any) -> None:
    deviating = type("_Sending", (MessageSending,), methods)
    fault(__name__, name, story, tuple(_SEND + word for word in words), ("message_sending", deviating))


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


class _KeepsItsClass(MessageSending):
    def complete(self) -> None:
        kept = self.message.values["class"]
        super().complete()
        self.message.values["class"] = kept or 1


class SendKeepsAnotherClass(Fault):
    """A message without connector type is sent as a report."""

    name = "send-keeps-another-class"
    breaks = (_SEND + "represented-message-class-mqmsg-class-normal",)
    replaces = ("message_sending", _KeepsItsClass)


class _Anonymous(MessageSending):
    def complete(self) -> None:
        super().complete()
        self.message.values["source"] = NULL_GUID


class SendTellsNoSource(Fault):
    """The object does not tell which computer sent it."""

    name = "send-tells-no-source"
    breaks = (_SEND + "represented-message-source-machine-identifier",)
    replaces = ("message_sending", _Anonymous)


class _Timeless(MessageSending):
    def complete(self) -> None:
        before = self.message.values["sent"]
        super().complete()
        self.message.values["sent"] = before


class SendSetsNoTime(Fault):
    """The object does not tell when it was sent."""

    name = "send-sets-no-time"
    breaks = (_SEND + "represented-message-sent-time-current-time",)
    replaces = ("message_sending", _Timeless)


class _Once(MessageSending):
    def enqueue(self, descriptor: Descriptor, unit: Unit) -> None:
        before = self.message.values["identifier"]
        super().enqueue(descriptor, unit)
        self.message.values["identifier"] = before or self.message.values["identifier"]


class SecondSendKeepsTheIdentifier(Fault):
    """The object tells the identifier of its first send after the second."""

    name = "second-send-keeps-the-identifier"
    breaks = (_SEND + "represented-message-identifier-new-unique",)
    replaces = ("message_sending", _Once)


class _Lost(MessageSending):
    def enqueue(self, descriptor: Descriptor, unit: Unit) -> None:
        return


class SendSendsNothing(Fault):
    """Send succeeds and puts nothing into the queue."""

    name = "send-sends-nothing"
    breaks = (_SEND + "purpose",)
    replaces = ("message_sending", _Lost)


class _Succeeding(MessageSending):
    def enqueue(self, descriptor: Descriptor, unit: Unit) -> None:
        try:
            super().enqueue(descriptor, unit)
        except MqError:
            return


class SendSucceedsAlways(Fault):
    """Send answers success where the queue manager refused the message."""

    name = "send-succeeds-always"
    breaks = (_SEND + "return-status-mq-ok-0x00000000", _SEND + "status")
    replaces = ("message_sending", _Succeeding)


class _TakesAll(TransactionArguments):
    def unit(self, given: Variant) -> Unit:
        try:
            return super().unit(given)
        except MqError:
            return Unit(self.manager, None)


class SendTakesAnyTransaction(Fault):
    """What is no transaction is taken for none, in sends."""

    name = "send-takes-any-transaction"
    breaks = (_SEND + "return-hresult-error-after-else",)

    class _Sending(MessageSending):
        def unit(self) -> Unit:
            return _TakesAll(self.manager).unit(self.given)

    replaces = ("message_sending", _Sending)


class _Outside(MessageSending):
    def unit(self) -> Unit:
        super().unit()
        return Unit(self.manager, self.manager.transactions.begin(), own=True)


class SendLeavesTheTransaction(Fault):
    """A message sent in a transaction arrives at once."""

    name = "send-leaves-the-transaction"
    breaks = (
        _SEND + "true-transactional-send-after-define-transaction",
        _SEND + "define-transaction-identifier-i-transaction",
    )
    replaces = ("message_sending", _Outside)


class _Bare(MessageSending):
    def accompanying(self) -> dict[str, Json]:
        return {name: value for name, value in super().accompanying().items() if name not in CARRIED[:4]}


class SendLosesLevelsAndAlgorithms(Fault):
    """A received message has no privacy level, no hash and no encryption algorithm of the sender."""

    name = "send-loses-levels-and-algorithms"
    breaks = (
        "MQAC-3.17.4.1.36.output-pl-hash-alg-mqcalg",
        "MQAC-3.17.4.1.38.output-p-encrypt-alg-mqcalg",
        "MQAC-3.17.4.1.2.output-pl-priv-level-mqmsgprivlevel",
    )
    replaces = ("message_sending", _Bare)
