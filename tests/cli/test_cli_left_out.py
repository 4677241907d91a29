"""All of the input is judged, or the conclusion names what is not."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import build_captures
import pytest
import rotated_files

from conformance.capture.inputs import MAX_NAMED, LeftOut, expand


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A command in a folder."""
    command = [sys.executable, "-m", "conformance", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def said(folder: Path, *arguments: str) -> dict[str, Any]:
    """What `replay --json` prints."""
    found: dict[str, Any] = json.loads(run(folder, "replay", *arguments, "--json", "--out", "out").stdout)
    return found


@pytest.mark.parametrize("name", rotated_files.SETS)
def test_a_rotated_set_is_read_in_the_order_of_recording(name: str, tmp_path: Path) -> None:
    paths = rotated_files.write(tmp_path / "day", rotated_files.SETS[name], packed=(5,))
    left_out = LeftOut()
    assert expand([str(tmp_path / "day")], left_out) == paths
    assert not left_out.count
    assert expand([str(tmp_path / "day" / "*")]) == paths
    found = said(tmp_path, "day")
    assert sum(one["packets"] for one in found["captures"]) == 26
    assert found["exit_code"] == 0


def test_what_is_no_capture_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "day"
    paths = rotated_files.write(folder, rotated_files.TIMED)
    (folder / "notes.txt").write_text("seen")
    (folder / ".git").mkdir()
    (folder / ".git" / "index.1").write_bytes(Path(paths[0]).read_bytes())
    done = run(tmp_path, "replay", "day", "--out", "out")
    assert done.returncode == 0
    assert "day/notes.txt" in done.stdout and "day/notes.txt" in done.stderr
    files = said(tmp_path, "day")["left_out"]["files"]
    assert files == {"count": 2, "names": ["day/notes.txt", "day/.git/index.1"]}


def test_the_names_of_many_files_are_bounded(tmp_path: Path) -> None:
    for number in range(MAX_NAMED + 20):
        (tmp_path / f"{number}.txt").write_text("seen")
    (tmp_path / "a.pcap").write_bytes(build_captures.consistent_session().pcap())
    left_out = LeftOut()
    assert expand([str(tmp_path)], left_out) == [str(tmp_path / "a.pcap")]
    assert (left_out.count, len(left_out.names)) == (MAX_NAMED + 20, MAX_NAMED)
    assert "and 115 more" in str(left_out.sentence)


def test_a_filter_and_an_option_say_what_they_leave_out(tmp_path: Path) -> None:
    (tmp_path / "a.pcap").write_bytes(build_captures.consistent_session().pcap())
    assert "The filter leaves out 24 of 26 packets." in run(
        tmp_path, "replay", "a.pcap", "--filter", "kind=OrderAck", "--out", "out"
    ).stdout  # fmt: skip
    done = run(tmp_path, "replay", "a.pcap", "--columns", "--packets-only", "--out", "out")
    assert "--packets-only leaves out" in done.stdout and "MQQB-2.2.7.signature" in done.stdout
    rules = said(tmp_path, "a.pcap", "--columns", "--packets-only")["left_out"]["rules"]
    assert "MQQB-3.1.3.2.order-ack-delay" in rules and "MQQB-2.2.7.signature" in rules
    judged = said(tmp_path, "a.pcap")["left_out"]
    assert judged == {"files": {"count": 0, "names": []}, "packets": None, "rules": []}


@pytest.mark.parametrize("options", [(), ("--columns",), ("--json",)])
def test_a_name_without_a_file_writes_nothing(options: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "good.pcap").write_bytes(build_captures.consistent_session().pcap())
    for names in (["nope.pcap"], ["good.pcap", "nope.pcap"], ["nope.pcap", "."]):
        done = run(tmp_path, "replay", *names, *options)
        assert done.returncode == 2
        assert "There is no file nope.pcap." in done.stderr and "good.pcap" not in done.stderr
        assert [one.name for one in tmp_path.iterdir()] == ["good.pcap"]


def test_a_link_in_a_folder_that_leads_nowhere_stops_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.pcap").write_bytes(build_captures.consistent_session().pcap())
    (tmp_path / "b.pcap").symlink_to(tmp_path / "gone.pcap")
    done = run(tmp_path, "replay", ".", "--out", "out")
    assert (tmp_path / "out").is_dir() and "26 packets" in done.stdout


@pytest.mark.parametrize("option", ["--html", "--junit", "--sarif", "--csv", "--allure", "--markdown"])
def test_no_folder_is_made_above_the_one_of_an_output(option: str, tmp_path: Path) -> None:
    (tmp_path / "a.pcap").write_bytes(build_captures.consistent_session().pcap())
    run(tmp_path, "replay", "a.pcap", "--out", "out")
    done = run(tmp_path, "report", "out", option, "no/such/folder/x")
    assert done.returncode == 2
    assert "cannot be written" in done.stderr
    assert not (tmp_path / "no").exists()
    assert run(tmp_path, "report", "out", option, "new/x").returncode == 0
