"""A lake on Delta: the same rows as in a folder, every batch whole or not at all, whoever dies or writes meanwhile."""

from __future__ import annotations

import pytest

pytest.importorskip("deltalake")
from delta_helpers import halves
from lake_helpers import put
from state_tests import *  # noqa: F403 - the same tests, on Delta
from table_lake_tests import *  # noqa: F403 - the same tests as on Iceberg

from conformance.pipeline.errors import PipelineError
from conformance.pipeline.lake import Lake
from conformance.pipeline.lakes import delta_tables


@pytest.fixture
def tables():
    """How tables are changed; the tests of Iceberg run these tests on theirs."""
    return delta_tables


@pytest.fixture
def commits():
    """The step that makes a batch count, as `dying` names it."""
    return r"create batches/_delta_log/\d+\.json"


@pytest.fixture
def committing():
    """What commits to a table."""
    return "conformance.pipeline.lakes.delta_tables._append"


def test_every_row_names_its_batch_and_each_commit_its_transaction(tmp_path):
    in_two = halves(tmp_path)
    import pyarrow as pa
    from deltalake import DeltaTable

    for capture in in_two:
        put(tmp_path / "lake", [capture])
    batches = pa.table(DeltaTable(str(tmp_path / "lake" / "batches")).to_pyarrow_table()).to_pylist()
    assert sorted(row["number"] for row in batches) == [1, 2]
    known = {row["batch"] for row in batches}
    for table in ("captures", "sessions", "verdicts"):
        opened = DeltaTable(str(tmp_path / "lake" / table))
        assert set(opened.to_pyarrow_table()["batch"].to_pylist()) <= known
        assert opened.transaction_version(f"mqconform-{table}") == 2
        assert opened.metadata().partition_columns == ["date"]
    assert DeltaTable(str(tmp_path / "lake" / "batches")).transaction_version("mqconform-batches") == 2


def test_without_delta_rs_a_sentence_names_the_extra(tmp_path, monkeypatch):
    monkeypatch.setattr(
        "conformance.pipeline.lakes.tables.find_spec", lambda name: None if name == "deltalake" else object()
    )
    with pytest.raises(PipelineError, match=r"needs deltalake: .*mqconform\[lake\]"):
        Lake.open(tmp_path / "new", create=True)
    assert not (tmp_path / "new").exists()


def test_a_lake_of_another_layout_is_one_sentence(tmp_path):
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "_mqconform.json").write_text('{"format": 1, "version": "0.1"}')
    with pytest.raises(PipelineError, match=r"layout 1 of mqconform 0.1.* ingest the captures and runs again"):
        Lake.open(tmp_path / "old")
