"""Results for Allure, read by its own tool."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from base64 import b64encode
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeGuard

import pytest

from conformance.capture import Frame, read_capture
from conformance.files import resource
from conformance.report import write_allure
from conformance.runlog import Run, RunWriter, StoryStep
from conformance.verdict import Evidence, Outcome, Verdict

TOOLS = Path(__file__).parents[1] / "tools"


def allure_html(results: Path, out: Path) -> Path:
    """The HTML report of these results, made by Allure itself; the folder it is in."""
    allure = TOOLS / "node_modules" / "allure-commandline" / "dist" / "bin" / "allure"
    missing = [name for name, there in (("java", shutil.which("java")), ("allure", allure.exists())) if not there]
    if missing:
        what = f"{' and '.join(missing)} not installed: ./mq test installs both"
        if os.environ.get("CI") == "true":
            pytest.fail(what)
        pytest.skip(what)
    done = subprocess.run(
        ["bash", str(allure), "generate", str(results), "-o", str(out)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return out


BROKEN = "MQDMPR-3.2.7.3.illegal-cursor-action"
PACKET = "MQMQ-2.2.19.1.signature"
REPRO = {"suite": "cursors", "story": ["a step"]}


def results(folder: Path) -> dict[str, dict[str, Any]]:
    """The results by full name."""
    found = [json.loads(path.read_text(encoding="utf-8")) for path in folder.glob("*-result.json")]
    return {one["fullName"]: one for one in found}


def labels(result: dict[str, Any]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for one in result["labels"]:
        found.setdefault(one["name"], []).append(one["value"])
    return found


def attached(folder: Path, result: dict[str, Any]) -> dict[str, bytes]:
    """The attachments' content by file suffix and name."""
    return {
        f"{one['name'].partition(':')[0]}.{one['source'].rpartition('.')[2]}": (folder / one["source"]).read_bytes()
        for one in result.get("attachments", [])
    }


def is_frame(event: object) -> TypeGuard[Frame]:
    return isinstance(event, Frame) and event.transport == "tcp"


def fill(writer: RunWriter) -> None:
    """A failure with a story and a repro, one with a packet, and one of every other outcome."""
    writer.hello({"name": "acme-mq", "version": "2.1"})
    name = writer.verdict(
        Verdict(BROKEN, Outcome.FAIL, "peek_next", {"status": 1}, {"status": 0}), suite="cursors", test="t.py::t"
    )
    writer.story(name, [StoryStep("create queue q1"), StoryStep("peek next")], repro="elsewhere/repros/0f3a.json")
    frame = next(one for one in read_capture(resource("fixtures/captures/mqqb-4.1.pcapng")) if is_frame(one))
    data = {"base64": b64encode(frame.data).decode(), "transport": "tcp", "source": "192.0.2.9:4000"}
    writer.verdict(
        Verdict(
            PACKET, Outcome.FAIL, "frame 4", {}, {"BaseHeader.Signature": 1}, (), None, Evidence("packet", "f", data)
        ),
        suite="replay",
        test="a.pcap",
    )
    for outcome in Outcome:
        if outcome is not Outcome.FAIL:
            writer.verdict(Verdict(BROKEN, outcome, "s", reason="because"), suite=outcome.value, test="t")


@pytest.fixture
def written(make_run: Callable[..., Run], tmp_path: Path) -> tuple[Run, Path]:
    run = make_run(fill)
    repros = run.parts[0].parent / "repros"
    repros.mkdir()
    (repros / "0f3a.json").write_text(json.dumps(REPRO))
    folder = tmp_path / "results"
    assert write_allure(run, folder) == len(results(folder)) == 11
    return run, folder


def test_a_result_is_a_requirement_of_a_document(written: tuple[Run, Path]) -> None:
    _, folder = written
    result = results(folder)[f"cursors/{BROKEN}"]
    told = labels(result)
    assert told["epic"] == ["MS-MQDMPR"] and told["feature"][0].startswith("3.2.7.3 ") and told["story"] == [BROKEN]
    assert told["severity"] == ["critical"] and told["suite"] == ["cursors"] and told["host"] == ["acme-mq"]
    assert result["status"] == "failed" and result["statusDetails"]["message"].startswith("fail: MS-MQDMPR 3.2.7.3")
    assert [(step["name"], step["status"]) for step in result["steps"]] == [
        ("create queue q1", "passed"),
        ("peek next", "failed"),
    ]
    found = attached(folder, result)
    assert set(found) == {"story.txt", "repro.json", "command.txt"}
    assert json.loads(found["repro.json"]) == REPRO and b"   2. peek next" in found["story.txt"]
    assert found["command.txt"] == b"mqconform repro elsewhere/repros/0f3a.json --adapter embedded\n"


def test_a_packet_comes_with_its_dump_and_as_a_capture(written: tuple[Run, Path], tmp_path: Path) -> None:
    run, folder = written
    found = attached(folder, results(folder)[f"replay/{PACKET}"])
    assert set(found) == {"story.txt", "hex dump.txt", "capture.pcap"}
    assert f"<- {PACKET}".encode() in found["hex dump.txt"] and b"BaseHeader.Signature" in found["hex dump.txt"]
    path = tmp_path / "packet.pcap"
    path.write_bytes(found["capture.pcap"])
    (seen,) = [one for one in read_capture(path) if is_frame(one)]
    stored = next(one.verdict.evidence for one in run.verdicts if one.verdict.requirement == PACKET)
    assert stored is not None and b64encode(seen.data).decode() == stored.data["base64"]
    assert str(seen.source) == "192.0.2.9:4000"


