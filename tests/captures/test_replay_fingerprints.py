"""Which files were judged: size and SHA-256, found out meanwhile."""

import os
from hashlib import sha256
from pathlib import Path
from threading import Event

import pytest

from conformance.captures import replay_captures
from conformance.captures.summary import Fingerprints, fingerprint

CAPTURE = Path(__file__).parents[2] / "fixtures" / "captures" / "cut-record.pcap"


@pytest.mark.parametrize("size", [0, 1, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, 5 << 20])
def test_a_file_of_any_size(tmp_path: Path, size: int) -> None:
    path = tmp_path / "file"
    data = os.urandom(size)
    path.write_bytes(data)
    assert fingerprint(path) == {"bytes": size, "sha256": sha256(data).hexdigest()}


def test_what_cannot_be_read_has_none(tmp_path: Path) -> None:
    assert fingerprint(tmp_path / "nothing") is None
    assert fingerprint(tmp_path) is None


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with a name are of POSIX")
def test_nothing_is_taken_out_of_a_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert fingerprint(tmp_path / "pipe") is None


def test_told_to_stop(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(bytes(10))
    stop = Event()
    stop.set()
    assert fingerprint(tmp_path / "file", stop) is None


def test_several_are_told_in_their_order(tmp_path: Path) -> None:
    paths = [str(tmp_path / name) for name in "cab"]
    for path in paths:
        Path(path).write_text(path)
    found = Fingerprints([*paths, str(tmp_path / "nothing")]).found()
    assert list(found.items()) == [(path, fingerprint(path)) for path in [*paths, str(tmp_path / "nothing")]]
    given_up = Fingerprints(paths)
    given_up.give_up()
    given_up.give_up()


@pytest.mark.parametrize("columns", [False, True])
def test_a_replay_records_it(tmp_path: Path, columns: bool) -> None:
    found = replay_captures(CAPTURE, out=tmp_path, columns=columns)
    assert found.record is not None
    [told] = [one.data for one in found.record.evidence.values() if one.kind == "capture"]
    data = CAPTURE.read_bytes()
    assert (told["bytes"], told["sha256"]) == (len(data), sha256(data).hexdigest())
