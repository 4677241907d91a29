"""A lake in an S3 that throttles, ends answers early, loses answers, or lists late: nothing lost and nothing twice.

The defects are in the protocol, so that both clients meet them: that of the files, and that of the Delta logs.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

pytest.importorskip("deltalake")

import lake_helpers
from bad_s3 import between
from delta_helpers import everything, halves, in_a_folder
from lake_helpers import put, rows
from s3_server import asked

from conformance.capture.stores import Patience
from conformance.pipeline.errors import PipelineError
from conformance.pipeline.lake import Lake
from conformance.pipeline.lakes import delta_tables, lease, store


@pytest.fixture(autouse=True)
def on_delta(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make new lakes lakes on Delta; nobody waits for a writer or a store."""
    monkeypatch.setattr(lake_helpers, "FORMAT", "delta")
    monkeypatch.setattr(lease, "BEAT_S", 0.2)
    monkeypatch.setattr(store, "patience", Patience(wait=lambda seconds: None))


def test_the_rows_of_a_store_that_throttles_are_those_of_a_folder(s3_server: Mapping[str, str], tmp_path: Path) -> None:
    """Of a stream that goes on in a second ingest, which removes rows of the first; written and read through it."""
    files, place = halves(tmp_path), "s3://lakes/bad/throttles"
    with between(s3_server, "throttles") as (bad, clients), asked(clients):
        for one in files:
            _, done = put(place, [one])
            assert (done.captures, len(done.rejected)) == (1, 0)
        found = everything(Lake.open(place))
        assert bad.happened > 5
    with asked(s3_server):
        lake = Lake.open(place)
        assert found == everything(lake) == everything(in_a_folder(tmp_path / "folder", files[:1], files[1:]))
        assert lake.snapshot().version == 2


@pytest.mark.parametrize("defect", ["ends-answers", "loses-answers", "lists-late"])
def test_what_cannot_be_done_is_one_sentence_and_is_done_again(
    s3_server: Mapping[str, str], tmp_path: Path, defect: str
) -> None:
    """The client of the log gives up where an answer ends early or gets lost, and where what it wrote is not listed."""
    files, place = halves(tmp_path), f"s3://lakes/bad/{defect}"
    with asked(s3_server):
        put(place, files[:1])
    with between(s3_server, defect) as (bad, clients), asked(clients), pytest.MonkeyPatch.context() as patch:
        patch.setattr(lease, "STALE_S", 1.0)  # a lease whose end is not listed is waited for
        for act in (lambda: put(place, files[1:]), lambda: Lake.open(place), lambda: Lake.open(place)):
            try:
                act()
            except PipelineError as problem:
                assert "\n" not in problem.sentence and place in problem.sentence
        assert bad.happened
    with asked(s3_server):
        lake, _ = put(place, files)
        assert everything(lake) == everything(in_a_folder(tmp_path / "folder", files[:1], files[1:]))
        assert lake.snapshot().version == 2


def test_a_reader_sees_a_batch_whole_or_not_at_all(s3: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It opens the lake anew around every commit of a writer; what an open one has listed can be read to the end."""
    files, place = halves(tmp_path), f"{s3}/bad/reader"
    lake, _ = put(place, files[:1])
    before, change, seen = _counts(lake), delta_tables.change, []
    listed = Lake.open(place).located()

    def watched(store, name, *given):
        for when in ("before", "after"):
            seen.append((f"{when} {name}", _counts(Lake.open(place))))
            if when == "before":
                change(store, name, *given)

    with monkeypatch.context() as patch:
        patch.setattr(delta_tables, "change", watched)
        lake, _ = put(place, files[1:])
    after = _counts(lake)
    assert before != after and len(seen) >= 8
    committed = [name for name, _ in seen].index("after batches")
    for at, (name, found) in enumerate(seen):
        assert found == (after if at >= committed else before), name
    assert all(lake.store.check(one) for one in listed)


def _counts(lake: Lake) -> dict[str, int]:
    """The rows of each table, by what the log tells, and the positions of the captures."""
    found: dict[str, int] = {}
    for part in lake.snapshot().parts.values():
        found[part.table] = found.get(part.table, 0) + part.rows
    return found | {f"at {row['position']}": 1 for row in rows(lake, "captures")}
