"""The commit of an ingest: whoever dies, writes meanwhile or gets no answer, a batch is there once or not at all."""

from __future__ import annotations

import gc
import shutil
from pathlib import Path
from threading import Lock
from typing import Any

import pytest
from delta_helpers import SESSION, full, halves
from deltalake import DeltaTable
from lake_helpers import CAPTURES, Here, put, replayed, rows, said, same
from made_lake import capture, day, fill

from conformance.pipeline.identity import Probe
from conformance.pipeline.ingest import _binned, how, ingest
from conformance.pipeline.lake import Lake
from conformance.pipeline.schemas import TABLES
from conformance.pipeline.store import Files, LocalStore
from conformance.pipeline.streams import StreamWork
from conformance.pipeline.untrusted_files import PipelineError

VLAN, RAW = CAPTURES / "vlan.pcap", CAPTURES / "raw-ip.pcap"
STEPS = ((LocalStore, "write"), (Files, "_begun"), (Files, "_finish"), (Lake, "_add"))


class KilledError(BaseException):
    """The end of a process: nothing is cleaned up behind it."""


def counting(patch: pytest.MonkeyPatch, at: int, after: bool) -> list[str]:
    """Make the step of this number end the process, before or after it is done; gives the steps."""
    steps: list[str] = []
    lock = Lock()
    patch.setattr(Files, "drop", lambda self: None)

    def counted(kind: type, name: str) -> Any:
        function = getattr(kind, name)

        def step(*given: Any, **more: Any) -> Any:
            with lock:
                number = len(steps)
                steps.append(name)
            if number == at and not after:
                raise KilledError
            done = function(*given, **more)
            if number == at:
                raise KilledError
            return done

        return step

    for kind, name in STEPS:
        patch.setattr(kind, name, counted(kind, name))
    return steps


def test_large_commits_are_parted_and_have_a_checkpoint(tmp_path, monkeypatch):
    monkeypatch.setattr("conformance.pipeline.lake.MOST_ADDS", 1)
    monkeypatch.setattr("conformance.pipeline.lake.LARGE_LOG", 500)
    lake, _ = put(tmp_path / "lake", [VLAN, RAW])
    folder = tmp_path / "lake" / "captures"
    assert len(list(folder.rglob("*.json"))) == 1 + len(list(folder.rglob("part-*"))) > 2
    assert list(folder.rglob("*.checkpoint.parquet")) and len(rows(Lake.open(lake.place), "captures")) == 2


def test_only_the_captures_that_are_asked_for_are_in_memory(tmp_path, monkeypatch):
    lake, _ = put(tmp_path / "lake", [VLAN])
    (known,) = lake.column("captures", ["capture_id"], lake.batches().live)
    fill(lake, [capture(day(0)) for _ in range(3_000)])
    monkeypatch.setattr("conformance.pipeline.untrusted_files.MAX_DECODED", 1 << 16)
    monkeypatch.setattr("conformance.pipeline.lake.ROWS", 256)
    live = lake.batches().live
    assert lake.column("captures", ["capture_id"], live, ("capture_id", [known["capture_id"], "x"])) == [known]
    assert put(tmp_path / "lake", [VLAN])[1].known == 1


def test_a_task_has_streams_of_few_days():
    probes = [Probe(f"{at}", 100, f"{at}", first_ns=at * 86_400 * 10**9) for at in (5, 1, 9, 2, 6, 4, 3, 8, 7, 0)]
    heaps = _binned([StreamWork(one.path, [one]) for one in probes], 3)
    assert sorted(sorted(int(one.key) for one in heap) for heap in heaps) == [[0, 1, 2, 3], [4, 5, 6], [7, 8, 9]]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_kill_at_every_step_loses_and_doubles_nothing(tmp_path, monkeypatch):
    """Of an ingest that ends the open batch of another."""
    first, second = halves(tmp_path)
    whole, _ = put(tmp_path / "whole", [first])
    before = said(whole)
    with monkeypatch.context() as patch:
        steps = counting(patch, -1, after=False)
        put(tmp_path / "whole", [second])
    after = said(whole)
    assert before != after == replayed(SESSION) and steps.count("_add") >= 4
    assert len(list((tmp_path / "whole" / "_state").iterdir())) == 1  # The state before is gone.
    put(tmp_path / "first", [first])
    for at in range(len(steps) + 1):  # before each step, which is after the one before it, and after the last
        place, done = tmp_path / f"at{at}", at == len(steps)
        shutil.copytree(tmp_path / "first", place)
        with monkeypatch.context() as patch:
            counting(patch, at - done, done)
            with pytest.raises(KilledError):
                put(place, [second])
        assert said(Lake.open(place)) == (after if done else before), (at, steps[at - done])
        lake, _ = put(place, [second])
        same(lake, whole)
    gc.collect()  # Files that nobody has closed, as after a kill.


