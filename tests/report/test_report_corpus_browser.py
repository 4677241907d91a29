"""The page of a lake in a real browser: what is broken comes first, and all of it can be read on a phone."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from made_lake import capture, day, fill, session, verdict

from conformance.pipeline.lake import Lake
from conformance.pipeline.report_queries import gather
from conformance.report.corpus_page import render_corpus

LAYOUT = "MQMQ-2.2.19.1.flags-in-layout"
X0 = "MQMQ-2.2.19.1.flags-x0"
CURSOR = "MQDMPR-3.2.7.3.illegal-cursor-action"
A, B = "192.0.2.1", "aaaaaaaa-9d4f-4b1c-8e7a-000000000001"
NOBLANK = "W" * 150
BEYOND = """() => [...document.querySelectorAll("main *, header *")]
  .filter((node) => node.getBoundingClientRect().right > innerWidth + 1)
  .filter((node) => node.checkVisibility() && !node.closest("thead"))
  .slice(0, 3).map((node) => `${node.tagName}.${node.getAttribute("class")}`)"""
DRAWN = """() => [...document.querySelectorAll("svg text")].filter((node) => node.checkVisibility()).map((node) => {
  const { left, right, top } = node.getBoundingClientRect();
  return { size: parseFloat(getComputedStyle(node).fontSize) * node.getScreenCTM().a, left, right, top };
})"""
SMALLEST = """() => Math.min(...[...document.querySelectorAll("body *:not(script, svg *)")]
  .filter((node) => [...node.childNodes].some((child) => child.nodeType === 3 && child.data.trim()))
  .filter((node) => node.checkVisibility()).map((node) => parseFloat(getComputedStyle(node).fontSize)))"""


def page_of(folder: Path, made: list[Any]) -> str:
    lake = Lake.open(folder / "lake", create=True)
    fill(lake, made)
    return render_corpus(gather(lake))


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Forty days with everything that the page shows, and names without a place to break them."""
    path = f"/captures/{NOBLANK}.pcap"
    made: list[Any] = [("rejected", day(0), {"path": path, "reason": NOBLANK})]
    for number in range(40):
        when = day(number)
        at = datetime(when.year, when.month, when.day, tzinfo=UTC)
        made += [capture(when, cut=NOBLANK, path=path, packets=123_456_789, handed_over={NOBLANK: 3})]
        made += [session(when, name) for name in (A, NOBLANK)] + [session(when, "192.0.2.50", initiator_manager=B)]
        made += [verdict(name, "pass", None, when, count=90_000_000) for name in (LAYOUT, X0, CURSOR)]
        made += [verdict(LAYOUT, "fail", name, when, queue=f"DIRECT=OS:{NOBLANK}{at}", expected=f'"{NOBLANK}"')
                 for name in (A, B, NOBLANK) if number > 20 or name == A]  # fmt: skip
        if number < 9:
            made += [verdict(X0, "fail", B, when, count=12_345), verdict(CURSOR, "reading", B, when, actual="[1]")]
        run = {"run_id": f"r{number}", "implementation": NOBLANK, "path": path, "complete": True, "started": at}
        result = {"run_id": f"r{number}", "implementation": NOBLANK, "requirement": CURSOR, "count": 1}
        made += [("runs", when, run), ("results", when, {**result, "outcome": "fail" if number % 2 else "pass"})]
    return page_of(tmp_path_factory.mktemp("long"), made)


def test_nothing_is_wider_than_the_window_and_every_text_can_be_read(show: Callable[..., Any], long: str) -> None:
    page = show(long)
    page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
    for width in (360, 390, 800, 1440):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate(BEYOND) == [] and page.evaluate(SMALLEST) >= 11
        drawn = page.evaluate(DRAWN)
        assert len(drawn) > 20 and min(one["size"] for one in drawn) >= 11
        lines: dict[float, list[tuple[float, float]]] = {}
        for one in drawn:
            lines.setdefault(round(one["top"]), []).append((one["left"], one["right"]))
        for line in map(sorted, lines.values()):
            assert line[0][0] >= 0 and all(before[1] < after[0] for before, after in pairwise(line))
    # Paper is light, whole and without controls.
    page.emulate_media(media="print", color_scheme="dark")
    page.set_viewport_size({"width": 700, "height": 990})  # The text width of A4.
    assert not page.locator("#filters").is_visible() and page.locator("#broken").is_visible()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.evaluate("document.documentElement.scrollWidth") <= 700


def test_what_is_broken_comes_first_with_since_whom_and_queues(show: Callable[..., Any], long: str) -> None:
    page = show(long, width=390)
    order = page.evaluate("[...document.querySelectorAll('main h2[id]')].map((node) => node.id)")
    assert order[:3] == ["broken", "earlier", "changes"]
    assert order.index("queues") < order.index("trend") < order.index("versions") < order.index("read")
    card = page.locator(".card", has_text="flags-in-layout").inner_text()
    assert "78 verdicts · since 2026-03-01 · 3,600,000,000 passed" in card
    assert [word for word in (A, B, NOBLANK) if word not in card] == []
    assert card.count("DIRECT=OS:") == 3 and "and 37 more" in card
    earlier = page.locator("#earlier ~ .card").inner_text()
    assert "111,105 verdicts" in earlier and "gone last 2026-03-09" in earlier.replace("\n", " ")
    # A filter asks for one thing: what is gone, of packets.
    for name in ("new", "again", "run"):
        page.locator(f"#filters input[value={name}]").uncheck()
    assert page.locator("#changes ~ table tr.item:visible .badge").all_inner_texts() == ["gone"]


def test_it_can_be_searched_and_nobody_is_locked_out(show: Callable[..., Any], axe: Any, tmp_path: Path) -> None:
    row = verdict(X0, "reading", B, day(0), readings={"alignment": "other"}, queue="</script><img src=x>\u202e")
    made = [capture(day(0)), row, verdict(LAYOUT, "fail", A, day(0), queue="q1"), verdict(CURSOR, "pass", None, day(0))]
    source = page_of(tmp_path, made)
    for scheme, width in (("light", 390), ("dark", 1200)):
        page = show(source, scheme=scheme, width=width)
        assert page.locator(".strip").count() == 0, "one day has no course"
        page.locator("#noted ~ .card summary").click()
        assert "alignment: other" in page.locator("#noted ~ .card").inner_text()
        page.locator("#search").fill("flags-in-layout")
        page.locator("#noted").wait_for(state="hidden")
        assert page.locator(".card:visible").count() == 1
        page.locator("#search").fill("")
        results = axe.run(page)
        wrong = [one["id"] for one in results.response["violations"] if one["impact"] in ("serious", "critical")]
        assert wrong == [], results.generate_report()
