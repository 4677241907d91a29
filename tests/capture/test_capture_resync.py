"""Finding records again: where, in both formats, and at what cost in a file that was made to make it dear."""

from __future__ import annotations

import gzip
import io
import struct
from dataclasses import dataclass
from pathlib import Path

import build_captures
import build_tcp
import pytest

from conformance.capture import Cut, Frame, Passed, read_capture
from conformance.capture.records import CHAIN, BlockRule, Mapped, PcapRule, Source, search

HEAD = struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 262144, 1)
TINY = struct.pack("<IIII", 1000, 0, 1, 1) + b"x"
RULE = PcapRule("<", 1, 16)
WHOLE = build_captures.consistent_session()


def test_a_chain_is_eight_records_or_all_up_to_the_end() -> None:
    for count, found in ((CHAIN - 1, False), (CHAIN, True)):
        assert search(Source(io.BytesIO(b"\xff" * 5 + TINY * count + b"\xff" * 40)), RULE)[1] is found
        assert search(Source(io.BytesIO(b"\xff" * 5 + TINY * count)), RULE) == (5, True)


@pytest.mark.parametrize("most, found", [(5, (5, False)), (6, (5, True))])
def test_a_place_beyond_a_range_is_not_for_it(most: int, found: tuple[int, bool]) -> None:
    data = b"\xff" * 5 + TINY * CHAIN
    assert search(Source(io.BytesIO(data)), RULE, most) == found
    assert search(Mapped(data, 0), RULE, most) == found


@pytest.mark.parametrize("order", ["<", ">"])
def test_blocks_are_found_again(order: str) -> None:
    """At any offset; a section brings its own byte order."""
    block = b"".join(struct.pack(f"{order}I", one) for one in (5, 12, 12))
    assert search(Source(io.BytesIO(b"junk!" + block * CHAIN + b"more")), BlockRule(order)) == (5, True)
    mark = struct.pack(f"{order}I", 0x1A2B3C4D)
    section = b"\n\r\r\n" + struct.pack(f"{order}I", 28) + mark + bytes(12) + struct.pack(f"{order}I", 28)
    other = ">" if order == "<" else "<"
    assert search(Source(io.BytesIO(b"?" * 9 + section + block)), BlockRule(other)) == (9, True)


def test_a_block_that_says_nonsense_is_passed_over_alone(tmp_path: Path) -> None:
    """It names an interface that was never described."""
    whole = WHOLE.pcapng()
    first = 28 + struct.unpack_from("<I", whole, 32)[0]
    strange = build_tcp.block(6, struct.pack("<IIIII", 7, 0, 0, 4, 4) + b"data")
    path = tmp_path / "strange.pcapng"
    path.write_bytes(whole[:first] + strange + whole[first:])
    found = list(read_capture(path))
    assert [event for event in found if isinstance(event, Passed | Cut)] == [Passed(1, len(strange))]
    assert sum(isinstance(event, Frame) for event in found) == 26


def test_what_follows_a_compressed_file_is_told(tmp_path: Path) -> None:
    """Padding with zeros is no damage, anything else is."""
    path = tmp_path / "more.pcap.gz"
    for more, cuts in ((bytes(600), 0), (b"and something else", 1)):
        path.write_bytes(gzip.compress(WHOLE.pcap()) + more)
        found = list(read_capture(path))
        assert sum(isinstance(event, Frame) for event in found) == 26
        assert sum(isinstance(event, Cut) for event in found) == cuts


@dataclass
class _Counting:
    """The rule, and how often it was asked."""

    rule: PcapRule | BlockRule
    steps: int = 0

    @property
    def head(self) -> int:
        return self.rule.head

    def candidates(self, data, begin, end):  # type: ignore[no-untyped-def]
        return self.rule.candidates(data, begin, end)

    def step(self, data, at, before):  # type: ignore[no-untyped-def]
        self.steps += 1
        return self.rule.step(data, at, before)

    def closed(self, data, at, length):  # type: ignore[no-untyped-def]
        return self.rule.closed(data, at, length)


class _Read(io.BytesIO):
    """How many bytes were asked for at most at once, and in all."""

    most = every = 0

    def read(self, count: int | None = -1, /) -> bytes:
        data = super().read(count)
        self.most, self.every = max(self.most, len(data)), self.every + len(data)
        return data


EMPTY = struct.pack("<III", 5, 12, 12)
HOSTILE = {
    "chains of seven": (RULE, (TINY * 7 + b"\xff" * 17) * 3_000),
    "lengths everywhere": (RULE, b"\1\0\0\0" * 100_000 + b"\xff" * 16),
    "each claims what is not there": (RULE, struct.pack("<IIII", 1000, 0, 1 << 24, 1 << 24) * 20_000),
    "blocks in sevens": (BlockRule("<"), (EMPTY * 7 + b"\xff" * 13) * 3_000),
    "blocks that claim much": (BlockRule("<"), struct.pack("<II", 6, 1 << 24) * 40_000),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_costs_no_more_than_its_size(name: str) -> None:
    """Nothing is read twice, and an offset is looked at a bounded number of times."""
    rule, data = HOSTILE[name]
    stream, counting = _Read(data), _Counting(rule)
    search(Source(stream), counting)
    assert stream.every <= len(data)
    assert counting.steps <= CHAIN * len(data)


def test_what_is_held_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A record that claims much is waited for; what was looked at before is let go of."""
    monkeypatch.setattr("conformance.capture.records.REACH", 1 << 18)
    data = (struct.pack("<IIII", 1000, 0, 1 << 16, 1 << 16) + b"\xff" * ((1 << 16) + 3)) * 100
    source, held = Source(_Read(data)), 0
    while source.reach(1):
        source.skip(1)
        search(source, RULE)
        held = max(held, len(source.held[0]))
    assert held <= 1 << 21 < len(data)
