"""A lake may come from anybody: what is wrong with it is one sentence, and nothing outside it is read or changed."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from lake_helpers import CAPTURES, contents, put, records_of, write_pcap
from made_lake import capture, day, fill, verdict
from typer.testing import CliRunner

from conformance.cli.pipeline import app
from conformance.pipeline import inside
from conformance.pipeline.errors import PipelineError
from conformance.pipeline.gather import gather
from conformance.pipeline.lake import Lake
from conformance.pipeline.lakes import folder as folder_lakes
from conformance.runlog import Header, RunWriter
from conformance.verdict import ExitCode, Outcome, Verdict

LAYOUT = "MQMQ-2.2.19.1.flags-in-layout"
Damage = Callable[[Path], object]


@pytest.fixture(scope="module")
def sound(tmp_path_factory) -> Path:
    """A lake of two entries."""
    lake = Lake.open(tmp_path_factory.mktemp("sound") / "lake", create=True, format="folder")
    fill(lake, [capture(day(0)), verdict(LAYOUT, "fail", "192.0.2.1", day(0))])
    fill(lake, [verdict(LAYOUT, "pass", None, day(1))])
    return lake.root


@pytest.fixture(scope="module")
def record(tmp_path_factory) -> Path:
    """A run record, to be put into a lake."""
    place = tmp_path_factory.mktemp("record") / "run"
    with RunWriter(place) as writer:
        writer.header(Header(run_id="r", connector="embedded", profile="msmq-4.0"))
        writer.verdict(Verdict(LAYOUT, Outcome.PASS, "x"), suite="s", test="t")
        writer.footer("completed")
    return place


@pytest.fixture
def place(sound, tmp_path) -> Path:
    """A lake of its own, beside a folder of somebody's things."""
    shutil.copytree(sound, tmp_path / "lake", symlinks=True)
    (tmp_path / "theirs" / "date=2026-03-01").mkdir(parents=True)
    for name in ("precious", "x.parquet", "date=2026-03-01/x.parquet", "x.state"):
        (tmp_path / "theirs" / name).write_text("precious")
    return tmp_path / "lake"


def entry(root: Path, number: int = 2) -> Path:
    return root / "_log" / f"{number:020}.json"


def put_text(text: str | bytes) -> Damage:
    data = text.encode() if isinstance(text, str) else text
    return lambda root: entry(root).write_bytes(data)


def changed(**members: Any) -> Damage:
    """The last entry with other members; one that is `...` is taken away."""

    def damage(root: Path) -> None:
        value = {**json.loads(entry(root).read_text()), **members}
        entry(root).write_text(json.dumps({name: one for name, one in value.items() if one is not ...}))

    return damage


def part(**members: Any) -> Damage:
    """The last entry with another member of the first file it adds."""
    good = {"table": "verdicts", "date": "2026-03-02", "name": "x.parquet", "rows": 1}
    return changed(add=[{name: one for name, one in {**good, **members}.items() if one is not ...}])


def kept(**members: Any) -> Damage:
    return changed(keep=[{"key": "k", "stream": "s", "file": "x.state", "last_ns": 1, "position": 1, **members}])


def instead(make: Callable[[Path], object], number: int = 2) -> Damage:
    def damage(root: Path) -> None:
        path = entry(root, number)
        path.rename(path.with_name("moved"))
        make(path)

    return damage


def truncated(root: Path) -> None:
    entry(root).write_bytes(entry(root).read_bytes()[:-9])


def key_twice(root: Path) -> None:
    entry(root).write_text(entry(root).read_text().replace('"captures": []', '"captures": [], "captures": ["x"]'))