def meeting(patch: pytest.MonkeyPatch, act: Any) -> None:
    """Let another writer act right before a batch is committed to `batches`, once."""
    add, met = Lake._add, []

    def late(self: Lake, name: str, parts: Any, table: Any = None, number: int | None = None) -> None:
        if number is not None and not met:
            met.append(name)
            act()
        add(self, name, parts, table, number)

    patch.setattr(Lake, "_add", late)


@pytest.mark.parametrize("theirs", [[RAW], [VLAN], [RAW, SESSION, VLAN]])
def test_of_two_writers_each_capture_counts_once(tmp_path, monkeypatch, theirs):
    """The other one has other captures, the same, or some of them."""
    put(tmp_path / "lake", [CAPTURES / "cut-record.pcap"])
    with monkeypatch.context() as patch:
        meeting(patch, lambda: put(tmp_path / "lake", theirs))
        lake, done = put(tmp_path / "lake", [VLAN, SESSION])
    assert done.captures + done.known == 2
    every = [CAPTURES / "cut-record.pcap", VLAN, RAW, *([SESSION] if SESSION in theirs or done.captures else [])]
    found = sorted(row["path"] for row in rows(lake, "captures"))
    assert found == sorted({str(one) for one in (CAPTURES / "cut-record.pcap", VLAN, SESSION, *theirs)})
    assert all(said(lake, path) == replayed(path) for path in found) and every


def test_a_second_try_counts_once_though_a_compaction_came_between(tmp_path, monkeypatch):
    def act() -> None:
        lake, _ = put(tmp_path / "lake", [VLAN])
        DeltaTable(str(Path(lake.root) / "verdicts")).optimize.compact()

    put(tmp_path / "lake", [RAW])
    with monkeypatch.context() as patch:
        meeting(patch, act)
        lake, done = put(tmp_path / "lake", [SESSION])
    assert done.captures == 1 and said(lake, str(SESSION)) == replayed(SESSION)


def test_two_writers_that_go_on_with_a_stream_do_it_once(tmp_path, monkeypatch):
    first, second = halves(tmp_path)
    put(tmp_path / "lake", [first])
    with monkeypatch.context() as patch:
        meeting(patch, lambda: put(tmp_path / "lake", [second]))
        lake, done = put(tmp_path / "lake", [second])
    assert done.captures == 0 and done.known == 1 and said(lake) == replayed(SESSION)


def test_a_batch_counts_once_although_its_answer_was_lost(tmp_path, monkeypatch):
    add = Lake._add

    def deaf(self: Lake, name: str, parts: Any, table: Any = None, number: int | None = None) -> None:
        add(self, name, parts, table, number)
        if number is not None:
            raise PipelineError("the answer was lost")

    monkeypatch.setattr(Lake, "_add", deaf)
    lake, done = put(tmp_path / "lake", [SESSION])
    assert done.captures == 1 and said(lake) == replayed(SESSION)


def test_files_that_are_added_twice_are_there_once(tmp_path, monkeypatch):
    """As of a store that has done what it did not answer, so that delta-rs asks again."""
    add = Lake._add

    def twice(self: Lake, name: str, parts: Any, table: Any = None, number: int | None = None) -> None:
        if number is None:
            add(self, name, parts)
        add(self, name, parts, table, number)

    monkeypatch.setattr(Lake, "_add", twice)
    lake, _ = put(tmp_path / "lake", [SESSION])
    assert said(lake) == replayed(SESSION)


