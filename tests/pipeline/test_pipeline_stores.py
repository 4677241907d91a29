"""Captures of stores in the lake: the rows that local files have, none lost and none twice, whatever the store does."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import pytest

pytest.importorskip("fsspec") if os.environ.get("CI") != "true" else None

from defective_stores import (  # noqa: E402 - it needs fsspec
    Changes,
    ChangesWithoutTags,
    Fails,
    ListsTheDeleted,
    ShortReads,
    Sound,
    Throttles,
    TimesOut,
    Vanishes,
    store,
)
from lake_helpers import CAPTURES, put, records_of, rows, write_pcap  # noqa: E402
from nightly import sample  # noqa: E402

from conformance.capture.files import CHANGED, CHANGED_BEFORE, GONE, GONE_BEFORE  # noqa: E402
from conformance.pipeline.lake import Lake  # noqa: E402
from conformance.pipeline.work import Here, run_streams  # noqa: E402
from conformance.pipeline.workers import Lost  # noqa: E402

T = TypeVar("T")
R = TypeVar("R")
TABLES = ("captures", "packets", "sessions", "verdicts")
ALL, ALONE = {"sessions": True}, {"sessions": False, "split": 6000}
BOTH = pytest.mark.parametrize("how", [ALL, ALONE], ids=["all", "packets-alone"])
NEVER = 1 << 30
OF_ONE = {"first_time", "last_time", "first_ns", "last_ns", "subject", "packet"}
"""What a row of counted passes says of the packets in it, which the tasks determine."""


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """A rotated set, a compressed file, pcapng, and a capture of its own."""
    place = tmp_path_factory.mktemp("captures")
    records = records_of(CAPTURES / "resending-session.pcapng")
    names = {f"day/ring.pcap{at}": records[at * 30 : at * 30 + 30] for at in range(3)}
    found = {name: write_pcap(place / "a", part).read_bytes() for name, part in names.items()}
    found["day/bad.pcap"] = write_pcap(place / "a", records_of(CAPTURES / "consistent-session.pcapng")).read_bytes()
    for name in ("pcapng-gzip.pcapng.gz", "ipv6-extensions.pcapng"):
        found[f"day/{name}"] = (CAPTURES / name).read_bytes()
    return found


def laid(files: dict[str, bytes], folder: Path) -> Path:
    """The same files in a folder."""
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return folder


def told(lake: Lake, place: Path | str) -> dict[str, Counter[str]]:
    """All rows, but for when and in how many ranges they were made; paths as below `place`. Passes are summed: how many
    rows they have depends on the tasks."""
    never = {"batch", "ingested_at", "ranges", "count"}
    found = {}
    for table in TABLES:
        found[table] = Counter[str]()
        for row in rows(lake, table):
            less = OF_ONE if row.get("outcome") == "pass" else set()
            texts = ((name, str(row[name]).removeprefix(f"{place}/")) for name in sorted(row.keys() - never - less))
            found[table][repr(list(texts))] += row.get("count", 1)
    return found


def paths(lake: Lake) -> list[str]:
    return sorted(row["path"] for row in rows(lake, "captures"))


@BOTH
@pytest.mark.parametrize("kind", [Sound, ShortReads, Throttles, TimesOut])
def test_a_lake_of_a_store_has_the_rows_of_one_of_files(
    tmp_path: Path, files: dict[str, bytes], kind: type[Sound], how: dict
) -> None:
    folder = laid(files, tmp_path / "local")
    wanted, local = put(tmp_path / "wanted", [folder], **how)
    with store(kind, files) as bucket:
        lake, done = put(tmp_path / "lake", [f"{bucket}/day"], **how)
    assert told(lake, bucket) == told(wanted, folder)
    assert done.captures == len(files) and done.outcomes == local.outcomes and not done.rejected


def test_what_the_lake_has_is_not_read_again(tmp_path: Path, files: dict[str, bytes]) -> None:
    folder = laid(files, tmp_path / "local")
    put(tmp_path / "lake", [folder])
    with store(Sound, files) as bucket:
        _, done = put(tmp_path / "lake", [bucket])  # Copies of what is there: read to find that out, once.
        assert (done.captures, done.known) == (0, len(files)) and Sound.reads
        Sound.reads.clear()
        _, done = put(tmp_path / "lake", [bucket])
        assert (done.captures, done.known) == (0, len(files)) and not Sound.reads
        Sound.put("bucket/day/bad.pcap", files["day/ring.pcap0"][:-1])
        lake, done = put(tmp_path / "lake", [bucket])
        assert (done.captures, done.known) == (1, len(files) - 1)
    assert len(rows(lake, "captures")) == len(files) + 1


def test_a_store_without_tags_is_known_by_content(tmp_path: Path, files: dict[str, bytes]) -> None:
    with store(Sound, files, tagged=False) as bucket:
        put(tmp_path / "lake", [bucket])
        _, done = put(tmp_path / "lake", [bucket])
    assert (done.captures, done.known) == (0, len(files))


def test_long_captures_are_told_apart_by_their_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("conformance.pipeline.identity.WHOLE", 1000)
    monkeypatch.setattr("conformance.pipeline.identity._ENDS", 100)
    monkeypatch.setattr("conformance.pipeline.identity._BLOCK", 8)
    data = write_pcap(tmp_path / "a.pcap", records_of(CAPTURES / "resending-session.pcapng")).read_bytes()
    with store(ShortReads, {"b.pcap": data}) as bucket:
        _, done = put(tmp_path / "lake", [tmp_path / "a.pcap", f"{bucket}/b.pcap"])
    assert (done.captures, done.known) == (1, 1)


FAILURES = [
    (ChangesWithoutTags, CHANGED, ALL),
    (Vanishes, GONE, ALL),
    (Changes, CHANGED, ALONE),
    (Vanishes, GONE, ALONE),
    (Fails, "SlowDown", ALONE),
]


@pytest.mark.parametrize(
    ("kind", "says", "how"), sample("pipeline.failures-of-a-capture", FAILURES, [FAILURES[0], FAILURES[3]])
)
def test_nothing_is_lost_and_nothing_twice_whenever_a_capture_fails(
    tmp_path: Path, files: dict[str, bytes], kind: type[Changes | Vanishes | Fails], says: str, how: dict
) -> None:
    chosen = {name: files[name] for name in ("day/bad.pcap", "day/ring.pcap0", "day/ring.pcap1")}
    folder = laid(chosen, tmp_path / "local")
    wanted, _ = put(tmp_path / "wanted", [folder], **how)
    whole, after = False, 0
    while not whole:
        with store(kind, chosen, after=after) as bucket:
            lake, done = put(tmp_path / f"lake{after}", [bucket], **how)
            found, reasons = paths(lake), [row["reason"] for row in rows(lake, "rejected")]
            whole = f"{bucket}/day/bad.pcap" in found
            assert len(found) == 2 + whole and done.captures == len(found)
            assert len(reasons) == len(done.rejected) == (not whole)
            fitting = (says, CHANGED_BEFORE, GONE_BEFORE)
            assert all(one.startswith(bucket) and any(text in one for text in fitting) for one in reasons), reasons
            kind.after = NEVER
            kind.put("bucket/day/bad.pcap", chosen["day/bad.pcap"])
            lake, _ = put(tmp_path / f"lake{after}", [bucket], **how)
            assert told(lake, bucket) == told(wanted, folder), after
        after += 1
    assert after > 2


def test_a_stream_is_not_named_after_a_capture_that_is_not_in_it(tmp_path: Path, files: dict[str, bytes]) -> None:
    """That capture is a stream of its own later, and two streams of one name could not be told apart."""
    names = {"bad-1.pcap": files["day/ring.pcap0"], "bad-2.pcap": files["day/ring.pcap1"]}
    for how in (ALL, ALONE):
        place = tmp_path / str(how["sessions"])
        with store(_FirstFails, names, after=3 if how is ALL else 4) as bucket:
            lake, done = put(place, [bucket], **how)
            assert paths(lake) == [f"{bucket}/bad-2.pcap"] and len(done.rejected) == 1
            _FirstFails.after = NEVER
            lake, done = put(place, [bucket], **how)
            assert len(paths(lake)) == 2
        assert len({row["stream_id"] for row in rows(lake, "captures")}) == 2


class _FirstFails(Sound):
    """Lets the first file be read a few times: the whole for its identity, its head, its first record; and, to plan,
    its header. Then it cannot be read."""

    protocol = "firstfails"
    after = 0

    def serve(self, path: str, start: int, stop: int) -> bytes:
        if "bad-1" in path and sum(one == path for one, _, _ in self.reads) > self.after:
            raise OSError(5, "SlowDown")
        return super().serve(path, start, stop)


def test_what_is_listed_too_long_is_rejected_and_what_cannot_be_found_too(tmp_path: Path) -> None:
    with store(ListsTheDeleted, {"a.pcap": (CAPTURES / "vlan.pcap").read_bytes()}) as bucket:
        lake, done = put(tmp_path / "lake", [bucket])
    assert done.captures == 1
    assert [row["reason"] for row in rows(lake, "rejected")] == [
        f"{bucket}/deleted.pcap cannot be read: No such file or directory."
    ]


@BOTH
def test_what_follows_damage_is_found_beyond_the_blocks_of_a_range(
    tmp_path: Path, how: dict, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hole as a crash leaves it, longer than what is fetched of a range."""
    monkeypatch.setattr("conformance.capture.spool.READ_AHEAD", 1000)
    monkeypatch.setattr("conformance.capture.columns.reader.MAX_RECORD", 2000)
    records = records_of(CAPTURES / "resending-session.pcapng")
    data = write_pcap(tmp_path / "a", records).read_bytes()
    border = 24 + sum(16 + len(one.data) for one in records[:20])
    folder = laid({"holed.pcap": data[:border] + bytes(200_000) + data[border:]}, tmp_path / "local")
    wanted, _ = put(tmp_path / "wanted", [folder], **how)
    with store(Sound, {"holed.pcap": (folder / "holed.pcap").read_bytes()}) as bucket:
        lake, _ = put(tmp_path / "lake", [bucket], **how)
    assert told(lake, bucket) == told(wanted, folder)
    assert [(row["records"], row["damaged_bytes"]) for row in rows(lake, "captures")] == [(len(records), 200_000)]


