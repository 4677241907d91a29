"""What a user names as captures, and captures that still grow."""

from __future__ import annotations

import io
import os
import threading
from pathlib import Path

import pytest

from conformance.capture import CaptureError, Ended, Frame, read_capture
from conformance.capture.following import Following, Stop
from conformance.capture.inputs import expand, refused

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
