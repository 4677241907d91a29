"""Which files of a folder a stream takes, in which order, and what its offset remembers of them."""

from __future__ import annotations

import gzip
import json
import os
import random
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from backports import zstd

from conformance.pipeline import file_offsets
from conformance.pipeline.errors import PipelineError
from conformance.pipeline.file_discovery import look
from conformance.pipeline.file_ledger import files_of, position_of
from conformance.pipeline.file_offsets import Position, after, position

OLD = bytes(range(256)) * 40
NEW = OLD[::-1]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "captures").mkdir()
    return tmp_path / "captures"


class Watcher:
    """A stream that is started anew for each batch: what it knows is in the text of the last offset."""

    def __init__(self) -> None:
        self.offset = json.dumps(Position().to_json())

    def next(self, folder: Path, at_most: int | None = None) -> list[tuple[str, bool]]:
        """The files of the next batch, and whether they have grown since they were taken."""
        before = position(json.loads(self.offset))
        found = after(before, folder, look(folder, 60), at_most, None)
        if found is before:
            return []
        self.offset = json.dumps(found.to_json())
        assert found.batch == before.batch + 1
        return [(one.name, one.grown) for one in position(json.loads(self.offset)).files]


@pytest.fixture
def watcher() -> Watcher:
    return Watcher()


def write(folder: Path, name: str, data: bytes = OLD, *, age_s: int = 100) -> Path:
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)
    return aged(path, age_s)


def aged(path: Path, age_s: int) -> Path:
    os.utime(path, (time.time() - age_s,) * 2)
    return path


def test_each_file_is_taken_once(folder: Path, watcher: Watcher) -> None:
    write(folder, "a.pcap")
    write(folder, "b.txt")
    assert watcher.next(folder) == [("a.pcap", False)]
    assert watcher.next(folder) == []
    aged(folder / "a.pcap", 10**6)
    assert watcher.next(folder) == [] and watcher.next(folder) == []


def test_the_newest_of_a_set_is_waited_for(folder: Path, watcher: Watcher) -> None:
    write(folder, "a_2.pcap", NEW, age_s=5)
    write(folder, "a_1.pcap", age_s=9)
    assert watcher.next(folder) == [("a_1.pcap", False)]
    write(folder, "a_2.pcap", NEW, age_s=61)
    assert watcher.next(folder) == [("a_2.pcap", False)]


def test_recorders_side_by_side_are_each_waited_for(folder: Path, watcher: Watcher) -> None:
    for at, name in enumerate(("eth0.pcap", "eth1.pcap", "host1_00001.pcap", "host2_00001.pcap")):
        write(folder, name, age_s=5 + at)
    assert watcher.next(folder) == []


def test_a_time_in_the_future_is_not_waited_for(folder: Path, watcher: Watcher) -> None:
    write(folder, "a_1.pcap", age_s=-86_400)
    assert [one.name for one in look(folder, 0.0).finished] == ["a_1.pcap"]


def test_the_oldest_are_taken_first_some_at_a_time(folder: Path, watcher: Watcher) -> None:
    names = [f"a_{at}.pcap" for at in range(1, 13)]
    for at, name in random.Random(5).sample(list(enumerate(names)), len(names)):
        write(folder, name, f"{at}".encode() * 50, age_s=500 - at)
    taken = [[name for name, _ in watcher.next(folder, 5)] for _ in range(4)]
    assert taken == [names[:5], names[5:10], names[10:], []]


def test_files_of_one_time_are_taken_by_their_numbers(folder: Path, watcher: Watcher) -> None:
    for at in (10, 9, 1):
        os.utime(write(folder, f"a.pcap{at}", b"%d" % at), (1000, 1000))
    assert [name for name, _ in watcher.next(folder)] == ["a.pcap1", "a.pcap9", "a.pcap10"]


def test_a_file_that_is_older_than_those_taken_is_taken_when_it_comes(folder: Path, watcher: Watcher) -> None:
    write(folder, "b_1.pcap")
    assert watcher.next(folder) == [("b_1.pcap", False)]
    write(folder, "a_1.pcap", NEW, age_s=10**6)
    assert watcher.next(folder) == [("a_1.pcap", False)]
    elsewhere = folder.parent / "day"
    elsewhere.mkdir()
    write(elsewhere, "c_1.pcap", NEW * 2, age_s=10**7)
    elsewhere.rename(folder / "day")  # which changes no time of the file
    assert watcher.next(folder) == [("day/c_1.pcap", False)]
    assert watcher.next(folder) == []