def test_every_outcome_has_its_status(written: tuple[Run, Path]) -> None:
    _, folder = written
    told = {labels(one)["suite"][0]: one for one in results(folder).values()}
    assert {name: one["status"] for name, one in told.items()} == {
        "cursors": "failed",
        "replay": "failed",
        "crash": "failed",
        "timeout": "failed",
        "flaky": "failed",
        "error": "broken",
        "inconclusive": "skipped",
        "skip": "skipped",
        "reading": "passed",
        "warn": "passed",
        "pass": "passed",
    }
    assert [name for name, one in told.items() if one.get("statusDetails", {}).get("flaky")] == ["flaky"]


def test_a_reading_fails_under_the_strict_readings(make_run: Callable[..., Run], tmp_path: Path) -> None:
    write_allure(make_run(fill, reading_set="strict"), tmp_path / "strict")
    assert results(tmp_path / "strict")[f"reading/{BROKEN}"]["status"] == "failed"


def test_the_history_goes_on_and_a_run_is_there_once(make_run: Callable[..., Run], tmp_path: Path) -> None:
    first, second = make_run(fill), make_run(fill, run_id="r2")
    for folder, run in (("a", first), ("a", first), ("b", second)):
        write_allure(run, tmp_path / folder)
    one, other = results(tmp_path / "a"), results(tmp_path / "b")
    assert len(list((tmp_path / "a").glob("*-result.json"))) == len(one) == 11
    assert {name: result["historyId"] for name, result in one.items()} == {
        name: result["historyId"] for name, result in other.items()
    }
    assert len({result["historyId"] for result in one.values()}) == 11
    assert not {result["uuid"] for result in one.values()} & {result["uuid"] for result in other.values()}


@pytest.mark.parametrize(
    "named", ["/etc/passwd", "../secret.json", "..", "", "a\0b", "link.json", "big.json", "no.json"]
)
def test_no_other_file_of_the_machine_is_attached(named: str, make_run: Callable[..., Run], tmp_path: Path) -> None:
    """A record that came from elsewhere may name any file as its repro."""

    def hostile_fill(writer: RunWriter) -> None:
        name = writer.verdict(Verdict(BROKEN, Outcome.FAIL, "s"), suite="cursors", test="t")
        writer.story(name, [StoryStep("a step")], repro=named)

    run = make_run(hostile_fill)
    base = run.parts[0].parent
    (base / "repros").mkdir()
    (base / "secret.json").write_text("{}")
    (base / "repros" / "link.json").symlink_to(base / "secret.json")
    (base / "repros" / "big.json").write_text(f'{{"a": "{"x" * (1 << 20)}"}}')
    (base / "repros" / "no.json").write_text("root:x:0:0\n")
    write_allure(run, tmp_path / "results")
    (result,) = results(tmp_path / "results").values()
    assert not [name for name in attached(tmp_path / "results", result) if name.startswith("repro")]


def test_hostile_text_stays_text(hostile: Run, tmp_path: Path) -> None:
    number = write_allure(hostile, tmp_path / "results")
    assert len(list((tmp_path / "results").glob("*-result.json"))) == number
    for path in (tmp_path / "results").iterdir():
        assert path.stat().st_size < 500_000
        assert not {"\u202e", "\x1b", "\x00"} & set(path.read_text(encoding="utf-8"))
    properties = (tmp_path / "results" / "environment.properties").read_text(encoding="ascii").splitlines()
    assert all(line.partition("=")[0].replace(".", "").isalpha() for line in properties)


def leaves(node: dict[str, Any], path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], dict[str, Any]]]:
    for child in node.get("children", []):
        if "children" in child:
            yield from leaves(child, (*path, child["name"]))
        else:
            yield path, child


def test_allure_makes_its_report(written: tuple[Run, Path], hostile: Run, tmp_path: Path) -> None:
    """Both runs go into one report: Allure is started once."""
    _, folder = written
    number = write_allure(hostile, folder)
    html = allure_html(folder, tmp_path / "html")
    summary = json.loads((html / "widgets" / "summary.json").read_text(encoding="utf-8"))
    # All outcomes of the first run as they are above; the hostile requirements all fail.
    assert summary["statistic"] == {
        "failed": 5 + number,
        "broken": 1,
        "skipped": 2,
        "passed": 3,
        "unknown": 0,
        "total": 11 + number,
    }
    behaviors = json.loads((html / "data" / "behaviors.json").read_text(encoding="utf-8"))
    found = [(path, leaf) for path, leaf in leaves(behaviors) if path[-1] == PACKET]
    ((path, leaf),) = found
    assert path[0] == "MS-MQMQ" and path[1].startswith("2.2.19.1 ") and leaf["status"] == "failed"
    case = json.loads((html / "data" / "test-cases" / f"{leaf['uid']}.json").read_text(encoding="utf-8"))
    assert case["extra"]["severity"] == "critical"
    kinds = {one["type"]: one["source"] for one in case["testStage"]["attachments"]}
    assert "application/vnd.tcpdump.pcap" in kinds
    assert all((html / "data" / "attachments" / source).stat().st_size for source in kinds.values())
    categories = json.loads((html / "data" / "categories.json").read_text(encoding="utf-8"))
    assert {"Deviations", "Crashes and time-outs", "Not every time", "Not judged"} <= {
        one["name"] for one in categories["children"]
    }
    environment = json.loads((html / "widgets" / "environment.json").read_text(encoding="utf-8"))
    assert {"Implementation", "Profile"} <= {one["name"] for one in environment}