@pytest.mark.parametrize(("kind", "name"), [(LocalStore, "sink"), (LocalStore, "write"), (Files, "_finish")])
def test_a_full_disk_is_one_sentence_and_nothing_is_added(tmp_path, monkeypatch, kind, name):
    first, second = halves(tmp_path)
    put(tmp_path / "lake", [first])
    files = sorted((tmp_path / "lake").rglob("*.parquet"))
    with monkeypatch.context() as patch:
        patch.setattr(kind, name, full)
        with pytest.raises(PipelineError, match="No space left on device"):
            put(tmp_path / "lake", [second])
    assert sorted((tmp_path / "lake").rglob("*.parquet")) == files, "what was written is removed again"
    lake, _ = put(tmp_path / "lake", [second])
    assert said(lake) == replayed(SESSION)


def test_a_full_disk_at_the_commit_is_one_sentence(tmp_path, monkeypatch):
    import deltalake

    class Full(deltalake.DeltaTable):
        def create_write_transaction(self, *_: Any, **__: Any) -> None:
            raise OSError("Generic LocalFileSystem error: No space left on device (os error 28)")

    Lake.open(tmp_path / "lake", create=True)
    with monkeypatch.context() as patch:
        patch.setattr(deltalake, "DeltaTable", Full)
        with pytest.raises(PipelineError, match=r"cannot be used: No space left on device\.$"):
            put(tmp_path / "lake", [SESSION])
    assert said(put(tmp_path / "lake", [SESSION])[0]) == replayed(SESSION)


def test_the_lake_is_plain_delta(tmp_path):
    """Each table by itself, by day; the number of the last batch is the application's transaction."""
    from deltalake import DeltaTable

    for one in (VLAN, RAW):
        lake, _ = put(tmp_path / "lake", [one])
    batches = DeltaTable(str(tmp_path / "lake" / "batches"))
    assert batches.transaction_version("mqconform") == 2 and batches.to_pyarrow_table().num_rows == 2
    for name in TABLES:
        table = DeltaTable(str(tmp_path / "lake" / name))
        assert table.metadata().partition_columns == ["date"]
        assert table.to_pyarrow_table().num_rows == len(rows(lake, name)), name
    assert [one.name for one in (tmp_path / "lake").iterdir() if one.name.startswith("_")] == ["_mqconform.json"]


@pytest.mark.parametrize(
    ("head", "words"),
    [
        ('{"format": 1, "version": "0.1"}', r"layout 1 of mqconform 0\.1.* ingest captures and runs again"),
        ('{"format": 99, "version": "9"}', "layout 99"),
        ('{"format": 4', "it is damaged"),
        ("[]", "names no format"),
    ],
)
def test_a_lake_of_another_layout_is_one_sentence(tmp_path, head, words):
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "_mqconform.json").write_text(head)
    with pytest.raises(PipelineError, match=words):
        Lake.open(tmp_path / "old", create=True)


def test_what_is_no_lake_is_not_made_one(tmp_path):
    with pytest.raises(PipelineError, match="is not a lake; make one"):
        Lake.open(tmp_path / "none")
    with pytest.raises(PipelineError, match="is a folder with other files in it"):
        Lake.open(CAPTURES, create=True)


def test_a_folder_named_like_a_table_stays_what_it_is(tmp_path):
    """A vacuum removes what its table does not name: captures beside a log would be gone."""
    (tmp_path / "captures").mkdir()
    (tmp_path / "captures" / "a.pcap").write_bytes(b"mine")
    with pytest.raises(PipelineError, match="captures has files that are no table"):
        Lake.open(tmp_path, create=True)
    assert [one.name for one in tmp_path.iterdir()] == ["captures"]


def test_the_note_of_another_vacuum_is_no_damage(tmp_path):
    first, _ = halves(tmp_path)
    lake, _ = put(tmp_path / "lake", [first])
    (Path(lake.root) / "verdicts" / "_delta_log" / "_last_vacuum_info").write_text("{}")
    assert Lake.open(tmp_path / "lake").batches().live


@pytest.mark.parametrize("name", ["captures", "captures/_delta_log", "_state"])
def test_nothing_is_written_through_a_link(tmp_path, name):
    first, second = halves(tmp_path)
    lake, _ = put(tmp_path / "lake", [first])
    place = Path(lake.root) / name
    place.rename(tmp_path / "outside")
    place.symlink_to(tmp_path / "outside")
    before = sorted((tmp_path / "outside").iterdir())
    with pytest.raises(PipelineError, match="is a link"):
        ingest(Lake.open(tmp_path / "lake"), [str(second)], how(), Here())
    assert sorted((tmp_path / "outside").iterdir()) == before
