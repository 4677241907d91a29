"""The line that tells how far an ingest has come: what it counts, and that it comes while work goes on."""

from __future__ import annotations

import io
import threading
from contextlib import suppress

import pytest
from lake_helpers import CAPTURES, records_of, write_pcap
from session_corpus import write_sessions

from conformance.cli import pipeline_progress
from conformance.cli.pipeline_progress import shown
from conformance.pipeline.ingest import Options, files_of, ingest
from conformance.pipeline.lake import Lake
from conformance.pipeline.progress import Counts, Progress, Watched
from conformance.pipeline.workers import Here, deed


class Clock:
    """Seconds that go on when they are told to."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


class Told(io.StringIO):
    """A stream that tells when it has been written to."""

    def __init__(self, terminal: bool = False) -> None:
        super().__init__()
        self.written, self.terminal = threading.Event(), terminal

    def isatty(self) -> bool:
        return self.terminal

    def flush(self) -> None:
        self.written.set()


def test_the_line_has_files_packets_deviations_rate_and_time_left():
    clock = Clock()
    progress = Progress(clock)
    assert progress.line() == "starting"
    progress.stages("probe some files", 3)
    assert progress.line() == "probe some files (0 of 3)"
    progress.judging({"a": 1_000, "b": 3_000})
    progress.stages("judge streams", 2)
    clock.now += 10
    assert progress.line() == "0 of 2 files, 0 packets, 0 deviations, 0 packets/s; judge streams (0 of 2)"
    progress.counts += Counts(1, 50_000, 7, 1_000)
    assert progress.line().startswith("1 of 2 files, 50,000 packets, 7 deviations, 5,000 packets/s, 30 s left;")
    clock.now += 990
    assert "50 packets/s, 50 min 0 s left" in progress.line()


@pytest.mark.parametrize("options", [{}, {"sessions": False, "split": 2_048}], ids=["streams", "ranges"])
def test_an_ingest_counts_what_it_then_reports(tmp_path, options):
    capture = write_pcap(tmp_path / "one.pcap", records_of(CAPTURES / "resending-session.pcapng"))
    clock = Clock()
    progress = Progress(clock)
    lines: list[str] = []

    class Looking(Here):
        """Looks at the line after each task."""

        def attempt(self, function, tasks, each=None):
            def looked(result):
                each(result)
                lines.append(progress.line())

            return Here.attempt(self, function, tasks, looked)

    clock.now += 2
    names = files_of([str(capture), str(CAPTURES / "mqqb-4.1.pcapng")])
    done = ingest(Lake.open(tmp_path / "lake", create=True), names, Options(**options), Looking(), progress=progress)
    deviations = sum(count for outcome, count in done.outcomes.items() if outcome.value not in ("pass", "skip"))
    assert deviations > 0
    told = f"2 of 2 files, {done.packets:,} packets, {deviations:,} deviations, "
    if options:  # What ends a stream after its last range is added when it is put together.
        assert progress.counts.files == pytest.approx(2, abs=0.2) and progress.counts.packets <= done.packets
        assert any("judge ranges" in line for line in lines)
    else:
        assert progress.line().startswith(told)
    assert "0 s left" in progress.line()


def test_streams_that_are_judged_in_parts_count(tmp_path):
    """Their tasks tell of ranges and parts alone."""
    capture = tmp_path / "sessions.pcap"
    write_sessions(capture, 600, pairs=4, deviating=0.4)
    progress = Progress(Clock())
    lake = Lake.open(tmp_path / "lake", create=True)
    done = ingest(lake, [str(capture)], Options(split=30_000, parts=2), Here(), progress=progress)
    assert not done.in_order
    assert progress.line().startswith(f"1 of 1 files, {done.packets:,} packets, ") and "0 s left" in progress.line()


def test_a_stage_whose_tasks_tell_nothing_has_a_name():
    progress = Progress(Clock())
    Watched(Here(), progress).stage("judge what belongs together", 0)
    assert progress.line() == "judge what belongs together"


def test_the_line_comes_while_work_goes_on(monkeypatch):
    stream = Told()
    monkeypatch.setattr(pipeline_progress, "FIRST_S", 0.001)
    monkeypatch.setattr("sys.stderr", stream)
    with shown(Progress(Clock()), "pipeline ingest"):
        assert stream.written.wait(60)
    assert stream.getvalue().startswith("mqconform: pipeline ingest: starting\n")


@pytest.mark.parametrize("ending", [None, RuntimeError])
def test_work_that_had_a_line_tells_how_far_it_came(ending, monkeypatch):
    """However long the time between two lines had become."""
    stream, progress = Told(), Progress(Clock())
    monkeypatch.setattr(pipeline_progress, "FIRST_S", 0.001)
    monkeypatch.setattr(pipeline_progress, "LONGEST_S", 3_600)
    monkeypatch.setattr("sys.stderr", stream)
    with suppress(RuntimeError), shown(progress, "pipeline ingest"):
        assert stream.written.wait(60)
        progress.judging({"a": 1})
        if ending is not None:
            raise ending
    lines = stream.getvalue().splitlines()
    assert lines[0].endswith(": starting") and "packets/s" in lines[-1] and len(lines) == len(set(lines))


def test_at_a_terminal_the_line_is_replaced_and_removed(monkeypatch):
    stream = Told(terminal=True)
    monkeypatch.setattr(pipeline_progress, "FIRST_S", 0.001)
    monkeypatch.setattr("sys.stderr", stream)
    with shown(Progress(Clock()), "pipeline ingest"):
        assert stream.written.wait(60)
    assert stream.getvalue().startswith("\r\x1b[2Kstarting") and stream.getvalue().endswith("\r\x1b[2K")


def test_at_a_terminal_the_line_is_no_longer_than_the_terminal(monkeypatch):
    """A longer one would go on in the next line, which nobody removes."""
    progress = Progress(Clock())
    progress.stages("judge " * 40, 3)
    stream = Told(terminal=True)
    monkeypatch.setattr(pipeline_progress, "FIRST_S", 0.001)
    monkeypatch.setattr("sys.stderr", stream)
    with shown(progress, "pipeline ingest"):
        assert stream.written.wait(60)
    lines = stream.getvalue().split("\r\x1b[2K")
    assert lines[1] and max(map(len, lines)) == 79


def test_short_work_says_nothing(monkeypatch):
    stream = Told()
    monkeypatch.setattr(pipeline_progress, "FIRST_S", 3_600)
    monkeypatch.setattr("sys.stderr", stream)
    with shown(Progress(Clock()), "pipeline ingest"):
        pass
    assert stream.getvalue() == ""


def test_watched_workers_are_those_of_the_same_session():
    class OfSpark(Here):
        """Workers that belong to a session."""

        spark = "a session"

    assert Watched(OfSpark(), Progress(Clock())).spark == "a session"
    assert Watched(Here(), Progress(Clock())).spark is None


def test_a_deed_is_the_first_sentence_or_the_name():
    assert deed(write_pcap) and deed(Here.attempt) == "return the results in the order of the tasks"
    assert deed(lambda: None) == "lambda"
