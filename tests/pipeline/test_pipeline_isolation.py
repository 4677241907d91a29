"""Who is suspected when a worker dies, what is judged in order when a shuffle fails, and what counts as progress."""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from defect_captures import asking
from lake_helpers import put, said
from session_corpus import write_sessions

from conformance.pipeline import connections_facts, connections_judge, shuffle
from conformance.pipeline.connections_walk import part_stream
from conformance.pipeline.errors import PipelineError
from conformance.pipeline.fast import RangesTask, WalkTask
from conformance.pipeline.ingest import Options, ingest
from conformance.pipeline.lake import Lake
from conformance.pipeline.progress import Progress
from conformance.pipeline.shuffle import Reading, Writing
from conformance.pipeline.work import StreamTask
from conformance.pipeline.workers import Here, KilledError, Lost, LostWorkError, Processes
from conformance.verdict import ExitCode


def paths_of(task: Any) -> Sequence[str]:
    """The captures of a task."""
    if isinstance(task, StreamTask):
        return [probe.path for one in task.streams for probe in one.captures]
    if isinstance(task, RangesTask):
        return [one.capture.path for one in task.ranges]
    return [probe.path for probe in task.captures] if isinstance(task, WalkTask) else []


@dataclass(frozen=True, slots=True)
class Dying(Here):
    """Loses each task with a capture that kills. tried: the captures of trials. lines: of progress, by task."""

    kills: str = ""
    progress: Progress | None = None
    tried: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)

    def attempt(self, function, tasks, each=None):
        return [self._done(function, task, each) for task in tasks]

    def _done(self, function, task, each):
        paths = paths_of(task)
        if isinstance(task, StreamTask) and task.trial:
            self.tried.extend(paths)
        if self.kills in paths:
            return Lost("died")
        found = function(task)
        if each is not None:
            each(found)
        if self.progress is not None:
            self.lines.append(self.progress.line())
        return found


def test_only_captures_of_the_lost_task_are_tried_for_what_kills_workers(tmp_path):
    """The ranges of eight captures go to four tasks; that of the third one has one more capture."""
    files = [str(asking(tmp_path / f"{at}.pcap", later=100 * at, port=50_001 + at)) for at in range(8)]
    workers = Dying(kills=files[2])
    lake = Lake.open(tmp_path / "lake", create=True)
    done = ingest(lake, files, Options(sessions=False, split=100_000, stream="file"), workers)
    assert [one.path for one in done.rejected] == [files[2]] and done.captures == 7
    assert set(workers.tried) == {files[2]}  # Its walk is lost already.
    alone, _ = put(tmp_path / "alone", [one for one in files if one != files[2]], sessions=False)
    assert said(lake) == said(alone)


def test_so_are_those_of_lost_ranges(tmp_path):
    @dataclass(frozen=True, slots=True)
    class AtRanges(Dying):
        """Survives the walk."""

        def _done(self, function, task, each):
            return function(task) if isinstance(task, WalkTask) else Dying._done(self, function, task, each)

    files = [str(asking(tmp_path / f"{at}.pcap", later=100 * at, port=50_001 + at)) for at in range(8)]
    workers = AtRanges(kills=files[2])
    lake = Lake.open(tmp_path / "lake", create=True)
    done = ingest(lake, files, Options(sessions=False, split=100_000, stream="file"), workers)
    assert [one.path for one in done.rejected] == [files[2]] and done.captures == 7
    assert files[2] in workers.tried and len(workers.tried) == 2


def test_a_task_that_dies_without_a_capture_to_blame_ends_the_ingest(tmp_path):
    @dataclass(frozen=True, slots=True)
    class Ranges(Here):
        """Loses all ranges, and nothing else."""

        def attempt(self, function, tasks, each=None):
            if any(isinstance(task, RangesTask) for task in tasks):
                return [Lost("had too little memory") for _ in tasks]
            return Here.attempt(self, function, tasks, each)

    lake = Lake.open(tmp_path / "lake", create=True)
    with pytest.raises(LostWorkError, match="A worker had too little memory, each time"):
        ingest(lake, [str(asking(tmp_path / "a.pcap"))], Options(sessions=False, split=100_000), Ranges())
    assert said(lake) == said(Lake.open(tmp_path / "empty", create=True))


def test_what_is_tried_again_counts_once_in_the_line_of_progress(tmp_path):
    """A stream of four files, of which one kills its worker: each is tried by itself before the rest is judged."""
    files = [str(asking(tmp_path / f"set_{at:05}.pcap", later=100 * at, port=50_001 + at)) for at in range(1, 5)]
    progress = Progress(lambda: 0.0)
    workers = Dying(kills=files[1], progress=progress)
    done = ingest(Lake.open(tmp_path / "lake", create=True), files, Options(), workers, progress=progress)
    assert done.captures == 3 and set(workers.tried) == set(files)
    assert progress.counts.files == 3 and progress.counts.packets == done.packets
    counted = [int(line.split(" of ")[0]) for line in workers.lines if " files, " in line]
    assert counted and max(counted) == 3


def several(folder: Path, *names: str) -> list[str]:
    """Streams of several groups of connections."""
    out = []
    for at, name in enumerate(names):
        out.append(str(folder / f"{name}.pcap"))
        write_sessions(Path(out[-1]), 400 + 23 * at, pairs=4, deviating=0.5)
    return out


