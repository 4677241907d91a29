"""Captures as files, folders and packed files."""

from __future__ import annotations

import gzip
import io
import os
import struct
import threading
from pathlib import Path

import pytest
from small_files import PING, block, pcap, pcapng

from conformance.capture import CaptureError, Cut, Ended, Frame, Passed, read_capture
from conformance.capture.files import Following, Stop
from conformance.capture.inputs import expand, refused
from conformance.capture.records import RecordWalk, read_records

CAPTURES = Path(__file__).parents[2] / "fixtures" / "captures"
WHOLE = (CAPTURES / "consistent-session.pcapng").read_bytes()


def test_a_folder_stands_for_the_captures_below_it(tmp_path: Path) -> None:
    names = ["b.pcap", "a.PCAPNG", "deep/c.pcap.gz", "deep/d.pcap12", "deep/e.cap"]
    for name in [*names, "notes.txt", "a.expect.toml", "pcap"]:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"")
    assert expand([str(tmp_path)]) == sorted(str(tmp_path / name) for name in names)


def test_a_pattern_stands_for_what_fits_and_each_file_is_read_once(tmp_path: Path) -> None:
    for name in ("one.pcap", "two.pcap", "odd[1].pcap"):
        (tmp_path / name).write_bytes(b"")
    one, two, odd = (str(tmp_path / name) for name in ("one.pcap", "two.pcap", "odd[1].pcap"))
    assert expand([two, str(tmp_path / "*o*.pcap"), "-"]) == [two, odd, one, "-"]
    assert expand([odd]) == [odd]  # the file itself, not the pattern


@pytest.mark.parametrize(("name", "says"), [("", "holds no capture"), ("*.pcap", "No file fits")])
def test_nothing_meant_is_an_error(tmp_path: Path, name: str, says: str) -> None:
    with pytest.raises(CaptureError, match=says):
        expand([str(tmp_path / name)])


def test_what_is_no_file_in_a_folder_is_meant_too_and_not_to_be_opened(tmp_path: Path) -> None:
    (tmp_path / "file.pcap").write_bytes(b"")
    (tmp_path / "folder.pcap").mkdir()
    (tmp_path / "link.pcap").symlink_to("nothing")
    os.mkfifo(tmp_path / "pipe.pcap")
    file, link, pipe = (str(tmp_path / f"{name}.pcap") for name in ("file", "link", "pipe"))
    for name in (str(tmp_path), str(tmp_path / "*.pcap")):
        assert expand([name]) == [file, link, pipe]
        assert list(refused([file, link, pipe], [name])) == [pipe]
    assert refused([pipe], [pipe]) == {}  # named by itself it is read


def test_more_of_a_growing_file_is_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "growing.pcapng"
    path.write_bytes(WHOLE[:700])
    half_read = threading.Event()

    def write() -> None:
        half_read.wait(20)
        with path.open("ab") as file:
            file.write(WHOLE[700:])

    writer = threading.Thread(target=write)
    writer.start()
    stop = Stop(20)
    events = []
    for event in read_capture(path, follow=stop):
        events.append(event)
        half_read.set()
        if isinstance(event, Frame) and event.number == 20:
            stop.tell()
    writer.join()
    assert sum(isinstance(event, Frame) for event in events) == 26
    assert isinstance(events[-1], Ended)


def test_a_file_that_becomes_shorter_has_ended() -> None:
    raw = io.BytesIO(b"abc")
    following = Following(raw, Stop(), wait=lambda _: raw.truncate(1))
    assert io.BufferedReader(following).read(10) == b"abc"


def test_a_pipe_that_hands_over_single_bytes_is_read_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    reading, writing = os.pipe()

    def write() -> None:
        for at in range(64):
            os.write(writing, WHOLE[at : at + 1])
        os.write(writing, WHOLE[64:])
        os.close(writing)

    writer = threading.Thread(target=write)
    with os.fdopen(reading, "rb") as pipe:
        monkeypatch.setattr("sys.stdin", pipe)
        writer.start()
        frames = [event for event in read_capture("-") if isinstance(event, Frame)]
    writer.join()
    assert len(frames) == 26


def test_a_silent_pipe_ends_when_the_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    reading, writing = os.pipe()
    os.write(writing, WHOLE)
    with os.fdopen(reading, "rb") as pipe:
        monkeypatch.setattr("sys.stdin", pipe)
        frames = [event for event in read_capture("-", follow=Stop(0.1)) if isinstance(event, Frame)]
    os.close(writing)
    assert len(frames) == 26


def events(tmp_path, content: bytes, name: str = "a.pcap"):
    path = tmp_path / name
    path.write_bytes(content)
    return list(read_capture(path))


GOOD = {
    "little": pcap("<"),
    "big": pcap(">"),
    "nanoseconds": pcap("<", 0xA1B23C4D, 250_000_000),
    "big nanoseconds": pcap(">", 0xA1B23C4D, 250_000_000),
    "modified": pcap("<", 0xA1B2CD34, extra=bytes(8)),
    "ng": pcapng("<"),
    "ng big": pcapng(">"),
    "ng nanoseconds": pcapng("<", struct.pack("<HHB3x", 9, 1, 9), 1_000_250_000_000),
    "ng binary": pcapng("<", struct.pack("<HHB3x", 9, 1, 0x82), 4001),
    "ng offset": pcapng("<", struct.pack("<HHq", 14, 8, 900), 100_250_000),
    "ng old block": pcapng("<", kind=2),
    "compressed": gzip.compress(pcap("<")),
    "compressed ng": gzip.compress(pcapng("<")),
}


