"""What an ingest adds, on processes of this machine: what `replay` says, all or nothing, whatever a capture does."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from defect_captures import asking
from delta_helpers import HANGER, KILLER, SESSION, dated, halves
from lake_helpers import CAPTURES, FILES, put, records_of, replayed, rows, said, same, write_pcap

from conformance.pipeline.engine import Local
from conformance.pipeline.lake import Lake
from conformance.verdict import ExitCode

ROOT = Path(__file__).parents[2]
VLAN = CAPTURES / "vlan.pcap"


def ran(*words: object, folder: Path = ROOT, **settings: str) -> subprocess.CompletedProcess[str]:
    """The command, in a process of its own."""
    command = [sys.executable, "-m", "conformance", "pipeline", *map(str, words)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **settings}
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False
    )


def test_every_capture_has_the_verdicts_of_replay(tmp_path):
    lake, done = put(tmp_path / "lake", FILES, Local(2))
    assert done.captures == len(FILES) and not done.rejected
    assert [path for path in FILES if said(lake, path) != replayed(path)] == []
    again = put(tmp_path / "lake", FILES)[1]
    assert (again.captures, again.known, again.batch) == (0, len(FILES), "")


def test_a_stream_that_goes_on_counts_once(tmp_path):
    """The rows about the end of the first file are in an open batch, which the second one ends."""
    first, second = halves(tmp_path)
    put(tmp_path / "lake", [first])
    (one,) = Lake.open(tmp_path / "lake").batches().open.values()
    lake, _ = put(tmp_path / "lake", [second])
    assert one.batch not in lake.batches().live and len(lake.batches().open) == 1
    assert said(lake) == replayed(SESSION)
    same(lake, put(tmp_path / "other", [first, second])[0])


def test_a_stream_that_was_silent_for_a_week_begins_anew(tmp_path):
    first, second = halves(tmp_path)
    records = records_of(SESSION)
    later = [replace(one, time_ns=one.time_ns + 8 * 86_400 * 10**9) for one in records]
    put(tmp_path / "lake", [first])
    put(tmp_path / "lake", [write_pcap(tmp_path / "other_1.pcap", later)])
    lake, _ = put(tmp_path / "lake", [second])
    assert {row["position"] for row in rows(lake, "captures")} == {1}


@pytest.mark.parametrize("seconds", [1 << 40, 1 << 62])
def test_a_time_beyond_any_year_stops_nothing(tmp_path, seconds):
    bad = dated(tmp_path / "bad.pcapng", seconds)
    lake, done = put(tmp_path / "lake", [bad, VLAN])
    assert said(lake, VLAN) == replayed(VLAN)
    assert {one.path for one in done.rejected} <= {str(bad)}
    assert str(bad) in [row["path"] for table in ("rejected", "captures") for row in rows(lake, table)]


@pytest.fixture
def killing(tmp_path, monkeypatch):
    """A module that a child imports at its start, and that kills it when it judges a capture with these words."""
    (tmp_path / "fake").mkdir()
    (tmp_path / "fake" / "sitecustomize.py").write_text(KILLER)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join((str(tmp_path / "fake"), str(ROOT))))


def test_a_capture_that_kills_its_worker_is_named_and_the_others_stay(tmp_path, killing):
    bad = asking(tmp_path / "set_2.pcap", "kills its worker", later=100)
    good = [asking(tmp_path / f"set_{at}.pcap", later=100 * at) for at in (1, 3)]
    lake, done = put(tmp_path / "lake", [*good, bad, VLAN], Local(2))
    (found,) = done.rejected
    assert found.path == str(bad) and "its worker died each time" in str(found.error)
    assert done.code() is ExitCode.HARNESS_ERROR and done.captures == 3
    same(lake, put(tmp_path / "other", [*good, VLAN])[0])


def test_a_capture_at_which_its_worker_hangs_is_named_and_the_others_stay(tmp_path):
    (tmp_path / "fake").mkdir()
    (tmp_path / "fake" / "sitecustomize.py").write_text(HANGER)
    bad = asking(tmp_path / "set_2_bad.pcap", "hangs its worker", later=100)
    good = [asking(tmp_path / f"set_{at}.pcap", later=100 * at) for at in (1, 3)]
    stuck = asking(tmp_path / "stuck_bad.pcap")
    files = [*good, stuck, bad, VLAN]
    done = ran("ingest", *files, "--out", tmp_path / "lake", "--json", PYTHONPATH=f"{tmp_path}/fake:{ROOT}")
    found = json.loads(done.stdout)
    assert done.returncode == ExitCode.HARNESS_ERROR and found["captures"] == 3, done.stderr
    assert {one["path"] for one in found["rejected"]} == {str(stuck), str(bad)}
    assert all("did not end within 2 seconds" in one["reason"] for one in found["rejected"])


@pytest.mark.parametrize("name", ["queue.py", "bisect.py", "numpy.py"])
def test_a_module_in_the_working_folder_is_not_imported(tmp_path, name):
    (tmp_path / name).write_text("raise SystemExit('a module of a stranger')")
    program = Path(sys.executable).with_name("mqconform")  # Unlike with -m, the working folder is not in its path.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONSAFEPATH"}
    how = {"env": {**environment, "PYTHONPATH": str(ROOT)}, "capture_output": True, "text": True, "timeout": 300}
    done = subprocess.run(
        [program, "pipeline", "ingest", VLAN, "--out", "lake", "--json"], cwd=tmp_path, check=False, **how
    )
    assert done.returncode in (0, 1) and json.loads(done.stdout)["captures"] == 1, done.stderr


def test_the_command_tells_what_it_did_and_ends_as_replay_does(tmp_path):
    (tmp_path / "no.pcap").write_text("no capture")
    failing = CAPTURES / "bad-signature.pcap"
    failing = failing if failing.exists() else next(CAPTURES.glob("bad-signature.pcap*"))
    done = ran("ingest", failing, "--out", tmp_path / "lake", "--json")
    found = json.loads(done.stdout)
    assert done.returncode == 1 and found["engine"] == "local" and found["outcomes"]["fail"] > 0
    assert "engine local" in ran("ingest", failing, "--out", tmp_path / "lake").stderr
    assert ran("ingest", failing, "--out", tmp_path / "lake").returncode == 0, "nothing new"
    assert ran("ingest", tmp_path / "no.pcap", "--out", tmp_path / "lake").returncode == 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--stream", "both"], "Invalid --stream both: give auto or file."),
        (["--reading", "R-NONE=x"], "R-NONE"),
        (["--profile", "msmq-9.0"], "msmq-9.0"),
        (["--engine", "ray"], "Invalid --engine ray: give auto, local, spark."),
        (["--engine", "local", "--master", "local[2]"], "--master is Spark's"),
        (["--master", "mesos://x"], "--master mesos://x is not a Spark master"),
    ],
)
def test_a_mistake_is_one_sentence(tmp_path, words, said):
    from typer.testing import CliRunner

    from conformance.cli.app import app

    found = CliRunner().invoke(app, ["pipeline", "ingest", str(VLAN), "--out", str(tmp_path / "lake"), *words])
    assert found.exit_code == 2 and said in found.stderr and found.stderr.count("\n") == 1
    assert not (tmp_path / "lake").exists()


MEMORY = """
import resource, sys
from lake_helpers import put
from conformance.pipeline.engine import Local
put(sys.argv[1], sys.argv[2].split(), Local(1), packets=True)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def test_no_row_passes_the_driver(tmp_path):
    """A hundred times the packets, each with a row, and no more memory of the process that commits."""
    records = records_of(SESSION)
    files = []
    for at in range(100):
        moved = [replace(one, time_ns=one.time_ns + at * 10**6) for one in records]
        files.append(str(write_pcap(tmp_path / f"{chr(97 + at // 26)}{chr(97 + at % 26)}.pcap", moved * 20)))
    path = os.pathsep.join(str(ROOT / one) for one in (".", "tests/pipeline", "tests"))
    environment = {**os.environ, "PYTHONPATH": path}

    def used(place: str, some: list[str]) -> int:
        command = [sys.executable, "-c", MEMORY, str(tmp_path / place), " ".join(some)]
        how = {"env": environment, "capture_output": True, "text": True, "check": True, "timeout": 300}
        return int(subprocess.run(command, **how).stdout)

    one, hundred = used("one", files[:1]), used("hundred", files)
    assert hundred - one < 60_000, (one, hundred)
