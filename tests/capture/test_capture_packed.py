"""Compressed captures: gzip and zstandard, whole, cut, damaged, in several parts, and traps."""

from __future__ import annotations

import gzip
import struct
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from backports import zstd
from small_files import pcap, pcapng

from conformance.capture import CaptureError, Cut, Ended, Event, Frame, packed, read_capture
from conformance.files import resource
from conformance.replay import replay
from conformance.spec.catalogue import assignment

CAPTURES = resource("fixtures/captures")
Compress = Callable[[bytes], bytes]
SKIPPABLE = struct.pack("<II", 0x184D2A50, 8) + b"anything"
PACKERS: dict[str, Compress] = {".gz": gzip.compress, ".zst": zstd.compress}


def events(tmp_path: Path, content: bytes) -> list[Event]:
    path = tmp_path / "a.pcap"
    path.write_bytes(content)
    return list(read_capture(path))


@pytest.mark.parametrize("how", packed.COMPRESSED_SUFFIXES)
@pytest.mark.parametrize("content", [pcap(count=3), pcapng()], ids=["pcap", "pcapng"])
def test_a_compressed_file_is_what_is_in_it(tmp_path: Path, how: str, content: bytes) -> None:
    assert events(tmp_path, PACKERS[how](content)) == events(tmp_path, content)
    assert packed.compression(PACKERS[how](content)[:4]) == how


def test_frames_that_hold_nothing_are_passed_over(tmp_path: Path) -> None:
    whole = pcap(count=2)
    parts = SKIPPABLE + zstd.compress(whole[:70]) + SKIPPABLE + zstd.compress(whole[70:]) + SKIPPABLE + bytes(512)
    assert [type(event) for event in events(tmp_path, parts)] == [Frame, Frame, Ended]


@pytest.mark.parametrize("how", packed.COMPRESSED_SUFFIXES)
def test_a_file_cut_anywhere_keeps_what_was_read(tmp_path: Path, how: str) -> None:
    whole, seen = PACKERS[how](pcap()) + PACKERS[how](pcap(count=40)[24:]), set[int]()
    for end in range(1, len(whole)):
        try:
            found = events(tmp_path, whole[:end])
        except CaptureError as error:
            assert str(error).endswith(".") and "\n" not in str(error)
            continue
        # Between two compressed parts it looks whole.
        assert isinstance(found[-1], Ended) and (isinstance(found[-2], Cut) or end == len(PACKERS[how](pcap())))
        seen.add(sum(isinstance(event, Frame) for event in found))
    assert 1 in seen and max(seen) <= 41


@pytest.mark.parametrize("how", packed.COMPRESSED_SUFFIXES)
def test_what_stands_before_damage_is_read(tmp_path: Path, how: str) -> None:
    first, second = PACKERS[how](pcap(count=2000)), bytearray(PACKERS[how](pcap(count=2000)[24:]))
    second[10:14] = b"\xff\xff\xff\xff"
    *frames, cut, end = events(tmp_path, first + second)
    assert len(frames) >= 2000 and isinstance(end, Ended)
    assert isinstance(cut, Cut) and "the compressed file is cut or damaged" in cut.text


@pytest.mark.parametrize("how", packed.COMPRESSED_SUFFIXES)
def test_other_data_behind_the_end_is_told(tmp_path: Path, how: str) -> None:
    found = events(tmp_path, PACKERS[how](pcap()) + b"and something else")
    assert [type(event) for event in found] == [Frame, Cut, Ended]
    assert "not compressed" in found[1].text  # type: ignore[union-attr]


def test_a_file_that_unpacks_to_far_more_than_its_size_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packed, "FREE", 1 << 20)
    trap = zstd.compress(pcap() + bytes(200 << 20))
    assert len(trap) < 10_000
    frame, *_, cut, _ = events(tmp_path, trap)
    assert isinstance(frame, Frame) and isinstance(cut, Cut) and "2,048 times its size" in cut.text
    beginning = packed.unpacking(_Trap(trap), ".zst")
    given = 0
    with pytest.raises(packed.DamagedError):
        while data := beginning.read(1 << 16):
            given += len(data)
    assert given < 2 * packed.MAX_RATIO * len(trap)


class _Trap:
    def __init__(self, data: bytes) -> None:
        self.left = data

    def read(self, count: int, /) -> bytes:
        taken, self.left = self.left[:count], self.left[count:]
        return taken


def test_a_window_beyond_128_mib_is_refused(tmp_path: Path) -> None:
    options = {zstd.CompressionParameter.window_log: 28, zstd.CompressionParameter.content_size_flag: 0}
    maker = zstd.ZstdCompressor(options=options)
    wide = maker.compress(pcap()) + maker.flush()
    with pytest.raises(CaptureError, match="cannot be unpacked"):
        events(tmp_path, wide)


def test_without_the_library_one_sentence_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("compression.zstd", "backports.zstd"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(CaptureError) as caught:
        events(tmp_path, zstd.compress(pcap()))
    assert "pip install 'mqconform[zstd]'." in str(caught.value) and "a.pcap" in str(caught.value)
    assert [type(event) for event in events(tmp_path, gzip.compress(pcap()))] == [Frame, Ended]


def test_the_verdicts_are_those_of_the_file_in_it(tmp_path: Path) -> None:
    whole = (CAPTURES / "packet-size-zero.pcapng").read_bytes()
    counts = []
    for how in ("", ".zst"):
        path = tmp_path / f"a.pcapng{how}"
        path.write_bytes(PACKERS[how](whole) if how else whole)
        found = replay([path], profile="msmq-4.0", readings=assignment("windows"))
        counts.append(sorted((one.verdict.requirement, one.verdict.outcome.value, one.count) for one in found.counted))
    assert counts[0] == counts[1] != []


def test_secrets_and_entries_of_a_log_are_counted_and_have_no_part_in_it() -> None:
    found = list(read_capture(CAPTURES / "pcapng-sections.pcapng"))
    plain = list(read_capture(CAPTURES / "consistent-session.pcapng"))
    one, other = ([(e.data, e.time_ns // 1000 - 1) for e in each if isinstance(e, Frame)] for each in (found, plain))
    assert [data for data, _ in one] == [data for data, _ in other]
    assert all(0 <= mine[1] - theirs[1] + 1 <= 2 for mine, theirs in zip(one, other, strict=True))
    end = found[-1]
    assert isinstance(end, Ended) and isinstance(plain[-1], Ended)
    assert end.records == plain[-1].records + 1  # Wireshark numbers the entry of the log, too.
    assert dict(end.skipped) == dict(plain[-1].skipped) | {
        "decryption secrets, which are not used": 1,
        "not a packet": 1,
    }
