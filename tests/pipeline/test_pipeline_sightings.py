"""Which files of a folder are new, finished, and not seen under this name or another before."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from backports import zstd

from conformance.pipeline.errors import PipelineError
from conformance.pipeline.file_discovery import Sightings

OLD = bytes(range(256)) * 40
NEW = OLD[::-1]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "captures").mkdir()
    return tmp_path / "captures"


def seen(folder: Path) -> list[tuple[str, bool]]:
    """What a look finds that was not there before; each look is by somebody who was started anew."""
    sightings = Sightings(folder, folder.parent / "ledger", settle_s=60)
    before = len(list((folder.parent / "ledger").glob("0*.json"))) if (folder.parent / "ledger").exists() else 0
    return [(Path(one.path).name, one.grown) for one in sightings.between(before, sightings.latest())]


def write(folder: Path, name: str, data: bytes, *, age_s: int = 100) -> None:
    path = folder / name
    path.write_bytes(data)
    os.utime(path, (path.stat().st_mtime - age_s,) * 2)


def test_each_file_is_seen_once(folder: Path) -> None:
    write(folder, "a.pcap", OLD)
    write(folder, "b.txt", OLD)
    assert seen(folder) == [("a.pcap", False)]
    assert seen(folder) == []
    os.utime(folder / "a.pcap", (5, 5))
    assert seen(folder) == []


def test_the_newest_of_a_set_is_waited_for(folder: Path) -> None:
    write(folder, "a_1.pcap", OLD, age_s=9)
    write(folder, "a_2.pcap", NEW, age_s=5)
    assert seen(folder) == [("a_1.pcap", False)]
    write(folder, "a_2.pcap", NEW, age_s=61)
    assert seen(folder) == [("a_2.pcap", False)]


def test_recorders_side_by_side_are_each_waited_for(folder: Path) -> None:
    write(folder, "eth0.pcap", OLD, age_s=9)
    write(folder, "eth1.pcap", NEW, age_s=5)
    write(folder, "host1_00001.pcap", OLD, age_s=9)
    write(folder, "host2_00001.pcap", NEW, age_s=5)
    assert seen(folder) == []


@pytest.mark.parametrize("size", [1000, len(OLD)])
def test_a_file_that_was_written_on_is_said_to_be(folder: Path, size: int) -> None:
    write(folder, "a.pcap", OLD[:size])
    assert seen(folder) == [("a.pcap", False)]
    write(folder, "a.pcap", OLD[:size] + NEW)
    assert seen(folder) == [("a.pcap", True)]


@pytest.mark.parametrize("size", [1000, len(NEW)])
def test_a_ring_buffer_takes_its_names_again(folder: Path, size: int) -> None:
    """tcpdump -C -W: the file is another one, whether it is larger, smaller or as large as the one before."""
    write(folder, "a.pcap1", OLD[:5000], age_s=200)
    assert seen(folder) == [("a.pcap1", False)]
    write(folder, "a.pcap1", NEW[:size])
    assert seen(folder) == [("a.pcap1", False)]
    write(folder, "a.pcap1", OLD[:size], age_s=90)
    assert seen(folder) == [("a.pcap1", False)]


@pytest.mark.parametrize(("ending", "compress"), [(".gz", gzip.compress), (".zst", zstd.compress)])
def test_a_file_that_is_packed_later_is_not_seen_twice(
    folder: Path, ending: str, compress: Callable[[bytes], bytes]
) -> None:
    """tcpdump -z gzip or zstd; a packed file of another content is one by itself."""
    write(folder, "a_1.pcap", OLD)
    write(folder, "b_1.pcap", OLD)
    assert len(seen(folder)) == 2
    for name, data in (("a_1.pcap", OLD), ("b_1.pcap", NEW)):
        (folder / name).unlink()
        write(folder, f"{name}{ending}", compress(data))
    assert seen(folder) == [(f"b_1.pcap{ending}", False)]


@pytest.mark.parametrize(
    "text",
    ["", "{", "null", "[1]", '[["/etc/passwd"]]', '[["a", 1, 0, "", 1]]', '[["a", true, false, "", 1]]', "[" * 9999],
)
def test_a_ledger_that_is_damaged_is_a_sentence(folder: Path, text: str) -> None:
    write(folder, "a.pcap", OLD)
    assert seen(folder) == [("a.pcap", False)]
    (entry,) = (folder.parent / "ledger").iterdir()
    entry.write_text(text)
    with pytest.raises(PipelineError, match="watch with a new lake"):
        seen(folder)
    entry.unlink()
    os.mkfifo(entry)
    with pytest.raises(PipelineError, match="is not a file"):
        seen(folder)
