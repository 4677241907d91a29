"""Captures in stores: what is read is the file's, or there is one sentence."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

pytest.importorskip("fsspec") if os.environ.get("CI") != "true" else None

from defective_stores import (  # noqa: E402 - it needs fsspec
    Changes,
    ChangesWithoutTags,
    Fails,
    IgnoresRanges,
    ListsLate,
    ListsTheDeleted,
    RefusesAccess,
    ShortReads,
    Silent,
    Sound,
    Throttles,
    TimesOut,
    Trickles,
    Vanishes,
    store,
)

from conformance.capture import CaptureError, read_capture  # noqa: E402
from conformance.capture.addresses import location  # noqa: E402
from conformance.capture.files import (  # noqa: E402
    CHANGED,
    GONE,
    ChangedError,
    LocalFile,
    Spool,
    UnavailableError,
    open_file,
)
from conformance.capture.inputs import expand  # noqa: E402
from conformance.capture.records import RecordWalk, read_records  # noqa: E402

CAPTURES = Path(__file__).parents[2] / "fixtures" / "captures"
NAME = "consistent-session.pcapng"
DATA = (CAPTURES / NAME).read_bytes()
HEALED = [Sound, ShortReads, Throttles, TimesOut]


@pytest.mark.parametrize("kind", HEALED)
@pytest.mark.parametrize("name", [NAME, "pcapng-gzip.pcapng.gz", "vlan.pcap"])
def test_a_capture_of_a_store_is_read_like_a_local_one(kind: type[Sound], name: str) -> None:
    with store(kind, {name: (CAPTURES / name).read_bytes()}) as bucket:
        assert list(read_capture(f"{bucket}/{name}")) == list(read_capture(CAPTURES / name))


@pytest.mark.parametrize("kind", HEALED)
def test_any_piece_of_an_object_is_its_own(kind: type[Sound]) -> None:
    places = [(0, 10), (5, 3000), (len(DATA) - 7, 100), (len(DATA), 5), (len(DATA) + 9, 5), (12, 0)]
    wanted = [DATA[offset : offset + count] for offset, count in places]
    with store(kind, {"a": DATA}) as bucket:
        file = open_file(f"{bucket}/a")
        assert [file.read_at(*one) for one in places] == file.read_each(places) == wanted
        assert Spool(file).whole().read() == DATA


@pytest.mark.parametrize(
    ("kind", "says"),
    [
        (Silent, "no answer to 6 requests in a row (no bytes)"),
        (Fails, "no answer to 6 requests in a row ([Errno 16] SlowDown)"),
        (Trickles, "its store returned 65 of 9,956 bytes in 65 answers"),
        (IgnoresRanges, "other bytes than it was asked for"),
        (RefusesAccess, "its store refuses access (Access Denied)"),
        (Changes, CHANGED),
        (ChangesWithoutTags, CHANGED),
        (Vanishes, GONE),
    ],
)
def test_what_a_store_cannot_give_is_one_sentence(kind: type[Sound], says: str) -> None:
    with store(kind, {"bad": DATA}) as bucket, pytest.raises(UnavailableError) as found:
        file = open_file(f"{bucket}/bad")
        assert len(file.read_at(5, 5)) == 5
        file.held().need(100, 200)
    assert says in str(found.value.strerror)


@pytest.mark.parametrize(("kind", "says"), [(Fails, "SlowDown"), (Changes, CHANGED), (Vanishes, GONE)])
def test_reading_forward_tells_where_and_why_it_stopped(
    kind: type[Fails | Changes | Vanishes], says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What came before counts; a capture of two versions is not taken for a whole one."""
    monkeypatch.setattr("conformance.capture.files._FIRST_BLOCK", 1000)
    monkeypatch.setattr("conformance.capture.files.READ_AHEAD", 1000)
    whole, walk = list(read_records(CAPTURES / NAME, RecordWalk())), RecordWalk()
    with store(kind, {"bad": DATA}, after=3) as bucket:
        records = list(read_records(f"{bucket}/bad", walk))
    assert records and records[:5] == whole[:5] and walk.cut is not None and says in walk.cut


def test_a_change_after_the_last_byte_was_read_is_a_change() -> None:
    """The two halves of what was read would be of two files."""
    with store(Sound, {"bad": DATA}) as bucket:
        file = open_file(f"{bucket}/bad")
        assert file.read_at(0, 9) == DATA[:9]
        Sound.put("bucket/bad", DATA)
        with pytest.raises(ChangedError, match=CHANGED):
            file.check()
        with pytest.raises(ChangedError, match="since it was first looked at"):
            open_file(f"{bucket}/bad", file.version)


