"""`mqconform readings infer` on the command line."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from tests_cli import mqconform, one_sentence, stdio

from conformance.verdict import ExitCode

ZERO = "R-MQDMPR-zero-timeout-status"
FAKES = Path(__file__).parent / "fakes"
TWO_FACED = stdio(sys.executable, FAKES / "follows_both_readings.py")
INFER = ("readings", "infer")
TRACES = (*INFER, "--suite", "none", "--budget", "1s")


def test_readings_of_names_and_of_queues_are_found(tmp_path: Path) -> None:
    done = mqconform(*INFER, "--suite", "names", "--json", "--out", str(tmp_path / "out"))
    assert done.returncode == ExitCode.CONFORMS, done.stderr
    told = json.loads(done.stdout)
    followed = {one["reading"]: one["left"][0] for one in told["readings"] if one["status"] == "followed"}
    assert followed[ZERO] == "by-kind"
    assert sum(reading.startswith("R-MQMQ-") for reading in followed) > 15
    claimed = {one["reading"]: one["claimed"] for one in told["readings"]}
    assert all(claimed[reading] in (None, followed[reading]) for reading in followed)
    port = next(one for one in told["readings"] if one["reading"] == "R-MQMQ-http-port-empty")
    assert port["ruled_out"]["refused"]["where"].startswith("names/")
    assert told["counts"]["both ways"] == told["counts"]["fits none"] == 0
    assert list((tmp_path / "out").glob("run-*.ndjson"))


def test_a_reading_followed_both_ways_is_told_with_two_stories() -> None:
    done = mqconform(*TRACES, "--adapter", TWO_FACED)
    assert done.returncode == ExitCode.DEVIATES, done.stderr
    lines = done.stdout.splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith(f"BOTH      {ZERO}"))
    assert sum(line.strip().startswith("story ") for line in lines[at : at + 20]) == 2
    assert any(line.startswith("follows   R-MQDMPR-share-with-peek  data-model") for line in lines)


def test_what_decides_no_reading_is_said_to() -> None:
    done = mqconform(*TRACES, "--adapter", stdio(sys.executable, FAKES / "offers_names_only.py"))
    said = one_sentence(done, ExitCode.NOTHING_JUDGED)
    assert "decides no reading" in said


def test_a_wrong_word_is_the_users_mistake() -> None:
    assert "suite" in one_sentence(mqconform(*INFER, "--suite", "nams"), ExitCode.BAD_INPUT)
    assert "connector" in one_sentence(mqconform(*INFER, "--adapter", "embeded"), ExitCode.BAD_INPUT)
    assert "Invalid duration" in one_sentence(mqconform(*INFER, "--budget", "soon"), ExitCode.BAD_INPUT)
    one_sentence(mqconform(*INFER, "--adapter", "stdio:/nowhere/driver"), ExitCode.UNUSABLE)
