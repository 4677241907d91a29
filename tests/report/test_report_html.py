"""The HTML report, and the one that is published."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from conformance.harness.run_session import EXAMPLE
from conformance.report import render_html
from conformance.report.gate import decide
from conformance.report.standing import standing
from conformance.report.table import address
from conformance.runlog import PacketLine, Run, RunWriter, StoryStep, read_run
from conformance.spec.catalogue import DOCUMENTS
from conformance.verdict import Outcome, Verdict

BROKEN = "MQDMPR-3.2.7.3.illegal-cursor-action"


class Page(HTMLParser):
    """What a parser sees: elements, their attributes, and the text outside scripts and styles."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str, str | None]] = []
        self.scripts: list[str] = []
        self.words: list[str] = []
        self._inside = ""
        self.feed(source)
        self.text = " ".join(" ".join(self.words).split())

    def data(self) -> dict[str, Any]:
        """What the page's script draws from."""
        return next(found for found in map(json.loads, self.scripts[:-1]) if "rows" in found)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]
        self._inside = tag

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside == "script":
            self.scripts.append(data)
        elif self._inside != "style":
            self.words.append(data)


def test_a_failure_is_told_with_all_a_reader_needs(typical: Run) -> None:
    page = Page(render_html(typical))
    for expected in (
        "acme-mq 2.1",
        "Does not conform",
        "peek_next on a cursor that never peeked",
        "open cursor c1 on h1",
        "MQ_ERROR_ILLEGAL_CURSOR_ACTION (0xC00E001C)",
        "MS-MQDMPR 3.2.7.3",
        BROKEN,
        "mqconform repro reports/out/first/repros/0f3a9b2c11d04e55.json --adapter embedded",
        "Get Next Message For Peek",
        "panic: index out of range",
        "2009-03-11 16:30:12.257000",
    ):
        assert expected in page.text
    drawn = json.dumps(page.data()["rows"])
    assert "the driver does not offer queues.get" in drawn and BROKEN in drawn
    assert page.text.index("What deviates") < page.text.index("Requirements by section")
    assert "incomplete" not in page.text
    assert page.tags.count("li") >= 5


def test_the_page_needs_no_network_and_allows_only_its_own_script(typical: Run, hostile: Run) -> None:
    for run in (typical, hostile):
        source = render_html(run)
        page = Page(source)
        assert not {"img", "iframe", "object", "embed", "link", "base", "form"} & set(page.tags)
        assert not [name for _, name, _ in page.attributes if name.startswith("on") or name in ("src", "style")]
        # A link is to a place on the page or to a document, by an address of our own making.
        links = {value for _, name, value in page.attributes if name == "href" and not str(value).startswith("#")}
        assert links <= {address(name) for name in DOCUMENTS.values()}
        policy = next(
            value for _, name, value in page.attributes if name == "content" and "default-src" in (value or "")
        )
        assert policy is not None and policy.startswith("default-src 'none'")
        assert "unsafe" not in policy and "http" not in policy
        assert page.tags.count("script") == 3 and page.tags.count("style") == 1
        for tag, directive in (("script", "script-src"), ("style", "style-src")):
            body = re.findall(rf"<{tag}>(.*?)</{tag}>", source, re.DOTALL)
            assert len(body) == 1
            digest = base64.b64encode(hashlib.sha256(body[0].encode()).digest()).decode()
            assert f"{directive} 'sha256-{digest}'" in policy


def test_hostile_text_is_shown_and_never_interpreted(hostile: Run) -> None:
    source = render_html(hostile)
    page = Page(source)
    assert "<script>alert(1)</script><img src=x onerror=alert(2)>" in page.text
    assert "{{7*7}}{% if %}" in page.text
    assert source.count("<script") == 3 and "<img" not in source
    for character in "\u202e\x1b\x00\ud800":
        assert character not in source
    assert "\\u202e" in page.text and "\\x1b[31m" in page.text
    source.encode("utf-8")
    # A megabyte in a dozen places is cut, and the page says so.
    assert len(source) < 3_000_000 and "Cut when it was recorded: " in page.text


def test_the_data_block_is_json_and_cannot_end_its_script(hostile: Run) -> None:
    source = render_html(hostile)
    data = re.findall(r'<script type="application/json" id="summary">(.*?)</script>', source, re.DOTALL)
    assert len(data) == 1 and "<" not in data[0]
    assert json.loads(data[0])["implementation"]["name"].startswith("</script><script>")