DAMAGES: dict[str, Damage] = {
    "cut": truncated,
    "empty": put_text(""),
    "not an object": put_text("[]"),
    "null": put_text("null"),
    "binary": put_text(bytes(range(256))),
    "UTF-16": put_text("{}".encode("utf-16")),
    "missing in between": lambda root: entry(root, 1).unlink(),
    "key twice": key_twice,
    "huge": lambda root: os.truncate(entry(root), inside.MAX_FILE + 1),
    "many values": put_text("[" + "0," * (inside.MAX_VALUES + 1) + "0]"),
    "deep": put_text("[" * 100_000 + "]" * 100_000),
    "deep member": put_text('{"add":' * 3_000 + "1" + "}" * 3_000),
    "NaN": changed(version=float("nan")),
    "infinite": put_text('{"version": 1e999}'),
    "long number": put_text('{"version": ' + "9" * 5_000 + "}"),
    "another version": changed(version=1),
    "a true version": changed(version=True),
    "text for a version": changed(version="2"),
    "unknown member": changed(later=1),
    "lacks a member": changed(captures=...),
    "text for a list": changed(captures="abc"),
    "number in a list": changed(captures=[1]),
    "null for a list": changed(ended=None),
    "long text": changed(forget=["x" * 70_000]),
    "add is no list": changed(add={"table": "verdicts"}),
    "add of texts": changed(add=["verdicts"]),
    "part with more": part(more=1),
    "part with less": part(rows=...),
    "half a row": part(rows=0.5),
    "fewer than no rows": part(rows=-1),
    "a date that is none": part(date="2026-02-30"),
    "a date of a week": part(date="2026-W09-1"),
    "a date that leads out": part(date="../../theirs"),
    "a name that leads out": part(name="../../../theirs/x.parquet"),
    "an absolute name": part(name="/etc/x.parquet"),
    "a hidden name": part(name=".x.parquet"),
    "a name with a NUL": part(name="x\0.parquet"),
    "a name of half a pair": part(name="\ud800.parquet"),
    "a name with a line in it": part(name="x\n.parquet"),
    "a name in other digits": part(date="२०२६-03-01"),
    "a name of no Parquet": part(name="x.sh"),
    "a long name": part(name="x" * 300 + ".parquet"),
    "a table that leads out": part(table=".."),
    "a table that nobody knows": part(table="nosuch"),
    "a table with a separator": part(table="../theirs"),
    "a batch that leads out": changed(batch="../../theirs"),
    "a batch that is this": changed(batch="."),
    "an empty batch": changed(batch=""),
    "a kind that is none": changed(kind=["ingest"]),
    "state that leads out": kept(file="../../theirs/x.state"),
    "state elsewhere": kept(file="/etc/passwd"),
    "state of no file": kept(file=None),
    "state with more": kept(more=1),
    "state of half a capture": kept(position=0.5),
    "link": instead(lambda path: path.symlink_to(path.with_name("moved"))),
    "link to nothing": instead(lambda path: path.symlink_to("nothing")),
    "pipe": instead(os.mkfifo),
    "folder": instead(Path.mkdir),
    "no log": lambda root: shutil.rmtree(root / "_log"),
    "log a link": lambda root: ((root / "_log").rename(root / "log"), (root / "_log").symlink_to("log")),
    "log a file": lambda root: (shutil.rmtree(root / "_log"), (root / "_log").write_text("")),
    "no head": lambda root: (root / "_mqconform.json").write_text(""),
    "head of no object": lambda root: (root / "_mqconform.json").write_text("[1]"),
    "head without a format": lambda root: (root / "_mqconform.json").write_text('{"format": null}'),
    "head of a true format": lambda root: (root / "_mqconform.json").write_text('{"format": true}'),
    "head of an old format": lambda root: (root / "_mqconform.json").write_text('{"format": 0}'),
    "head twice": lambda root: (root / "_mqconform.json").write_text('{"format": 1, "format": 1}'),
    "head of a newer format": lambda root: (root / "_mqconform.json").write_text('{"format": 9, "version": [{}]}'),
    "head deep": lambda root: (root / "_mqconform.json").write_text("[" * 60_000),
    "head huge": lambda root: os.truncate(root / "_mqconform.json", 1 << 20),
    "head a pipe": lambda root: ((root / "_mqconform.json").unlink(), os.mkfifo(root / "_mqconform.json")),
    "head a link": lambda root: ((root / "_mqconform.json").rename(root / "h"),
                                 (root / "_mqconform.json").symlink_to("h")),
    "state a link": lambda root: (shutil.rmtree(root / "_state"), (root / "_state").symlink_to("../theirs")),
    "staging a link": lambda root: (root / "_staging").symlink_to("../theirs"),
    "watch a link": lambda root: (root / "_watch").symlink_to("../theirs"),
    "what a watch has seen a link": lambda root: ((root / "_watch" / "w").mkdir(parents=True),
                                                  (root / "_watch" / "w" / "seen").symlink_to("../../../theirs")),
    "lock a link": lambda root: ((root / "_lock").unlink(), (root / "_lock").symlink_to("../theirs/precious")),
    "lock a pipe": lambda root: ((root / "_lock").unlink(), os.mkfifo(root / "_lock")),
    "table a link": lambda root: ((root / "verdicts").rename(root / "v"), (root / "verdicts").symlink_to("v")),
}  # fmt: skip


