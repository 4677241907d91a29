"""Keeping a lake on Delta: the rows that are visible stay those of a plain model, whatever is done to the files."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

pytest.importorskip("deltalake")

import made_lake
from delta_helpers import full
from made_lake import capture, day, fill, verdict
from table_lake_tests import unlocked as unlocked
from typer.testing import CliRunner

from conformance.cli.pipeline import app
from conformance.pipeline import keeping, keeping_compact
from conformance.pipeline.errors import PipelineError
from conformance.pipeline.history import Batch, gaps, is_in, number_of
from conformance.pipeline.lake import Entry, Kept, Lake, Part
from conformance.pipeline.lakes import delta, fold
from conformance.pipeline.lakes.store import LocalStore
from conformance.pipeline.lakes.tables import Listed
from conformance.pipeline.schemas import TABLES, Column

HERE = Path(__file__).parent
SHOWN = ("captures", "verdicts", "rejected")


@pytest.fixture(autouse=True)
def folded(monkeypatch):
    """Fold the log at each batch."""
    monkeypatch.setattr(fold, "EVERY", 1)


@pytest.fixture(params=["delta", "iceberg"])
def format(request):
    """The format of the lakes that are kept in order."""
    if request.param == "iceberg":
        pytest.importorskip("pyiceberg")
    return request.param


@pytest.fixture
def made(format):
    """Make a lake, or open it."""

    def make(place: Path) -> delta.TableLake:
        lake = Lake.open(place, create=True, format=format)
        assert isinstance(lake, delta.TableLake) and lake.format == format
        return lake

    return make


def visible(lake: Lake) -> Counter:
    """The rows of a lake, each with its table."""
    import pyarrow.parquet as pq

    found = Counter()
    for table in SHOWN:
        for path in lake.files(table):
            for row in pq.read_table(path, partitioning=None).to_pylist():
                if row["batch"] not in lake.later:
                    found[table, repr(sorted(row.items(), key=str))] += 1
    return found


def short(rows) -> Counter:
    """The rows of a model: what tells one from another."""
    return Counter((table, str(when), more.get("requirement") or more.get("capture_id")) for table, when, more in rows)


def of_model(lake: Lake) -> Counter:
    """The same of a lake."""
    import pyarrow.parquet as pq

    found = Counter()
    for table in ("captures", "verdicts"):
        for path in lake.files(table):
            when = Path(path).parent.name.partition("=")[2]
            for row in pq.read_table(path, partitioning=None).to_pylist():
                if row["batch"] not in lake.later:
                    found[table, when, row.get("requirement") or row.get("capture_id")] += 1
    return found


def batches(lake: Lake, count: int, days: int = 1) -> None:
    for at in range(count):
        when = day(at % days)
        rows = [verdict(f"r-{(7 * at) % 5}", "fail", sender, when) for sender in ("b", None, "a")]
        fill(lake, [*rows, capture(when)])


def age(place: Path, days: float = 30) -> None:
    for path in place.rglob("*.parquet"):
        os.utime(path, (time.time() - days * 86_400,) * 2)


@settings(max_examples=4, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    acts=st.lists(
        st.one_of(
            st.tuples(st.just("ingest"), st.integers(0, 3)),
            st.tuples(st.sampled_from(["compact", "vacuum", "open"]), st.none()),
            st.tuples(st.just("forget"), st.integers(0, 4)),
        ),
        min_size=3,
        max_size=8,
    )
)
def test_the_rows_are_those_of_a_plain_model_in_any_order(tmp_path_factory, acts, made):
    place = tmp_path_factory.mktemp("model") / "lake"
    lake, model, then, vacuumed = made(place), [], {}, 0
    for number, (act, on) in enumerate(acts):
        if act == "ingest":
            rows = [
                verdict(f"r-{number}", "fail", "a", day(on)),
                verdict("r-0", "pass", None, day(on)),
                capture(day(on)),
            ]
            fill(lake, rows)
            model += rows
        elif act == "forget":
            keeping.forget(lake, day(on))
            model = [one for one in model if one[1] >= day(on)]
        elif act == "compact":
            keeping.compact(lake)
        elif act == "vacuum":
            age(place)
            keeping.vacuum(lake, 0)
            vacuumed = lake.snapshot().version
        else:
            lake = Lake.open(place)
        wanted = short(model)
        assert of_model(lake) == of_model(Lake.open(place)) == wanted
        then[lake.snapshot().version] = wanted
    kinds = {one.number: one.kind for one in lake.history()}
    for version, wanted in then.items():
        try:
            assert not version or of_model(lake.as_of(str(version))) == wanted
        except PipelineError as problem:
            # Only `forget` takes rows away, and only what was put aside before a `vacuum` can be gone.
            assert any(version < number <= vacuumed and kind == "forget" for number, kind in kinds.items())
            oldest = int(problem.sentence.split("From batch ")[1].split()[0])
            assert version < oldest and lake.unreadable([*kinds]) >= {version}
            assert all(of_model(lake.as_of(str(at))) == then[at] for at in then if at >= oldest)


def test_compaction_makes_one_file_a_day_in_order_and_changes_no_row(tmp_path, made):
    import pyarrow.parquet as pq

    lake = made(tmp_path / "lake")
    batches(lake, 6, days=2)
    before = visible(lake)
    done = {one.table: one for one in keeping.compact(lake)}
    assert (done["verdicts"].files_before, done["verdicts"].files_after, done["verdicts"].rows) == (6, 2, 18)
    assert visible(lake) == visible(Lake.open(tmp_path / "lake")) == before
    for path in lake.files("verdicts"):
        rows = pq.read_table(path, partitioning=None).select(["requirement", "sender"]).to_pylist()
        assert rows == sorted(rows, key=lambda row: (row["requirement"], row["sender"] is None, row["sender"] or ""))
    assert not any(one.files_before for one in keeping.compact(lake))
    assert swapped(tmp_path / "lake" / "verdicts") == ({"date=2026-03-01"}, {"date=2026-03-02"})


def swapped(table: Path) -> tuple[set[str], ...]:
    """The days of the files that the last two commits to a table have put in the place of others; no row changed."""
    if not (table / "_delta_log").exists():
        from pyiceberg.table import StaticTable

        found = StaticTable.from_metadata(str(table))
        last = sorted(found.metadata.snapshots, key=lambda one: one.sequence_number)[-2:]
        assert all(one.summary["added-records"] == one.summary["deleted-records"] for one in last)
        return tuple({Path(path).parent.name for path in _added(found, one)} for one in last)
    days = []
    for log in sorted((table / "_delta_log").glob("*.json"))[-2:]:
        actions = [json.loads(line) for line in log.read_text().splitlines()]
        assert all(one[kind]["dataChange"] is False for one in actions for kind in ("add", "remove") if kind in one)
        days.append({one["add"]["path"].partition("/")[0] for one in actions if "add" in one})
    return tuple(days)


def _added(table, snapshot) -> list[str]:
    entries = [entry for one in snapshot.manifests(table.io) for entry in one.fetch_manifest_entry(table.io)]
    return [entry.data_file.file_path for entry in entries if entry.snapshot_id == snapshot.snapshot_id]


def test_only_a_day_that_was_named_is_compacted(tmp_path, made):
    lake = made(tmp_path / "lake")
    batches(lake, 4, days=2)
    keeping.compact(lake, day(1))
    assert sorted(Path(one).parent.name for one in lake.files("captures")) == [
        "date=2026-03-01", "date=2026-03-01", "date=2026-03-02",
    ]  # fmt: skip


def test_files_of_batches_that_do_not_count_and_of_provisional_ends_are_left_alone(tmp_path, monkeypatch, made):
    lake = made(tmp_path / "lake")
    batches(lake, 2)
    with monkeypatch.context() as patch:
        patch.setattr(delta.TableLake, "_write_batch", _die)
        patch.setattr(delta.TableLake, "_clean", lambda *_, **__: None)
        with pytest.raises(KeyboardInterrupt):
            fill(lake, [capture(day(0))])
    batch = "provisional"
    with lake.writing(batch) as target:
        part = made_lake._part(target, "captures", day(0), [{"capture_id": "x"}])
        lake.commit(Entry("ingest", batch, [replace(part, stream="s")]))
    lake = Lake.open(tmp_path / "lake")
    before = visible(lake)
    done = {one.table: one for one in keeping.compact(lake)}
    assert done["captures"].files_before == 2 and visible(Lake.open(tmp_path / "lake")) == before
    assert any(part.stream == "s" for part in lake.snapshot().parts.values())


def _die(*_: object) -> None:
    raise KeyboardInterrupt


def test_who_comes_second_looks_again_and_no_row_is_there_twice(tmp_path, monkeypatch, made):
    """Between reading the files and the commit, another compaction and another ingest are first."""
    place = tmp_path / "lake"
    lake = made(place)
    batches(lake, 3)
    fill(lake, [capture(day(0))])
    commit, meanwhile = keeping_compact.replace, []

    def late(*given):
        if not meanwhile:
            meanwhile.append(True)
            keeping.compact(Lake.open(place))
            fill(Lake.open(place), [capture(day(0), path="/late")])
        return commit(*given)

    before = visible(lake)
    monkeypatch.setattr(keeping_compact, "replace", late)
    keeping.compact(lake)
    assert sum(visible(Lake.open(place)).values()) == sum(before.values()) + 1
    assert before <= visible(Lake.open(place))


def test_a_compaction_that_is_second_each_time_says_so(tmp_path, monkeypatch, made):
    lake = made(tmp_path / "lake")
    batches(lake, 2)

    def lost(*_: object) -> None:
        raise keeping_compact.LostError

    monkeypatch.setattr(keeping_compact, "replace", lost)
    with pytest.raises(PipelineError, match=r"change the table captures .* run the command again"):
        keeping.compact(lake)


@pytest.mark.parametrize("command", ["compact", "forget", "vacuum", "shorten"])
def test_a_command_that_dies_at_any_step_loses_nothing(tmp_path, command, format):
    ran = subprocess.run(
        [sys.executable, str(HERE / "dying_keeper.py"), str(tmp_path), command, format],
        env={**os.environ, "PYTHONPATH": f"{HERE.parents[1]}:{HERE}"}, capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    first, *each = map(json.loads, ran.stdout.splitlines())
    before, done = first["before"], first["done"]
    assert len(each) >= 4 and (before == done) == (command != "forget")
    steps = first["steps"]
    commits = (
        r"create batches/_delta_log/\d+\.json" if format == "delta" else r"create batches/metadata/v\d+\.metadata\.json"
    )
    committed = next((at for at, step in enumerate(steps) if re.fullmatch(commits, step)), len(steps))
    for one in each:
        assert one["then"] == (before if one["at"] <= committed else done), one["step"]
        assert one["again"] == done and one["batches"] == 4 + (command == "forget"), one["step"]


@pytest.mark.parametrize("step", ["sink", "create", "write"])
def test_a_full_disk_ends_a_command_with_one_sentence_and_no_row_is_lost(tmp_path, monkeypatch, made, step):
    lake = made(tmp_path / "lake")
    batches(lake, 4, days=2)
    before = visible(lake)
    ended = []
    with monkeypatch.context() as patch:
        patch.setattr(LocalStore, step, full)
        for act in (keeping.compact, lambda lake: keeping.forget(lake, day(1))):
            try:
                act(Lake.open(tmp_path / "lake"))
            except PipelineError as problem:
                assert "No space left on device" in problem.sentence and "\n" not in problem.sentence
                ended.append(problem)
            assert visible(Lake.open(tmp_path / "lake")) == before
    assert ended
    assert keeping.forget(Lake.open(tmp_path / "lake"), day(1)).rows["captures"] == 2
    keeping.compact(Lake.open(tmp_path / "lake"))
    assert Counter(table for table, _ in visible(Lake.open(tmp_path / "lake"))) == {"captures": 2, "verdicts": 6}


def test_a_commit_merges_small_files_and_counts_if_it_cannot(tmp_path, monkeypatch, made):
    """Each fiftieth; here each, all that there are."""
    monkeypatch.setattr(delta, "EACH", 1)
    monkeypatch.setattr(delta, "heaps", keeping_compact.bins())
    lake = made(tmp_path / "lake")
    batches(lake, 3)
    assert len(lake.files("verdicts")) == len(lake.files("captures")) == 1
    write = LocalStore.sink

    def sink(self, place: str):
        return full() if "/kept-" in place else write(self, place)

    with monkeypatch.context() as patch:
        patch.setattr(LocalStore, "sink", sink)
        batches(lake, 1)
        assert len(lake.files("verdicts")) == 2 and lake.snapshot().version == 4
    batches(lake, 1)
    again = Lake.open(tmp_path / "lake")
    assert len(again.files("verdicts")) == 1 and sum(visible(again).values()) == 5 * 4
    assert [sum(visible(again.as_of(str(at))).values()) for at in range(1, 6)] == [4, 8, 12, 16, 20]


def test_what_was_forgotten_stays_known_and_the_rest_is_there(tmp_path, made):
    lake = made(tmp_path / "lake")
    with lake.writing("first") as target:
        parts = [made_lake._part(target, "captures", day(at), [{"capture_id": f"c{at}"}]) for at in range(2)]
        parts.append(made_lake._part(target, "rejected", day(0), [{"path": "/bad"}]))
        lake.commit(Entry("ingest", "first", parts, captures=["c0", "c1"]))
    assert keeping.to_forget(lake, day(1)).rows["captures"] == 1
    done = keeping.forget(lake, day(1))
    assert done.version == 2 and done.rows["captures"] == 1
    now = Lake.open(tmp_path / "lake").snapshot()
    assert now.captures == {"c0", "c1"} and sorted(part.table for part in now.parts.values()) == [
        "captures",
        "rejected",
    ]
    assert keeping.forget(lake, day(1)).version == 2 and [one.kind for one in lake.history()] == ["ingest", "forget"]
    fill(lake, [capture(day(0))])  # another capture of that day is a later batch
    keeping.compact(lake)
    assert len(Lake.open(tmp_path / "lake").files("captures")) == 2


def test_vacuum_removes_what_is_old_and_not_needed_and_nothing_of_a_living_writer(tmp_path, made):
    place = tmp_path / "lake"
    lake = made(place)
    batches(lake, 3)
    before = visible(lake)
    keeping.compact(lake)
    assert not any(one.files for one in keeping.vacuum(lake, 0))  # younger than a day
    with lake.writing("living") as target:
        (place / "captures" / "date=2026-03-01" / "part-living-1.parquet").write_bytes(b"x")
        (place / "captures" / "date=2026-03-01" / "part-dead-1.parquet").write_bytes(b"x")
        (place / "captures" / "date=2026-03-01" / "notes.txt").write_bytes(b"x")
        age(place)
        found = {one.table: one for one in keeping.vacuum(Lake.open(place), 7, dry_run=True)}
        places = {name.rpartition("/")[2] for name, _ in found["captures"].files}
        # A table knows when it put a file aside, whatever the age of the file.
        assert places == {"part-dead-1.parquet"} and target.batch == "living"
        found = {one.table: one for one in keeping.vacuum(Lake.open(place), 0)}
        assert sum(name.endswith(".parquet") for name, _ in found["captures"].files) == 4
        assert found["captures"].bytes > 1
        assert (place / "captures" / "date=2026-03-01" / "part-living-1.parquet").exists()
        assert (place / "captures" / "date=2026-03-01" / "notes.txt").exists()
    assert visible(Lake.open(place)) == before
    assert visible(lake.as_of("3")) == before and not lake.unreadable([1, 2, 3])


def test_vacuum_on_delta_refuses_to_keep_what_its_log_forgets(tmp_path):
    """Once it is summed up, the log no longer tells that a file was replaced ten days ago."""
    place = tmp_path / "lake"
    lake = Lake.open(place, create=True, format="delta")
    batches(lake, 3)
    files = set(place.rglob("*.parquet"))
    keeping.compact(lake)
    age(place, 60)
    summed(place / "verdicts", days=10)
    ran = CliRunner().invoke(app, ["vacuum", str(place), "--keep", "30"])
    assert ran.exit_code == 2 and "knows for 7 days which files it has needed" in ran.stderr
    assert files <= set(place.rglob("*.parquet"))
    found = {one.table: one for one in keeping.vacuum(Lake.open(place), 7)}
    assert len(found["verdicts"].files) == 3


def summed(table: Path, days: float) -> None:
    """Let the log of a Delta table be of so many days ago, sum it up, and end what is older than it is kept."""
    from deltalake import DeltaTable

    then = time.time() - days * 86_400
    log = table / "_delta_log"
    for path in log.glob("0*.json"):
        text = re.sub(r'"(\w*[tT]imestamp)": ?\d+', lambda found: f'"{found[1]}":{int(then * 1000)}', path.read_text())
        path.write_text(text)
        os.utime(path, (then, then))
    found = DeltaTable(str(table))
    found.create_checkpoint()
    found.cleanup_metadata()


@pytest.mark.parametrize("table", ["verdicts", "batches"])
def test_a_writer_that_was_asleep_until_its_log_was_summed_up_adds_nothing(tmp_path, monkeypatch, unlocked, table):
    """The entries behind the one that it knows have ended, so that the place of its own is free."""
    place = tmp_path / "lake"
    batches(Lake.open(place, create=True, format="delta"), 2)
    create, slept = LocalStore.create, []

    def late(self: LocalStore, entry: str, data: bytes) -> None:
        if entry.startswith(f"{table}/_delta_log/") and not slept:
            slept.append(entry)
            batches(Lake.open(place), 3)
            summed(place / table, days=9)
        create(self, entry, data)

    monkeypatch.setattr(LocalStore, "create", late)
    with pytest.raises(PipelineError, match=r"has written to the lake .* meanwhile, and nothing of this one is in it"):
        fill(Lake.open(place), [verdict("late", "fail", "a", day(0))])
    assert slept and not (place / slept[0]).exists()
    lake = Lake.open(place)
    assert lake.snapshot().version == 5 and not any(key[2] == "late" for key in of_model(lake))
    fill(lake, [verdict("next", "fail", "a", day(0))])
    assert Lake.open(place).snapshot().version == 6


def test_a_compaction_that_was_asleep_begins_again_behind_the_sum(tmp_path, monkeypatch):
    place = tmp_path / "lake"
    lake = Lake.open(place, create=True, format="delta")
    batches(lake, 3)
    create, slept = LocalStore.create, []

    def late(self: LocalStore, entry: str, data: bytes) -> None:
        if entry.startswith("verdicts/_delta_log/") and not slept:
            slept.append(entry)
            batches(Lake.open(place), 3)
            summed(place / "verdicts", days=9)
        create(self, entry, data)

    monkeypatch.setattr(LocalStore, "create", late)
    keeping.compact(lake)
    assert slept and len(Lake.open(place).files("verdicts")) == 1 + 3
    assert sum(of_model(Lake.open(place)).values()) == 6 * 4 and not (place / slept[0]).exists()


def test_a_sum_of_the_log_that_fails_does_not_undo_a_compaction(tmp_path, monkeypatch):
    """The files are replaced before; whoever is next sums up."""
    import deltalake

    monkeypatch.setattr("conformance.pipeline.lakes.delta_tables._LOGS", {"delta.checkpointInterval": "1"})
    place = tmp_path / "lake"
    lake = Lake.open(place, create=True, format="delta")
    batches(lake, 3)
    before, tried = visible(lake), []

    def failing(table: deltalake.DeltaTable) -> None:
        tried.append(table)
        raise OSError("the store is busy")

    monkeypatch.setattr(deltalake.DeltaTable, "create_checkpoint", failing)
    done = {one.table: one for one in keeping.compact(lake)}
    assert tried and (done["verdicts"].files_before, done["verdicts"].files_after) == (3, 1)
    assert visible(Lake.open(place)) == before and len(Lake.open(place).files("verdicts")) == 1


def test_a_lake_as_it_was_is_read_from_the_files_of_a_later_compaction(tmp_path, made):
    """By `report`, by `sql`, and row by row: compaction changes files, not rows."""
    place = tmp_path / "lake"
    lake = made(place)
    seen, summed = [], []
    query = "select requirement, sum(count) as n from verdicts group by 1 order by 1"

    def asked(command: str, *words: str):
        ran = CliRunner().invoke(app, [command, str(place), *words, "--json"])
        assert ran.exit_code == 0, ran.stderr
        return json.loads(ran.stdout)

    for at in range(4):
        fill(lake, [verdict(f"r-{at}", "fail", "a", day(0)), verdict("r-0", "pass", None, day(at)), capture(day(at))])
        seen.append(visible(lake))
        summed.append((asked("report"), asked("sql", query)["rows"]))
    keeping.compact(lake)
    age(place)
    keeping.vacuum(lake, 0)
    for at, (wanted, (report, rows)) in enumerate(zip(seen, summed, strict=True), 1):
        then = Lake.open(place).as_of(str(at))
        assert visible(then) == wanted and then.snapshot().version == at and bool(then.later) == (at < 4)
        found = asked("report", "--as-of", str(at))
        assert found == report and asked("sql", query, "--as-of", str(at))["rows"] == rows
    assert all(one["readable"] for one in asked("history")["batches"])


def test_what_a_later_batch_took_away_cannot_be_read_and_a_sentence_names_what_can(tmp_path, made):
    """Rows about the provisional end of a stream that went on, and forgotten days."""
    place = tmp_path / "lake"
    lake = made(place)

    def put(batch: str, stream: str | None = None, ended: tuple[str, ...] = ()) -> None:
        with lake.writing(batch) as target:
            part = made_lake._part(target, "captures", day(1), [{"capture_id": batch}])
            more = made_lake._part(target, "captures", day(0), [{"capture_id": f"{batch}-other"}])
            lake.commit(Entry("ingest", batch, [replace(part, stream=stream), more], ended=ended))

    put("b1")
    put("b2", "s")
    put("b3")
    put("b4", "s", ("s",))
    put("b5")
    seen = {at: of_model(lake.as_of(str(at))) for at in range(1, 6)}
    keeping.compact(lake)
    assert not lake.unreadable(range(1, 6))
    age(place)
    keeping.vacuum(lake, 0)
    assert lake.unreadable(range(1, 6)) == {2, 3}
    assert {at: of_model(lake.as_of(str(at))) for at in (1, 4, 5)} == {at: seen[at] for at in (1, 4, 5)}
    for at in (2, 3):
        with pytest.raises(PipelineError, match=rf"as of batch {at} can no longer .* From batch 4 on, it can be"):
            lake.as_of(str(at))
    keeping.forget(lake, day(1))
    keeping.compact(lake)
    age(place)
    keeping.vacuum(lake, 0)
    ran = CliRunner().invoke(app, ["history", str(place)])
    assert [line.endswith("can no longer be read") for line in ran.stdout.splitlines()] == [False] + [True] * 5
    with pytest.raises(PipelineError, match="From batch 6 on, it can be"):
        lake.as_of("5")


def test_history_tries_few_of_many_batches(tmp_path, made, monkeypatch):
    """Each is one after which rows were taken away, as of a watch that goes on; the first ones cannot be read."""
    lake = made(tmp_path / "lake")
    for at in range(12):
        with lake.writing(f"b{at:02}") as target:
            part = made_lake._part(target, "captures", day(1), [{"capture_id": f"c{at}"}])
            lake.commit(Entry("ingest", f"b{at:02}", [replace(part, stream="s")], ended=("s",) if at else ()))
    tried = []

    def then(self, number):
        tried.append(number)
        return self if number > 4 else None

    monkeypatch.setattr(delta.TableLake, "then", then)
    assert Lake.open(tmp_path / "lake").unreadable(range(1, 13)) == {1, 2, 3, 4}
    assert len(tried) <= 4


@given(st.lists(st.tuples(st.integers(0, 3), st.booleans(), st.booleans()), max_size=30))
def test_batches_after_which_rows_were_taken_away_are_spans_in_order(made_of):
    """Compared with the lake after each batch: what it had of streams that were ended later."""
    entries: list[Entry] = []
    for at, (stream, provisional, ends) in enumerate(made_of):
        part = replace(
            Part("captures", "2026-03-01", f"f{at}.parquet", 1), stream=f"s{stream}" if provisional else None
        )
        entries.append(Entry("ingest", f"b{at}", [part], ended=(f"s{stream}",) if ends else ()))
    taken, shown = set(), {}
    for at, entry in enumerate(entries, 1):
        for name, (first, streams) in list(shown.items()):
            if streams in entry.ended:
                taken.update(range(first, at))
                del shown[name]
        shown.update({one.name: (at, one.stream) for one in entry.add if one.stream is not None})
    spans = gaps(entries)
    assert {number for number in range(1, len(entries) + 1) if is_in(spans, number)} == taken
    assert all(one[1] + 1 < other[0] for one, other in pairwise(spans))


def test_a_watch_of_ten_thousand_batches_has_one_span():
    """As many spans as batches took as long as their product."""
    part = Part("captures", "2026-03-01", "f.parquet", 1, "s")
    entries = [Entry("ingest", f"b{at}", [replace(part, name=f"f{at}.parquet")], ended=("s",)) for at in range(10_000)]
    assert gaps(entries) == [(1, 9_999)]


def test_a_lake_is_read_as_it_was_after_each_batch(tmp_path, made):
    lake = made(tmp_path / "lake")
    seen = []
    for at in range(3):
        fill(lake, [capture(day(at))])
        seen.append(visible(lake))
    keeping.compact(lake)
    keeping.forget(lake, day(2))
    names = [one.batch for one in lake.history()]
    for at, wanted in enumerate(seen):
        assert visible(lake.as_of(str(at + 1))) == visible(lake.as_of(names[at])) == wanted
    assert visible(lake.as_of("9999-12-31")) == visible(lake) != seen[2]


def test_times_and_numbers_of_batches():
    first = datetime(2026, 1, 1, 12, tzinfo=UTC)
    made_ = [Batch(at + 1, f"b{at}", first + timedelta(days=at), "0", "ingest") for at in range(3)]
    meant = {"2": 2, "b2": 3, "2026-01-01": 1, "2026-01-02T11:59": 1, "2026-01-02T13:00+01:00": 2, " 2027-01-01 ": 3}
    for asked, number in meant.items():
        assert number_of(made_, asked) == number
    refused = {
        "4": "has no batch 4; the last one is 3",
        "0": "has no batch 0",
        "2025-12-31": "had no batch yet",
        "x": "Invalid --as-of x",
        "2026-13-01": "Invalid --as-of",
    }
    for asked, said in refused.items():
        with pytest.raises(PipelineError, match=said):
            number_of(made_, asked)


def test_a_column_that_a_file_lacks_is_null_after_the_compaction(tmp_path, monkeypatch, made):
    import pyarrow.parquet as pq

    lake = made(tmp_path / "lake")
    batches(lake, 2)
    more = (*TABLES["captures"].columns, Column("added", "string", "A column of a later version", null=True))
    monkeypatch.setitem(TABLES, "captures", replace(TABLES["captures"], columns=more))
    lake = Lake.open(tmp_path / "lake")
    fill(lake, [capture(day(0), added="yes")])
    keeping.compact(lake)
    (path,) = lake.files("captures")
    assert sorted(pq.read_table(path, partitioning=None)["added"].to_pylist(), key=str) == [None, None, "yes"]


def test_a_column_of_a_later_version_is_kept(tmp_path, monkeypatch, made):
    import pyarrow.parquet as pq

    lake = made(tmp_path / "lake")
    more = (*TABLES["captures"].columns, Column("added", "string", "A column of a later version", null=True))
    with monkeypatch.context() as patch:
        patch.setitem(TABLES, "captures", replace(TABLES["captures"], columns=more))
        lake = made(tmp_path / "later")
        fill(lake, [capture(day(0), added="yes")])
    lake = Lake.open(tmp_path / "later")
    fill(lake, [capture(day(0))])
    keeping.compact(lake)
    (path,) = lake.files("captures")
    assert sorted(pq.read_table(path, partitioning=None)["added"].to_pylist(), key=str) == [None, "yes"]


def test_the_table_of_batches_stays_short_and_its_rows_are_all_there(tmp_path, monkeypatch, made):
    monkeypatch.setattr(delta, "tiers", lambda files: keeping_compact.tiers(files, 3))
    monkeypatch.setattr(delta, "EACH", 1)
    lake = made(tmp_path / "lake")
    for at in range(10):
        with lake.writing(f"b{at}"):
            lake.commit(Entry("ingest", f"b{at}", captures=[f"c{at}"]))
    assert len(lake.settled("batches")[1]) < 6
    again = Lake.open(tmp_path / "lake")
    assert again.snapshot().version == 10 and again.snapshot().captures == {f"c{at}" for at in range(10)}
    assert [one.number for one in again.history()] == list(range(1, 11))


def test_a_lake_is_the_same_with_a_fold_and_without(tmp_path, made):
    """With a kept state, a provisional end that was replaced and one that was not, and forgotten days."""
    place = tmp_path / "lake"
    lake = made(place)
    for number, ended in ((1, ()), (2, ("s",))):
        with lake.writing(f"b{number}") as target:
            file = target.keep("state", b"{}")
            parts = [
                replace(made_lake._part(target, "captures", day(1), [{"capture_id": "x"}]), stream=stream)
                for stream in ("s", None)
            ]
            lake.commit(Entry("ingest", f"b{number}", parts, captures=[f"c{number}"], rejected=["r"], runs=["u"],
                              keep=[Kept("k", "s", file, number, number)], ended=ended))  # fmt: skip
    fill(lake, [capture(day(0))])
    keeping.forget(lake, day(1))
    assert len(list((place / "_fold").iterdir())) == 2
    with_fold = Lake.open(place).snapshot()
    for path in (place / "_fold").iterdir():
        path.unlink()
    without = Lake.open(place).snapshot()
    assert (
        with_fold == replace(without, dropped=with_fold.dropped)
        and with_fold.kept
        and with_fold.forgotten == [(4, str(day(1)))]
    )
    assert sum(part.stream == "s" for part in with_fold.parts.values()) == 1 and len(with_fold.parts) == 3
    fill(Lake.open(place), [capture(day(0))])
    assert Lake.open(place).snapshot().version == 5


def test_a_fold_that_is_wrong_is_one_sentence(tmp_path, made):
    import pyarrow as pa
    import pyarrow.parquet as pq

    place = tmp_path / "lake"
    batches(made(place), 3)
    last = place / "_fold" / f"{3:020}.parquet"
    schema = pq.read_schema(last)
    good = pq.read_table(last).to_pylist()

    def bad(**changed):
        return [row | changed if row["kind"] == "batch" and row["number"] == 3 else row for row in good]

    wrong = {
        "other batches": [row for row in good if row["kind"] != "batch"],
        "other batches ": bad(number=7),
        "name that is not plain": bad(text="../x"),
        "needs": [*good, {"kind": "part", "number": None, "text": json.dumps({"table": "x", "date": "2026-01-01",
                  "name": "a.parquet", "rows": 1})}],
        "forgets at another": [*good, {"kind": "forgotten", "number": 9, "text": "2026-01-01"}],
        "needs a date": [*good, {"kind": "forgotten", "number": 2, "text": "tomorrow"}],
        "other columns": [row | {"text": None} for row in good],
    }  # fmt: skip
    for said, rows in wrong.items():
        pq.write_table(pa.Table.from_pylist(rows, schema=schema), last)
        with pytest.raises(PipelineError, match=f"{said.strip()}.*: it is damaged"):
            Lake.open(place)
    last.write_bytes(b"PAR1")
    with pytest.raises(PipelineError, match=r"cannot be read.*: it is damaged"):
        Lake.open(place)
    pq.write_table(pa.Table.from_pylist(good, schema=schema), last)
    last.rename(last.with_name(f"{9:020}.parquet"))
    with pytest.raises(PipelineError, match=r"other batches.*: it is damaged"):
        Lake.open(place)


@given(st.lists(st.integers(1, 200_000), max_size=60), st.integers(2, 9))
def test_tiers_are_of_one_size_and_not_too_long(rows, fan):
    files = [
        Listed(f"batches/{at}.parquet", "", f"{at}.parquet", count, 10, "b", "b", "b") for at, count in enumerate(rows)
    ]
    groups = list(keeping_compact.tiers(files, fan))
    assert all(sum(one.rows for one in group) <= keeping_compact.MOST_BATCHES and len(group) > 1 for group in groups)
    assert len({one.place for group in groups for one in group}) == sum(map(len, groups))
    if sum(count == 1 for count in rows) >= fan:
        assert groups


def test_heaps_are_of_small_files_of_one_day_and_size():
    def files(count: int, when: str, rows: int = 1, size: int = 10) -> list[Listed]:
        names = [f"{when}-{rows}-{size}-{at}.parquet" for at in range(count)]
        return [Listed(f"verdicts/date={when}/{one}", when, one, rows, size, "b", "b", "b") for one in names]

    given_ = [*files(7, "a"), *files(3, "b"), *files(9, "c", 1, keeping_compact.SMALL), *files(5, "a", 1_000)]
    groups = list(keeping_compact.heaps(given_, 4))
    assert sorted((group[0].date, group[0].rows, len(group)) for group in groups) == [("a", 1, 7), ("a", 1_000, 5)]
    large = list(keeping_compact.heaps(files(40, "a", 1, keeping_compact.SMALL - 1), 4))
    assert len(large) > 1 and all(sum(one.size for one in group) <= keeping_compact.HEAP for group in large)


@given(st.lists(st.tuples(st.integers(1, 100), st.integers(0, 2)), max_size=40), st.integers(10, 200))
def test_bins_are_of_one_day_and_not_too_large(sizes, target):
    files = [
        Listed(f"verdicts/date=d{when}/{at}.parquet", f"d{when}", f"{at}.parquet", 1, size, "b", "b", "b")
        for at, (size, when) in enumerate(sizes)
    ]
    for group in keeping_compact.bins(target)(files):
        assert len(group) > 1 and len({one.date for one in group}) == 1 and sum(one.size for one in group) <= target


@pytest.mark.parametrize(
    "words", [["compact"], ["forget", "--before", "2026-01-01"], ["vacuum"], ["history"], ["report", "--as-of", "1"]]
)
def test_a_lake_in_a_folder_is_to_be_upgraded_first(tmp_path, words):
    Lake.open(tmp_path / "lake", create=True, format="folder")
    ran = CliRunner().invoke(app, [words[0], str(tmp_path / "lake"), *words[1:]])
    assert (
        ran.exit_code == 2 and f"upgrade {tmp_path / 'lake'} first" in ran.stderr and len(ran.stderr.splitlines()) == 1
    )


def test_the_commands_tell_what_they_did(tmp_path, made):
    place = str(tmp_path / "lake")
    batches(made(tmp_path / "lake"), 4, days=2)

    def run(*words: str):
        return CliRunner().invoke(app, [words[0], place, *words[1:]])

    assert "captures: 4 files became 2" in run("compact").stdout and "nothing to compact" in run("compact").stdout
    refused = run("forget", "--before", "2026-03-02")
    assert (
        refused.exit_code == 2 and "to remove: 2 captures, 6 verdicts" in refused.stdout and "--yes" in refused.stderr
    )
    removed = json.loads(run("forget", "--before", "2026-03-02", "--yes", "--json").stdout)
    assert removed["version"] == 5 and removed["rows"]["verdicts"] == 6 and removed["removed"]
    age(tmp_path / "lake")
    told = json.loads(run("vacuum", "--keep", "0", "--dry-run", "--json").stdout)
    assert told["bytes"] > 0 and told["dry_run"]
    assert f"{sum(one['files'] for one in told['tables'])} files removed" in run("vacuum", "--keep", "0").stdout
    assert "0 files removed" in run("vacuum", "--keep", "0").stdout
    assert [one["number"] for one in json.loads(run("history", "--last", "2", "--json").stdout)["batches"]] == [5, 4]
    late = run("report", "--as-of", "2")
    assert late.exit_code == 2 and "can no longer be read" in late.stderr and "From batch 5 on" in late.stderr
    assert json.loads(run("report", "--as-of", "5", "--json").stdout) == json.loads(run("report", "--json").stdout)
