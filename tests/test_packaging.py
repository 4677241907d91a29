"""The built wheel in an environment of its own: it must find its data and run."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from base_install import Base

ROOT = Path(__file__).parents[1]


@pytest.fixture
def wheel(base: Base) -> Path:
    return base.wheel


def test_the_wheel_holds_what_is_needed_at_run_time(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    for wanted in (
        "conformance/_data/fixtures/captures/mqqb-4.1.pcapng",
        "conformance/_data/fixtures/names/mqmq-2.1.1.toml",
        "conformance/_data/adapters/python/driver.py",
        "conformance/_data/adapters/node/memory_queue.js",
        "conformance/_data/adapters/csharp/Driver.cs",
        "conformance/_data/adapters/shared/Json.cs",
        "conformance/_data/adapters/go/driver.go",
        "conformance/_data/adapters/java/QueueManager.java",
        "conformance/_data/adapters/rust/driver.rs",
        "conformance/_data/adapters/c/json.h",
        "conformance/adapter/schema/messages.json",
        "conformance/runlog/schema.json",
        "conformance/spec/catalogue.json",
        "conformance/spec/data/cells/mqac.toml",
        "conformance/py.typed",
    ):
        assert wanted in names, wanted
    shipped = {name.split("/")[3] for name in names if name.startswith("conformance/_data/fixtures/")}
    assert shipped == {path.name for path in (ROOT / "fixtures").iterdir() if path.is_dir()} - {"old", "__pycache__"}
    assert not [name for name in names if name.startswith("conformance/spec/data/mq")]
    assert not [name for name in names if name.startswith(("tests/", "tools/", "hatch_build")) or "__pycache__" in name]


def test_the_wheel_runs_in_an_empty_environment(wheel: Path, tmp_path: Path) -> None:
    """As a user gets it: a new environment, the wheel and its dependencies, nothing of this checkout."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "env")], check=True)
    python = tmp_path / "env" / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", str(python), "--disable-pip-version-check"]
    # Compiled is what is imported: the rest takes longer than all else here.
    subprocess.run([*pip, "install", "-q", "--no-compile", str(wheel)], check=True, capture_output=True, timeout=900)
    listed = subprocess.run([*pip, "list"], check=True, capture_output=True, text=True).stdout
    assert not {"numpy", "pandas", "pyspark", "pyarrow"} & set(listed.lower().split()), "the base install is small"
    environment = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "VIRTUAL_ENV")}
    command = str(tmp_path / "env" / "bin" / "mqconform")
    site = subprocess.run(
        [str(python), "-c", "import conformance, pathlib; print(pathlib.Path(conformance.__file__).parent)"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    assert site.startswith(str(tmp_path))
    for arguments in (
        ["--version"],
        ["requirements", "list", "--section", "MQDMPR-3.2*"],
        ["requirements", "show", "MQDMPR-3.2.7.3.illegal-cursor-action"],
        ["run", "--suite", "transactions", "--max-examples", "2", "--out", "out"],
        ["adapter", "new", "--lang", "csharp", "driver"],
        ["replay", f"{site}/_data/fixtures/captures/consistent-session.pcapng", "--out", "o2"],
    ):
        done = subprocess.run(
            [command, *arguments],
            env=environment,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
            timeout=900,
        )
        assert done.returncode == 0, (arguments, done.stdout[-2000:], done.stderr)
