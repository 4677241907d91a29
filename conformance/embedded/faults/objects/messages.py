"""Faults of MSMQMessage (MC-MQAC 3.17): its properties, its body and Send."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from conformance.embedded.entities import NULL_GUID, MqError
from conformance.embedded.faults.base import fault, kebab, row
from conformance.embedded.objects import message
from conformance.embedded.objects.message import CARRIED, PROPERTIES, MessageObject, MessageSending, Property
from conformance.embedded.objects.transactions import Unit
from conformance.embedded.objects.variants import E_INVALIDARG, EMPTY, NOTHING, Variant
from conformance.spec.constants.hresults import (
    MQ_ERROR_ILLEGAL_PROPERTY_VALUE,
    MQ_ERROR_INSUFFICIENT_PROPERTIES,
    MQ_ERROR_MISSING_CONNECTOR_TYPE,
)

_ROWS = {row.name: row for row in PROPERTIES}
LIMITS = {
    "PrivLevel": ("3", "input-l-priv-level-mqmsgprivlevel-parameter", "return-mq-error-illegal-property-value"),
    "AuthLevel": ("5", "input-l-auth-level-mqmsgauthlevel-parameter", "return-mq-error-illegal-property-value"),
    "Delivery": ("8", "input-l-delivery-mqmsgdelivery-parameter", "return-mq-error-illegal-property-value"),
    "Trace": ("10", "input-l-trace-mqmsgtrace-parameter", "return-mq-error-illegal-property-value"),
    "Priority": ("12", "input-i-priority-parameter-range", "return-mq-error-illegal-property-value"),
    "Journal": ("14", "input-i-journal-mqmsgjournal-mqmsg-journal", "return-mq-error-illegal-property-value"),
    "Ack": ("29", "input-l-ack-mqmsgacknowledgement-parameter", "return-mq-error-illegal-property-value"),
    "Label": ("31", "input-bstr-label-parameter-geq", "return-mq-error-label-too-long"),
    "ConnectorTypeGuid": ("54", "input-bstr-guid-connector-type-parameter", "return-mq-error-illegal-property-value"),
}
"""Properties with a limit: number in 3.17.4.1, the words of the check, the words of its code."""
KEPT = {
    "PrivLevel": "3.represented-message-privacy-level-mqmsgprivlevel",
    "AuthLevel": "5.variable-requested-authentication-level-mqmsgauthlevel",
    "Delivery": "8.represented-message-delivery-guarantee-mqmsgdelivery",
    "Trace": "10.represented-message-tracing-requested-mqmsgtrace",
    "Priority": "12.represented-message-priority-i-priority-contained",
    "AppSpecific": "18.represented-message-application-tag",
    "CorrelationId": "27.represented-message-correlation-identifier",
    "Ack": "29.represented-message-acknowledgements-requested",
    "Label": "31.represented-message-label-bstr-label-contained",
    "MaxTimeToReachQueue": "33.represented-message-time-to-reach-queue",
    "MaxTimeToReceive": "35.represented-message-time-to-be-received",
    "HashAlgorithm": "37.represented-message-hash-algorithm-mqcalg",
    "EncryptAlgorithm": "39.represented-message-encryption-algorithm",
    "SenderCertificate": "44.represented-message-sender-certificate",
    "SenderIdType": "47.represented-message-sender-identifier-mqmsgsenderidtype",
    "Extension": "52.represented-message-extension-var-extension-contained",
    "ConnectorTypeGuid": "54.represented-message-connector-type-identifier",
    "DestinationSymmetricKey": "57.represented-message-symmetric-key",
    "Signature": "59.represented-message-signature-var-signature-contained",
    "AuthenticationProviderType": "61.represented-message-authentication-provider-type",
    "AuthenticationProviderName": "63.represented-message-authentication-provider-name",
    "SenderId": "64.represented-message-sender-identifier",
    "MsgClass": "66.represented-message-class-mqmsgclass",
}
"""Properties with the demand that put keeps what it is given."""
INITIAL: dict[str, tuple[str, Any]] = {
    "lookup": ("lookup-identifier", 1), "class": ("class", 2), "privacy": ("privacy-level", 1),
    "authenticated": ("authentication-level", 1), "delivery": ("delivery-guarantee", 1),
    "trace": ("tracing-requested", 1), "priority": ("priority", 0), "journal": ("negative-journaling-requested", 1),
    "application_tag": ("application-tag", 1), "acknowledgements": ("acknowledgements-requested", 1),
    "reach": ("time-to-reach-queue", 345_600), "receive": ("time-to-be-received", 345_600),
    "hash": ("hash-algorithm", 0x8003), "encryption": ("encryption-algorithm", 0x6602),
    "sender_type": ("sender-identifier-type", 0), "provider_type": ("authentication-provider-type", 0),
    "provider_name": ("authentication-provider-name", "Microsoft Enhanced Cryptographic Provider, v1.0"),
    "first": ("first-in-transaction", True), "last": ("last-in-transaction", True),
    "requested": ("requested-authentication-level", 1), "label": ("label", "message"),
    "source": ("source-machine-identifier", "00000000-0000-0000-0000-000000000001"),
    "connector": ("connector-type-identifier", "00000000-0000-0000-0000-000000000001"),
}  # fmt: skip
"""Values of a new object: the words of the demand, and another value."""
TOLD = {
    "SenderVersion": ("50.output-pl-sender-version-0x00000010-parameter", 0x20),
    "BodyLength": ("20.output-pcb-body-message-body-parameter", 0),
    "MsgClass": ("65.output-pl-msg-class-mqmsgclass", 1),
    "IsFirstInTransaction2": ("85.output-pis-first-in-xact-0x0001", False),
    "IsLastInTransaction2": ("86.output-pis-last-in-xact-0x0001", False),
    "IsFirstInTransaction": ("69.output-pis-first-in-xact-0x0001", 0),
    "IsLastInTransaction": ("70.output-pis-last-in-xact-0x0001", 0),
}
"""Getters that tell one thing always."""


def _with_row(name: str, **changes: Any) -> dict[str, Any]:
    row = replace(_ROWS[name], **changes)

    def write(self: Any, given: Property, value: Any) -> None:
        MessageObject.write(self, row if given.name == name else given, value)

    return {"write": write}


def _forgetting(name: str) -> dict[str, Any]:
    def write(self: Any, given: Property, value: Any) -> None:
        before = self.values[given.field]
        MessageObject.write(self, given, value)
        if given.name == name:
            self.values[given.field] = before

    return {"write": write}


def _beginning_with(field: str, value: Any) -> dict[str, Any]:
    def initial(self: Any) -> dict[str, Any]:
        return {**MessageObject.initial(self), field: value}

    return {"initial": initial}


def _telling(name: str, value: Any) -> dict[str, Any]:
    def invoke(self: Any, member: str, kind: str, given: list[Variant], caller: Any) -> Variant | None:
        found = MessageObject.invoke(self, member, kind, given, caller)
        is_it = member.lower() == name.lower() and kind == "get" and found is not None
        return Variant(found.vt, value) if is_it and found is not None else found

    return {"invoke": invoke}


_register = partial(row, __name__, "message_object")

for _name, (_number, _check, _code) in LIMITS.items():
    _ids = tuple(f"MQAC-3.17.4.1.{_number}.{word}" for word in (_check, _code))
    _register(
        f"message-takes-any-{kebab(_name)}", f"put {_name} refuses nothing.", _ids,
        **_with_row(_name, valid=lambda value: True),
    )  # fmt: skip
    _register(
        f"message-refuses-{kebab(_name)}-with-another-code", f"put {_name} refuses with E_INVALIDARG.", _ids[1:],
        **_with_row(_name, refusal=E_INVALIDARG),
    )  # fmt: skip
for _name, _word in KEPT.items():
    _register(
        f"message-forgets-{kebab(_name)}", f"put {_name} answers success and changes nothing.",
        (f"MQAC-3.17.4.1.{_word}",), **_forgetting(_name),
    )  # fmt: skip
for _field, (_word, _value) in INITIAL.items():
    _register(
        f"new-message-has-another-{_word}", f"The initial {_word.replace('-', ' ')} is {_value!r}.",
        (f"MQAC-3.17.3.{_word}-initial",), **_beginning_with(_field, _value),
    )  # fmt: skip
for _name, (_word, _value) in TOLD.items():
    _register(
        f"message-always-tells-one-{kebab(_name)}", f"get {_name} answers {_value!r}, whatever it is.",
        (f"MQAC-3.17.4.1.{_word}",), **_telling(_name, _value),
    )  # fmt: skip

_S = "MQAC-3.17.4.1."
OTHER: dict[str, tuple[str, Any]] = {
    "Class": ("1.output-p-i-class-mqmsgclass", 1),
    "PrivLevel": ("2.output-pl-priv-level-mqmsgprivlevel", 3),
    "AuthLevel": ("4.output-p-i-auth-level-mqmsgauthlevel", 8),
    "IsAuthenticated": ("6.output-pis-authenticated-0x0000-parameter", 1),
    "Delivery": ("7.output-p-i-delivery-mqmsgdelivery", 1),
    "Trace": ("9.output-p-trace-mqmsgtrace", 1),
    "Priority": ("11.output-pl-priority-message-priority-parameter", 5),
    "Journal": ("13.output-pl-journal-pos-journal-requested", 3),
    "AppSpecific": ("17.output-pl-app-specific", 77),
    "SourceMachineGuid": ("19.output-pbstr-guid-src-machine", "00000000-0000-0000-0000-000000000001"),
    "Id": ("25.output-pvar-msg-id-message-identifier", bytes(20)),
    "CorrelationId": ("26.output-pvar-msg-id", bytes(range(20))),
    "Ack": ("28.output-pl-ack-mqmsgacknowledgement", 1),
    "Label": ("30.output-pbstr-label-message-label-parameter", "another"),
    "MaxTimeToReachQueue": ("32.output", 77),
    "MaxTimeToReceive": ("34.output", 77),
    "HashAlgorithm": ("36.output-pl-hash-alg-mqcalg", 0x8003),
    "EncryptAlgorithm": ("38.output-p-encrypt-alg-mqcalg", 0x6602),
    "SentTime": ("40.output-pvar-sent-time", "25569.0"),
    "ArrivedTime": ("41.output-p-i-arrived-time", "25569.0"),
    "SenderCertificate": ("43.output-pvar-sender-cert", b"MIIB"),
    "SenderId": ("45.output-pvar-sender-id", bytes(12)),
    "SenderIdType": ("46.output-p-i-sender-id-type", 0),
    "Extension": ("51.output-pvar-extension-message-extension-parameter", b"ext"),
    "ConnectorTypeGuid": ("53.output-pbstr-guid-connector-type", "{00000000-0000-0000-0000-000000000001}"),
    "DestinationSymmetricKey": ("56.output-pvar-dest-symm-key", b"key"),
    "Signature": ("58.output-pvar-signature-message-signature-parameter", b"signature"),
    "AuthenticationProviderType": ("60.output-pl-auth-prov-type", 7),
    "AuthenticationProviderName": ("62.output-pbstr-auth-prov-name", "Provider"),
    "TransactionId": ("68.output-pvar-xact-id", bytes(20)),
    "IsFirstInTransaction": ("69.output-pis-first-in-xact-0x0000", 1),
    "IsLastInTransaction": ("70.output-pis-last-in-xact-0x0000", 1),
    "ReceivedAuthenticationLevel": ("75.output-ps-received-authentication-level", 5),
    "LookupId": ("83.output-pvar-lookup-id", "1"),
    "IsAuthenticated2": ("84.output-pis-authenticated-variant-false-0x0000", True),
    "IsFirstInTransaction2": ("85.output-pis-first-in-xact-0x0000", True),
    "IsLastInTransaction2": ("86.output-pis-last-in-xact-0x0000", True),
    "SoapEnvelope": ("88.output-pbstr-soap-envelope", "<e/>"),
    "CompoundMessage": ("89.output-pvar-compound-message", b"soap"),
}
"""Getters: the demand, and another value."""
NULL_TEXTS = {"Label": "30.output-pbstr-label-bstr-parameter", "AuthenticationProviderName":
              "62.output-pbstr-auth-prov-name-bstr"}  # fmt: skip
"""Getters that tell an empty text for NULL."""
FIELDS: dict[str, tuple[str, Any]] = {
    "response_queue": ("response-queue-format-name", "DIRECT=OS:HOST\\private$\\q"),
    "administration_queue": ("administration-queue-format-name", "DIRECT=OS:HOST\\private$\\q"),
    "destination_queue": ("destination-queue-format-name", "DIRECT=OS:HOST\\private$\\q"),
    "status_queue": ("transaction-status-queue-format-name", "DIRECT=OS:HOST\\private$\\q"),
    "identifier": ("identifier", bytes(20)), "correlation": ("correlation-identifier", bytes(20)),
    "body": ("body", (b"x", 17)), "sent": ("sent-time", 0), "arrived": ("arrived-time", 0),
    "certificate": ("sender-certificate", b"MIIB"), "sender": ("sender-identifier", bytes(12)),
    "extension": ("extension", b"x"), "symmetric_key": ("symmetric-key", b"x"), "signature": ("signature", b"x"),
    "transaction": ("transactional-message-sequence-identifier", bytes(20)),
    "soap_envelope": ("soap-envelope", "<e/>"), "soap_compound": ("soap-compound-message", b"x"),
}  # fmt: skip
"""Further values of a new object: the words of the demand, and another value."""
QUEUES = {
    "ResponseQueueInfo_v1": "15", "AdminQueueInfo_v1": "23", "ResponseQueueInfo_v2": "71", "AdminQueueInfo_v2": "73",
    "ResponseQueueInfo": "76", "AdminQueueInfo": "78", "DestinationQueueInfo": "42", "TransactionStatusQueueInfo": "55",
}  # fmt: skip
"""Getters of queues with their number in 3.17.4.1."""


def _other(name: str, value: Any) -> Any:
    def read(self: Any, row: Property) -> Variant:
        found = MessageObject.read(self, row)
        if row.name != name:
            return found
        return Variant("ARRAY", value, "UI1") if isinstance(value, bytes) else Variant(found.vt, value)

    return read


for _name, (_word, _value) in OTHER.items():
    _register(
        f"message-tells-another-{kebab(_name)}", f"get {_name} answers {_value!r}, whatever it is.", (_S + _word,),
        read=_other(_name, _value),
    )  # fmt: skip


def _null(name: str) -> Any:
    def read(self: Any, row: Property) -> Variant:
        if row.name == name and not self.values[row.field]:
            return Variant("BSTR", None)
        return MessageObject.read(self, row)

    return read


for _name, _word in NULL_TEXTS.items():
    _register(
        f"message-tells-no-{kebab(_name)}", f"get {_name} answers NULL where there is none.", (_S + _word,),
        read=_null(_name),
    )  # fmt: skip


def _beginning(field: str, value: Any) -> Any:
    def initial(self: Any) -> Mapping[str, Any]:
        return {**MessageObject.initial(self), field: value}

    return initial


for _field, (_word, _value) in FIELDS.items():
    _register(
        f"new-message-begins-with-{_word}", f"The initial {_word.replace('-', ' ')} is {_value!r}.",
        (f"MQAC-3.17.3.{_word}-initial",), initial=_beginning(_field, _value),
    )  # fmt: skip


def _gives(name: str, *, nothing: bool) -> Any:
    def invoke(self: Any, member: str, kind: str, given: list[Variant], caller: Any) -> Variant | None:
        found: Variant | None = MessageObject.invoke(self, member, kind, given, caller)
        if member.lower() != name.lower() or kind != "get" or found is None or found.value is None:
            return found
        other = self.manager.parts.queue_info(self.manager, f"DIRECT=OS:{self.manager.computer}\\private$\\another")
        return NOTHING if nothing else Variant("DISPATCH", other)

    return invoke


for _name, _number in QUEUES.items():
    _register(
        f"message-gives-no-{kebab(_name)}", f"get {_name} answers NULL.",
        (f"{_S}{_number}.create-msmq-queue-info-new-object",), invoke=_gives(_name, nothing=True),
    )  # fmt: skip
    _register(
        f"message-gives-another-{kebab(_name)}", f"get {_name} answers an object for another queue.",
        (f"{_S}{_number}.variable-queue-format-name",), invoke=_gives(_name, nothing=False),
    )  # fmt: skip


@fault(
    "message-gives-one-object", MessageObject.queue_named, _S + "15.create-msmq-queue-info-new-object",
    _S + "76.create-msmq-queue-info-new-object",
)  # fmt: skip
def message_gives_one_object(plain, self, field):
    """The getters of queues answer the same object each time."""
    found = self.__dict__.setdefault(f"kept_{field}", plain(field))
    return Variant("DISPATCH", found.value)


@fault("message-implements-properties", "message_object.invoke", _S + "67.not-implemented")
def message_implements_properties(plain, self, member, kind, given, caller):
    """get Properties succeeds."""
    if member.lower() == "properties" and kind == "get":
        return NOTHING
    found: Variant | None = plain(member, kind, given, caller)
    return found


JOURNALS = {
    0: ("represented-message-positive-after-input-i-journal-mqmsg", 2), 2: (
        "represented-message-positive-after-input-i-journal-mqmsg-journal", 0), 1: (
        "represented-message-negative-after-represented-message-positive-journaling-requested", 0), 3: (
        "represented-message-negative-after-represented-message-after-represented-message", 2),
}  # fmt: skip
"""Values of put Journal: the demand, and what the fault keeps instead."""


def _journals(given: int, kept: int) -> Any:
    def write(self: Any, row: Property, value: Any) -> None:
        MessageObject.write(self, row, kept if row.name == "Journal" and value == given else value)

    return write


for _given, (_word, _kept) in JOURNALS.items():
    _register(
        f"message-journals-{_given}-as-{_kept}", f"put Journal of {_given} stores {_kept}.", (f"{_S}14.{_word}",),
        write=_journals(_given, _kept),
    )  # fmt: skip

# Send.
_sends = partial(row, __name__, "message_sending", under=f"{_S}48.")


def _completes(field: str, value: Any) -> Any:
    def complete(self: Any) -> None:
        MessageSending.complete(self)
        self.message.values[field] = value

    return complete


_sends(
    "send-names-no-destination", "The object does not tell where it was sent.",
    ("represented-message-destination-queue-format-name", "result-queue-format-name"),
    complete=_completes("destination_queue", None),
)  # fmt: skip
_sends(
    "send-leaves-the-times-alone", "The time to reach the queue may be longer than the time to be received.",
    ("represented-message-time-to-be-received",), shorten=lambda self: None,
)  # fmt: skip
_sends(
    "send-forgets-the-certificate-kept", "A certificate that was attached is not sent.",
    ("represented-message-sender-certificate-sender",), complete=_completes("certificate", None),
)  # fmt: skip
_sends(
    "send-tells-no-sender", "A message has no sender.",
    ("represented-message-sender-identifier", "represented-message-sender-identifier-sid-caller"),
    complete=_completes("sender", None),
)  # fmt: skip
_sends(
    "send-is-never-authenticated", "The level of authentication that was asked for is not in the message.",
    ("represented-message-authentication-level",), complete=_completes("authenticated", 0),
)  # fmt: skip


@fault("second-send-keeps-the-transaction", MessageSending.enqueue, _S + "68.output-pvar-xact-id")
def second_send_keeps_the_transaction(plain, self, descriptor, unit):
    """An object sent outside a transaction tells that of its last send."""
    kept = self.message.values["transaction"]
    plain(descriptor, unit)
    self.message.values["transaction"] = self.message.values["transaction"] or kept


def _unnamed(self: Any) -> dict[str, Any]:
    return {**MessageSending.accompanying(self), "destination_queue": None}


_sends(
    "message-names-the-queue-it-was-read-from", "A message is addressed to the queue object it was read from.",
    ("represented-message-destination-queue-format-name",), accompanying=_unnamed,
)  # fmt: skip

Json = Any


def _without(vt: str) -> dict[str, Any]:
    def body_types(self: Any) -> dict[str, int]:
        return {name: number for name, number in message.TYPES.items() if name != vt}

    return {"body_types": body_types}


for _vt in message.TYPES:
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
    return EMPTY if body is None else message.read(body[0], 0)


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

_sends_with = partial(row, __name__, "message_sending", under=_SEND)


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
_sends_with(
    "send-needs-no-connector", "A class can be sent without a connector type.", _CONNECTOR, check_connector=_nothing
)
_sends_with("send-needs-no-provider", "A provider can have a type and no name.", _PROVIDER, check_provider=_nothing)
_sends_with(
    "send-refuses-nothing-as-connector", "Without destination it answers as without connector type.",
    ("return-e-invalidarg",), check_destination=_with_code(_D, MQ_ERROR_MISSING_CONNECTOR_TYPE),
)  # fmt: skip
_sends_with(
    "send-misses-a-connector-with-another-code", "Without connector type it answers insufficient properties.",
    _CONNECTOR[1:], check_connector=_with_code(_C, MQ_ERROR_INSUFFICIENT_PROPERTIES),
)  # fmt: skip
_sends_with(
    "send-misses-a-provider-with-another-code", "Without a provider's name it answers E_INVALIDARG.",
    _PROVIDER[1:], check_provider=_with_code(_P, E_INVALIDARG),
)  # fmt: skip
_sends_with(
    "send-looks-at-the-connector-first", "NULL is refused after the connector type.",
    ("return-e-invalidarg", "input-destination-queue-null-parameter"), checks=_in_order(_C, _D, _P),
)  # fmt: skip
_sends_with(
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
    """A send takes a value that is no transaction for none."""
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


@fault(
    "connector-type-guid-takes-capitals-alone", MessageObject.write, "MQAC-3.17.4.1.54.purpose",
    "MQAC-3.17.4.1.54.hex-digit-rule", "MQAC-3.17.4.1.54.status",
)  # fmt: skip
def connector_type_guid_takes_capitals_alone(plain, self, row, value):
    """A connector type with small letters is refused."""
    if row.name == "ConnectorTypeGuid" and value != value.upper():
        raise MqError(MQ_ERROR_ILLEGAL_PROPERTY_VALUE)
    plain(row, value)