@pytest.mark.parametrize("size", [1000, len(OLD)])
def test_a_file_that_was_written_on_is_said_to_be(folder: Path, watcher: Watcher, size: int) -> None:
    write(folder, "a.pcap", OLD[:size])
    assert watcher.next(folder) == [("a.pcap", False)]
    for more in (NEW, NEW * 2):
        write(folder, "a.pcap", OLD[:size] + more)
        assert watcher.next(folder) == [("a.pcap", True)]
        assert watcher.next(folder) == []


@pytest.mark.parametrize("size", [1000, len(NEW)])
def test_a_ring_buffer_takes_its_names_again(folder: Path, watcher: Watcher, size: int) -> None:
    """tcpdump -C -W: the file is another one, whether it is larger, smaller or as large as the one before."""
    write(folder, "a.pcap1", OLD[:5000], age_s=200)
    assert watcher.next(folder) == [("a.pcap1", False)]
    write(folder, "a.pcap1", NEW[:size])
    assert watcher.next(folder) == [("a.pcap1", False)]
    write(folder, "a.pcap1", OLD[:size], age_s=90)
    assert watcher.next(folder) == [("a.pcap1", False)]


@pytest.mark.parametrize(("ending", "compress"), [(".gz", gzip.compress), (".zst", zstd.compress)])
def test_a_file_that_is_packed_later_is_not_taken_twice(
    folder: Path, watcher: Watcher, ending: str, compress: Callable[[bytes], bytes]
) -> None:
    """tcpdump -z gzip or zstd; a packed file of another content is one by itself."""
    write(folder, "a_1.pcap")
    write(folder, "b_1.pcap")
    assert len(watcher.next(folder)) == 2
    for name, data in (("a_1.pcap", OLD), ("b_1.pcap", NEW)):
        (folder / name).unlink()
        write(folder, f"{name}{ending}", compress(data))
    assert watcher.next(folder) == [(f"b_1.pcap{ending}", False)]
    assert watcher.next(folder) == []


def test_files_that_are_renamed_are_not_taken_twice(folder: Path, watcher: Watcher) -> None:
    """As logrotate does: every file moves on to the next number, and a new one takes the first name."""
    write(folder, "a.pcap1", OLD, age_s=200)
    write(folder, "a.pcap", NEW, age_s=150)
    assert len(watcher.next(folder)) == 2
    (folder / "a.pcap1").rename(folder / "a.pcap2")
    (folder / "a.pcap").rename(folder / "a.pcap1")
    write(folder, "a.pcap", NEW[:700])
    assert watcher.next(folder) == [("a.pcap", False)]
    (folder / "a.pcap2").rename(folder / "a.pcap3")
    assert watcher.next(folder) == [] and watcher.next(folder) == []


def test_a_copy_is_a_file_by_itself(folder: Path, watcher: Watcher) -> None:
    write(folder, "a.pcap")
    assert len(watcher.next(folder)) == 1
    shutil.copy2(folder / "a.pcap", folder / "b.pcap")
    assert watcher.next(folder) == [("b.pcap", False)]


def test_a_file_that_goes_is_forgotten_and_one_that_comes_back_soon_is_known(folder: Path, watcher: Watcher) -> None:
    path = write(folder, "a.pcap")
    assert len(watcher.next(folder)) == 1
    data, about = path.read_bytes(), path.stat()
    path.unlink()
    assert watcher.next(folder) == []
    path.write_bytes(data)
    os.utime(path, ns=(about.st_mtime_ns, about.st_mtime_ns))
    assert watcher.next(folder) == []


def test_a_link_within_the_folder_is_left_out_and_one_to_elsewhere_is_a_file(folder: Path, watcher: Watcher) -> None:
    write(folder, "a_1.pcap")
    write(folder.parent, "away.pcap", NEW, age_s=10**6)
    (folder / "newest.pcap").symlink_to("a_1.pcap")
    (folder / "nothing.pcap").symlink_to("nowhere.pcap")
    (folder / "loop.pcap").symlink_to("loop.pcap")
    (folder / "round").symlink_to(".")
    assert watcher.next(folder) == [("a_1.pcap", False)]
    (folder / "away.pcap").symlink_to("../away.pcap")
    assert watcher.next(folder) == [("away.pcap", False)]
    assert watcher.next(folder) == []


