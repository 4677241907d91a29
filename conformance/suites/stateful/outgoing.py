"""Queues on other computers: how they are named, and the packets that are taken in place of their destination."""

from __future__ import annotations

import binascii
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from conformance.judge.packets import judge_dissected
from conformance.judge.user_messages import plain_of_packet
from conformance.model import Answer, SeenMessage
from conformance.model.values import replace
from conformance.verdict import Evidence, Verdict
from conformance.wire import dissect

if TYPE_CHECKING:
    from conformance.suites.judging import Judge
    from conformance.wire import Packet

METHODS: Final = frozenset({"outgoing.pause", "outgoing.resume", "outgoing.take"})
_ADDRESS = "TCP:192.0.2.7"  # RFC 5737: an address of nobody
_ALIAS = "OS:mqconform-elsewhere"


def format_name(queue: str, own: str) -> str:
    """The direct format name of `remote1`, `remote2`, ...: each another queue, the third by a computer's name."""
    return f"DIRECT={_ALIAS if queue == 'remote3' else _ADDRESS}\\private$\\mqconform-{queue}{own}"


def with_messages(answer: Answer, values: Mapping[str, Any], name_of: Callable[[str], str]) -> Answer:
    """The answer with the messages in its packets. name_of: the harness's name of a queue, by its format name."""
    if answer.failed or "packets" not in values:
        return answer
    return replace(answer, messages=tuple(_seen(_dissected(raw), name_of) for raw in values["packets"]))


@lru_cache(256)
def _dissected(raw: str) -> Packet:
    return dissect(binascii.a2b_base64(raw), transport="buffer")


def _seen(packet: Packet, name_of: Callable[[str], str]) -> SeenMessage:
    """The message of a packet. One that cannot be read has no body, and so no name: it is none that was sent."""
    plain = plain_of_packet(packet)
    body, priority, destination = plain["body"], plain["priority"], plain["destination"]
    return SeenMessage(
        body=bytes.fromhex(body) if isinstance(body, str) else b"",
        label=plain["label"] if isinstance(plain["label"], str) else None,
        priority=priority if isinstance(priority, int) else None,
        delivery=plain["delivery"],
        destination=name_of(destination) if isinstance(destination, str) else "no queue",
    )


def judged(packets: Iterable[str], judge: Judge) -> Iterator[Verdict]:
    """What the rules say of each packet that was taken."""
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