def test_an_incomplete_record_says_so_first(make_run: Callable[..., Run]) -> None:
    def fill(writer: RunWriter) -> None:
        writer.verdict(Verdict(BROKEN, Outcome.PASS, "s"), suite="cursors", test="t")

    page = Page(render_html(make_run(fill, footer=None)))
    assert "This record is incomplete." in page.text
    assert "run-main.ndjson has no footer" in page.text
    assert "No deviation found, in what was recorded" in page.text
    assert ("p", "class", "headline good") not in page.attributes
    whole = Page(render_html(make_run(fill)))
    assert "incomplete" not in whole.text and ("p", "class", "headline good") in whole.attributes


@pytest.mark.parametrize("reason", ["budget", "interrupted", "driver-unusable", "error"])
def test_a_run_that_ended_early_says_so(make_run: Callable[..., Run], reason: str) -> None:
    assert 'role="alert"' in render_html(make_run(footer=reason))
    assert 'role="alert"' not in render_html(make_run(footer="completed"))


def test_a_run_without_verdicts_does_not_look_like_success(make_run: Callable[..., Run]) -> None:
    source = render_html(make_run())
    assert "Nothing was judged" in source and "No deviation" not in source
    assert 'id="failures"' not in source and 'id="packets"' not in source


def test_many_packets_and_long_stories_are_bounded_and_the_bad_ones_stay(make_run: Callable[..., Run]) -> None:
    def fill(writer: RunWriter) -> None:
        for number in range(6_000):
            outcome = Outcome.FAIL if number == 5_900 else Outcome.PASS
            writer.packet(PacketLine(number, 0.0, "->", "ping", None, outcome))
        ref = writer.verdict(Verdict(BROKEN, Outcome.FAIL, "s"), suite="cursors", test="t")
        writer.story(ref, [StoryStep(f"step {number}") for number in range(1_000)])

    page = Page(render_html(make_run(fill)))
    assert "6,000 packets, of which 1 are not pass; 1 of these are listed." in page.text
    assert " 5900 " in page.text
    assert "600 more steps are in the run record." in page.text and "step 399" in page.text


def test_the_same_record_makes_the_same_report(typical: Run) -> None:
    assert render_html(typical) == render_html(typical)


MONO = Path(__file__).parents[2] / "reports" / "mono-6.8-rabbitmq"


def test_each_deviation_has_its_finding() -> None:
    run = read_run(MONO)
    now = standing(replace(run, header=structs.replace(run.header, level="may")))
    findings = (MONO / "FINDINGS.md").read_text(encoding="utf-8")
    assert len(now.deviating) > 30
    assert [name for name in now.deviating if f"`{name}`" not in findings] == []
    assert {each.kind for each in run.evidence.values()} >= {EXAMPLE}  # `judge` has something to judge again
    assert now.phases and not decide(now, before=now).objections
    named = {Path(story.repro).name for story in run.stories if story.repro}
    assert named == {path.name for path in (MONO / "repros").iterdir()}


def test_what_a_finding_links_to_is_there() -> None:
    findings = (MONO / "FINDINGS.md").read_text(encoding="utf-8")
    links = [link.partition(")")[0] for link in findings.split("](")[1:]]
    assert len(links) > 30
    assert [link for link in links if not (MONO / link).is_file()] == []
    linked = {Path(link).name for link in links}
    assert {path.name for path in (MONO / "findings").iterdir()} <= linked


def test_what_a_finding_links_to_shows_the_requirement_before_it() -> None:
    """The repro that follows a requirement in its paragraph is one of that requirement, and of no other."""
    findings = (MONO / "FINDINGS.md").read_text(encoding="utf-8")
    for paragraph in findings.partition("## What was withdrawn")[0].split("\n\n"):
        named = set(re.findall(r"`(M[QC][A-Z]+-[^`]+)`", paragraph))
        for link in re.findall(r"\]\((findings/[^)]+)\)", paragraph):
            shown = json.loads((MONO / link).read_text(encoding="utf-8"))["verdict"]["requirement"]
            assert shown in named, f"{link} shows {shown}"