def test_what_is_no_file_is_left_out(folder: Path, watcher: Watcher) -> None:
    (folder / "a.pcap").mkdir()
    os.mkfifo(folder / "b.pcap")
    write(folder / "a.pcap", "c.pcap")
    assert watcher.next(folder) == [("a.pcap/c.pcap", False)]


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to this user")
def test_a_file_that_may_not_be_read_is_waited_for_and_stops_no_other(folder: Path, watcher: Watcher) -> None:
    forbidden = write(folder, "a_1.pcap", age_s=900)
    write(folder, "b_1.pcap")
    forbidden.chmod(0)
    assert watcher.next(folder, 1) == [("b_1.pcap", False)]
    forbidden.chmod(0o600)
    assert watcher.next(folder, 1) == [("a_1.pcap", False)]


def test_a_name_may_have_any_bytes(folder: Path, watcher: Watcher) -> None:
    write(folder, os.fsdecode(b"\xff\n.pcap"))
    assert watcher.next(folder) == [("\udcff\n.pcap", False)]
    assert watcher.next(folder) == [] and watcher.offset.isascii() and "\n" not in watcher.offset


def test_a_folder_that_moves_with_its_offset_has_the_same_files(folder: Path, watcher: Watcher) -> None:
    for at in range(5):
        write(folder, f"a_{at}.pcap", age_s=500 - at)
    assert len(watcher.next(folder, 3)) == 3
    moved = folder.parent / "another" / "place"
    shutil.copytree(folder, moved)  # with the times of the files
    assert watcher.next(moved) == [("a_3.pcap", False), ("a_4.pcap", False)]