def told(*arguments: object) -> str:
    """The one sentence a command ends with, exit code 2."""
    done = CliRunner().invoke(app, list(map(str, arguments)))
    assert done.exit_code == 2 and done.stdout == "", (done.exit_code, done.stdout, done.exception)
    sentence = done.stderr.removeprefix("mqconform: pipeline runs: reading the records\n")  # how far it came
    assert sentence.startswith("mqconform: ") and sentence.count("\n") == 1 and len(sentence) < 700
    return sentence


def commands(root: Path, record: Path) -> Iterator[tuple[object, ...]]:
    yield "report", root
    yield "sql", root, "select 1"
    yield "runs", record, "--out", root
    yield "ingest", CAPTURES / "vlan.pcap", "--out", root
    yield "watch", record, "--once", "--out", root


@pytest.mark.parametrize("name", DAMAGES)
def test_a_damaged_lake_is_one_sentence_in_every_command_and_stays_as_it_is(name, place, record):
    """None of them starts Spark before it has looked."""
    DAMAGES[name](place)
    before = contents(place.parent)
    for command in commands(place, record):
        assert str(place) in told(*command)
    assert contents(place.parent) == before


def test_a_name_of_the_log_reaches_nothing_outside(place, record):
    """What an older log entry says is moved and removed by the next one to write."""
    (place / "_staging" / "theirs").mkdir(parents=True)
    (place / "_staging" / "theirs" / "x.parquet").write_text("planted")
    for name in ("../../../theirs/x.parquet", "../../../theirs/precious"):
        for damage in (part(name=name), part(date="2026-03-01/../../../theirs"), kept(file=f"../{name}")):
            damage(place)
            before = contents(place.parent)
            told("runs", record, "--out", place)
            told("report", place)
            assert contents(place.parent) == before


def link(*names: str, to: str) -> Damage:
    """What is at these names of the lake becomes a link."""

    def damage(root: Path) -> None:
        for name in names:
            path = next(root.glob(name))
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink()
            path.symlink_to(to)

    return damage


LINKS = {
    "day": link("verdicts/date=2026-03-01", to="../../theirs/date=2026-03-01"),
    "file": link("verdicts/date=2026-03-01/*.parquet", to="../../../theirs/x.parquet"),
    "pipe": lambda root: [(path.unlink(), os.mkfifo(path)) for path in root.glob("verdicts/*/*.parquet")],
}


@pytest.mark.parametrize("name", LINKS)
def test_a_file_of_a_table_is_read_in_the_lake_alone(name, place):
    LINKS[name](place)
    before = contents(place.parent)
    assert "is damaged" in told("report", place) and "is damaged" in told("sql", place, "select 1")
    assert contents(place.parent) == before


def other_file(table: str, instead: str) -> Damage:
    """A file of a table is exchanged for one of another table, or of another day."""

    def damage(root: Path) -> None:
        path, other = next(root.glob(table)), next(root.glob(instead))
        path.write_bytes(other.read_bytes())

    return damage


def rows_of_the_log(root: Path) -> None:
    value = json.loads(entry(root).read_text())
    for one in value["add"]:
        one["rows"] = 999_999
    entry(root).write_text(json.dumps(value))


