"""Mistakes on the command line are one sentence and exit code 2, before Spark is started."""

from __future__ import annotations

import json

import pytest
from lake_helpers import CAPTURES, put
from typer.testing import CliRunner

from conformance.cli.app import app
from conformance.pipeline.lakes.port import FORMAT


def ended(*arguments: str) -> tuple[int, str]:
    found = CliRunner().invoke(app, ["pipeline", *map(str, arguments)])
    return found.exit_code, found.stderr


@pytest.mark.parametrize(
    ("more", "words"),
    [
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


def test_captures_and_lakes_that_cannot_be_used(tmp_path):
    (tmp_path / "empty").mkdir()
    assert "holds no capture" in ended("ingest", tmp_path / "empty", "--out", tmp_path / "lake")[1]
    assert not (tmp_path / "lake").exists()
    assert "is a folder with other files in it" in ended("ingest", CAPTURES, "--out", CAPTURES)[1]
    put(tmp_path / "newer", [CAPTURES / "vlan.pcap"])
    (tmp_path / "newer" / "_mqconform.json").write_text(json.dumps({"format": FORMAT + 1, "version": "9.0"}))
    code, said = ended("ingest", CAPTURES, "--out", tmp_path / "newer")
    assert code == 2 and "ingest the captures and runs again" in said