def test_an_offset_is_bounded(folder: Path, watcher: Watcher, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond the bounds a file is known by its mark alone, and beyond those by its age."""
    monkeypatch.setattr(file_offsets, "RECENT", 3)
    monkeypatch.setattr(file_offsets, "KNOWN", 6)
    for at in range(40):
        write(folder, f"a_{at}.pcap", b"%d" % at * 50, age_s=5000 - at)
    taken = []
    while found := watcher.next(folder, 4):
        taken += found
        now = position(json.loads(watcher.offset))
        assert len(now.files) <= 4 and len(now.recent) <= 3 and len(now.known) <= 6
    assert [name for name, _ in taken] == [f"a_{at}.pcap" for at in range(40)]
    write(folder, "b_1.pcap", NEW, age_s=4968)
    assert watcher.next(folder) == [("b_1.pcap", False)]  # among those that are known
    write(folder, "b_2.pcap", NEW * 2, age_s=4999)
    assert watcher.next(folder) == []  # older than all that are known


def test_what_waits_does_not_become_too_old(folder: Path, watcher: Watcher, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_offsets, "RECENT", 1)
    monkeypatch.setattr(file_offsets, "KNOWN", 2)
    write(folder, "open_1.pcap", age_s=50)
    for at in range(20):
        write(folder, f"a_{at}.pcap", age_s=40 - at)
    while watcher.next(folder, 3):
        pass
    aged(folder / "open_1.pcap", 50)
    write(folder, "open_2.pcap", NEW, age_s=5)
    assert watcher.next(folder) == [("open_1.pcap", False)]


@pytest.mark.parametrize(
    "damage",
    [
        lambda value: [],
        lambda value: {},
        lambda value: {**value, "batch": None},
        lambda value: {**value, "batch": True},
        lambda value: {**value, "before": "0"},
        lambda value: {**value, "known": "x"},
        lambda value: {**value, "known": "AAAA"},
        lambda value: {**value, "known": 5},
        lambda value: {**value, "files": None},
        lambda value: {**value, "files": [["a"]]},
        lambda value: {**value, "recent": [["a", 1, 0, "", 1]]},
        lambda value: {**value, "recent": [["a", True, 0, "", False]]},
    ],
)
def test_an_offset_of_somebody_else_is_a_sentence(damage: Callable[[dict[str, object]], object]) -> None:
    value = Position().to_json()
    assert position(value) == Position(files=[], recent=[])
    with pytest.raises(PipelineError, match="watch with another checkpoint"):
        position(damage(value))


def ledger(place: Path, *sightings: list[list[object]]) -> Path:
    place.mkdir()
    for number, files in enumerate(sightings, 1):
        (place / f"{number:012}.json").write_text(json.dumps(files))
    return place


def test_the_ledger_of_an_earlier_version_is_understood(folder: Path, watcher: Watcher) -> None:
    """Its entries have the whole path, the size, whether it had grown, the digest of the beginning, and the time."""
    paths = [write(folder, f"a_{at}.pcap", age_s=500 - at) for at in range(3)]
    files = [[str(path), path.stat().st_size, False, look_head(path), path.stat().st_mtime_ns] for path in paths]
    place = ledger(folder.parent / "seen", files[:1], files[1:2])
    watcher.offset = json.dumps(position_of(place, folder, 2).to_json())
    assert [one.name for one in files_of(place, folder, 1, 2)] == ["a_1.pcap"]
    assert watcher.next(folder) == [("a_2.pcap", False)]
    paths[1].write_bytes(OLD * 2)
    aged(paths[1], 90)
    assert watcher.next(folder) == [("a_1.pcap", True)]


def look_head(path: Path) -> str:
    from hashlib import blake2b

    return blake2b(path.read_bytes()[:4096], digest_size=16).hexdigest()


@pytest.mark.parametrize(
    "text",
    ["", "{", "null", "[1]", '[["/etc/passwd"]]', '[["a", 1, 0, "", 1]]', '[["a", true, false, "", 1]]', "[" * 9999],
)
def test_a_ledger_that_is_damaged_is_a_sentence(folder: Path, text: str) -> None:
    place = ledger(folder.parent / "seen", [])
    (place / f"{1:012}.json").write_text(text)
    with pytest.raises(PipelineError, match="watch with another checkpoint"):
        position_of(place, folder, 1)


def test_an_older_pyspark_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    from conformance.pipeline import file_discovery

    pytest.importorskip("pyspark")
    file_discovery.require_streams()
    monkeypatch.setattr(file_discovery, "find_spec", lambda name: None)
    with pytest.raises(PipelineError, match=r"needs pyspark 4\.2 or later, and \d"):
        file_discovery.require_streams()


@pytest.mark.parametrize("seed", range(12))
def test_whatever_happens_to_files_each_content_is_taken_once(folder: Path, watcher: Watcher, seed: int) -> None:
    """Files come in any order of age, and are renamed, touched, packed, moved with their folder, or written anew."""
    draw = random.Random(f"files {seed}")
    made: dict[str, bytes] = {}
    every, lost = set[bytes](), set[bytes]()
    taken: list[bytes] = []

    def take(at_most: int | None) -> bool:
        found = watcher.next(folder, at_most)
        taken.extend(made[name] for name, grown in found if not grown)
        assert not any(grown for _, grown in found)
        return bool(found)

    def come(name: str) -> None:
        made[name] = b"%d %d " % (seed, draw.getrandbits(60)) * draw.randrange(1, 400)
        every.add(made[name])
        write(folder, name, made[name], age_s=draw.randrange(100, 10**6))

    for number in range(60):
        what = draw.choice(("come", "come", "come", "take", "rename", "touch", "pack", "reuse", "remove", "folder"))
        there = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
        name = draw.choice(there) if there else ""
        plain = name.removesuffix(".gz")
        if what == "come" or not there:
            come(f"{draw.choice(('', 'x/', 'y/'))}a_{number}.pcap")
        elif what == "take":
            take(draw.choice((1, 3, None)))
        elif what == "rename":
            to = f"b_{number}.pcap{'.gz' if name != plain else ''}"
            (folder / name).rename(folder / to)
            made[to] = made[name]
        elif what == "touch":
            aged(folder / name, draw.randrange(100, 10**6))
        elif what == "pack" and name == plain and made[name] in taken:
            (folder / name).unlink()
            write(folder, f"{name}.gz", gzip.compress(made[name]))
            made[f"{name}.gz"] = made[name]
        elif what in ("reuse", "remove"):
            if made[name] not in taken:
                lost.add(made[name])
            (folder / name).unlink()
            if what == "reuse" and name == plain:
                come(name)
        elif what == "folder" and (folder / "x").exists():
            for one in there:
                if one.startswith("x/"):
                    made[f"z{number}/{one[2:]}"] = made[one]
            (folder / "x").rename(folder / f"z{number}")
    while take(4):
        pass
    assert len(taken) == len(set(taken)) and set(taken) == every - lost
