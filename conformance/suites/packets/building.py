"""Encodes messages as packets with the harness's own encoder, for the implementation to read."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

from conformance.judge.packets.optional_headers import MEMBERS, list_bytes, name_values
from conformance.judge.packets.user_messages import ACKNOWLEDGEMENTS, NULL, SENDER_TYPES, canonical, plain_of_message
from conformance.wire import encode
from conformance.wire.elements import READINGS
from conformance.wire.layout import Value

_U, _M, _T, _S = "UserHeader.", "MessagePropertiesHeader.", "TransactionHeader.", "SecurityHeader."
_Q = "MultiQueueFormatHeader."


def packet_of(message: Mapping[str, Any], extra: Mapping[str, Value] | None = None) -> bytes:
    """Encode a message of the adapter protocol as a UserMessage packet. extra: values to set or override, by key."""
    plain = plain_of_message(message)
    values: dict[str, Value] = {
        "BaseHeader.Flags.PR": plain["priority"],
        _U + "SourceQueueManager": plain["source"],
        _U + "QueueManagerAddress": plain["destination_queue_manager"],
        _U + "TimeToBeReceived": plain["time_to_be_received"],
        _U + "SentTime": plain["sent_time"],
        _U + "MessageID": plain["ordinal"],
        _U + "Flags.RC": plain["hop_count"],
        _U + "Flags.DM": int(plain["delivery"] == "recoverable"),
        _U + "Flags.JN": int(plain["negative_journaling"]),
        _U + "Flags.JP": int(plain["positive_journaling"]),
        _M + "MessageClass": plain["class"],
        _M + "ApplicationTag": plain["application_tag"],
        _M + "CorrelationID": bytes.fromhex(plain["correlation_identifier"]),
        _M + "BodyType": plain["body_type"],
        _M + "PrivacyLevel": plain["privacy_level"],
        _M + "Flags": sum(1 << ACKNOWLEDGEMENTS.index(name) for name in plain["acknowledgements"]),
        _M + "Label": plain["label"],
        _M + "MessageBody": bytes.fromhex(plain["body"]),
        _M + "ExtensionData": bytes.fromhex(plain["extension"]),
    }
    defaulted = {
        "BaseHeader.TimeToReachQueue": plain["time_to_reach_queue"],
        _M + "HashAlgorithm": plain["hash_algorithm"],
        _M + "EncryptionAlgorithm": plain["encryption_algorithm"],
    }
    values |= {key: value for key, value in defaulted.items() if value is not None}
    values |= _queue("DestinationQueue", plain["destination"], plain)
    values |= _queue("AdminQueue", plain["administration_queue"], plain)
    values |= _queue("ResponseQueue", plain["response_queue"], plain)
    if plain["connector_type"] != NULL:
        values[_U + "ConnectorType"] = plain["connector_type"]
    if plain["trace"]:
        values |= {"BaseHeader.Flags.TR": 1, "BaseHeader.Flags.DH": 1}
        if plain["trace_queue"] != NULL:
            values["DebugHeader.Queue.QueueIdentifier"] = plain["trace_queue"]
    values |= list_values(message, READINGS[0]) | _soap(message)
    values |= _transaction(plain["transaction"]) | _security(plain, message) | _session(plain["session"])
    return encode("UserMessage", {**values, **(extra or {})})


def _queue(field: str, name: str | None, plain: Mapping[str, Any]) -> dict[str, Value]:
    prefix, selector = f"{_U}{field}.", f"{_U}Flags.{field[0]}Q"
    if name is None:
        return {selector: 0}
    keyword, _, rest = name.partition("=")
    if keyword == "DIRECT":
        return {selector: 7, prefix + "DirectFormatName": rest}
    if keyword == "PUBLIC":
        return {selector: 5, prefix + "PublicQueueIdentifier": rest}
    host, _, number = rest.partition("\\")
    identifier: dict[str, Value] = {prefix + "PrivateQueueIdentifier": int(number, 16)}
    if host == plain["destination_queue_manager"]:
        return {selector: 3, **identifier}
    if host == plain["source"]:
        return {selector: 2, **identifier}
    admin = canonical(plain["administration_queue"]) or ""
    if field == "ResponseQueue" and name == admin:
        return {selector: 1}
    if field == "ResponseQueue" and admin.startswith(f"PRIVATE={host}\\"):
        return {selector: 4, **identifier}
    return {selector: 6, prefix + "SourceQueueManager": host, **identifier}


def list_values(message: Mapping[str, Any], way: str) -> dict[str, Value]:
    """Return the values of a message's MultiQueueFormatHeader, its names aligned in this way; empty without lists."""
    if not message.get("destinations"):
        return {}
    out: dict[str, Value] = {}
    for name, member in MEMBERS.items():
        names = [name_values(each) for each in message.get(member) or ()]
        out[f"{_Q}{name}.ElementCount"] = len(names)
        if names:
            out[f"{_Q}{name}.FormatNameList"] = list_bytes(names, way)
    if message.get("multiple_destination_signature"):
        out[f"{_Q}Signature.Signature"] = base64.b64decode(message["multiple_destination_signature"])
    return out


