"""Captures and lakes in an S3 on loopback, also one that throttles, ends answers early, loses answers or lists late.

The defects are in the protocol, so that both clients meet them: that of the files, and that of the Delta logs.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from bad_s3 import between
from delta_helpers import SESSION, halves
from lake_helpers import CAPTURES, put, replayed, rows, said, same, without
from s3_server import asked, upload

from conformance.capture.files import Patience
from conformance.pipeline import store
from conformance.pipeline.engine import Local
from conformance.pipeline.identity import probe
from conformance.pipeline.lake import Lake
from conformance.pipeline.untrusted_files import PipelineError

DAY = ("vlan.pcap", "raw-ip.pcap", "consistent-session.pcapng")


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits for a store."""
    monkeypatch.setattr(store, "patience", Patience(wait=lambda seconds: None))


def test_captures_of_a_store_are_judged_into_a_lake_in_it(s3: str, tmp_path: Path) -> None:
    """By processes of their own; what is known is not read again."""
    upload("lakes", {f"day/{name}": CAPTURES / name for name in DAY})
    lake, done = put(f"{s3}/lake", [f"{s3}/day"], Local(2))
    assert done.captures == len(DAY) and not done.rejected
    assert all(said(lake, f"{s3}/day/{name}")[1] == replayed(CAPTURES / name)[1] for name in DAY)
    read: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("conformance.pipeline.work.probe", lambda path: read.append(path) or probe(path))
        assert put(f"{s3}/lake", [f"{s3}/day"])[1].known == len(DAY) and not read
    local, _ = put(tmp_path / "lake", [CAPTURES / name for name in DAY])
    for table in ("packets", "sessions"):
        assert without(rows(lake, table), "batch") == without(rows(local, table), "batch")


def test_the_rows_of_a_store_that_throttles_are_those_of_a_folder(s3_server: Mapping[str, str], tmp_path: Path) -> None:
    """Of a stream that goes on in a second ingest."""
    files, place = halves(tmp_path), "s3://lakes/bad/throttles"
    with between(s3_server, "throttles") as (bad, clients), asked(clients):
        for one in files:
            _, done = put(place, [one])
            assert (done.captures, len(done.rejected)) == (1, 0)
        assert bad.happened > 5
    with asked(s3_server):
        lake = Lake.open(place)
        same(lake, put(tmp_path / "folder", files)[0])
        assert said(lake) == replayed(SESSION)


@pytest.mark.parametrize("defect", ["ends-answers", "loses-answers", "lists-late"])
def test_what_cannot_be_done_is_one_sentence_and_is_done_again(
    s3_server: Mapping[str, str], tmp_path: Path, defect: str
) -> None:
    """The client of the log gives up where an answer ends early or gets lost, and where what it wrote is not listed."""
    files, place = halves(tmp_path), f"s3://lakes/bad/{defect}"
    with asked(s3_server):
        put(place, files[:1])
    with between(s3_server, defect) as (bad, clients), asked(clients):
        for act in (lambda: put(place, files[1:]), lambda: Lake.open(place).batches(), lambda: put(place, files)):
            try:
                act()
            except PipelineError as problem:
                assert "\n" not in problem.sentence and place in problem.sentence
        assert bad.happened
    with asked(s3_server):
        lake, _ = put(place, files)
        same(lake, put(tmp_path / "folder", files)[0])


def test_a_reader_sees_a_batch_whole_or_not_at_all(s3: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It opens the lake anew around every commit of a writer."""
    files, place = halves(tmp_path), f"{s3}/bad/reader"
    lake, _ = put(place, files[:1])
    before, add, seen = said(lake), Lake._add, []

    def watched(self: Lake, name: str, *given: Any) -> None:
        seen.append((f"before {name}", said(Lake.open(place))))
        add(self, name, *given)
        seen.append((f"after {name}", said(Lake.open(place))))

    with monkeypatch.context() as patch:
        patch.setattr(Lake, "_add", watched)
        lake, _ = put(place, files[1:])
    after = said(lake)
    assert before != after == replayed(SESSION) and len(seen) >= 8
    committed = [name for name, _ in seen].index("after batches")
    for at, (name, found) in enumerate(seen):
        assert found == (after if at >= committed else before), name


def test_a_store_that_cannot_be_reached_is_one_sentence(s3: str) -> None:
    for place in ("s3:/lakes/x", "gs:/lakes/x"):
        with pytest.raises(PipelineError, match="has one slash after"):
            Lake.open(place)
    with pytest.raises(PipelineError, match=r"is not a lake|cannot be"):
        Lake.open("s3://no-such-bucket/lake")
