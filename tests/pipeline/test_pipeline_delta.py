"""A lake on Delta: the same rows as in a folder, every batch whole or not at all, whoever dies or writes meanwhile."""

from __future__ import annotations

import pytest

pytest.importorskip("deltalake")
from delta_helpers import halves
from lake_helpers import CAPTURES, put
from state_tests import *  # noqa: F403 - the same tests, on Delta
from table_lake_tests import *  # noqa: F403 - the same tests as on Iceberg

from conformance.cli.pipeline_analysis import in_format, to_add
from conformance.pipeline.errors import PipelineError
from conformance.pipeline.lake import DEFAULT, Lake
from conformance.pipeline.lakes import delta_tables, port
from conformance.pipeline.lakes.new_tables import NUMBER


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
    put(tmp_path / "lake", [CAPTURES / "vlan.pcap"])
    monkeypatch.setattr(
        "conformance.pipeline.lakes.tables.find_spec", lambda name: None if name == "deltalake" else object()
    )
    for place in ("lake", "new"):
        with pytest.raises(PipelineError, match=r"needs deltalake: .*mqconform\[lake\].*--format folder"):
            Lake.open(tmp_path / place, create=True, format="delta")
    for make in (lambda: Lake.open(tmp_path / "new", create=True), lambda: to_add(str(tmp_path / "new"), None)):
        with pytest.raises(PipelineError, match=r"needs deltalake: .*--format folder"):
            make()
    assert not (tmp_path / "new").exists()
    assert Lake.open(tmp_path / "old", create=True, format="folder").format == "folder"


def test_a_new_lake_is_on_delta_from_python_as_from_the_command_line(tmp_path):
    assert Lake.open(tmp_path / "lake", create=True).format == DEFAULT == in_format(None) == "delta"


def test_a_lake_keeps_its_format(tmp_path):
    for format in ("folder", "delta"):
        Lake.open(tmp_path / format, create=True, format=format)
        for other in ("folder", "delta"):
            assert Lake.open(tmp_path / format, create=True, format=other).format == format
    assert port.FORMATS[NUMBER] == "delta"
