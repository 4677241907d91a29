"""Messages to be encoded, plain and secured, and the packets that a correct implementation makes of them."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from functools import cache
from typing import Any
from uuid import UUID

from hypothesis import strategies as st

from conformance.judge.packets.optional_headers import MEMBERS, list_bytes, name_values
from conformance.judge.packets.rules_signatures import CIPHERS, RSA_FULL, STANDARD
from conformance.judge.packets.signatures import LEVELS, SIGNERS_CERTIFICATE, SIZE, kinds_of, signed_by
from conformance.judge.packets.user_messages import ACKNOWLEDGEMENTS, NULL, SENDER_TYPES, canonical, plain_of_message
from conformance.wire import encode
from conformance.wire.elements import READINGS
from conformance.wire.layout import Value
from conformance.wire.security_items import simple_blob

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


GUIDS = st.uuids(version=4).map(str)
U16, U32 = st.integers(0, 0xFFFF), st.integers(0, 0xFFFFFFFF)
# Padding goes wrong at sizes around a multiple of four. The content belongs to the application and is arbitrary.
OCTETS = st.binary(max_size=9) | st.binary(min_size=60, max_size=70)
SOME_OCTETS = OCTETS.filter(len)
LABELS = st.text(st.characters(codec="utf-16-le", min_codepoint=1), max_size=12) | st.just("x" * 249)
TEXTS = st.text(st.characters(codec="utf-16-le", min_codepoint=1), min_size=1, max_size=9)
HOST = st.from_regex(r"\A[a-z][a-z0-9]{0,8}\Z")
# All of MS-MQMQ 2.2.18.1.6 except the class of order acknowledgments, which are no messages.
CLASSES = st.sampled_from(
    (0x0000, 0x0001, 0x0002, 0x4000, *range(0x8000, 0x8008), *range(0x8009, 0x800C), 0xC000, 0xC001, 0xC002, 0xC004)
)
BODY_TYPES = st.sampled_from((0, 3, 11, 17, 31, 65, 0x1011))
HASHES = st.sampled_from((0x8001, 0x8002, 0x8003, 0x8004, 0x800C, 0x800E))
ALGORITHMS = st.sampled_from((0x6602, 0x6801, 0x660E, 0x660F, 0x6610))


@st.composite
def direct_names(draw: st.DrawFn) -> str:
    """Generate direct names such as `DIRECT=OS:host\\queue`, of odd and even length."""
    protocol = draw(st.sampled_from(("OS:", "TCP:")))
    host = draw(HOST) if protocol == "OS:" else "10.0.0." + str(draw(st.integers(1, 254)))
    private = draw(st.sampled_from(("", "private$\\")))
    return f"DIRECT={protocol}{host}\\{private}{draw(HOST)}"


DIRECT_NAMES = direct_names()  # made once: hypothesis examines each new strategy, which costs time


def _private(guid: str, number: int) -> str:
    return f"PRIVATE={guid}\\{number:08x}"


PUBLIC_NAMES = GUIDS.map(lambda guid: f"PUBLIC={guid}")
PLAIN = st.fixed_dictionaries(
    {}, optional={"priority": st.integers(0, 7), "delivery": st.sampled_from(("express", "recoverable"))}
)
TRACED = st.fixed_dictionaries({}, optional={"trace_queue": GUIDS})


@st.composite
def user_messages(draw: st.DrawFn, *, transactional: bool | None = None, secured: bool | None = None) -> dict[str, Any]:
    """Generate a `user_message` of the adapter protocol.

    transactional, secured: True for a TransactionHeader or SecurityHeader, False for none, None for either.
    """
    source, other = draw(GUIDS), draw(GUIDS)
    message: dict[str, Any] = {
        "identifier": {"source": source, "ordinal": draw(U32)},
        "time_to_reach_queue": draw(U32),
        "sent_time": draw(U32),
    }
    target = draw(st.sampled_from(("direct", "private", "public")))
    if target == "direct":
        message["destination"] = draw(DIRECT_NAMES)
    else:
        host = draw(GUIDS)
        message["destination_queue_manager"] = host
        message["destination"] = _private(host, draw(U32)) if target == "private" else f"PUBLIC={draw(GUIDS)}"
    known = [source, other] + ([message["destination_queue_manager"]] if target != "direct" else [])
    queues = st.one_of(DIRECT_NAMES, st.builds(_private, st.sampled_from(known), U32), PUBLIC_NAMES)
    if draw(st.booleans()):
        message["acknowledgements"] = draw(st.lists(st.sampled_from(ACKNOWLEDGEMENTS), min_size=1, unique=True))
        message["administration_queue"] = draw(queues)
    if draw(st.booleans()):
        same = message.get("administration_queue")
        message["response_queue"] = draw(queues if same is None else st.one_of(queues, st.just(same)))
    message |= draw(_properties())
    if draw(st.booleans()) if transactional is None else transactional:
        message |= {"transaction": draw(transactions()), "delivery": "recoverable", "priority": 0}
    else:
        message |= draw(PLAIN)
    if draw(st.booleans()):
        message["trace"] = True
        message |= draw(TRACED)
    if draw(st.booleans()) if secured is None else secured:
        message |= draw(_drawn_security(source, "connector_type" in message))
    return message


@st.composite
def transactional_messages(draw: st.DrawFn) -> dict[str, Any]:
    """Generate transactional messages, some with a priority, which must be ignored."""
    return {**draw(user_messages(transactional=True)), "priority": draw(st.sampled_from((0, 7, 3)))}


@st.composite
def messages_in_a_session(draw: st.DrawFn) -> dict[str, Any]:
    """Generate a message followed by a session acknowledgment."""
    acknowledged = draw(st.integers(0, 0xFFFF))
    session = {
        "ack_sequence_number": draw(U16),
        "recoverable_ack_sequence_number": acknowledged,
        "recoverable_ack_flags": draw(U32) | 1 if acknowledged else 0,
        "user_message_sequence_number": draw(st.integers(1, 0xFFFF)),
        "recoverable_message_sequence_number": draw(U16),
        "window_size": 64,
    }
    return {**draw(user_messages()), "session": session}


@st.composite
def list_names(draw: st.DrawFn, *, lists: bool = True) -> str:
    """Generate a name for a MultiQueueFormatHeader. lists: may be a distribution list."""
    names = [
        direct_names(),
        st.builds(_private, GUIDS, U32),
        GUIDS.map(lambda guid: f"PUBLIC={guid}"),
    ]
    if lists:
        names.append(GUIDS.map(lambda guid: f"DL={guid}"))
    return draw(st.one_of(names))


@st.composite
def messages_to_several_queues(draw: st.DrawFn, *, with_soap: bool = False) -> dict[str, Any]:
    """Generate a message with a MultiQueueFormatHeader, whose first destination is the message's own.

    with_soap: some also have a SoapHeader, which precedes it.
    """
    message = draw(user_messages(transactional=False, secured=False))
    message["destinations"] = [message["destination"], *draw(st.lists(list_names(), max_size=4))]
    message |= draw(
        st.fixed_dictionaries(
            {},
            optional={
                "administration_queues": st.lists(list_names(lists=False), min_size=1, max_size=3),
                "response_queues": st.lists(list_names(), min_size=1, max_size=3),
            },
        )
    )
    # A connector may sign in its own way; any other signature verifies.
    if "connector_type" in message and draw(st.booleans()):
        message["multiple_destination_signature"] = base64_of(draw(SOME_OCTETS))
    if with_soap and draw(st.booleans()):
        message |= {member: draw(TEXTS) for member in ("soap_header", "soap_body")}
    return message


@st.composite
def soap_messages(draw: st.DrawFn, *, aligned: bool = False) -> dict[str, Any]:
    """Generate a message with a SoapHeader, whose texts have odd or even length or are missing.

    aligned: both texts are present, each a multiple of 4 bytes long with its NUL.
    """
    message = draw(user_messages(transactional=False, secured=False))
    both = ("soap_header", "soap_body")
    if aligned:
        return message | {member: draw(TEXTS.filter(_is_aligned)) for member in both}
    members = draw(st.sampled_from((both, both[:1], both[1:])))
    return message | {member: draw(TEXTS) for member in members}


def _is_aligned(text: str) -> bool:
    return len(text.encode("utf-16-le")) % 4 == 2


@cache
def _properties() -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(
        {},
        optional={
            "body": OCTETS.map(base64_of),
            "extension": OCTETS.map(base64_of),
            "label": LABELS,
            "body_type": BODY_TYPES,
            "class": CLASSES,
            "application_tag": U32,
            "correlation_identifier": st.binary(min_size=20, max_size=20).map(base64_of),
            "positive_journaling": st.booleans(),
            "negative_journaling": st.booleans(),
            "time_to_be_received": U32,
            "hop_count": st.integers(0, 29),
            "connector_type": GUIDS,
            "hash_algorithm": HASHES,
            "encryption_algorithm": ALGORITHMS,
        },
    )


@st.composite
def transactions(draw: st.DrawFn) -> dict[str, Any]:
    """Generate a `transaction` member: any place in any sequence."""
    number = draw(st.integers(1, 0xFFFFFFFF))
    out = {
        "sequence_identifier": {"ordinal": draw(U32), "timestamp": draw(U32)},
        "sequence_number": number,
        "previous_sequence_number": number - 1,
        "index": draw(st.integers(0, (1 << 20) - 1)),
        "first": draw(st.booleans()),
        "last": draw(st.booleans()),
    }
    extra = st.fixed_dictionaries({}, optional={"final_ack_required": st.booleans(), "connector_queue_manager": GUIDS})
    return out | draw(extra)


def _sid(authorities: list[int]) -> bytes:
    """Encode a SID of revision 1, authority 5 and these sub-authorities (MS-DTYP 2.4.2.2)."""
    return bytes((1, len(authorities), 0, 0, 0, 0, 0, 5)) + b"".join(one.to_bytes(4, "little") for one in authorities)


@st.composite
def _drawn_security(draw: st.DrawFn, source: str, connected: bool) -> dict[str, Any]:
    """Generate the sender. connected: a connector made the message and may sign in its own way."""
    kind = draw(st.sampled_from(("sid", "queue_manager")))
    sender = _sid(draw(st.lists(U32, min_size=1, max_size=5))) if kind == "sid" else UUID(source).bytes_le
    out: dict[str, Any] = {"sender_identifier_type": kind, "sender_identifier": base64_of(sender)}
    optional = {"sender_certificate": st.just(base64_of(SIGNERS_CERTIFICATE))}
    if connected:
        optional["signature"] = SOME_OCTETS.map(base64_of)
    out |= draw(st.fixed_dictionaries({}, optional=optional))
    if "signature" in out and draw(st.booleans()):
        out |= {"provider_type": draw(U32), "provider_name": draw(HOST)}
    return out


# These queue names have only one form in a packet; a private one has two or three.
PLAIN_QUEUES = ("DIRECT=", "PUBLIC=")


@st.composite
def signed_messages(draw: st.DrawFn, profile: str, readings: Mapping[str, tuple[str, ...]]) -> dict[str, Any]:
    """Generate a message with a certificate and a signature of a kind of the profile, made for its packet."""
    message = draw(user_messages(secured=False))
    for member in ("administration_queue", "response_queue"):
        if not message.get(member, PLAIN_QUEUES[0]).startswith(PLAIN_QUEUES):
            del message[member]
    if message.get("response_queue") == message.get("administration_queue"):
        message.pop("response_queue", None)
    if "administration_queue" not in message:
        message.pop("acknowledgements", None)
    kind = draw(st.sampled_from(kinds_of(profile)))
    message |= {
        "hash_algorithm": draw(HASHES),
        "sender_certificate": base64_of(SIGNERS_CERTIFICATE),
        "authentication_level": LEVELS[kind],
    }
    if draw(st.booleans()):
        message |= {"provider_type": RSA_FULL, "provider_name": STANDARD[0]}
    unsigned = packet_of({**message, "signature": base64_of(bytes(SIZE))})
    return {**message, "signature": base64_of(signed_by(readings, kind, unsigned))}


@st.composite
def encrypted_messages(draw: st.DrawFn) -> dict[str, Any]:
    """Generate a message whose body has a possible encrypted length, with a session key of the right form."""
    message = draw(user_messages(secured=False))
    algorithm = draw(st.sampled_from(tuple(CIPHERS)))
    _, privacy, block = CIPHERS[algorithm]
    size = draw(st.integers(1, 4)) * block
    return {
        **message,
        "privacy_level": privacy,
        "encryption_algorithm": algorithm,
        "symmetric_key": base64_of(simple_blob(algorithm, draw(st.binary(min_size=64, max_size=64)))),
        "body": base64_of(draw(st.binary(min_size=size, max_size=size))),
    }