def _soap(message: Mapping[str, Any]) -> dict[str, Value]:
    texts = {"SoapHeader.Header": message.get("soap_header"), "SoapHeader.Body": message.get("soap_body")}
    if not any(texts.values()):
        return {}
    # A missing text is sent as a single NUL, because both texts are null-terminated strings.
    return {key: text or b"\0\0" for key, text in texts.items()}


def _transaction(value: Mapping[str, Any] | None) -> dict[str, Value]:
    if value is None:
        return {}
    out: dict[str, Value] = {
        _T + "TxSequenceID.Ordinal": value["sequence_identifier"]["ordinal"],
        _T + "TxSequenceID.TimeStamp": value["sequence_identifier"]["timestamp"],
        _T + "TxSequenceNumber": value["sequence_number"],
        _T + "PreviousTxSequenceNumber": value["previous_sequence_number"],
        _T + "Flags.ID": value["index"],
        _T + "Flags.FM": int(value["first"]),
        _T + "Flags.LM": int(value["last"]),
        _T + "Flags.FA": int(value["final_ack_required"]),
    }
    if value["connector_queue_manager"] != NULL:
        out[_T + "ConnectorQMGuid"] = value["connector_queue_manager"]
    return out


def _security(plain: Mapping[str, Any], message: Mapping[str, Any]) -> dict[str, Value]:
    out: dict[str, Value] = {}
    items = {"SecurityID": "sender_identifier", "SenderCert": "sender_certificate", "Signature": "signature"}
    for item, member in items.items():
        if plain[member]:
            out[f"{_S}SecurityData.{item}"] = bytes.fromhex(plain[member])
    if message.get("symmetric_key"):
        out[_S + "SecurityData.EncryptionKey"] = base64.b64decode(message["symmetric_key"])
        out[_S + "Flags.EB"] = int(bool(plain["privacy_level"]))
    if plain["provider_name"]:
        out[_S + "SecurityData.ProviderInfo.ProviderName"] = plain["provider_name"]
        out[_S + "SecurityData.ProviderInfo.ProviderType"] = message.get("provider_type", 0)
    if out:
        out[_S + "Flags.ST"] = SENDER_TYPES.index(plain["sender_identifier_type"])
        out[_S + "Flags.DE"] = int(bool(plain["signature"]) and not plain["provider_name"])
        out[_S + "Flags.AI"] = 1
    return out


def _session(value: Mapping[str, Any] | None) -> dict[str, Value]:
    names = {
        "ack_sequence_number": "AckSequenceNumber",
        "recoverable_ack_sequence_number": "RecoverableMsgAckSeqNumber",
        "recoverable_ack_flags": "RecoverableMsgAckFlags",
        "user_message_sequence_number": "UserMsgSequenceNumber",
        "recoverable_message_sequence_number": "RecoverableMsgSeqNumber",
        "window_size": "WindowSize",
    }
    return {f"SessionHeader.{field}": value[name] for name, field in names.items()} if value else {}


def base64_of(data: bytes) -> str:
    """Return bytes as the adapter protocol writes them, in base64."""
    return base64.b64encode(data).decode("ascii")