FILES: dict[str, tuple[Damage, str]] = {
    "of another table": (other_file("verdicts/*-01/*", "captures/*/*"), "is not a file of the table verdicts"),
    "with other rows": (other_file("verdicts/*-02/*", "verdicts/*-01/*"), "has 2 rows, but 1 according to the log"),
    "with fewer rows than the log says": (rows_of_the_log, "has 1 rows, but 999,999 according to the log"),
    "that is no Parquet": (lambda root: next(root.glob("verdicts/*/*")).write_text("x"), "The table verdicts of"),
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_is_not_what_the_log_says_is_told_by_every_command(name, place, record):
    shutil.rmtree(place)
    lake = Lake.open(place, create=True, format="folder")
    fill(lake, [capture(day(0)), *(verdict(LAYOUT, outcome, None, day(0)) for outcome in ("fail", "pass"))])
    fill(lake, [verdict(LAYOUT, "pass", None, day(1))])
    damage, why = FILES[name]
    damage(place)
    before = contents(place)
    for command in commands(place, record):
        said = told(*command)
        assert str(place) in said and why in said
    assert contents(place) == before


def test_nothing_is_moved_through_a_link(place, record):
    """Into a day's folder that is a link to somebody's, from what a killed writer left."""
    waiting = place / "_staging" / "b"
    waiting.mkdir(parents=True)
    (waiting / "x.parquet").write_text("planted")
    changed(batch="b", add=[{"table": "verdicts", "date": "2026-03-01", "name": "x.parquet", "rows": 1}])(place)
    shutil.rmtree(place / "verdicts" / "date=2026-03-01")
    (place / "verdicts" / "date=2026-03-01").symlink_to("../../theirs/date=2026-03-01")
    told("runs", record, "--out", place)
    assert (place.parent / "theirs" / "date=2026-03-01" / "x.parquet").read_text() == "precious"
    assert (waiting / "x.parquet").is_file()


def test_reading_changes_nothing_and_needs_no_right_to(place):
    (place / "_staging" / "left").mkdir(parents=True)
    (place / "_staging" / "left" / "half.parquet").write_text("half a file")
    before_modes = {path: path.lstat().st_mode for path in (place, *place.rglob("*"))}
    for path in before_modes:
        path.chmod(0o555 if path.is_dir() else 0o444)
    before = contents(place.parent)
    try:
        corpus = gather(Lake.open(place))
        assert dict(corpus.verdicts) == {"fail": 1, "pass": 1}
        done = CliRunner().invoke(app, ["report", str(place), "--json"])
        assert done.exit_code == 0 and json.loads(done.stdout)
        assert contents(place.parent) == before
    finally:
        for path, mode in before_modes.items():
            path.chmod(mode)


def test_the_entry_of_a_later_writer_is_seen(place):
    """A reader goes on from where it was."""
    lake, other = Lake.open(place), Lake.open(place)
    fill(other, [verdict(LAYOUT, "pass", None, day(2))])
    assert lake.snapshot().version == other.snapshot().version == 3


def test_drafts_of_a_writer_are_no_entries(place):
    (place / "_log" / f".{99:020}.json.x").write_text("{")
    assert Lake.open(place).snapshot().version == 2


def test_more_than_a_reader_takes_is_not_written(place, record, monkeypatch):
    monkeypatch.setattr(folder_lakes, "MAX_FILE", 300)
    lake = Lake.open(place)
    with pytest.raises(PipelineError, match="too much for one entry of the log") as problem:
        fill(lake, [verdict(LAYOUT, "pass", None, day(2))])
    assert problem.value.code == ExitCode.BAD_INPUT and not entry(place, 3).exists()


@pytest.mark.parametrize("make", [os.mkfifo, lambda path: path.symlink_to("/etc/passwd"), Path.mkdir])
def test_state_that_is_no_file_is_not_opened(tmp_path, make):
    lake, _ = put(tmp_path / "lake", [_turned(tmp_path, 1)])
    (state,) = (lake.root / "_state").iterdir()
    state.unlink()
    make(state)
    with pytest.raises(PipelineError, match="is damaged"):
        put(tmp_path / "lake", [_turned(tmp_path, 2)])


def _turned(folder: Path, number: int) -> Path:
    half = [records_of(CAPTURES / "consistent-session.pcapng")[:17], records_of(CAPTURES / "vlan.pcap")][number - 1]
    return write_pcap(folder / f"s_{number}.pcap", half)
