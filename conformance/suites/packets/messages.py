"""Generates consistent user messages: every rule holds for a right packet of any of them."""

from __future__ import annotations

from functools import cache
from typing import Any
from uuid import UUID

from hypothesis import strategies as st

from conformance.judge.packets.signing import CERTIFICATE
from conformance.judge.packets.user_messages import ACKNOWLEDGEMENTS
from conformance.suites.packets.building import base64_of

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
        message |= draw(_security(source, "connector_type" in message))
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
def _security(draw: st.DrawFn, source: str, connected: bool) -> dict[str, Any]:
    """Generate the sender. connected: a connector made the message and may sign in its own way."""
    kind = draw(st.sampled_from(("sid", "queue_manager")))
    sender = _sid(draw(st.lists(U32, min_size=1, max_size=5))) if kind == "sid" else UUID(source).bytes_le
    out: dict[str, Any] = {"sender_identifier_type": kind, "sender_identifier": base64_of(sender)}
    optional = {"sender_certificate": st.just(base64_of(CERTIFICATE))}
    if connected:
        optional["signature"] = SOME_OCTETS.map(base64_of)
    out |= draw(st.fixed_dictionaries({}, optional=optional))
    if "signature" in out and draw(st.booleans()):
        out |= {"provider_type": draw(U32), "provider_name": draw(HOST)}
    return out
