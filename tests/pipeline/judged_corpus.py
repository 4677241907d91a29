"""One corpus of captures and runs, judged into a lake of each place: whatever another test of lakes ingests is in it.

Every fixture; packets that deviate in many ways; sessions; broken streams; damage of each kind, compressed and not; a
capture over midnight; one that goes on in another ingest; recordings of an own end; foreign traffic; a rule that
raises; paths that cannot be read; packets alone, in ranges; run records, one of which is whole only the second time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from broken_streams import broken_stream
from broken_streams import written as stream_bytes
from damaged_captures import Case
from damaged_captures import files as damaged_files
from defect_captures import asking, plant
from generated_corpus import write_corpus
from lake_helpers import CAPTURES, records_of, rows, said_of_each, write_pcap
from made_captures import SOURCE, foreign, over_midnight, recorded, server_of
from session_corpus import write_sessions

from conformance.capture.own_end import OwnEnd
from conformance.pipeline import records
from conformance.pipeline.ingest import Ingested, Options, files_of, ingest
from conformance.pipeline.lake import Lake
from conformance.pipeline.schemas import TABLES
from conformance.pipeline.work import Here
from conformance.runlog import Header, RunWriter
from conformance.verdict import Outcome, Verdict

FIXTURES = sorted(path for path in CAPTURES.iterdir() if path.suffix != ".toml")
BROKEN = 40
"""Broken streams, all in one file."""


def write(folder: Path) -> None:
    """Make what is not a fixture, in a folder."""
    write_pcap(folder / "night.pcap", over_midnight(at=20))
    write_corpus(folder / "many.pcap", 600, connections=4, kinds=80)
    write_corpus(folder / "alone.pcap", 600, seed=2, connections=4, kinds=80)
    (folder / "broken.pcap").write_bytes(stream_bytes(broken_stream(seed) for seed in range(BROKEN)))
    write_sessions(folder / "sessions.pcap", 400, pairs=3, deviating=0.4)
    found = records_of(folder / "sessions.pcap")
    for number, at in enumerate(range(0, len(found), 170), 1):
        write_pcap(folder / f"set_{number:05}.pcap", found[at : at + 170])
    recorded(folder / "said_client.pcapng", OwnEnd("client", server_of(SOURCE)))
    recorded(folder / "said_server.pcapng", OwnEnd("server", server_of(SOURCE)))
    foreign(folder / "foreign.pcap")
    asking(folder / "asking.pcap", "divides by zero", port=50_077)
    (folder / "text.pcap").write_text("no capture at all")
    (folder / "empty.pcap").touch()
    for number in range(4):
        write_run(folder / "runs" / str(number), number, whole=number > 0)
    write_run(folder / "whole" / "0", 0)
    (folder / "damaged").mkdir()
    for _ in damaged_files(folder / "damaged"):
        pass


@dataclass(frozen=True)
class Judged:
    """A lake with the corpus in it. done: what each ingest came to; the last one brings nothing new."""

    lake: Lake
    done: Sequence[Ingested | records.Ingested]

    @cached_property
    def rows(self) -> Mapping[str, list[dict[str, Any]]]:
        """All rows by table."""
        return {table: rows(self.lake, table) for table in TABLES}

    @cached_property
    def said(self) -> Mapping[str, Any]:
        """The verdicts of each capture, by path."""
        return said_of_each(self.rows["captures"], self.rows["verdicts"])

    def captures(self) -> Mapping[str, dict[str, Any]]:
        """The rows of captures, by path."""
        return {row["path"]: row for row in self.rows["captures"]}


def judged(folder: Path, place: str | Path) -> Judged:
    """Ingest the corpus that `write` has made in a folder into a new lake."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("conformance.pipeline.ingest.datetime", _Noon)
        done = [act() for act in acts(folder, place)]
    return Judged(Lake.open(place), done)


class _Noon(datetime):
    """A clock that stands: what cannot be read lies under the day on which that was found."""

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]
        return datetime(2026, 3, 5, 12, tzinfo=tz)


def acts(folder: Path, place: str | Path) -> Iterator[Any]:
    """The ingests, one after the other, as functions."""

    def put(captures: Sequence[Path | str], **options: Any) -> Any:
        def act() -> Ingested:
            lake = Lake.open(place, create=True)
            return ingest(lake, files_of(map(str, captures)), Options(**options), Here())

        return act

    def runs(name: str) -> Any:
        return lambda: records.ingest_runs([folder / name], Lake.open(place))

    parts = sorted(folder.glob("set_*.pcap"))
    names = ("night", "many", "broken", "foreign", "text", "empty")
    yield put(FIXTURES, packets=True)
    own = sorted(folder.glob("said_*"))
    yield put([*(folder / f"{name}.pcap" for name in names), *own, *parts[:1], folder / "nothing.pcap"])
    yield put([folder / "damaged"], stream="file")
    yield runs("runs")
    yield put(parts[1:])
    yield put([folder / "alone.pcap"], sessions=False, split=20_000, packets=True)
    yield runs("whole")
    yield _with_a_defect(put([folder / "asking.pcap"]))
    yield put([*FIXTURES, *parts, folder / "damaged", folder / "text.pcap"])


def _with_a_defect(act: Any) -> Any:
    def planted() -> Ingested:
        with pytest.MonkeyPatch.context() as patch:
            plant(patch)
            return act()

    return planted


def write_run(folder: Path, number: int, *, whole: bool = True) -> None:
    """A run record of version 2.NUMBER; that of number 2 deviates. whole: with its end."""
    outcome = Outcome.FAIL if number == 2 else Outcome.PASS
    with RunWriter(folder) as writer:
        writer.header(Header(run_id=f"r{number}", connector="embedded", profile="msmq-4.0",
                             started=f"2026-03-0{1 + number}T10:00:00Z"))  # fmt: skip
        writer.hello({"name": "acme-mq", "version": f"2.{number}"})
        values = {"expected": {"status": number}, "actual": {"status": 7}} if outcome is Outcome.FAIL else {}
        writer.verdict(Verdict("MQDMPR-3.2.7.3.illegal-cursor-action", outcome, "x", **values), suite="s", test="t")
        if whole:
            writer.footer("completed")


def damage(folder: Path) -> list[tuple[Path, Case, str]]:
    """The damaged captures of the corpus, each with what it lacks."""
    with TemporaryDirectory() as aside:
        return [(folder / "damaged" / path.name, case, form) for path, case, form in damaged_files(Path(aside))]
