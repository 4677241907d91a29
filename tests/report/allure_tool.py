"""Runs the Allure command line, of the npm package that `./mq test` installs."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

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
