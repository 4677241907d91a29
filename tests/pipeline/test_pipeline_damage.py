"""Damage has one meaning: replay, replay by columns and the pipeline read the same behind it and call it incomplete."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from damaged_captures import Case, files
from lake_helpers import of_replay, put, put_one_by_one, rows, said_of_each

from conformance.captures import Replay, replay
from conformance.captures.columns import judge_range
from conformance.pipeline.ingest import Ingested
from conformance.pipeline.lake import Lake
from conformance.pipeline.schemas import incomplete_of
from conformance.spec.catalogue import assignment
from conformance.verdict import ExitCode

READINGS = assignment("windows")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Path, Case, str]]:
    return list(files(tmp_path_factory.mktemp("damaged")))


@pytest.fixture(scope="module")
def lake(made: list[tuple[Path, Case, str]], tmp_path_factory: pytest.TempPathFactory) -> tuple[Lake, Ingested]:
    return put(tmp_path_factory.mktemp("lake") / "lake", [path for path, _, _ in made], stream="file")


@pytest.fixture(scope="module")
def told(made: list[tuple[Path, Case, str]]) -> dict[Path, Replay]:
    """What replay says of each, one by one."""
    return {path: replay([path], profile="msmq-4.0", readings=READINGS) for path, _, _ in made}


def test_replay_counts_what_is_missing(made: list[tuple[Path, Case, str]], told: dict[Path, Replay]) -> None:
    for path, case, form in made:
        found = told[path]
        assert found.incomplete == case.incomplete(form), path.name
        assert found.exit_code() == case.code, path.name
        allowed = found.exit_code(allow_incomplete=True)
        assert allowed == (ExitCode.CONFORMS if case.code == ExitCode.BAD_INPUT else case.code), path.name


def test_replay_by_columns_says_the_same(told: dict[Path, Replay]) -> None:
    for path, wanted in told.items():
        found = judge_range(path, profile="msmq-4.0", readings=READINGS).replay
        assert found.counted == wanted.counted, path.name
        assert found.captures == wanted.captures, path.name
        alone = judge_range(path, profile="msmq-4.0", readings=READINGS, sessions=False).replay
        assert alone.captures == wanted.captures, path.name


def test_the_pipeline_says_the_same(
    made: list[tuple[Path, Case, str]], told: dict[Path, Replay], lake: tuple[Lake, Ingested]
) -> None:
    found, done = lake
    captures = {row["path"]: row for row in rows(found, "captures")}
    each = said_of_each(captures.values(), rows(found, "verdicts"))
    for path, case, form in made:
        row, summary = captures[str(path)], told[path].captures[0]
        assert incomplete_of(row) == summary.incomplete == case.incomplete(form), path.name
        ours = (row["records"], row["packets"], row["lost_bytes"], row["cut"], row["incomplete"])
        wanted = (summary.records, summary.packets, summary.lost, summary.cut, bool(summary.incomplete))
        assert ours == wanted, path.name
        assert each[str(path)] == of_replay(told[path]), path.name
    assert done.incomplete == sum(map(incomplete_of, captures.values()), start=type(done.incomplete)())


@pytest.mark.parametrize("way", [put, put_one_by_one])
def test_packets_alone_lack_the_same(made: list[tuple[Path, Case, str]], tmp_path: Path, way: object) -> None:
    """Walked over in ranges, and one by one."""
    options = {"sessions": False} if way is put else {}
    found, _ = way(tmp_path / "lake", [path for path, _, _ in made], stream="file", **options)
    captures = {row["path"]: row for row in rows(found, "captures")}
    for path, case, form in made:
        assert incomplete_of(captures[str(path)]) == case.incomplete(form), path.name


def test_an_ingest_of_something_incomplete_ends_with_2(made: list[tuple[Path, Case, str]], tmp_path: Path) -> None:
    """Unless something in it deviates, or that is allowed; what is in the lake already is not told again."""
    by = {path.name: path for path, _, _ in made}
    _, done = put(tmp_path / "lake", [by["whole.pcap"], by["cut.pcap"]], stream="file")
    assert (done.code(), done.code(allow_incomplete=True)) == (ExitCode.BAD_INPUT, ExitCode.CONFORMS)
    assert put(tmp_path / "lake", [by["cut.pcap"]], stream="file")[1].code() is ExitCode.CONFORMS
    assert put(tmp_path / "lake", [by["closed-within.pcap"]], stream="file")[1].code() is ExitCode.DEVIATES


def test_a_stream_that_goes_on_is_counted_once(tmp_path: Path, made: list[tuple[Path, Case, str]]) -> None:
    """What one file of a rotated set lacks is not told of the next, and what waits at its end is not missing."""
    by = {path.name: path for path, _, _ in made}
    content = by["gap.pcap"].read_bytes()
    border, count = 24, 0
    while count < 30:
        border += 16 + int.from_bytes(content[border + 8 : border + 12], "little")
        count += 1
    names = [tmp_path / "set_00001.pcap", tmp_path / "set_00002.pcap"]
    names[0].write_bytes(content[:border])
    names[1].write_bytes(content[:24] + content[border:])
    _, first = put(tmp_path / "lake", names[:1], keep=True)
    lake, second = put(tmp_path / "lake", names[1:], keep=True)
    whole = replay([by["gap.pcap"]], profile="msmq-4.0", readings=READINGS)
    found = Counter({row["position"]: row["gaps"] for row in rows(lake, "captures")})
    assert sum(found.values()) == 1 and first.incomplete + second.incomplete == whole.incomplete
