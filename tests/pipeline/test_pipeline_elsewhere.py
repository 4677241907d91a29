"""Workers with another working directory: they get absolute names, and are asked whether they see what these name."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import pytest
from lake_helpers import CAPTURES, rows

from conformance.pipeline import watch as watching
from conformance.pipeline.elsewhere import named, unseen, whole
from conformance.pipeline.errors import PipelineError
from conformance.pipeline.ingest import Options, ingest
from conformance.pipeline.lake import Lake
from conformance.pipeline.watch import _whole
from conformance.pipeline.workers import Here
from conformance.verdict import ExitCode

T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Elsewhere(Here):
    """Works in another directory. hidden: what this machine has and the workers' has not."""

    elsewhere: bool = True
    hidden: str = ""

    def map(self, function: Callable[[T], R], tasks: Sequence[T]) -> list[R]:
        return [self._there(function, task) for task in tasks]

    def attempt(self, function, tasks, each=None):
        found = self.map(function, tasks)
        for one in found:
            each(one)
        return found

    def _there(self, function: Callable[[T], R], task: T) -> R:
        here, away = Path.cwd(), Path(self.hidden + ".away")
        os.chdir("/")
        if self.hidden:
            Path(self.hidden).rename(away)
        try:
            return function(task)
        finally:
            if self.hidden:
                away.rename(self.hidden)
            os.chdir(here)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "captures").mkdir()
    for name in ("vlan.pcap", "cut-record.pcap"):
        (tmp_path / "captures" / name).write_bytes((CAPTURES / name).read_bytes())
    return tmp_path


NAMES = ["captures/vlan.pcap", "captures/cut-record.pcap"]


def test_relative_names_are_those_of_this_process(folder: Path) -> None:
    lake = Lake.open("lake", create=True)
    done = ingest(lake, NAMES, Options(), Elsewhere())
    assert done.captures == 2
    assert sorted(row["path"] for row in rows(lake, "captures")) == sorted(str(folder / name) for name in NAMES)


def test_names_for_workers_here_stay_as_they_are(folder: Path) -> None:
    lake = Lake.open("lake", create=True)
    assert named(NAMES, lake, Here()) == NAMES
    assert named([*NAMES, "s3://b/k"], lake, Elsewhere()) == [*(str(folder / one) for one in NAMES), "s3://b/k"]


@pytest.mark.parametrize("hidden", ["lake", "captures"])
def test_what_a_worker_does_not_see_is_one_sentence_before_work(folder: Path, hidden: str) -> None:
    lake = Lake.open("lake", create=True)
    place = str(folder / hidden)
    with pytest.raises(PipelineError, match=f"does not see {place}, which is here: captures and lake") as problem:
        ingest(lake, NAMES, Options(), Elsewhere(hidden=place))
    assert problem.value.code is ExitCode.BAD_INPUT
    assert rows(lake, "captures") == []


@pytest.mark.parametrize("hidden", ["lake", "captures"])
def test_a_watch_of_what_no_worker_sees_does_not_begin(folder: Path, hidden: str, monkeypatch) -> None:
    place = str(folder / hidden)
    monkeypatch.setattr(watching, "SparkWorkers", lambda _: Elsewhere(hidden=place))
    lake = Lake.open("lake", create=True)
    with pytest.raises(PipelineError, match=f"does not see {place}, which is here"):
        watching.watch(
            None, Path("captures"), lake, Options(), settle_s=0, every_s=1, once=True, on_batch=lambda _: None
        )


def test_a_folder_that_is_not_here_either_is_no_matter_of_the_workers(folder: Path) -> None:
    done = ingest(Lake.open("lake", create=True), [*NAMES, "none/a.pcap"], Options(), Elsewhere())
    assert done.captures == 2 and [one.path for one in done.rejected] == [str(folder / "none" / "a.pcap")]


def test_addresses_are_absolute_and_names_become_so(folder: Path) -> None:
    assert whole("s3://b/k") == "s3://b/k" and whole("a/b") == str(folder / "a" / "b")
    for address in ("dbfs:/mnt/x", "file:/x", "abfss://c@a.dfs.core.windows.net/x"):
        assert _whole(address) == address
    assert _whole("progress") == str(folder / "progress")
    assert unseen([str(folder)]) is None and unseen([str(folder), "/none/x"])[1] == "/none/x"


@pytest.mark.parametrize(
    ("master", "elsewhere"),
    [("local[2]", False), ("local", False), ("local[*, 4]", False), ("local-cluster[2,1,512]", True),
     ("spark://a:7077", True), ("yarn", True)],
)  # fmt: skip
def test_workers_are_elsewhere_but_for_those_of_this_machine(spark, master: str, elsewhere: bool, monkeypatch) -> None:
    from conformance.pipeline.spark import SparkWorkers

    assert SparkWorkers(spark).elsewhere is False
    monkeypatch.setattr(type(spark.conf), "get", lambda *_: master)
    assert SparkWorkers(spark).elsewhere is elsewhere
