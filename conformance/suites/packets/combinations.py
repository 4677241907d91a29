"""Messages with all headers and options: every pair of options in some row, each field at the ends of its range.

An option is a few members of a `user_message`. `_NEEDS` holds what an option needs of another factor, so that a right
packet of any row breaks no rule.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from itertools import combinations
from typing import Any
from uuid import UUID

from conformance.judge.packets.signing import CERTIFICATE
from conformance.suites.packets.building import base64_of
from conformance.suites.packets.pairs import Choice, Row, all_pairs
from conformance.wire.security_items import sid_bytes

SOURCE, TARGET, OTHER = (
    "11ea26c6-b6e6-4997-9595-9150557358d1",
    "909ea0fc-9078-4445-8f11-394c43cd8907",
    "7a1f3c52-0b6e-4d6f-9a57-6f5b2f3f9a10",
)
_QUEUES = {
    "direct": "DIRECT=OS:host\\private$\\q",
    "direct-odd": "DIRECT=TCP:10.0.0.1\\qq",
    "source": f"PRIVATE={SOURCE}\\00000001",
    "target": f"PRIVATE={TARGET}\\ffffffff",
    "other": f"PRIVATE={OTHER}\\80000000",
    "public": f"PUBLIC={OTHER}",
}
Members = Mapping[str, Any]
NOTHING: Members = {}
_TOP = 0xFFFFFFFF
# Values around the sign bit and at the ends reveal signed, shorter and byte-swapped numbers.
_ENDS = (0, 1, 0x7FFFFFFF, 0x80000000, 0x01020304, _TOP - 1, _TOP)


def _numbers(member: str, *values: int) -> dict[str, Members]:
    return {f"{value:#x}": {member: value} for value in values}


def _octets(member: str, *sizes: int) -> dict[str, Members]:
    return {str(size): {member: base64_of(bytes(at & 0xFF for at in range(1, size + 1)))} for size in sizes}


def _administration(name: str) -> Members:
    return {"administration_queue": _QUEUES[name]}


def _asked(*names: str) -> Members:
    return {"acknowledgements": list(names)}


def _transaction(number: int, ordinal: int, stamp: int, index: int, **marks: Any) -> Members:
    return {
        "transaction": {
            "sequence_identifier": {"ordinal": ordinal, "timestamp": stamp},
            "sequence_number": number,
            "previous_sequence_number": number - 1,
            "index": index,
            "first": False,
            "last": False,
            **marks,
        },
        "delivery": "recoverable",
        "priority": 0,
    }


def _session(*numbers: int) -> Members:
    names = (
        "ack_sequence_number",
        "recoverable_ack_sequence_number",
        "recoverable_ack_flags",
        "user_message_sequence_number",
        "recoverable_message_sequence_number",
    )
    return {"session": {**dict(zip(names, numbers, strict=True)), "window_size": 64}}


_SID = {"sender_identifier_type": "sid", "sender_identifier": base64_of(sid_bytes("S-1-5-21-1-2-4294967295-500"))}
_MANAGER = {"sender_identifier_type": "queue_manager", "sender_identifier": base64_of(UUID(SOURCE).bytes_le)}
_CERTIFIED = {"sender_certificate": base64_of(CERTIFICATE)}
_SIGNATURE = {"signature": base64_of(bytes(range(1, 34)))}
_LISTED = [_QUEUES["direct-odd"], _QUEUES["public"], f"DL={OTHER}", _QUEUES["other"]]
_WITH_ALL_BITS = ("positive_arrival", "positive_receive", "negative_arrival", "negative_receive")

# The first option of each factor is the plain one.
FACTORS: dict[str, dict[str, Members]] = {
    "destination": {
        "direct": {"destination": _QUEUES["direct"]},
        "direct-odd": {"destination": _QUEUES["direct-odd"]},
        "direct-long": {"destination": "DIRECT=OS:" + "h" * 15 + "\\" + "q" * 104},
        "private": {"destination": _QUEUES["target"], "destination_queue_manager": TARGET},
        "public": {"destination": _QUEUES["public"], "destination_queue_manager": TARGET},
    },
    "administration": {
        "none": NOTHING,
        **{name: _administration(name) for name in ("direct", "direct-odd", "source", "target", "other", "public")},
    },
    "asked": {
        "as-needed": NOTHING,
        "two": _asked("negative_arrival", "positive_receive"),
        "all": _asked(*_WITH_ALL_BITS),
    },
    "response": {
        "none": NOTHING,
        **{name: {"response_queue": _QUEUES[name]} for name in ("direct", "direct-odd", "source", "other", "public")},
        "as-administration": {"response_queue": "administration"},
        "beside-administration": {"response_queue": "beside"},
    },
    "connector": {"none": NOTHING, "some": {"connector_type": OTHER}},
    "transaction": {
        "none": NOTHING,
        "whole": _transaction(1, 0, 1, 0, first=True, last=True),
        "inside": _transaction(0x80000000, 1, 0x80000000, 1, final_ack_required=True),
        "last": _transaction(_TOP, _TOP, 0x7FFFFFFF, (1 << 20) - 1, last=True, connector_queue_manager=OTHER),
    },
    "sender": {"none": NOTHING, "sid": _SID, "manager": _MANAGER, "sid-certificate": {**_SID, **_CERTIFIED}},
    "signature": {
        "none": NOTHING,
        "plain": _SIGNATURE,
        "provider": {**_SIGNATURE, "provider_type": _TOP, "provider_name": "provider"},
    },
    "trace": {"none": NOTHING, "bare": {"trace": True}, "queue": {"trace": True, "trace_queue": OTHER}},
    "soap": {
        "none": NOTHING,
        "both": {"soap_header": "<head/>", "soap_body": "<body/>"},
        "odd": {"soap_header": "<h/>", "soap_body": "<body>"},
        "header": {"soap_header": "<h>"},
        "body": {"soap_body": "<b>"},
    },
    "lists": {
        "none": NOTHING,
        "one": {"destinations": []},
        "several": {"destinations": _LISTED, "response_queues": _LISTED[:2]},
        "all": {"destinations": _LISTED, "administration_queues": _LISTED[1:2], "response_queues": _LISTED[::-1]},
    },
    "session": {
        "none": NOTHING,
        "express": _session(0xFFFF, 0, 0, 1, 0),
        "recoverable": _session(1, 0x8000, 0x80000001, 0xFFFF, 0x7FFF),
    },
    "priority": {"usual": NOTHING, **_numbers("priority", 0, 1, 4, 7)},
    "delivery": {"usual": NOTHING, "express": {"delivery": "express"}, "recoverable": {"delivery": "recoverable"}},
    "journaling": {
        "none": NOTHING,
        "positive": {"positive_journaling": True},
        "negative": {"negative_journaling": True},
        "both": {"positive_journaling": True, "negative_journaling": True},
    },
    "label": {
        "none": NOTHING,
        **{str(size): {"label": "l" * size} for size in (1, 2, 127, 128, 249)},
        "beyond-the-plane": {"label": "\U0001f4e8\u0416"},
    },
    "extension": {"none": NOTHING, **_octets("extension", 1, 2, 3, 4, 255, 256)},
    "body": {"none": NOTHING, **_octets("body", 1, 2, 3, 4, 255, 256, 4096)},
    "body_type": {"none": NOTHING, **_numbers("body_type", 3, 31, 65, 0x1011)},
    "class": {"normal": NOTHING, **_numbers("class", 1, 2, 0x4000, 0x8000, 0x800B, 0xC004)},
    "correlation": {"none": NOTHING, "ones": {"correlation_identifier": base64_of(b"\xff" * 20)}},
    "hash": {"usual": NOTHING, **_numbers("hash_algorithm", 0x8001, 0x8003, 0x800E)},
    "cipher": {"usual": NOTHING, **_numbers("encryption_algorithm", 0x6602, 0x660E, 0x6610)},
    "hops": {"none": NOTHING, **_numbers("hop_count", 1, 15, 16, 29)},
    "reach": {"usual": {"time_to_reach_queue": 345600}, **_numbers("time_to_reach_queue", *_ENDS)},
    "receive": {"usual": NOTHING, **_numbers("time_to_be_received", *_ENDS)},
    "sent": {"usual": NOTHING, **_numbers("sent_time", *_ENDS)},
    "tag": {"usual": NOTHING, **_numbers("application_tag", *_ENDS)},
    "ordinal": {"usual": NOTHING, **_numbers("ordinal", *_ENDS)},
}
_REMOTE = ("private", "public")
# Option to the factor it depends on, and the options of that factor that fit.
_NEEDS: dict[Choice, tuple[str, tuple[str, ...]]] = {
    ("administration", "target"): ("destination", _REMOTE),
    **{
        ("asked", option): ("administration", tuple(FACTORS["administration"])[1:]) for option in ("two", "all")
    },  # R-MQMQ-administration-queue: acknowledgments and administration queue need each other
    ("response", "as-administration"): ("administration", tuple(FACTORS["administration"])[1:]),
    ("response", "beside-administration"): ("administration", ("source", "other")),
    ("signature", "plain"): ("connector", ("some",)),  # a connector may sign in its own way
    ("signature", "provider"): ("connector", ("some",)),
    **{("priority", option): ("transaction", ("none",)) for option in FACTORS["priority"] if option != "usual"},
    ("delivery", "express"): ("transaction", ("none",)),
}


def forbids(one: Choice, other: Choice) -> bool:
    """Return True if two options exclude each other in one message."""
    return any(
        option in _NEEDS and _NEEDS[option][0] == chosen[0] and chosen[1] not in _NEEDS[option][1]
        for option, chosen in ((one, other), (other, one))
    )


def stands(row: Row) -> bool:
    """Return True if no two options of a row exclude each other."""
    return not any(forbids(one, other) for one, other in combinations(row.items(), 2))


@cache
def rows() -> tuple[Row, ...]:
    """Return the combinations, in a fixed order."""
    return tuple(all_pairs(OPTIONS, forbids))


OPTIONS: dict[str, tuple[str, ...]] = {factor: tuple(options) for factor, options in FACTORS.items()}


def message_of(row: Mapping[str, str], *, readable: bool = False) -> dict[str, Any]:
    """Return the message of a row. readable: its Soap texts need no alignment, in which readers may differ."""
    message: dict[str, Any] = {"identifier": {"source": SOURCE, "ordinal": 7}}
    for factor, option in row.items():
        message |= FACTORS[factor][option]
    if "ordinal" in message:
        message["identifier"] = {"source": SOURCE, "ordinal": message.pop("ordinal")}
    administration = message.get("administration_queue")
    if administration and "acknowledgements" not in message:
        message["acknowledgements"] = ["positive_arrival"]
    if message.get("response_queue") == "administration":
        message["response_queue"] = administration
    elif message.get("response_queue") == "beside":
        message["response_queue"] = f"{administration[:-8]}00000002" if administration else None
    if "destinations" in message:
        message["destinations"] = [message["destination"], *message["destinations"]]
    if readable and ("soap_header" in message or "soap_body" in message):
        message |= FACTORS["soap"]["both"]
    return message


def told(row: Mapping[str, str]) -> str:
    """Describe the options of a row that are not plain."""
    return ", ".join(f"{factor} {option}" for factor, option in row.items() if option != OPTIONS[factor][0]) or "plain"
