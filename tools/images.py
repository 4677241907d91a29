"""Make the README's pictures from a real run; needs chromium for the screenshot.

python -m tools.images
"""

from __future__ import annotations

import io
import shutil
import subprocess
import sys
from pathlib import Path

from rich.console import Console

from conformance.report.console import print_summary
from conformance.report.html import render_html
from conformance.run import run

IMAGES = Path(__file__).parents[1] / "docs" / "images"
BROWSER = ("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-background-networking")


def main() -> None:
    """Judge the embedded implementation with one fault, and draw the console and the report of that run."""
    folder = Path("reports", "out", "example")
    shutil.rmtree(folder, ignore_errors=True)
    result = run(adapter="embedded+loses-message-on-abort", suites="names,transactions", out=folder, in_process=True)
    assert result.record is not None
    console = Console(record=True, width=96, force_terminal=True, file=io.StringIO())
    print_summary(result.record, console)
    drawn = console.export_svg(title="mqconform run --adapter embedded+loses-message-on-abort")
    (IMAGES / "run.svg").write_text(drawn.replace(f"{Path.cwd()}/", ""), encoding="utf-8")
    page = folder / "report.html"
    page.write_text(render_html(result.record), encoding="utf-8")
    chromium = shutil.which("chromium")
    if chromium is None:
        sys.exit("chromium is needed for the screenshot")
    shot = IMAGES / "report.png"
    subprocess.run(
        [chromium, *BROWSER, "--window-size=1180,1000", f"--screenshot={shot}", page.absolute().as_uri()],
        check=True,
        capture_output=True,
    )


if __name__ == "__main__":
    main()
