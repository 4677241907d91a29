"""Repro files that nobody of good will wrote: ERROR, exit code 2, never a traceback."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests_cli import mqconform

from conformance.verdict import ExitCode

CREATE = {"method": "queues.create", "queue": "q1", "transactional": False}
HOSTILE: dict[str, tuple[str, dict[str, Any]]] = {
    "calls-no-method": ("cursors", {"kind": "calls", "format": 1, "calls": [{"method": "rm -rf"}]}),
    "calls-of-numbers": ("cursors", {"kind": "calls", "format": 1, "calls": [1, 2]}),
    "calls-too-many": ("cursors", {"kind": "calls", "format": 1, "calls": [CREATE] * 10_001}),
    "calls-later-format": ("cursors", {"kind": "calls", "format": 2, "calls": [CREATE]}),
    "calls-huge-number": (
        "cursors",
        {"kind": "calls", "format": 1, "calls": [{"method": "clock.advance", "by_ms": 1 << 60}]},
    ),
    "packets-of-calls": ("packets", {"kind": "calls", "calls": [CREATE]}),
    "packets-no-base64": ("packets", {"kind": "packet", "case": "refuse", "packet": "!", "requirement": "x"}),
    "packets-odd-message": ("packets", {"kind": "packet", "case": "encode", "message": {"priority": "high"}}),
    "names-of-numbers": ("names", {"kind": "create-name", "path_name": 5}),
    "names-no-case": ("names", {"kind": "name", "case": 5}),
    "suite-elsewhere": ("../../etc", {"kind": "calls"}),
}


def repro_file(suite: str, data: dict[str, Any]) -> dict[str, Any]:
    return {
        "format": 1,
        "suite": suite,
        "test": "t",
        "profile": "msmq-4.0",
        "level": "must",
        "reading_set": "windows",
        "seed": 0,
        "verdict": {"requirement": "MQMQ-2.2.19.1.signature", "outcome": "fail", "subject": "s"},
        "story": [],
        "repro": data,
    }


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("hostile")
    for name, (suite, data) in HOSTILE.items():
        (folder / f"{name}.json").write_text(json.dumps(repro_file(suite, data)))
    endless = repro_file("names", {"kind": "name"}) | {"seed": 1e999}
    (folder / "seed-endless.json").write_text(json.dumps(endless))
    done = mqconform("repro", str(folder), "--json")
    assert "Traceback" not in done.stderr
    assert done.returncode == ExitCode.BAD_INPUT, done.stderr
    return {Path(answer["file"]).stem: answer for answer in json.loads(done.stdout)["answers"]}


@pytest.mark.parametrize("name", [*HOSTILE, "seed-endless"])
def test_a_hostile_repro_file_is_an_error(name: str, answers: dict[str, Any]) -> None:
    assert answers[name]["answer"] == "ERROR"
    assert answers[name]["text"]
