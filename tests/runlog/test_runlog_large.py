"""A record of any size is read and reported in bounded memory."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from nightly import nightly_only

HERE = Path(__file__).parent
pytestmark = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is counted as Linux does")

TWICE = """
import sys
from pathlib import Path
from large import write_large
from peak import peak_kib
from conformance.report import render_html, render_junit
from conformance.report.standing import standing
from conformance.runlog import read_run

def told(folder):
    run = read_run(folder)
    page, cases = render_html(run), render_junit(run)
    assert "Does not conform" in page and "<failure" in cases and standing(run).deviating
    return len(run.verdicts)

base = Path(sys.argv[1])
small = write_large(base / "small", 10_000_000)
assert told(base / "small") == small
before = peak_kib()
large = write_large(base / "large", 45_000_000)
assert told(base / "large") == large > 3 * small
print(peak_kib() - before)
"""


def test_memory_does_not_grow_with_the_record(tmp_path: Path) -> None:
    """Read at once, the larger of the two took 40 MiB more."""
    environment = {**os.environ, "PYTHONPATH": f"{HERE}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"}
    done = subprocess.run(
        [sys.executable, "-c", TWICE, str(tmp_path)], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 20 << 10, f"{done.stdout} KiB more"


@nightly_only("runlog.two-gigabytes")
def test_two_gigabytes_make_reports_in_400_megabytes(tmp_path: Path) -> None:
    record = tmp_path / "record"
    subprocess.run([sys.executable, str(HERE / "large.py"), str(record), str(2 << 30)], check=True)
    for words in (
        ["report", str(record), "--html", str(tmp_path / "a.html"), "--junit", str(tmp_path / "a.xml")],
        ["gate", str(record)],
        ["report", str(record), str(record)],
        ["judge", str(record), "--out", str(tmp_path / "judged")],
    ):
        done = subprocess.run(
            [sys.executable, str(HERE / "peak.py"), *words], capture_output=True, text=True, check=False
        )
        assert "Traceback" not in done.stderr and done.returncode in (0, 1), done.stderr
        assert int(done.stderr.splitlines()[-1]) < 400_000_000 // 1024, words[0]
