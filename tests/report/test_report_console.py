"""The console output, and numbers that are equal in every report."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from commands import command
from rich.cells import cell_len
from rich.console import Console
from tests_cli import mqconform

from conformance.harness.pytest_hooks import terminal_lines
from conformance.report import print_summary
from conformance.report.allure import write_allure
from conformance.report.comparison import matrix, matrix_markdown, render_comparison
from conformance.report.corpus import Corpus, Demand
from conformance.report.corpus_page import render_corpus
from conformance.report.corpus_page import summary as corpus_summary
from conformance.report.coverage import LEFT, covered, offered
from conformance.report.gate import decide
from conformance.report.html import render_html
from conformance.report.markdown import message, render_badge, render_markdown
from conformance.report.sarif import render_sarif
from conformance.report.standing import standing
from conformance.report.summary import summary
from conformance.report.table import roll_up
from conformance.runlog import Run, RunWriter, read_run
from conformance.runlog.events import StoryStep
from conformance.spec.catalogue import NEEDS, catalogue, demanded, demanded_ids
from conformance.verdict import Json, Outcome, Verdict

BROKEN = "MQDMPR-3.2.7.3.illegal-cursor-action"
ESCAPES = re.compile(r"\x1b\[[0-9;]*m")


def printed(run: Run, width: int | None = None, paths: dict[str, Path] | None = None, *, verbose: bool = False) -> str:
    """What a terminal of this width is sent, or a log for None."""
    out = io.StringIO()
    if width is None:
        console = Console(file=out, highlight=False, width=80)
    else:
        console = Console(file=out, highlight=False, width=width, force_terminal=True, color_system="standard")
    print_summary(run, console, paths, verbose=verbose)
    return out.getvalue()


def test_a_log_gets_plain_whole_lines(typical: Run, tmp_path: Path) -> None:
    path = tmp_path / ("deep" * 20) / "report.html"
    text = printed(typical, paths={"report": path}, verbose=True)
    assert "\x1b" not in text and text.isprintable() is False
    for expected in (
        "3.2.7.3     Get Next Message For Peek",
        f"FAIL {BROKEN}",
        "   5. peek next with c1, without waiting -> message 'a' (priority 3)\n",
        "repro: mqconform repro reports/out/first/repros/0f3a9b2c11d04e55.json --adapter embedded\n",
        "1 fail, 1 crash, 1 warn, 112 pass; beside them 1 inconclusive, 6 skip\n",
        "1,200 stateful steps (310 steps per second)\n",
        "Does not conform.\n",
        f"{path}\n",
    ):
        assert expected in text
    order = ("Does not conform.", "Section", f"FAIL {BROKEN}", "verdicts:", "report:")
    assert sorted(order, key=text.index) == list(order)


def test_what_is_printed_unasked_fits_a_screen(many: Run, tmp_path: Path) -> None:
    text = printed(many, paths={"report": tmp_path / "report.html", "run record": tmp_path})
    lines = text.splitlines()
    assert len(lines) <= 45, text
    assert lines[0] == "Does not conform." and lines[-1].startswith("run record:")
    whole = printed(many, verbose=True)
    for more in ("Section", "Transitions followed", "by what is needed", "verdicts:"):
        assert more in whole and more not in text
    assert text.count("   1. create queue q1 -> ok") == 1, "the story of the first alone"
    assert text.count("repro: mqconform repro") == 3
    assert len(re.findall("^Not offered: ", text, re.MULTILINE)) == 1


def test_what_is_frequent_and_short_comes_first_and_the_rest_is_named(make_run: Callable[..., Run]) -> None:
    names = sorted(covered().claimed)[:30]

    def fill(writer: RunWriter) -> None:
        for number, name in enumerate(names):
            verdict = Verdict(name, Outcome.FAIL, "messages.receive", "a", "b")
            ref = writer.verdict(verdict, suite="cursors", test=f"cursors/t.py::{number}")
            steps = (StoryStep(f"step of {number} -> ok"), *[StoryStep("more -> ok")] * (20 if number < 2 else number))
            writer.story(ref, steps, repro=f"repros/{number}.json")
        body = {"requirement": names[4], "faults": [], "filed": {}, "behind": 0, "met": 17}
        writer.evidence("quirk", body)
        for name in ("MQDMPR-3.1.7.1.4.removed", "MQDMPR-3.1.7.1.10.waits"):
            writer.verdict(Verdict(name, Outcome.READING, "s", readings=(("R-a", "b"),)), suite="cursors", test="t")

    text = printed(make_run(fill))
    found = re.findall("^FAIL (.*)$", text, re.MULTILINE)
    assert found[:4] == [names[4], names[2], names[3], names[5]], "what 17 histories end with, then the shortest"
    assert len(found) == 24 and "6 requirements more; the report has them all." in text
    assert re.findall("step of ([0-9]+)", text) == ["4", "2", "3"], "the others have a repro line, or a name"
    assert text.count("17 histories end with it") == 1 and "likely cause" not in text
    chosen = "The answers chose a reading of 2 requirements: MQDMPR-3.1.7.1.4.removed, MQDMPR-3.1.7.1.10.waits."
    assert chosen in " ".join(text.split())


def test_a_cause_stands_under_what_it_breaks(many: Run) -> None:
    lines = printed(many).splitlines()
    (cause,) = (number for number, line in enumerate(lines) if line.startswith("  likely cause: "))
    assert lines[cause] == "  likely cause: what `purge-leaves-last` does: The last message survives."
    assert lines[cause - 2] == "FAIL MQDMPR-3.1.7.1.7.available-deleted"
    assert "Quirk:" not in printed(many, verbose=True)


@pytest.fixture
def many(make_run: Callable[..., Run]) -> Run:
    """A run of a driver of queues and messages with three bugs, one of them a known one."""

    def fill(writer: RunWriter) -> None:
        writer.hello({"name": "mine", "facets": {"queues": ["create"], "messages": ["send"], "cursors": []}})
        for broken in ("MQDMPR-3.1.7.1.7.available-deleted", "MQDMPR-3.1.1.12.lookup-identifier-order", BROKEN):
            verdict = Verdict(broken, Outcome.FAIL, "messages.receive", "a", "b")
            steps = tuple(StoryStep(line) for line in ("create queue q1 -> ok", *["send 'a' to q1 -> ok"] * 8))
            ref = writer.verdict(verdict, suite="cursors", test=f"cursors/t.py::{broken}")
            writer.story(ref, steps, repro=f"repros/{broken[-5:]}.json")
        told = {"filed": {}, "behind": 3, "says": ["The last message survives."]}
        body = {"requirement": "MQDMPR-3.1.7.1.7.available-deleted", "faults": ["purge-leaves-last"]}
        writer.evidence("quirk", {**body, **told})
        writer.evidence("transitions", {"cursor": {}})

    return make_run(fill)


def test_a_driver_of_queues_is_first_compared_with_what_its_facets_cover(many: Run) -> None:
    table = roll_up(many)
    assert table.offered is not None and 100 < table.offered < 1_000 < table.demanded
    words = (
        rf"^3 of {table.offered} requirements judged for the facets offered \({table.demanded:,} of msmq-4.0 in all\)"
    )
    assert re.search(words, printed(many), re.MULTILINE)
    assert re.search(words, render_markdown(many).replace("*", ""), re.MULTILINE)
    assert "by what is needed" not in render_markdown(many)
    assert message(many) == f"3 deviate, 3 of {table.offered} judged ({table.demanded:,} in all)"
    assert f"<small>of {table.offered} for the facets offered; {table.demanded:,} in all</small>" in render_html(many)
    assert re.search("^Not offered: .*cursors, .*; [0-9,]+ requirements need them.$", printed(many), re.MULTILINE)


def test_what_needs_a_method_that_the_facet_lacks_is_not_covered(make_run: Callable[..., Run], many: Run) -> None:
    (row, *_) = (row for row in roll_up(many).rows if row.id in (roll_up(many).covers or ()) and row.outcome is None)

    def fill(writer: RunWriter) -> None:
        writer.hello({"name": "mine", "facets": {"queues": ["create"], "messages": ["send"], "cursors": []}})
        skip = Verdict(row.id, Outcome.SKIP, "properties", reason="not offered by the driver: queues.get")
        writer.verdict(skip, suite="properties", test="properties/t.py::t")

    run = make_run(fill)
    assert roll_up(run).offered == len((roll_up(many).covers or frozenset()) - beyond(many) - {row.id})
    assert "skip" not in printed(run)
    assert re.search("^Not offered: .*, methods or values of the others; [0-9,]+ requirements", printed(run), re.M)
    assert "methods or values" not in printed(many)


def beyond(run: Run) -> frozenset[str]:
    """The requirements that only the verdicts of a run put among those covered."""
    return frozenset(row.id for row in roll_up(run).rows if row.judged) - (offered(run) or frozenset())


@pytest.mark.parametrize("width", [20, 40, 63, 64, 80, 132, 300])
def test_nothing_is_wider_than_the_terminal(typical: Run, hostile: Run, width: int, tmp_path: Path) -> None:
    for run in (typical, hostile):
        text = ESCAPES.sub("", printed(run, width, {"run record": tmp_path / ("x" * 150)}, verbose=True))
        assert max(map(cell_len, text.splitlines())) <= width


def test_the_table_keeps_one_row_a_section(typical: Run) -> None:
    for width in (48, 80, 120):
        lines = ESCAPES.sub("", printed(typical, width, verbose=True)).splitlines()
        row = next(line for line in lines if line.startswith("  3.2.7.3 "))
        assert row.split()[-1] == "fail" and re.search(r"\b[1-9]\d*/\d+\b", row)


def test_labels_cannot_colour_or_move_a_terminal(hostile: Run) -> None:
    text = printed(hostile, 80)
    assert "\x1b" not in ESCAPES.sub("", text)
    assert "\x1b[31m\\x00" not in text and "\u202e" not in text and "\x00" not in text
    plain = ESCAPES.sub("", text).replace("\n", "").replace(" ", "")
    assert "\\u202egnp.\\x1b[31m\\x00" in plain


def test_markup_in_a_label_is_text(make_run: Callable[..., Run]) -> None:
    def fill(writer: RunWriter) -> None:
        writer.verdict(Verdict(BROKEN, Outcome.FAIL, "[bold]x[/bold] :smile: [/]"), suite="cursors", test="t")

    assert "subject: [bold]x[/bold] :smile: [/]\n" in printed(make_run(fill))


Q = "DIRECT=OS:h\\private$\\q"


@pytest.mark.parametrize(
    ("expected", "actual", "told"),
    [
        (Q, f"FormatName:{Q}", f"'FormatName:' is the prefix of .NET and COM, not part of the name: write {Q}"),
        (Q, "h/private$/q", f"write {Q}"),
        (Q, "DIRECT=OS:h\\private$\\r", ""),
        ("a b", " a b", ""),
        ({"name": Q}, f"FormatName:{Q}", ""),
    ],
)
def test_a_name_as_other_products_write_it_is_told(
    expected: Json, actual: str, told: str, make_run: Callable[..., Run]
) -> None:
    def fill(writer: RunWriter) -> None:
        wrong = Verdict("MQDMPR-3.1.1.12.response-queue", Outcome.FAIL, "s", expected=expected, actual=actual)
        writer.verdict(wrong, suite="properties", test="t")

    run = make_run(fill)
    hints = [line for line in printed(run, 300).splitlines() if line.startswith("  hint: ")]
    assert [told in hint for hint in hints] == ([True] if told else [])
    assert ("<p>Hint: " in render_html(run)) is bool(told)


def test_what_is_missing_is_said(make_run: Callable[..., Run]) -> None:
    text = printed(make_run(footer=None))
    assert "Incomplete record: run-main.ndjson has no footer" in text
    assert "Nothing was judged." in text
    assert "The run ended early: budget." in printed(make_run(footer="budget"))


def test_no_color_means_no_color(typical: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    out = io.StringIO()
    print_summary(typical, Console(file=out, highlight=False, width=80, force_terminal=True))
    assert not re.search(r"\x1b\[[0-9;]*3[0-7]", out.getvalue())


CAPTURE = Path(__file__).parents[2] / "fixtures" / "captures" / "mqqb-4.1.pcapng"
SHORT = ("--suite", "concurrency", "--max-examples", "1", "--json")
ONE_TEST = ("--", "-k", "oldest_is_served")
RUNS: dict[str, Callable[[str], tuple[str, ...]]] = {
    "embedded": lambda out: ("run", "--out", out, *SHORT, *ONE_TEST),
    "capture": lambda out: ("replay", str(CAPTURE), "--out", out, "--json"),
    "faulty": lambda out: ("run", "--adapter", "embedded+latest-waiter-first", "--out", out, *SHORT, *ONE_TEST),
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Path, dict[str, object]]]:
    """Three runs as users make them: the folder of each, and what the command printed as JSON."""
    found = {}
    for name, arguments in RUNS.items():
        folder = tmp_path_factory.mktemp(name)
        done = command(*arguments(str(folder)))
        assert done.returncode == (name != "embedded"), done.stdout + done.stderr
        found[name] = folder, json.loads(done.stdout)
    assert len({len(read_run(folder).verdicts) for folder, _ in found.values()}) > 1, "all runs say the same"
    return found


def numbers_in(pattern: str, text: str) -> tuple[int, ...]:
    """The groups of the only match, as numbers."""
    (found,) = {match.groups() for match in re.finditer(pattern, text)}
    return tuple(int(each.replace(",", "")) for each in found)


def asked(*arguments: str) -> str:
    """What the command prints."""
    done = mqconform(*arguments)
    assert done.returncode in (0, 1), done.stderr
    return done.stdout


NUMBER = r"(\d[\d,]*)"
JUDGED = rf"{NUMBER} of {NUMBER} requirements(?: of msmq-4.0)? judged"
FIRST = rf"{NUMBER} of {NUMBER} requirements judged for the facets offered \({NUMBER} of msmq-4.0 in all\)"


def first_in(pattern: str, text: str, plain: str) -> tuple[int, ...]:
    """The judged and the demanded, where what the facets offered cover may stand between them."""
    if not re.search(pattern, text):
        return numbers_in(plain, text)
    judged, offered, whole = numbers_in(pattern, text)
    assert judged <= offered <= whole
    return judged, whole


PAGE = rf"requirements judged</dt><dd>{NUMBER} <small>of {NUMBER} for the facets offered; {NUMBER} in all<"
BADGE = rf"{NUMBER} of {NUMBER} judged \({NUMBER} in all\)(?:, none deviates)?"


@pytest.mark.parametrize("name", RUNS)
def test_all_writers_tell_the_same_numbers(
    made: dict[str, tuple[Path, dict[str, object]]], name: str, tmp_path: Path
) -> None:
    folder, printed = made[name]
    run = read_run(folder)
    page, told = render_html(run), summary(run)
    expected = (len(standing(run).judged & demanded_ids("msmq-4.0")), len(demanded("msmq-4.0")))
    by_writer = {
        "text": first_in(FIRST, asked("report", str(folder)), JUDGED),
        "pytest": numbers_in(JUDGED, "\n".join(terminal_lines(run))),
        "markdown": first_in(FIRST, render_markdown(run).replace("*", ""), JUDGED),
        "comparison": numbers_in(JUDGED, render_comparison([run, run])),
        "page": first_in(PAGE, page, rf"requirements judged</dt><dd>{NUMBER} <small>of {NUMBER}<"),
        "meter": numbers_in(rf"reached</dt>.*<strong>{NUMBER}</strong> <small>of {NUMBER}, ", page),
        "matrix": numbers_in(rf"requirements judged \| {NUMBER} of {NUMBER} ", matrix_markdown(matrix([run]))),
        "matrix json": numbers_of(matrix([run]).to_json()["totals"]),
        "badge": first_in(BADGE, message(run), rf"{NUMBER} of {NUMBER} judged"),
        "svg": first_in(f"{BADGE}</title>", render_badge(run), rf"{NUMBER} of {NUMBER} judged"),
        "gate": (decide(standing(run)).judged, decide(standing(run)).demanded),
        "coverage": numbers_in(JUDGED, asked("requirements", "coverage", str(folder))),
        "coverage json": coverage_of(json.loads(asked("requirements", "coverage", str(folder), "--json"))["total"]),
        "json": numbers_of([told["coverage"]]),
        "printed": numbers_of([printed["coverage"]]),
        "documents": sums(r"</h3>|<h3>[^<]* <small>(\d[\d,]*) of (\d[\d,]*) judged", page),
        "sarif": numbers_of([json.loads(render_sarif(run))["runs"][0]["properties"]["coverage"]]),
    }
    write_allure(run, tmp_path / "allure")
    properties = (tmp_path / "allure" / "environment.properties").read_text(encoding="ascii")
    by_writer["allure"] = numbers_in(rf"Requirements\.judged={NUMBER} of {NUMBER}", properties)
    assert by_writer == dict.fromkeys(by_writer, expected)
    assert expected[0] > 0


def numbers_of(found: object) -> tuple[int, ...]:
    assert isinstance(found, list)
    (one,) = found
    return one["judged"], one["demanded"]


def coverage_of(line: dict[str, int]) -> tuple[int, int]:
    return line["reached"], line["checkable"]


def sums(pattern: str, text: str) -> tuple[int, ...]:
    """The sums of the two groups over all matches."""
    found = [match.groups() for match in re.finditer(pattern, text) if match[1]]
    return tuple(sum(int(each.replace(",", "")) for each in column) for column in zip(*found, strict=True))


@pytest.mark.parametrize("name", RUNS)
def test_as_many_are_discriminated_wherever_it_is_told(
    made: dict[str, tuple[Path, dict[str, object]]], name: str
) -> None:
    folder, _ = made[name]
    run = read_run(folder)
    expected = len(covered().discriminated & demanded_ids("msmq-4.0"))
    pattern = rf"discriminated</dt>.*<strong>{NUMBER}</strong>"
    assert numbers_in(pattern, render_html(run)) == (expected,)
    assert numbers_in(rf"{NUMBER} of [\d,]+ requirements of msmq-4.0 discriminated", asked(*COVERAGE, str(folder))) == (
        expected,
    )
    coverage = summary(run)["coverage"]
    assert isinstance(coverage, dict) and coverage["discriminated"] == expected


COVERAGE = ("requirements", "coverage")


def test_a_selftest_counts_in_all_that_a_page_tells(make_run: Callable[..., Run]) -> None:
    new = next(name for name in sorted(demanded_ids("msmq-4.0")) if name not in covered().discriminated)
    run = make_run(one(new))
    coverage = summary(run, [new])["coverage"]
    assert isinstance(coverage, dict)
    page = render_html(run, [new])
    assert numbers_in(rf"discriminated</dt>.*<strong>{NUMBER}</strong>", page) == (coverage["discriminated"],)
    assert f'"discriminated": {coverage["discriminated"]}' in page


def one(*names: str) -> Callable[[RunWriter], None]:
    """A record with a pass on each of these."""

    def fill(writer: RunWriter) -> None:
        for name in names:
            writer.verdict(Verdict(name, Outcome.PASS, "s"), suite="cursors", test="t")

    return fill


def test_a_lake_counts_as_a_run_does() -> None:
    names = sorted(demanded_ids("msmq-4.0"))[:3]
    said = {names[0]: "pass", names[1]: "fail", names[2]: "inconclusive", "MQMQ-9.9.gone": "pass"}
    demands = [Demand(requirement=name, counts={outcome: 1}, subjects=1) for name, outcome in said.items()]
    corpus = Corpus("lake", 1, demands=demands, how=[("msmq-4.0", "must", "windows", "1")])
    assert corpus_summary(corpus)["coverage"] == {"judged": 2, "demanded": len(demanded("msmq-4.0"))}
    pattern = rf"Requirements judged</dt><dd>{NUMBER} <small>of {NUMBER}<"
    assert numbers_in(pattern, render_corpus(corpus)) == (2, len(demanded("msmq-4.0")))


def test_what_is_not_in_the_denominator_is_told_beside_it(make_run: Callable[..., Run]) -> None:
    unseen = next(entry.id for entry in catalogue() if entry.checked == "white-box")
    run = make_run(one("MQMQ-9.9.of-another-version", unseen, "MQDMPR-3.1.4.4.durable"))
    table = roll_up(run)
    assert (table.judged, table.beside, table.demanded) == (1, 2, len(demanded("msmq-4.0")))
    assert sum(section.demanded for section in table.sections) == table.demanded
    decision = decide(standing(make_run(one(unseen))))
    assert (decision.judged, decision.beside, int(decision.exit_code)) == (0, 1, 0)


def test_neither_level_nor_readings_nor_what_was_judged_move_it(make_run: Callable[..., Run]) -> None:
    runs = [make_run(), make_run(level="may"), make_run(reading_set="strict"), make_run(one("MQMQ-9.9.x"))]
    assert {roll_up(run).demanded for run in runs} == {len(demanded("msmq-4.0"))}
    assert roll_up(make_run(profile="msmq-1.0")).demanded == len(demanded("msmq-1.0")) < len(demanded("msmq-6.0"))


def test_what_has_a_verdict_that_says_something_is_judged_whatever_the_others_say(
    make_run: Callable[..., Run],
) -> None:
    def fill(writer: RunWriter) -> None:
        for name, outcome in (
            ("MQDMPR-3.1.4.4.durable", Outcome.PASS),
            ("MQDMPR-3.1.4.4.durable", Outcome.INCONCLUSIVE),
            ("MQDMPR-3.1.4.5.receives-return", Outcome.ERROR),
        ):
            writer.verdict(Verdict(name, outcome, "s", reason="because"), suite="cursors", test="t")

    run = make_run(fill)
    assert roll_up(run).judged == decide(standing(run)).judged == 1


# --- what is needed
def test_what_is_not_judged_is_told_by_what_is_needed(made: dict[str, tuple[Path, dict[str, object]]]) -> None:
    folder, printed = made["capture"]
    coverage = printed["coverage"]
    assert isinstance(coverage, dict)
    left = coverage["left"]
    assert list(left) == list(LEFT) and sum(left.values()) == coverage["demanded"] - coverage["judged"]
    waiting = [entry for entry in demanded("msmq-4.0") if entry.checked == "environment"]
    assert {name: left[name] for name in NEEDS} == {
        name: sum(entry.needs == name for entry in waiting) for name in NEEDS
    }
    rows = dict(
        re.findall(r'<tr><th scope="row">([a-z-]+)</th><td class="right">([\d,]+)</td>', render_html(read_run(folder)))
    )
    assert {name: int(rows[name].replace(",", "")) for name in left if left[name]} == {
        name: number for name, number in left.items() if number
    }
    text = asked(*COVERAGE, str(folder), "--rest")
    for name, number in left.items():
        assert not number or re.search(rf"^  {name} +{number:,}  ", text, re.MULTILINE)
    assert json.loads(asked(*COVERAGE, str(folder), "--json"))["left"] == left
    assert re.search(r"^MQMQ-\S+: no check names it \(environment, needs client-api\)", text, re.MULTILINE)


def test_the_story_that_is_shown_is_the_plainest(make_run: Callable[..., Run]) -> None:
    def fill(writer: RunWriter) -> None:
        early, late = sorted(["MQDMPR-3.1.7.1.3.invalid-path-name", BROKEN])
        for name, steps, repro in ((early, 9, None), (late, 2, "repros/1.json")):
            ref = writer.verdict(Verdict(name, Outcome.FAIL, "a call"), suite="cursors", test="cursors/test_x.py::t")
            writer.story(ref, [StoryStep(f"{name} {at}") for at in range(steps)], repro=repro)

    text = printed(make_run(fill))
    assert text.index(f"FAIL {BROKEN}") < text.index("FAIL MQDMPR-3.1.7.1.3")
    assert f"{BROKEN} 1" in text and "invalid-path-name 1" not in text