def test_a_file_that_was_written_anew_is_another_one(tmp_path: Path) -> None:
    path = tmp_path / "a.pcap"
    path.write_bytes(DATA)
    file = LocalFile(str(path))
    with path.open("ab") as more:
        more.write(b"more")
    file.check()  # What it had, it still has.
    with pytest.raises(ChangedError):
        open_file(path, file.version)
    held = LocalFile(str(path)).held()
    path.write_bytes(DATA[:100])  # To look at its last page would end the process.
    with pytest.raises(ChangedError):
        held.need(0, 1)
    with pytest.raises(ChangedError):
        file.check()


def test_a_same_sized_file_with_another_time_has_changed(tmp_path: Path) -> None:
    path = tmp_path / "a.pcap"
    path.write_bytes(DATA)
    held = LocalFile(str(path)).held()
    held.intact()
    os.utime(path, ns=(1, 1))
    with pytest.raises(ChangedError):
        held.intact()


def test_prefixes_and_patterns_stand_for_captures() -> None:
    names = ["day/b.pcap", "day/a.PCAPNG", "day/deep/c.pcap.gz", "day/notes.txt", "night/d.pcap12", "odd[1].pcap"]
    with store(Sound, dict.fromkeys(names, b"x")) as bucket:
        assert expand([f"{bucket}/day"]) == [f"{bucket}/{name}" for name in (names[1], names[0], names[2])]
        assert expand([f"{bucket}/day/"]) == expand([f"{bucket}/day"])
        assert expand([f"{bucket}/*/*.pcap*"]) == [f"{bucket}/day/b.pcap", f"{bucket}/night/d.pcap12"]
        assert expand([f"{bucket}/odd[1].pcap", "-"]) == [f"{bucket}/odd[1].pcap", "-"]
        assert expand([f"{bucket}/day/notes.txt", f"{bucket}/none.pcap"]) == [
            f"{bucket}/day/notes.txt",
            f"{bucket}/none.pcap",
        ]
        for nothing in ("night/x*", "none/"):
            with pytest.raises(CaptureError, match="holds no capture"):
                expand([f"{bucket}/{nothing}"])


def test_what_is_listed_late_can_be_named_and_what_is_listed_too_long_is_not_there() -> None:
    with store(ListsLate, {"old.pcap": DATA, "new.pcap": DATA}) as bucket:
        assert expand([bucket]) == [f"{bucket}/old.pcap"]
        assert expand([f"{bucket}/new.pcap"]) == [f"{bucket}/new.pcap"]
        assert open_file(f"{bucket}/new.pcap").size == len(DATA)
    with store(ListsTheDeleted, {"old.pcap": DATA}) as bucket:
        assert expand([bucket]) == [f"{bucket}/deleted.pcap", f"{bucket}/old.pcap"]
        with pytest.raises(CaptureError, match="There is no file"):
            list(read_capture(f"{bucket}/deleted.pcap"))


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("file:/a/b%20c.pcap", "/a/b c.pcap"),
        ("file:///a/b", "/a/b"),
        ("FILE://localhost/a", "/a"),
        ("file:a", "file:a"),
        ("a/file:/b", "a/file:/b"),
        ("s3:x/y", "s3:x/y"),
        ("x:/y", "x:/y"),
        ("s3a://b/c", "s3a://b/c"),
        ("abfss://box@account.dfs.core.windows.net/c", "abfss://box@account.dfs.core.windows.net/c"),
    ],
)
def test_names_mean_paths_or_addresses(name: str, path: str) -> None:
    assert location(name) == path


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("dbfs:/mnt/a.pcap", "the path /dbfs/mnt/a.pcap"),
        ("dbfs:///Volumes/a/b", "the path /Volumes/a/b"),
        ("file://other/a", "a file of another machine, other"),
        ("http://a/b.pcap", "No captures can be read from http://"),
        ("s3:/a/b", "has two: s3://"),
        ("s3://", "names no place"),
        ("hdfs://me:secret@node/a", "holds a password"),
        ("zip://a::s3://b/c", "No captures can be read from zip://"),
    ],
)
def test_names_that_mean_nothing_are_explained(name: str, says: str) -> None:
    with pytest.raises(CaptureError, match=says.replace("(", r"\(")) as found:
        location(name)
    assert "secret" not in str(found.value)