def test_a_stream_whose_facts_fail_is_judged_in_order_and_the_others_in_parts(tmp_path, monkeypatch):
    files = several(tmp_path, "one", "other")
    whole, _ = put(tmp_path / "whole", files)
    gathered, planned = connections_facts._gather, connections_facts.parting_at
    current: list[str] = []

    def of_one(place, target):
        current.append(planned(place, target).path)
        return planned(place, target)

    def broken(*how):
        if current[-1] == files[0] and len(current) > 2:
            raise ZeroDivisionError("by nothing")
        gathered(*how)

    monkeypatch.setattr(connections_facts, "parting_at", of_one)
    monkeypatch.setattr(connections_facts, "_gather", broken)
    lake, done = put(tmp_path / "parts", files, split=30_000, parts=2)
    assert {Path(key).name for key in done.in_order} == {"one.pcap"}
    (why,) = done.in_order.values()
    assert "a range of it could not be told (ZeroDivisionError: by nothing)" in why
    assert said(lake) == said(whole)


@pytest.mark.parametrize("stage", ["facts", "judging"])
@pytest.mark.parametrize(
    ("error", "words"),
    [(LostWorkError("died"), "a worker that judged a part of it died"), (ValueError("no good"), "ValueError: no good"),
     (KilledError(), "a worker that judged a part of it was killed, or had too little memory")],
    ids=["died", "error", "killed"],
)  # fmt: skip
def test_a_stream_whose_shuffle_fails_is_judged_in_order_and_the_others_in_parts(
    tmp_path, stage, error, words
):  # fmt: skip
    """Whichever part of it fails, and however; each stream is then brought together by itself."""
    files = several(tmp_path, "one", "other")
    whole, _ = put(tmp_path / "whole", files)
    together: list[set[str]] = []
    """The streams of each shuffle, by the places of their plans."""

    @dataclass(frozen=True, slots=True)
    class Failing(Here):
        """Fails where the first stream is brought together, alone or with another."""

        def attempt(self, function, tasks, each=None):
            if isinstance(function, Writing):
                together.append({task.stream for _, task in tasks})
            if isinstance(function, Writing if stage == "facts" else Reading) and (
                len(together[-1]) == 2 or together[-1] == bad
            ):
                bad.add(min(together[-1]))
                raise error
            return Here.attempt(self, function, tasks, each)

    bad: set[str] = set()
    lake, done = put(tmp_path / "parts", files, Failing(), split=30_000, parts=2)
    assert [len(one) for one in together] == [2, 1, 1] and len(done.in_order) == 1 and not done.rejected
    (why,) = done.in_order.values()
    assert words in why
    assert said(lake) == said(whole)


def test_a_walk_whose_worker_dies_leaves_its_stream_to_one_core(tmp_path):
    files = several(tmp_path, "one", "other")
    whole, _ = put(tmp_path / "whole", files)

    @dataclass(frozen=True, slots=True)
    class Walks(Here):
        """Loses the first walk."""

        def attempt(self, function, tasks, each=None):
            if function is part_stream:
                return [Lost("died") if task.captures[0].path == files[0] else function(task) for task in tasks]
            return Here.attempt(self, function, tasks, each)

    lake, done = put(tmp_path / "parts", files, Walks(), split=30_000, parts=2)
    assert [(Path(key).name, why) for key, why in done.in_order.items()] == [
        ("one.pcap", "the worker that walked over it died")
    ]
    assert said(lake) == said(whole)


def killed(_: object) -> None:
    """End the process at once."""
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_process_that_is_killed_is_one_sentence():
    with pytest.raises(LostWorkError, match="A process that worked for this command was killed, or had") as told:
        Processes(1).map(killed, [None])
    assert told.value.code is ExitCode.BAD_INPUT and told.value.sentence == str(told.value)


def test_a_full_disk_under_a_shuffle_is_one_sentence(tmp_path, monkeypatch):
    """The facts on the connections go to a device that is always full."""
    opened = shuffle.pa.ipc.new_stream
    monkeypatch.setattr(shuffle.pa.ipc, "new_stream", lambda _, schema: opened("/dev/full", schema))
    lake = Lake.open(tmp_path / "lake", create=True)
    with pytest.raises(PipelineError, match=r"No space is left in .* for temporary files: free some, or set") as told:
        ingest(lake, several(tmp_path, "one"), Options(split=30_000, parts=2), Here())
    assert told.value.code is ExitCode.BAD_INPUT
    assert not lake.snapshot().captures and not list((tmp_path / "lake").rglob("part-*"))


@pytest.mark.parametrize("most", [0, 1 << 20])
def test_large_results_of_parts_go_through_the_lake(tmp_path, monkeypatch, most):
    capture = tmp_path / "set_00001.pcap"
    write_sessions(capture, 600, pairs=4, deviating=0.5)
    whole, _ = put(tmp_path / "whole", [capture])
    sizes: list[int] = []
    judged = Reading.__call__

    def looked(self, paths):
        found = judged(self, paths)
        sizes.extend(map(len, found))
        return found

    monkeypatch.setattr(Reading, "__call__", looked)
    monkeypatch.setattr(connections_judge, "MOST_ROW", most)
    lake, done = put(tmp_path / "parts", [capture], split=30_000, parts=2)
    assert not done.in_order and done.ranges > 3 and len(sizes) == 2
    assert (max(sizes) < 1_000) == (most == 0)
    assert said(lake) == said(whole)
    assert not list((tmp_path / "parts").rglob("*.done"))