def test_without_room_for_a_copy_a_capture_waits(
    tmp_path: Path, files: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    with store(Sound, files) as bucket:
        with monkeypatch.context() as patch:
            patch.setattr("tempfile.tempdir", "/no/such/folder")
            lake, done = put(tmp_path / "lake", [bucket])
        assert not done.captures and len(done.rejected) == len(files)
        assert all(
            "no copy of what is judged can be kept in /no/such/folder" in str(one.error) for one in done.rejected
        )
        lake, done = put(tmp_path / "lake", [bucket])
    assert done.captures == len(files) == len(paths(lake))


@dataclass(frozen=True)
class Meddling(Here):
    """Workers between whose tasks somebody writes to a file."""

    meddle: Callable[[], object] = lambda: None

    def attempt(
        self, function: Callable[[T], R], tasks: Sequence[T], each: Callable[[R], None] | None = None
    ) -> Sequence[R | Lost]:
        """Do it before captures are judged."""
        if function is run_streams:
            self.meddle()
        return Here.attempt(self, function, tasks, each)


@pytest.mark.parametrize("shorter", [True, False])
def test_a_local_file_that_changed_since_the_first_look_is_taken_the_next_time(
    tmp_path: Path, files: dict[str, bytes], shorter: bool
) -> None:
    folder = laid(files, tmp_path / "local")
    bad = folder / "day" / "bad.pcap"
    other = files["day/bad.pcap"][:2000] if shorter else files["day/bad.pcap"] + bytes(100)
    lake, done = put(tmp_path / "lake", [folder], Meddling(meddle=lambda: bad.write_bytes(other)))
    assert done.captures == len(files) - 1
    assert [CHANGED_BEFORE in row["reason"] for row in rows(lake, "rejected")] == [True]
    lake, done = put(tmp_path / "lake", [folder])
    assert done.captures == 1 and [row["bytes"] for row in rows(lake, "captures") if row["path"] == str(bad)] == [
        len(other)
    ]


def test_a_local_file_that_is_written_anew_while_it_is_judged_is_in_the_lake_once(
    tmp_path: Path, files: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its first part was judged before: everything is judged again without it."""
    from conformance.capture.columns.reader import FastCapture

    folder = laid(files, tmp_path / "local")
    bad, read = folder / "day" / "bad.pcap", FastCapture.batches

    def batches(self: FastCapture, *args: object, **more: object) -> Iterable[object]:
        for batch in read(self, *args, **more):  # type: ignore[arg-type]
            if self.path == str(bad):
                os.utime(bad, ns=(1, bad.stat().st_mtime_ns + 1))
            yield batch

    for how in (ALL, ALONE):
        wanted, _ = put(tmp_path / f"wanted{how['sessions']}", [folder], **how)
        with monkeypatch.context() as patch:
            patch.setattr(FastCapture, "batches", batches)
            patch.setattr("conformance.capture.columns.reader._MAX_EVENTS", 1)  # many batches
            lake, done = put(tmp_path / f"lake{how['sessions']}", [folder], **how)
        assert str(bad) not in paths(lake) and done.captures == len(files) - 1
        assert [row["reason"] for row in rows(lake, "rejected")] == [f"{bad} cannot be read any further: {CHANGED}."]
        lake, _ = put(tmp_path / f"lake{how['sessions']}", [folder], **how)
        assert told(lake, folder) == told(wanted, folder)