@pytest.mark.parametrize("name", GOOD)
def test_every_format_gives_the_packet_and_its_time(tmp_path, name):
    frame, end = events(tmp_path, GOOD[name])
    assert isinstance(frame, Frame) and isinstance(end, Ended)
    assert (frame.data, frame.time, end.records) == (PING, 1000.25, 1)


def test_a_simple_packet_block_has_no_time(tmp_path):
    frame, _ = events(tmp_path, pcapng("<", kind=3))
    assert (frame.data, frame.time) == (PING, 0)


def test_two_sections_may_differ_in_byte_order(tmp_path):
    found = events(tmp_path, pcapng("<") + pcapng(">"))
    assert [type(event) for event in found] == [Frame, Frame, Ended]


BROKEN = {
    "empty": (b"", "is empty"),
    "text": (b"GET / HTTP/1.1\r\n", "is not a capture"),
    "one byte": (b"\xd4", "is not a capture"),
    "compressed text": (gzip.compress(b"hello world"), "is not a capture"),
    "compressed nothing": (gzip.compress(b""), "is empty"),
    "half of gzip": (gzip.compress(pcap())[:9], "cannot be unpacked"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_no_capture_is_said_in_one_sentence(tmp_path, name):
    content, words = BROKEN[name]
    with pytest.raises(CaptureError) as caught:
        events(tmp_path, content)
    text = str(caught.value)
    assert words in text and text.endswith(".") and "\n" not in text


def test_missing_and_folder(tmp_path):
    with pytest.raises(CaptureError, match="There is no file"):
        list(read_capture(tmp_path / "none.pcap"))
    with pytest.raises(CaptureError, match="is a folder"):
        list(read_capture(tmp_path))


@pytest.mark.parametrize("name", ["little", "ng", "compressed", "modified"])
def test_a_file_cut_anywhere_keeps_what_was_read(tmp_path, name):
    """Whatever the place, nothing but CaptureError is raised, and the records before it are kept."""
    whole = {
        "little": pcap(count=2),
        "ng": pcapng() + pcapng(),
        "compressed": gzip.compress(pcap(count=2)),
        "modified": pcap("<", 0xA1B2CD34, extra=bytes(8), count=2),
    }[name]
    kept = set()
    for end in range(1, len(whole)):
        try:
            found = events(tmp_path, whole[:end])
        except CaptureError:
            continue
        assert isinstance(found[-1], Ended)
        kept.add((sum(isinstance(event, Frame) for event in found), sum(isinstance(event, Cut) for event in found)))
    assert {(0, 1), (1, 1)} <= kept
    if name != "compressed":
        assert (1, 0) in kept  # Cut where a record ends: nothing is missing.


def test_damage_in_a_compressed_file_is_a_cut(tmp_path):
    packed = bytearray(gzip.compress(pcap(count=2000), compresslevel=1))
    packed[-5:] = b"\xff" * 5
    found = events(tmp_path, bytes(packed))
    assert sum(isinstance(event, Frame) for event in found) in (1999, 2000)
    assert isinstance(found[-2], Cut) and "compressed" in found[-2].text


def test_a_compressed_file_may_have_several_members(tmp_path):
    whole = pcap(count=2)
    found = events(tmp_path, gzip.compress(whole[:70]) + gzip.compress(whole[70:]) + bytes(512))
    assert [type(event) for event in found] == [Frame, Frame, Ended]


def test_a_record_larger_than_any_capture_holds_ends_the_reading(tmp_path):
    huge = pcap() + struct.pack("<IIII", 1000, 0, 0xFFFFFFF0, 0xFFFFFFF0) + bytes(64)
    frame, passed, cut, _ = events(tmp_path, huge)
    assert frame.data == PING and "record 2" in cut.text and passed.length == 80


@pytest.mark.parametrize("length", [0, 4, 13, 0x7FFFFFFC])
def test_an_impossible_block_length_ends_the_reading(tmp_path, length):
    broken = pcapng() + struct.pack("<II", 6, length) + bytes(64)
    assert [type(event) for event in events(tmp_path, broken)] == [Frame, Passed, Cut, Ended]


def test_a_block_whose_lengths_differ_ends_the_reading(tmp_path):
    broken = pcapng()[:-4] + struct.pack("<I", 12)
    assert [type(event) for event in events(tmp_path, broken)] == [Passed, Cut, Ended]


def test_a_packet_of_an_interface_never_described(tmp_path):
    lone = block("<", 0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1)) + block("<", 6, bytes(20))
    passed, cut, _ = events(tmp_path, lone)
    assert "interface 0" in cut.text and passed.length == 32


def test_a_cut_is_told_by_the_record_reader_itself(tmp_path):
    path = tmp_path / "cut.pcap"
    path.write_bytes(pcap(count=2)[:-1])
    walk = RecordWalk()
    assert [record.number for record in read_records(path, walk)] == [1]
    assert walk.cut is not None and "record 2" in walk.cut and not walk.damaged
