"""Faults of properties of MSMQMessage (MC-MQAC 3.17.3, 3.17.4.1): limits, codes, what is kept, initial values."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from conformance.embedded.faults.base import kebab, row
from conformance.embedded.objects.codes import E_INVALIDARG
from conformance.embedded.objects.message import MessageObject
from conformance.embedded.objects.message_properties import PROPERTIES, Property
from conformance.embedded.objects.variants import Variant

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
