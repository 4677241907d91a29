"""What the HTML pages are made from: the tree, the dumps, the pictures, the coverage, the comparison."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nightly import fewer

from conformance.model.tables import CURSOR, table_rows
from conformance.report.comparison import MAX_RUNS, TooManyRuns, render_comparison
from conformance.report.coverage import FILE, numbers
from conformance.report.coverage import covered as known
from conformance.report.hexdump import AROUND, EVIDENCE_LINES, MAX_BYTES, dump_of
from conformance.report.html import again, render_html
from conformance.report.page import json_block
from conformance.report.table import MAX_DEPTH, MAX_ROWS, Node, RequirementRow, Section, roll_up, trees
from conformance.report.transition_pictures import ELSEWHERE, NEVER, TAKEN, Covered, pictures
from conformance.runlog import Run, RunWriter
from conformance.spec.catalogue import catalogue, demanded
from conformance.verdict import Evidence, Outcome, Verdict
from tools.covered import generate

BROKEN = "MQDMPR-3.2.7.3.illegal-cursor-action"
SIGNATURE = "MQMQ-2.2.19.1.signature"
TEXTS = st.text(st.characters(codec=None) | st.sampled_from("<>&\"'/\u2028\u202e\ud800"), max_size=40)


@given(st.recursive(TEXTS | st.integers() | st.none(), lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner)))
@settings(max_examples=fewer(60), deadline=None)
def test_a_json_block_is_its_value_and_cannot_end_its_element(value: object) -> None:
    text = str(json_block(value))
    assert json.loads(text) == value
    assert text.isascii() and not set("<>&") & set(text)


# --- the tree


def row(name: str, outcome: Outcome | None = None) -> RequirementRow:
    document, section = "MS-MQMQ", name.removeprefix("MQMQ-").rpartition(".")[0]
    judged = outcome not in (None, Outcome.SKIP, Outcome.INCONCLUSIVE)
    return RequirementRow(name, document, section, None, outcome, 1, (), None, demanded=True, met=int(judged))


def tree(*rows: RequirementRow) -> tuple[Node, ...]:
    sections: dict[str, list[RequirementRow]] = {}
    for one in rows:
        sections.setdefault(one.section, []).append(one)
    return trees(Section("MS-MQMQ", number, "", tuple(members)) for number, members in sections.items())["MS-MQMQ"]


def test_every_requirement_of_a_run_stands_in_the_tree_once(typical: Run) -> None:
    table = roll_up(typical)
    found = [one for tops in trees(table.sections).values() for top in tops for node in top.walk() for one in node.rows]
    assert sorted(one.id for one in found) == sorted(one.id for one in table.rows)
    for tops in trees(table.sections).values():
        for top in tops:
            for node in top.walk():
                below = [one for each in node.walk() for one in each.rows]
                assert node.total == len(below) and node.judged == sum(one.judged for one in below)
                assert sum(node.counts.values()) == sum(one.outcome is not None for one in below)


def test_a_section_is_as_bad_as_the_worst_in_it() -> None:
    (top,) = tree(row("MQMQ-2.1.a", Outcome.PASS), row("MQMQ-2.2.1.b", Outcome.FAIL), row("MQMQ-2.2.2.c"))
    assert (top.number, top.outcome, top.judged, top.total) == ("2", Outcome.FAIL, 2, 3)
    assert [(child.number, child.outcome) for child in top.children] == [("2.1", Outcome.PASS), ("2.2", Outcome.FAIL)]
    assert top.children[1].children[1].outcome is None


def test_a_section_with_one_other_in_it_is_left_out_for_that() -> None:
    (top,) = tree(row("MQMQ-2.2.19.1.a"))
    assert (top.number, top.children) == ("2.2.19.1", ())


def test_a_section_number_of_any_depth_and_length_makes_a_small_tree() -> None:
    deep = row("MQMQ-" + "1." * 5_000 + "a", Outcome.FAIL)
    other = row("MQMQ-" + "1." * MAX_DEPTH + "2.b", Outcome.PASS)
    (top,) = tree(deep, other, row("MQMQ-" + "9" * 5_000 + ".2.c"), row("MQMQ-1.3.d"))[:1]
    assert top.total == 3 and top.outcome is Outcome.FAIL
    assert max(node.number.count(".") for node in top.walk()) < MAX_DEPTH
    assert all(len(node.number) < 30 * MAX_DEPTH for node in top.walk())


def test_a_section_lists_so_many_and_counts_all() -> None:
    (top,) = tree(*(row(f"MQMQ-2.a{number}") for number in range(MAX_ROWS + 5)), row("MQMQ-2.z", Outcome.FAIL))
    assert (len(top.rows), top.more, top.total) == (MAX_ROWS, 6, MAX_ROWS + 6)
    assert top.rows[0].outcome is Outcome.FAIL


# --- the dumps


def packet() -> bytes:
    """The one with the bad signature."""
    text = (Path(__file__).parents[2] / "fixtures" / "captures" / "bad-signature.pcapng").read_bytes()
    at = text.index(b"\x10\x00\x03\x00RIOL")
    return text[at : at + 0xD4]


def dumped(data: bytes, requirement: str = SIGNATURE, kind: str = "packet") -> list[tuple[str, bool]]:
    evidence = Evidence(kind, "frame 1", {"base64": base64.b64encode(data).decode()})
    verdict = Verdict(requirement, Outcome.WARN, "frame 1", actual={"BaseHeader.Signature": 1})
    return [(line.text, line.marked) for line in dump_of(verdict, evidence)]


def test_the_bytes_a_verdict_blames_are_marked_and_no_others() -> None:
    lines = dumped(packet())
    marked = [text for text, mark in lines if mark and text.startswith(">")]
    assert len(marked) == 1 and "52 49 4f 4c" in marked[0] and SIGNATURE in marked[0]
    assert len(lines) > 10


def test_a_dump_of_much_keeps_what_is_marked() -> None:
    lines = dumped(packet() + bytes(40_000))
    assert any(mark for _, mark in lines) and len(lines) <= EVIDENCE_LINES + 2 * AROUND


def test_a_structure_is_dumped_plainly() -> None:
    lines = dumped(b"<script>" * 1_000, kind="structure")
    assert lines[0] == ("  00000000  3c 73 63 72 69 70 74 3e 3c 73 63 72 69 70 74 3e  <script><script>", False)
    assert len(lines) == EVIDENCE_LINES + 1 and lines[-1][0].endswith("lines left out")


@pytest.mark.parametrize("data", ["", "no base64!", "AAAA" * MAX_BYTES, 7, ["AAAA"], None])
def test_what_is_no_packet_makes_no_dump(data: object) -> None:
    verdict = Verdict("X-1.unknown", Outcome.FAIL, "s")
    assert dump_of(verdict, Evidence("packet", "frame 1", {"base64": data})) == ()
    assert dump_of(verdict, Evidence("call", "c", {"base64": "AAAA"})) == ()


@given(st.binary(max_size=300))
@settings(max_examples=15, deadline=None)
def test_any_bytes_and_an_unknown_requirement_make_a_dump(data: bytes) -> None:
    assert bool(dumped(data, "MQMQ-9.none")) == bool(data)


# --- the pictures


def test_every_transition_is_in_its_picture_with_its_count() -> None:
    covered = tuple(Covered(name, {one: at for at, one in enumerate(rows)}) for name, rows in table_rows().items())
    for picture, table in zip(pictures(covered), covered, strict=True):
        assert picture.svg is not None
        ElementTree.fromstring(picture.svg)
        assert {name: count for name, count, _ in picture.rows} == table.counts
        assert picture.svg.count("never</text>") == 1 == len(table.missing)
        assert f"{table.followed} of {len(table.counts)} transitions" in picture.svg
        for one in range(1, len(table.counts)):
            assert f" · {one}×</text>" in picture.svg
        assert "<style" not in picture.svg and "<script" not in picture.svg


def test_an_arrow_is_dashed_when_nothing_of_it_was_followed() -> None:
    taken = CURSOR[0].id
    (picture,) = pictures((Covered("cursor", {one.id: int(one.id == taken) for one in CURSOR}),))
    assert picture.svg is not None and picture.followed == 1
    arrows = re.findall(r'class="arrow (\w+)"', picture.svg)
    assert arrows.count(TAKEN) == 1 and arrows.count(NEVER) > 5
    kinds = {name: kind for name, _, kind in picture.rows}
    assert all(kinds[one.id] == (TAKEN if one.id == taken else ELSEWHERE if one.reading else NEVER) for one in CURSOR)


def test_a_table_of_another_version_is_listed(make_run: Callable[..., Run]) -> None:
    (picture,) = pictures((Covered("</svg><script>", {f"<b>{n}": n for n in range(1_000)}),))
    assert picture.svg is None and len(picture.rows) == 500

    def fill(writer: RunWriter) -> None:
        writer.verdict(Verdict(BROKEN, Outcome.PASS, "s"), suite="cursors", test="t")
        writer.evidence("transitions", {"cursor": {"<script>": 3}, "</svg><script>": {"<img src=x>": 2}})

    source = render_html(make_run(fill))
    assert "<img" not in source and source.count("<script") == 3 and "&lt;img src=x&gt;" in source


# --- the coverage


def test_what_is_kept_of_the_coverage_is_what_is_computed() -> None:
    assert (Path(__file__).parents[2] / "conformance" / "report" / FILE).read_text(encoding="utf-8") == generate(), (
        "stale: python -m tools.covered"
    )


def test_the_three_numbers_count_all_documents(typical: Run) -> None:
    found = numbers(typical, "msmq-4.0")
    assert found.total.checkable == sum(one.checkable for one in found.documents) == len(demanded("msmq-4.0"))
    assert 0 < found.total.reached < found.total.claimed <= found.total.checkable
    assert 0 < found.total.discriminated < found.total.checkable and not found.by_selftest
    new = next(one.id for one in catalogue() if one.id not in known().discriminated and one.checked == "call")
    with_selftest = numbers(typical, "msmq-6.0", [new])
    assert with_selftest.by_selftest and new in with_selftest.discriminated


def test_the_page_tells_the_three_numbers_and_the_levels(typical: Run) -> None:
    source = render_html(typical)
    total = numbers(typical, "msmq-4.0").total
    for name in ("claimed", "reached", "discriminated"):
        assert re.search(rf'class="{name}"><dt>{name}</dt>.*?<strong>{getattr(total, name):,}</strong>', source)
    table = roll_up(typical)
    must = [one for one in table.rows if one.demand and one.demand.level == "must"]
    line = re.search(r'<th scope="row">must</th>(.*?)</tr>', source)
    assert line is not None
    cells = [int(cell.replace(",", "")) for cell in re.findall(r">([\d,]+)<", line[1])]
    assert cells[-1] == len(must) == sum(cells[:-1])
    assert "given selftest" in render_html(typical, frozenset({BROKEN}))


# --- the command to reproduce


def test_a_finding_without_a_repro_file_has_a_command(make_run: Callable[..., Run]) -> None:
    def fill(writer: RunWriter) -> None:
        for test in ("packets/test_a.py::test_one[x y]", "t", "packets/test_a.py::$(rm -rf ~)"):
            writer.verdict(Verdict(BROKEN, Outcome.FAIL, "s"), suite="packets", test=test)

    run = make_run(fill, connector="stdio:./my driver")
    assert [again(run, recorded) for recorded in run.verdicts] == [
        "mqconform run --adapter 'stdio:./my driver' --suite packets --seed 7 -- -k test_one",
        None,
        None,
    ]
    replayed = make_run(fill, captures=("a b.pcap",))
    assert again(replayed, replayed.verdicts[2]) == "mqconform replay 'packets/test_a.py::$(rm -rf ~)'"


# --- the comparison


def test_a_comparison_has_the_worst_difference_first(make_run: Callable[..., Run]) -> None:
    second = "MQDMPR-3.1.4.4.durable"

    def filled(outcomes: dict[str, Outcome]) -> Run:
        def fill(writer: RunWriter) -> None:
            for name, outcome in outcomes.items():
                writer.verdict(Verdict(name, outcome, "s", actual="why" * 500), suite="cursors", test="t")

        return make_run(fill)

    runs = [
        filled({BROKEN: Outcome.PASS, second: Outcome.WARN, SIGNATURE: Outcome.PASS}),
        filled({BROKEN: Outcome.FAIL, second: Outcome.PASS}),
    ]
    source = render_comparison(runs)
    listed = re.findall(r'<tr class="item" data-outcome="(\w+)".*?<code>(.*?)</code>', source)
    assert listed == [("fail", BROKEN), ("warn", second)]
    found = re.search(r'id="data">(.*?)</script>', source)
    assert found is not None
    rows = {one[0]: one for one in json.loads(found[1])["rows"]}
    # What neither run judged is listed too, and told as such.
    silent = {name for name, row in rows.items() if row[4] == [-1, -1]}
    assert rows.keys() - silent == {BROKEN, second, SIGNATURE}
    assert silent | {BROKEN, second, SIGNATURE} == {row.id for run in runs for row in roll_up(run).rows}
    assert f"{len(silent):,} requirements have no verdict in any of these runs" in source
    assert [len(text) > 0 for text in rows[BROKEN][5]] == [False, True] and len(rows[BROKEN][5][1]) < 400
    assert rows[SIGNATURE][4] == [Outcome.PASS.rank, -1]
    assert source.count('class="cell pass">1/1') >= 2 and 'class="cell none">–' in source


def test_a_comparison_of_hostile_runs_is_only_text(hostile: Run, typical: Run) -> None:
    source = render_comparison([hostile, typical, hostile])
    assert source.count("<script") == 3 - 1 and "<img" not in source
    assert not {"\u202e", "\x1b", "\x00"} & set(source)
    source.encode("utf-8")
    assert len(source) < 3_000_000


def test_an_incomplete_run_is_named_in_a_comparison(make_run: Callable[..., Run], typical: Run) -> None:
    cut = make_run(lambda writer: writer.verdict(Verdict(BROKEN, Outcome.PASS, "s"), suite="c", test="t"), footer=None)
    assert "Incomplete records" in render_comparison([typical, cut])
    assert "Incomplete records" not in render_comparison([typical, typical])


def test_more_runs_than_a_page_has_room_for_are_refused(typical: Run) -> None:
    with pytest.raises(TooManyRuns, match="room for 8 runs, not for 9"):
        render_comparison([typical] * (MAX_RUNS + 1))
