"""The HTML report in a real browser: its script filters, its policy holds, light and dark can both be read."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from conformance.report import render_html
from conformance.runlog import Run

Dump = Callable[..., str]
NAMES = ("chromium", "chromium-browser", "google-chrome")

POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy"[^>]*>')
"""Taken out where a test adds a script of its own to look inside the page."""

CONTRAST = """
const channel = (c) => (c /= 255) <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
const parse = (text) => text.match(/[0-9.]+/g).map(Number);
const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
const ground = (node) => {
  for (; node; node = node.parentElement) {
    const colour = parse(getComputedStyle(node).backgroundColor);
    if (colour.length < 4 || colour[3] > 0) return colour;
  }
  return [255, 255, 255];
};
let least = 99, where = "", seen = 0;
for (const node of document.querySelectorAll("body *:not(script):not(svg *)")) {
  if (![...node.childNodes].some((child) => child.nodeType === 3 && child.data.trim())) continue;
  const [a, b] = [light(parse(getComputedStyle(node).color)), light(ground(node))].sort((x, y) => y - x);
  const ratio = (a + 0.05) / (b + 0.05);
  seen += 1;
  if (ratio < least) { least = ratio; where = node.tagName + "." + node.className; }
}
document.title = `contrast ${least.toFixed(2)} at ${where} of ${seen} on ${ground(document.body)}`;
"""


@pytest.fixture(scope="module")
def browser() -> str:
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        reason = "no Chromium on this machine (Debian: apt-get install chromium)"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    return found


@pytest.fixture
def dump(browser: str, tmp_path: Path) -> Dump:
    """dump(html, *more arguments) -> the document as it is after its scripts ran."""

    def run(source: str, *arguments: str) -> str:
        page = tmp_path / "report.html"
        page.write_text(source, encoding="utf-8")
        command = [browser, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}"]
        done = subprocess.run(
            [*command, *arguments, "--dump-dom", page.as_uri()], capture_output=True, timeout=120, check=True
        )
        return done.stdout.decode("utf-8")

    return run


def title(document: str) -> str:
    found = re.search(r"<title>(.*?)</title>", document, re.DOTALL)
    assert found
    return found[1]


def opened_up(source: str, script: str) -> str:
    """The page without its policy and with a script at its end."""
    assert POLICY.search(source)
    return POLICY.sub("", source).replace("</body>", f"<script>{script}</script></body>")


def test_its_own_script_runs_and_no_other_does(dump: Dump, hostile: Run) -> None:
    source = render_html(hostile)
    planted = "<script>document.title='planted'</script><img src=x onerror=\"document.title='planted'\">"
    document = dump(source.replace("</main>", f"{planted}</main>"))
    assert "planted" in document and title(document) != "planted"
    assert re.search(r'<div class="filters" id="filters">', document), "the page's own script did not run"
    # The same plant works where the policy is missing: it is the policy that held.
    assert title(dump(opened_up(source, "document.title='planted'"))) == "planted"


def test_hostile_text_adds_no_element(dump: Dump, hostile: Run) -> None:
    document = dump(render_html(hostile))
    assert document.count("<script") == 2 and "<img" not in document


def test_filters_hide_what_does_not_match(dump: Dump, typical: Run) -> None:
    typed = 'search.value = "3.2.7.3 peek-next"; search.dispatchEvent(new Event("input"));'
    unchecked = (
        'for (const box of document.querySelectorAll("#filters input[type=checkbox]")) '
        'if (box.value !== "fail") { box.checked = false; box.dispatchEvent(new Event("change")); }'
    )
    tell = 'document.title = [...document.querySelectorAll(".item:not([hidden])")].map((n) => n.textContent).join("|");'
    source = render_html(typical)
    everything = title(dump(opened_up(source, tell))).split("|")
    by_word = title(dump(opened_up(source, "const search = document.getElementById('search');" + typed + tell)))
    assert len(everything) > 100
    assert 0 < len(by_word.split("|")) < 20 and all("3.2.7.3" in one for one in by_word.split("|"))
    by_outcome = title(dump(opened_up(source, unchecked + tell))).split("|")
    assert 2 <= len(by_outcome) <= 4 and all("fail" in one for one in by_outcome)


def test_light_and_dark_can_both_be_read(dump: Dump, typical: Run) -> None:
    source = opened_up(render_html(typical), CONTRAST)
    told = [title(dump(source, f"--blink-settings=preferredColorScheme={scheme}")) for scheme in (1, 0)]
    grounds = []
    for line in told:
        found = re.fullmatch(r"contrast ([\d.]+) at (.*) of (\d+) on ([\d,]+)", line)
        assert found, line
        assert int(found[3]) > 100
        assert float(found[1]) >= 4.5, line
        grounds.append(sum(map(int, found[4].split(","))))
    assert grounds[0] > 600 > 200 > grounds[1], told
