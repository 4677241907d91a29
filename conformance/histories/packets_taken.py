"""Packets that the harness takes in place of their destination: read their messages and judge them."""

from __future__ import annotations

import binascii
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

from conformance.judge.packets.judge import judge_dissected
from conformance.judge.packets.user_messages import plain_of_packet
from conformance.model import SeenMessage
from conformance.model.carried import BITS, name_without_body
from conformance.model.values import replace
from conformance.verdict import Evidence, Json, Verdict
from conformance.wire import dissect

if TYPE_CHECKING:
    from conformance.harness.recorder import Recorder
    from conformance.wire import Packet


@lru_cache(256)
def _dissected(raw: str) -> Packet:
    return dissect(binascii.a2b_base64(raw), transport="buffer")


def seen(raw: str, name_of: Callable[[str], str]) -> SeenMessage:
    """Return the message of a packet in base64. name_of: maps a format name to the harness's name of the queue.

    An unreadable packet has no body, hence no name, and so matches no sent message.
    """
    plain = plain_of_packet(_dissected(raw))
    body, priority, destination = plain["body"], plain["priority"], plain["destination"]
    shown = {name: value for name in BITS if (value := _as_sent(name, plain[name])) is not None}
    found = SeenMessage(
        body=bytes.fromhex(body) if isinstance(body, str) else b"",
        label=plain["label"] if isinstance(plain["label"], str) else None,
        priority=priority if isinstance(priority, int) else None,
        delivery=plain["delivery"],
        destination=name_of(destination) if isinstance(destination, str) else "no queue",
        shown=shown,
    )
    return found if found.name else replace(found, name=name_without_body({**shown, "label": plain["label"]}))


def numbered(raw: str) -> tuple[dict[str, Json] | None, dict[str, Json] | None]:
    """Return the identifier of a packet's message, and of a transactional one sequence, number and number before."""
    plain = plain_of_packet(_dissected(raw))
    source, transaction = plain.get("source"), plain.get("transaction")
    identifier = {"source": source, "ordinal": plain.get("ordinal")} if isinstance(source, str) else None
    if not isinstance(transaction, dict):
        return identifier, None
    place = transaction["sequence_identifier"]
    if not all(isinstance(one, int) for one in (place["ordinal"], place["timestamp"])):
        return identifier, None
    return identifier, {
        "sequence": str(place["timestamp"] << 32 | place["ordinal"]),
        "number": transaction["sequence_number"],
        "previous": transaction["previous_sequence_number"],
    }


def _as_sent(member: str, value: Json) -> Json:
    """Return a value of a packet as the protocol's message has it; None for one that could not be decoded."""
    if member in ("extension", "correlation_identifier") and isinstance(value, str):
        return binascii.b2a_base64(bytes.fromhex(value), newline=False).decode("ascii")
    return value


def judged(packets: Iterable[str], judge: Recorder) -> Iterator[Verdict]:
    """Yield the verdicts of the packet rules on each packet."""
    for raw in packets:
        yield from judge_dissected(
            _dissected(raw),
            profile=judge.profile,
            readings=judge.readings,
            transport="buffer",
            level="may",
            subject="outgoing.take",
            evidence=Evidence("packet", "taken", {"packet": raw}),
        )
