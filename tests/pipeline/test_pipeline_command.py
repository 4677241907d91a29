"""Mistakes on the command line are one sentence and exit code 2, before Spark is started."""

from __future__ import annotations

import json

import pytest
from lake_helpers import CAPTURES, put
from session_corpus import write_sessions
from typer.testing import CliRunner

from conformance.cli.app import app
from conformance.command_options import BadInput
from conformance.pipeline.lakes.port import FORMATS


def ended(*arguments: str) -> tuple[int, str]:
    found = CliRunner().invoke(app, ["pipeline", *map(str, arguments)])
    return found.exit_code, found.stderr


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--split", "many"], "Invalid --split many: give a number of bytes (for example: 64M)."),
        (["--split", "10"], "--split 10 is too small"),
        (["--stream", "both"], "Invalid --stream both: give auto or file."),
        (["--readings", "loose"], "loose"),
        (["--reading", "R-NONE=x"], "R-NONE"),
        (["--profile", "msmq-9.0"], "msmq-9.0"),
        (["--master", "mesos://x"], "--master mesos://x is not a Spark master"),
    ],
)
def test_options_that_mean_nothing(tmp_path, more, words):
    code, said = ended("ingest", CAPTURES, "--out", tmp_path / "lake", *more)
    assert code == 2 and words in said and said.count("\n") == 1


def test_parts_of_a_large_stream_are_as_many_as_are_asked_for(spark, tmp_path):
    """One part is the whole stream, which nobody walks over."""
    write_sessions(tmp_path / "sessions.pcap", 300, pairs=4)
    ranges = {}
    for parts in ("1", "2"):
        asked = ["--split", "30000", "--parts", parts, "--json"]
        words = ["pipeline", "ingest", tmp_path / "sessions.pcap", "--out", tmp_path / parts, *asked]
        found = json.loads(CliRunner().invoke(app, list(map(str, words))).stdout)
        assert found["in_order"] == {}
        ranges[parts] = found["ranges"]
    assert ranges["1"] == 0 and ranges["2"] > 3
    code, said = ended("ingest", CAPTURES, "--out", tmp_path / "none", "--parts", "0")
    assert code == 2 and "'--parts': 0 is out of range (1 to 4,096)" in said
    with pytest.raises(BadInput, match="--parts 0 is not from 1 to 4,096"):
        put(tmp_path / "none", [tmp_path / "sessions.pcap"], parts=0)


def test_captures_and_lakes_that_cannot_be_used(tmp_path):
    (tmp_path / "empty").mkdir()
    assert "holds no capture" in ended("ingest", tmp_path / "empty", "--out", tmp_path / "lake")[1]
    assert not (tmp_path / "lake").exists()
    assert "is a folder with other files in it" in ended("ingest", CAPTURES, "--out", CAPTURES)[1]
    put(tmp_path / "newer", [CAPTURES / "vlan.pcap"])
    (tmp_path / "newer" / "_mqconform.json").write_text(json.dumps({"format": max(FORMATS) + 1, "version": "9.0"}))
    code, said = ended("ingest", CAPTURES, "--out", tmp_path / "newer")
    assert code == 2 and "use the newer mqconform" in said
