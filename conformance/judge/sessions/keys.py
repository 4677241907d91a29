"""Who sent a packet, the words of names that are keys of tables, and numbers for combinations of verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import Any, Final
from uuid import UUID

from conformance.judge.sessions.context import MESSAGES, Said, Seen
from conformance.judge.sessions.opening import NULL_GUID

Name = tuple[str, int]
"""A message: its queue manager and number."""
FREQUENT: Final[frozenset[str]] = MESSAGES | {"SessionAck"}
"""The kinds of packets that an open session consists of."""

HOPS: Final = "UserHeader.Flags.RC"
MANAGER: Final = "UserHeader.SourceQueueManager"
PINGED: Final = "Ping.QMGuid"


def sender_name(seen: Seen, manager: str | None) -> str:
    """Return the sender of a packet: its queue manager's GUID where known, else its address.

    manager: what the initialization of the session named on this side, None before. The initialization and a ping name
    the queue manager; so does a message that was not passed on.
    """
    if seen.connection is None or seen.side is None:
        return seen.text(PINGED) or seen.hosts[0]
    if manager is None and seen.number(HOPS) == 0:
        manager = seen.text(MANAGER)
    return seen.hosts[0] if manager is None or manager == NULL_GUID else manager


_FACTORS = (0x2545F491, 0x1B873593, 0x165667B1, 0x27D4EB2F)


def queue_lane(before: int, part: int, factor: int) -> int:
    """Return one of the four numbers of 31 bits that a queue's words consist of, after one more part of 31 bits."""
    return ((before ^ part) * factor + (before >> 13)) & 0x7FFFFFFF


@lru_cache(maxsize=1 << 14)
def queue_words(queue: str) -> tuple[int, int]:
    """Return the two words of a queue, given as `Seen.queue` does."""
    manager, private, public, direct = queue.split("|", 3)
    parts = [*_parts(manager), *_parts(public)]
    number = int(private) if private else -1
    parts += [number & 0xFFFF, number >> 16 & 0x1FFFF, *_letters(direct)]
    lanes = [1, 1, 1, 1]
    for part in parts:
        lanes = [queue_lane(lane, part, factor) for lane, factor in zip(lanes, _FACTORS, strict=True)]
    return lanes[0] << 31 | lanes[1], lanes[2] << 31 | lanes[3]


def _parts(guid: str) -> list[int]:
    if not guid:
        return [0]
    raw = UUID(guid).bytes_le
    words = int.from_bytes(raw[:8], "little"), int.from_bytes(raw[8:], "little")
    return [1, *(part for word in words for part in (word & 0x3FFFFF, word >> 22 & 0x1FFFFF, word >> 43))]


def _letters(name: str) -> list[int]:
    """Return the length of a name, then its letters: four ASCII letters to a part, or the UTF-16 units of others."""
    if name.isascii():
        raw = name.encode()
        return [len(raw)] + [
            sum(letter << 7 * at for at, letter in enumerate(raw[four : four + 4])) for four in range(0, len(raw), 4)
        ]
    raw = name.encode("utf-16-le", "surrogatepass")
    return [1 << 30 | len(raw) >> 1] + [raw[at] | raw[at + 1] << 8 for at in range(0, len(raw), 2)]


@lru_cache(maxsize=1 << 14)
def guid_words(guid: str) -> tuple[int, int]:
    """Return the two words of a GUID."""
    raw = UUID(guid).bytes_le
    return int.from_bytes(raw[:8], "little", signed=True), int.from_bytes(raw[8:], "little", signed=True)


@lru_cache(maxsize=1 << 14)
def guid_of_words(high: int, low: int) -> str:
    """Return the GUID of two words."""
    return str(UUID(bytes_le=high.to_bytes(8, "little", signed=True) + low.to_bytes(8, "little", signed=True)))


def group_words(source: str, hosts: tuple[str, str], queue: str) -> tuple[int, int]:
    """Return the two words of a queue manager, the hosts between which it sends, and a queue."""
    (s0, s1), (h0, h1), (q0, q1) = guid_words(source), host_words(hosts), queue_words(queue)
    return s0 ^ q0 ^ h0, s1 ^ q1 ^ h1


@lru_cache(maxsize=1 << 14)
def host_words(hosts: tuple[str, str]) -> tuple[int, int]:
    """Return the two words of two hosts, in their order."""
    raw = blake2b("|".join(hosts).encode(), digest_size=16).digest()
    return int.from_bytes(raw[:8], "little", signed=True), int.from_bytes(raw[8:], "little", signed=True)


class Patterns:
    """Combinations of verdicts by number: indexes of `SessionJudge.kinds`. Number 0 is no verdict."""

    def __init__(self) -> None:
        self.kinds: list[tuple[int, ...]] = [()]
        self._numbers: dict[tuple[int, ...], int] = {(): 0}

    def number(self, kinds: Sequence[Said]) -> int:
        """Return the number of these kinds together."""
        key: tuple[Any, ...] = tuple(kinds)
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self.kinds)
            self.kinds.append(key)
        return number
