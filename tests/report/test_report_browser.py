"""The HTML pages in a real browser: the policy holds, filters and keys work, nobody is locked out, nothing is slow."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from conformance.report import render_comparison, render_html
from conformance.report.gate import decide
from conformance.report.standing import Known, standing
from conformance.runlog import PacketLine, Run, RunWriter, StoryStep
from conformance.spec.catalogue import catalogue
from conformance.verdict import Evidence, Outcome, Verdict

BROKEN = "MQDMPR-3.2.7.3.illegal-cursor-action"
SILENT = "MQDMPR-3.1.7.1.3.invalid-path-name"
HOSTILE = "</script><script>alert(1)</script>\u202e\x1b"
SERIOUS = {"serious", "critical"}
Show = Callable[..., Any]

CONTRAST = """() => {
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
  for (const node of document.querySelectorAll("body *:not(script)")) {
    if (![...node.childNodes].some((child) => child.nodeType === 3 && child.data.trim())) continue;
    const style = getComputedStyle(node);
    const ink = node.closest("svg") ? style.fill : style.color;
    const [a, b] = [light(parse(ink)), light(ground(node))].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    seen += 1;
    if (ratio < least) { least = ratio; where = `${node.tagName}.${node.className} ${node.textContent.slice(0, 40)}`; }
  }
  return { least, where, seen, ground: ground(document.body).slice(0, 3).reduce((x, y) => x + y) };
}"""


BEYOND = """() => [...document.querySelectorAll("main *, header *")]
  .filter((node) => node.getBoundingClientRect().right > innerWidth + 1)
  .filter((node) => !node.closest(".scroll, .timeline, .columns, .dump, svg"))
  .slice(0, 3).map((node) => `${node.tagName}.${node.className}`)"""
SMALLEST = """() => Math.min(...[...document.querySelectorAll("body *:not(script, svg *)")]
  .filter((node) => [...node.childNodes].some((child) => child.nodeType === 3 && child.data.trim()))
  .filter((node) => node.checkVisibility()).map((node) => parseFloat(getComputedStyle(node).fontSize)))"""


def rows(page: Any) -> list[str]:
    """The requirements that are to be seen in the tree."""
    return [text for text in page.locator(".row:visible > summary").all_inner_texts() if text]


def test_its_own_script_runs_and_no_other_does(show: Show, hostile: Run) -> None:
    planted = "<script>document.title='planted'</script><svg onload=\"document.title='planted'\"></svg>"
    source = render_html(hostile)
    page = show(source.replace("</main>", f"{planted}</main>"), refused="Content Security Policy")
    page.wait_for_timeout(300)
    assert page.title() != "planted" and page.locator("#filters").is_visible()
    # The same plant works where the policy is missing: it is the policy that held.
    opened = show(source.replace("Content-Security-Policy", "X-Nothing").replace("</main>", f"{planted}</main>"))
    assert opened.title() == "planted"


def test_hostile_text_adds_no_element_and_is_drawn_as_text(show: Show, hostile: Run) -> None:
    page = show(render_html(hostile))
    assert page.locator("script").count() == 3 and page.locator("img").count() == 0
    page.locator("#search").fill("alert(1)")
    page.locator(".row > summary").first.click()
    page.locator(".row .about").wait_for()
    assert page.locator("script").count() == 3 and page.locator("img").count() == 0
    text = page.locator("body").inner_text()
    assert "<script>alert(1)</script>" in text
    assert not {"\u202e", "\x1b", "\x00", "\ud800"} & set(text)
    assert page.evaluate("[...document.querySelectorAll('a')].every((a) => /^(#|https:)/.test(a.getAttribute('href')))")


def test_words_outcomes_and_levels_narrow_what_is_shown(show: Show, typical: Run) -> None:
    page = show(render_html(typical))
    page.keyboard.press("/")
    page.keyboard.type(f"3.2.7.3 {BROKEN}")
    page.locator("#shown:not(:empty)").wait_for()
    wanted = [name for name in catalogue().requirements if BROKEN in name]
    assert page.locator("#shown").inner_text() == f"1 of 3 findings, {len(wanted)} requirements"
    assert len(rows(page)) == len(wanted) < 10 and rows(page)[0].startswith("fail")
    assert page.locator(".group:visible").count() == 1
    page.keyboard.press("Escape")
    page.locator("#shown:empty").wait_for(state="attached")
    everything = len(catalogue().requirements)
    for box in page.locator("#filters label:not(.fail) input").all():
        box.uncheck()
    assert {text.split()[0] for text in rows(page)} == {"fail"}
    assert page.locator(".group:visible").count() == 1
    for box in page.locator("#filters label input").all():
        box.check()
    page.locator("#level").select_option("may")
    may = page.locator("#shown").inner_text()
    assert 0 < int(may.split(", ")[-1].split()[0].replace(",", "")) < everything / 10


def test_everything_can_be_reached_by_keys(show: Show, typical: Run) -> None:
    page = show(render_html(typical))
    focused = "document.activeElement.closest('.group')?.id"
    page.keyboard.press("n")
    assert page.evaluate(focused) == "f1"
    page.keyboard.press("n")
    assert page.evaluate(focused) == "f2"
    page.keyboard.press("p")
    assert page.evaluate(focused) == "f1"
    page.keyboard.press("t")
    first = "document.activeElement.parentElement"
    page.keyboard.press("ArrowRight")
    assert page.evaluate(f"{first}.open")
    page.keyboard.press("ArrowDown")
    assert page.evaluate(f"{first}.parentElement.closest('details') !== null")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    assert not page.evaluate(f"{first}.open")
    page.keyboard.press("?")
    assert page.locator("#keys").is_visible()
    page.locator("#keys-on").uncheck()
    page.keyboard.press("Escape")
    assert not page.locator("#keys").is_visible()
    page.keyboard.press("n")
    assert page.evaluate(focused) is None, "keys that were switched off"


def test_a_requirement_has_an_address(show: Show, typical: Run, tmp_path: Path) -> None:
    page = show(render_html(typical))
    page.evaluate(f"location.hash = {BROKEN!r}")
    page.locator(".row[open] .about").wait_for()
    told = page.locator(".row[open]").inner_text()
    assert BROKEN in told and "the finding" in told and "a check claims it" in told
    page.locator(".row[open] a", has_text="the finding").click()
    assert page.evaluate("location.hash") == "#f1"
    assert page.locator("#f1").inner_text().count(BROKEN) == 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_light_and_dark_can_both_be_read(show: Show, typical: Run, scheme: str) -> None:
    page = show(render_html(typical), scheme=scheme)
    page.locator("#search").fill("cursor peek")
    told = page.evaluate(CONTRAST)
    assert told["seen"] > 100 and told["least"] >= 4.5, told
    assert told["ground"] > 600 if scheme == "light" else told["ground"] < 200


def test_no_page_is_wider_than_its_window(show: Show, typical: Run, hostile: Run) -> None:
    name = {"label": "W" * 80, "connector": f"stdio:{'/very-long' * 30}"}
    named = replace(typical, header=structs.replace(typical.header, **name))
    reason = f"known since the first day of a {'very-' * 60}long summer"
    excused = [Known(one, reason, f"https://example.org/{'x' * 200}", date(2999, 1, 1)) for one in (BROKEN, SILENT)]
    gated = decide(standing(named), baseline=excused)
    assert {one.kind for one in gated.objections} >= {"deviation", "unseen"} and gated.known
    for source, opened in (
        (render_html(typical), False),
        (render_html(named, decision=gated), True),  # all that the plain one has, and more
        (render_html(hostile), True),
        (render_comparison([typical, typical, typical]), False),
        (render_comparison([named, named, hostile], [gated, gated, gated]), True),
    ):
        page = show(source)
        if opened:
            page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
        for width in (1200, 390, 360):
            page.set_viewport_size({"width": width, "height": 900})
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            # Nothing is cut off either: what is wider than the window scrolls within itself.
            assert page.evaluate(BEYOND) == []
            assert page.evaluate(SMALLEST) >= 11


def test_axe_finds_nothing_serious(show: Show, typical: Run, axe: Any) -> None:
    gated = decide(standing(typical), baseline=[Known(BROKEN, "later", "https://example.org/7", date(2999, 1, 1))])
    for source in (render_html(typical, decision=gated), render_comparison([typical, typical], [gated, gated])):
        page = show(source)
        page.locator("#search").fill("open cursor")
        page.locator("#shown:not(:empty)").wait_for()
        page.locator(".row:visible > summary").first.click()
        found = axe.run(page).response
        assert len(found["passes"]) > 15
        serious = [one for one in found["violations"] if one["impact"] in SERIOUS]
        assert [(one["id"], [node["html"] for node in one["nodes"]][:3]) for one in serious] == []


def test_axe_finds_what_is_wrong(show: Show, typical: Run, axe: Any) -> None:
    source = render_html(typical).replace('aria-label="Level"', "")
    found = axe.run(show(source)).response["violations"]
    assert "select-name" in {one["id"] for one in found if one["impact"] in SERIOUS}


def test_paper_is_light_and_has_no_controls(show: Show, typical: Run) -> None:
    page = show(render_html(typical), scheme="dark")
    page.emulate_media(media="print", color_scheme="dark")
    assert not page.locator("#filters").is_visible()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.locator("#f1").is_visible()


@pytest.fixture
def large(make_run: Callable[..., Run]) -> Run:
    """5,000 verdicts with all that makes a report long: a third fails, each with a story and its bytes."""
    names = [demand.id for demand in catalogue() if demand.checked not in ("none", "white-box")]

    def fill(writer: RunWriter) -> None:
        writer.hello({"name": "large", "version": "1", "profile": "msmq-4.0"})
        evidence = Evidence("packet", "frame 1", {"base64": "EAADAExJT1I" + "A" * 4_001})
        steps = [
            StoryStep(f"send 'm{n}' to q1", {"method": "messages.send", "params": {"body": "x" * 100}}, {"status": 0})
            for n in range(60)
        ]
        for number in range(5_000):
            failed = number % 3 == 0
            ref = writer.verdict(
                Verdict(
                    names[number % len(names)],
                    Outcome.FAIL if failed else Outcome.PASS,
                    f"subject {number}",
                    expected={"status": 0} if failed else None,
                    actual={"status": 0xC00E0003, "text": "y" * 500} if failed else None,
                    evidence=evidence if failed else None,
                ),
                suite="packets",
                test=f"packets/test_x.py::test_{number}",
            )
            if failed:
                writer.story(ref, steps, repro=f"repros/{number}.json")
            writer.packet(PacketLine(number, 0.0, "a -> b", "user message", HOSTILE, Outcome.FAIL, (names[0],)))

    return make_run(fill)


def test_five_thousand_verdicts_are_few_megabytes(large: Run) -> None:
    source = render_html(large)
    assert (
        len(source.encode()) < 3_600_000
    )  # each requirement that fails is in a list, each without a verdict has a reason
    assert "Shortened, because" in source and "are in the run record" in source


def test_a_large_report_is_little_work_to_open(show: Show, large: Run) -> None:
    # Not timed: what takes time is what is made. A browser makes ten thousand elements in a fraction of a second.
    page = show(render_html(large))
    elements = page.evaluate("document.querySelectorAll('*').length")
    told = page.evaluate("performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd")
    print(f"{elements} elements, {told:.0f} ms")
    assert elements < 40_000
    page.locator("#search").fill("a")
    page.locator("#shown:not(:empty)").wait_for()
    assert page.evaluate("document.querySelectorAll('*').length") < 45_000, "a search that fits much opens nothing"


def test_runs_side_by_side_show_where_they_differ(show: Show, typical: Run, make_run: Callable[..., Run]) -> None:
    def fill(writer: RunWriter) -> None:
        writer.hello({"name": "other", "version": "9"})
        writer.verdict(Verdict(BROKEN, Outcome.PASS, "peek_next"), suite="cursors", test="t")

    page = show(render_comparison([typical, make_run(fill)]))
    assert page.locator(".runs > li").count() == 2
    assert page.locator("tr.item").count() == 1
    assert page.locator("tr.item .badge").all_inner_texts() == ["fail", "pass"]
    page.locator("#differing").check()
    assert page.locator("#shown").inner_text() == "1 requirement"
    row = page.locator(".row:visible > summary")
    assert row.count() == 1
    assert row.locator(".cell").all_inner_texts() == ["fail", "pass"]
    row.click()
    page.locator(".row .about").wait_for()
    told = page.locator(".row .about").inner_text()
    assert "embedded (2)" in told and "peek_next on a cursor that never peeked" in told
    assert ["acme-mq 2.1" in one for one in page.locator(".runs > li").all_inner_texts()] == [True, False]
