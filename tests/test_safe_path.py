"""Nothing that lies in the working folder is imported, but the module that `python:` names."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
NAMES = (
    "queue",
    "bisect",
    "json",
    "random",
    "socket",
    "selectors",
    "pickle",
    "numbers",
    "typing",
    "struct",
    "tempfile",
)
POISON = "import pathlib\npathlib.Path(__file__).with_name('RAN').write_text(__name__)\n"
DRIVER = "from conformance.embedded.driver import EmbeddedDriver\n\n\nclass Driver(EmbeddedDriver):\n    pass\n"
SHORT = "-k create_queue"

LINES: Mapping[str, tuple[str, int]] = {
    "run": ("run --workers 2 --suite names --out out -- " + SHORT, 0),
    "run-python": ("run --adapter python:my.driver:Driver --suite names --out out -- " + SHORT, 0),
    "adapter-check": ("adapter check python:my.driver:Driver", 0),
    "replay": ("replay site.pcapng", 0),
    "replay-columns": ("replay --columns site.pcapng", 0),
    "ingest": ("pipeline ingest site.pcapng --out lake", 0),
    "selftest": ("selftest accepts-plus-in-queue-name --suite names", 0),
    "wire-check": ("wire check 127.0.0.1?qm=9", 3),
    "grammar": ("grammar parse 'DIRECT=OS:x\\private$\\y'", 0),
}


@pytest.fixture
def poisoned(tmp_path: Path) -> Path:
    folder = tmp_path / "captures"
    folder.mkdir()
    for name in NAMES:
        (folder / f"{name}.py").write_text(POISON, encoding="utf-8")
    (folder / "my").mkdir()
    (folder / "my" / "driver.py").write_text(DRIVER, encoding="utf-8")
    shutil.copyfile(ROOT / "fixtures" / "captures" / "consistent-session.pcapng", folder / "site.pcapng")
    return folder


def started(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run `mqconform` as its script does: the folder of the script, not the working folder, comes first on its path."""
    script = "import sys; sys.argv[0] = 'mqconform'; from conformance.cli import main; main()"
    variables = {name: value for name, value in os.environ.items() if name not in ("PYTHONSAFEPATH", "PYTEST_ADDOPTS")}
    variables["PYTHONPATH"] = os.pathsep.join(filter(None, (str(ROOT), variables.get("PYTHONPATH"))))
    command = f'exec {sys.executable} -P -c "{script}" {line}'
    return subprocess.run(
        ["bash", "-c", command], cwd=folder, env=variables, capture_output=True, text=True, timeout=900, check=False
    )


@pytest.mark.parametrize("name", LINES)
def test_a_module_in_the_working_folder_is_not_imported(name: str, poisoned: Path) -> None:
    line, code = LINES[name]
    done = started(line, poisoned)
    assert not (poisoned / "RAN").exists(), f"{(poisoned / 'RAN').read_text()} was imported"
    assert done.returncode == code, done.stdout + done.stderr


def test_a_query_imports_nothing_of_the_folder_in_its_process(poisoned: Path) -> None:
    assert started("pipeline ingest site.pcapng --out lake", poisoned).returncode == 0
    done = started("pipeline sql lake 'select count(*) from captures'", poisoned)
    assert not (poisoned / "RAN").exists() and done.returncode == 0, done.stdout + done.stderr


def test_diagnose_imports_nothing_of_the_folder_in_its_workers(poisoned: Path) -> None:
    run = f"run --adapter embedded+accepts-plus-in-queue-name --suite names --out out -- {SHORT}"
    assert started(run, poisoned).returncode == 1
    done = started("diagnose out --workers 2", poisoned)
    assert done.returncode == 0, done.stdout + done.stderr
    assert not (poisoned / "RAN").exists()


def test_own_tests_stand_behind_every_other_module(poisoned: Path) -> None:
    own = "import json\n\n\ndef test_mine(mq):\n    assert json.dumps(1) == '1'\n"
    (poisoned / "test_mine.py").write_text(own, encoding="utf-8")
    done = started("run --suite names --out out -- test_mine.py -k 'mine or create_queue'", poisoned)
    assert not (poisoned / "RAN").exists()
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_program_of_the_user_finds_what_lies_beside_it(poisoned: Path) -> None:
    """`safe_path` is for our own processes alone: a driver of the user's is started as a shell would start it."""
    (poisoned / "beside.py").write_text("pass\n", encoding="utf-8")
    body = "import beside\nfrom conformance.adapter.host import main\nraise SystemExit(main(['my.driver:Driver']))\n"
    (poisoned / "drive.py").write_text(body, encoding="utf-8")
    for name in NAMES:
        (poisoned / f"{name}.py").unlink()
    done = started(f"run --adapter 'stdio:{sys.executable} -m drive' --suite names --out out -- {SHORT}", poisoned)
    assert done.returncode == 0, done.stdout + done.stderr
