"""What a report says of a lake whose every row is known."""

from __future__ import annotations

import json
import re
from datetime import UTC, date, datetime
from pathlib import Path

import pyarrow as pa
import pytest
from lake_helpers import CAPTURES, files_in, put, rows
from made_lake import capture, day, fill, session, verdict
from pyarrow import parquet
from typer.testing import CliRunner

from conformance.cli.pipeline import analysis_app
from conformance.pipeline import report_queries
from conformance.pipeline.lake import Entry, Lake
from conformance.pipeline.report_queries import gather
from conformance.pipeline.schemas import TABLES
from conformance.pipeline.tables import opened
from conformance.pipeline.untrusted_files import PipelineError
from conformance.report.corpus import MOST_BUCKETS, Course, Span
from conformance.report.corpus_page import render_corpus, short, stacked, strip, summary, ticks_to

LAYOUT = "MQMQ-2.2.19.1.flags-in-layout"
X0 = "MQMQ-2.2.19.1.flags-x0"
CURSOR = "MQDMPR-3.2.7.3.illegal-cursor-action"
SEEK = "R-MQDMPR-seek-from-head"
A, B = "192.0.2.1", "aaaaaaaa-9d4f-4b1c-8e7a-000000000001"
HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\u202e\x1b[31m{{7*7}}"


@pytest.fixture
def lake(tmp_path):
    return Lake.open(tmp_path / "lake", create=True)


def run(number: int, version: str | None, said: dict[str, str], when: int, hour: int = 8, **more) -> list:
    """Rows of a run: requirement to outcome."""
    at = day(when)
    name = {"run_id": f"run{number}", "implementation": more.pop("implementation", "acme")}
    result = {**name, "count": 2, "readings": more.pop("readings", {})}
    row = {**name, "implementation_version": version, "complete": True, "path": f"/runs/run{number}",
           "started": datetime(at.year, at.month, at.day, hour, tzinfo=UTC), "profile": "msmq-4.0", "level": "must",
           "reading_set": "windows", **more}  # fmt: skip
    return [("runs", at, row), *(("results", at, {**result, "requirement": k, "outcome": v}) for k, v in said.items())]


def test_a_change_is_new_again_or_gone_and_days_without_the_sender_say_nothing(lake):
    made = []
    for number in range(6):
        made += [capture(day(number)), session(day(number), "192.0.2.50", initiator_manager=B)]
        made += [verdict(name, "pass", None, day(number), count=90) for name in (LAYOUT, X0)]
        if number != 3:  # The day A is not there.
            made.append(session(day(number), A))
    made += [verdict(LAYOUT, "fail", A, day(number)) for number in (2, 4, 5)]
    made += [verdict(X0, "fail", A, day(number)) for number in (0, 4, 5)]
    made += [verdict(LAYOUT, "fail", B, day(number)) for number in (0, 1)]
    fill(lake, [*made, verdict(X0, "warn", B, day(5))])
    corpus = gather(lake)
    found = {(one.subject, one.requirement): one for one in corpus.courses.values()}
    assert {key: (one.change, one.since) for key, one in found.items()} == {
        (A, LAYOUT): ("new", day(2)),  # Day 3 is no clean day: nobody was there.
        (A, X0): ("again", day(4)),
        (B, LAYOUT): ("gone", day(0)),
        (B, X0): (None, None),
    }
    assert day(3) not in found[(A, LAYOUT)].days and found[(A, LAYOUT)].clean_days == [day(0), day(1)]
    assert [one.name for one in corpus.subjects if one.regressions] == [A]
    assert corpus.changes()[0].since == day(4) and corpus.changes()[-1].change == "gone"
    assert corpus.refuted[("wire", day(4))] == 2 and corpus.verdicts["pass"] == 6 * 2 * 90


def test_where_passes_name_the_sender_its_own_count(lake):
    made = [verdict(LAYOUT, "pass", sender, day(at), count=9) for sender, at in ((A, 0), (B, 1), (A, 3), (B, 3))]
    made += [session(day(4), A), verdict(X0, "pass", None, day(4))]  # Nobody judged LAYOUT.
    made += [verdict(LAYOUT, "fail", A, day(2)), session(day(1), A), verdict(X0, "pass", A, day(1))]
    fill(lake, made)
    corpus = gather(lake)
    (course,) = corpus.courses.values()
    # On day 1 A was there, and the requirement was judged: on others.
    assert dict(course.days) == {day(0): (0, 0), day(2): (1, 0), day(3): (0, 0)} and course.change == "gone"
    assert [one.name for one in corpus.subjects] == [A] and corpus.subjects[0].counts["pass"] == 19


def test_the_last_run_of_a_day_speaks_for_it(lake):
    # Broken in the morning and mended in the evening; then broken again; a run without it says nothing of it.
    said = [("fail", 0, 8), ("pass", 0, 20), ("pass", 1, 8), ("fail", 2, 9), ("skip", 2, 23)]
    for number, (outcome, when, hour) in enumerate(said, 1):
        fill(lake, run(number, None, {CURSOR: outcome}, when, hour))
    corpus = gather(lake)
    (course,) = corpus.courses.values()
    assert dict(course.days) == {day(0): (0, 0), day(1): (0, 0), day(2): (2, 0)} and course.change == "new"
    assert corpus.totals["runs"] == 5 and corpus.totals["implementations"] == 1
    assert [example.place for example in corpus.examples[CURSOR]] == ["/runs/run4"]


def test_a_course_ends_with_what_was_definite():
    def course(*said: tuple[int, int]) -> Course:
        return Course("wire", "a", X0, {day(number): one for number, one in enumerate(said)})

    clean, bad, noted = (0, 0), (2, 0), (0, 1)
    for said in ((clean, bad, noted), (bad, bad), (clean, noted)):
        assert course(*said).change is None
    assert course(noted, bad, clean).change == "gone"
    assert course(clean, noted, bad, noted, bad).since == day(2)


def test_queues_are_ranked_and_examples_are_the_first_and_the_last(lake):
    made = [capture(day(0)), capture(day(2))]
    made += [verdict(LAYOUT, "fail", A, day(0), queue="DIRECT=OS:x\\private$\\one", expected='{"Flags": 0}')]
    made += [verdict(LAYOUT, "warn", A, day(0), queue="DIRECT=OS:x\\private$\\two", count=50, subject="not this one")]
    made += [verdict(X0, "fail", B, day(2), queue="DIRECT=OS:x\\private$\\one", subject="frame 9")]
    made += [verdict(LAYOUT, "fail", B, day(2), queue=None, count=7, subject="frame 11")]
    fill(lake, made)
    corpus = gather(lake)
    assert [(one.queue[-3:], one.bad, one.noted) for one in corpus.queues] == [("one", 2, 0), ("two", 0, 50)]
    assert corpus.queues[0].requirements == {LAYOUT: 1, X0: 1}
    first, last = corpus.examples[LAYOUT]
    assert (first.text, first.when, first.expected) == ("frame 7", day(0), '{"Flags": 0}')
    assert (last.text, last.who, last.place) == ("frame 11", B, f"/captures/{day(2)}.pcap")


def test_text_from_outside_stays_text(lake):
    # The tables hold text of captures as it was: nothing of it is an element of the page, or JSON that ends its block.
    made = [capture(day(0), path=f"/{HOSTILE}.pcap", cut=HOSTILE, skipped={HOSTILE: 3})]
    more = {"queue": HOSTILE, "subject": HOSTILE, "actual": HOSTILE, "expected": "[[" * 9}
    made += [verdict(LAYOUT, outcome, HOSTILE, day(at), **more) for at, outcome in enumerate(("fail", "warn"))]
    made += [verdict(HOSTILE, "fail", HOSTILE, day(1)), verdict(LAYOUT, "pass", None, day(1)), session(day(1), HOSTILE)]
    made += [("rejected", day(0), {"path": HOSTILE, "reason": HOSTILE})]
    for number, (name, outcome) in enumerate((("1.0", "pass"), (HOSTILE, "fail"))):
        made += run(number, name, {CURSOR: outcome}, number, implementation=HOSTILE, readings={HOSTILE: HOSTILE})
    fill(lake, made)
    page = render_corpus(gather(lake))
    assert "alert(1)" in page and page.count("<script") == 3 and "<img" not in page
    assert "Changed between versions" in page and "Readings that are followed" in page
    assert not {"\u202e", "\x1b"} & set(page) and "{{7*7}}" in page
    assert " style=" not in page and not re.search(r"""(src|href)=["']?http""", page)
    block = re.search(r'id="summary">(.*?)</script>', page, re.DOTALL)
    assert block is not None and HOSTILE in {one["name"] for one in json.loads(block[1])["subjects"]}


def test_an_empty_lake_and_days_without_a_date(lake):
    assert "Nothing was judged" in render_corpus(gather(lake))
    fill(lake, [verdict(LAYOUT, "fail", A, date(1970, 1, 1))])
    corpus = gather(lake)
    assert corpus.span.buckets == 0 and summary(corpus)["verdicts"] == {"fail": 1}
    assert "<h2" in render_corpus(corpus)


def test_a_row_counts_only_with_its_batch(lake):
    row = verdict(LAYOUT, "fail", A, day(0))
    fill(lake, [capture(day(0)), row])
    first = lake.batches().live
    # As in a file of a compaction: one row has no batch, and that of the others is ended.
    fill(lake, [("verdicts", day(0), {**row[2], "batch": "of nobody"}), row, *[row] * 3])
    assert sum(gather(lake).verdicts.values()) == 5
    before = lake.batches()
    lake.commit(Entry("runs", "b", ends=sorted(before.live - first)), before)
    assert sum(gather(lake).verdicts.values()) == 1
    (file,) = files_in(lake, "captures")
    file.write_bytes(b"no parquet")
    with pytest.raises(PipelineError, match=r"no end of a Parquet file.*it is damaged"):
        gather(Lake.open(lake.place))
    file.unlink()
    with pytest.raises(PipelineError, match="missing"):
        gather(Lake.open(lake.place))


def test_no_table_is_held_in_memory_to_tell_what_counts(lake):
    fill(lake, [verdict(X0, "fail", A, day(0)), capture(day(0)), *run(1, None, {X0: "fail"}, 0)])
    with opened(lake) as db:
        for table in TABLES:
            ((_, plan),) = db.execute(f"explain select * from {table}").fetchall()
            assert "join" not in plan.lower(), plan
        db.execute("create temp table many as select range::text as name from range(1000)")
        ((_, plan),) = db.execute("explain select 1 from verdicts join many on sender = name").fetchall()
    assert "sender = name" in plan, "what stands at the right is held, and not the verdicts"


def test_pairs_that_are_followed_are_bounded(lake, monkeypatch):
    made = [verdict(name, "fail", A, day(at), count=at + 1) for at in range(3) for name in (LAYOUT, X0)]
    fill(lake, [*made, verdict(X0, "warn", B, day(0), count=99)])
    assert len(gather(lake).courses) == 3
    monkeypatch.setattr("conformance.pipeline.report_queries.MAX_DAYS", 3)
    corpus = gather(lake)
    assert [pair[1:] for pair in corpus.courses] == [(A, X0)] and corpus.verdicts == {"fail": 12, "warn": 99}


def test_what_an_ingest_wrote_is_what_is_reported(tmp_path):
    files = [CAPTURES / f"{name}.pcapng" for name in ("resending-session", "mqqb-4.1", "bad-signature", "lost-segment")]
    lake, done = put(tmp_path / "lake", files)
    corpus = gather(lake)
    assert done.captures == len(files) == corpus.totals["captures"] and corpus.totals["packets"] == done.packets
    told = {outcome.value: count for outcome, count in done.outcomes.items() if outcome.value != "skip"}
    assert told and dict(corpus.verdicts) == told
    assert sum(corpus.sessions.values()) == len(rows(lake, "sessions"))
    deviating = {row["requirement"] for row in rows(lake, "verdicts") if row["outcome"] not in ("pass", "skip")}
    assert {demand.requirement for demand in corpus.demands if demand.bad or demand.noted} == deviating
    assert {example.place for seen in corpus.examples.values() for example in seen} <= {str(file) for file in files}


def changes(lake: Lake) -> set[tuple[str, str, str, str, str]]:
    return {(one.change, one.implementation, one.requirement, one.before, one.after) for one in gather(lake).shifts}


def test_a_version_breaks_and_mends_what_the_one_before_had(lake):
    fill(lake, run(1, "2.9", {CURSOR: "pass", LAYOUT: "fail", X0: "pass"}, 0))
    fill(lake, run(2, "2.10", {CURSOR: "crash", LAYOUT: "pass"}, 1))
    # An older line is released later; its number decides, so that it stands before 2.10.
    fill(lake, run(3, "2.9.1", {CURSOR: "pass", LAYOUT: "fail", X0: "warn"}, 2))
    fill(lake, run(4, "3.0", {CURSOR: "pass", X0: "fail"}, 3))
    assert changes(lake) == {
        ("regressed", "acme", CURSOR, "2.9.1", "2.10"),
        ("mended", "acme", LAYOUT, "2.9.1", "2.10"),
        ("mended", "acme", CURSOR, "2.10", "3.0"),
        ("regressed", "acme", X0, "2.9", "3.0"),  # 2.10 did not judge it, and 2.9.1 only warns.
    }
    told_of = {one["version"]: one for one in summary(gather(lake))["versions"]}
    assert list(told_of) == ["2.9", "2.9.1", "2.10", "3.0"]
    assert told_of["2.10"]["verdicts"] == {"crash": 2, "pass": 2} and told_of["2.10"]["mended"] == [
        {"requirement": LAYOUT, "since": "2.9.1"}
    ]
    assert told_of["2.9.1"]["requirements"] == {"fail": 1, "warn": 1, "pass": 1}
    assert told_of["3.0"]["regressed"] == [{"requirement": X0, "since": "2.9"}]


def test_the_last_run_of_a_version_that_judged_it_counts(lake):
    fill(lake, run(1, "1.0", {CURSOR: "pass", X0: "pass"}, 0))
    fill(lake, run(2, "1.1", {CURSOR: "fail", X0: "fail"}, 1, 20) + run(3, "1.1", {X0: "pass"}, 1, 8))
    fill(lake, run(4, "1.1", {CURSOR: "pass", X0: "skip"}, 2))
    assert changes(lake) == {("regressed", "acme", X0, "1.0", "1.1")}
    version = gather(lake).versions[-1]
    assert (version.runs, version.first, version.last) == (3, day(1), day(2))
    assert version.verdicts == {"fail": 4, "pass": 4, "skip": 2}


def test_runs_are_compared_only_with_runs_of_their_kind(lake):
    fill(lake, run(1, "1.0", {CURSOR: "pass"}, 0) + run(2, "1.1", {CURSOR: "fail"}, 1, profile="msmq-2.0"))
    fill(lake, run(3, "1.1", {CURSOR: "fail"}, 1, implementation="other"))
    fill(lake, run(4, "1.1", {CURSOR: "fail"}, 1, reading_set="strict"))
    assert changes(lake) == set()
    page = render_corpus(gather(lake))
    assert "acme (msmq-2.0, must, windows)" in page and "Version by version" in page


def test_a_long_history_keeps_the_latest_versions(lake, monkeypatch):
    monkeypatch.setattr(report_queries, "MOST_VERSIONS", 3)
    for number in range(10):
        fill(lake, run(number, f"1.{number}", {CURSOR: "pass" if number % 2 else "fail"}, number))
    found = gather(lake)
    assert [one.name for one in found.versions] == ["1.7", "1.8", "1.9"]
    assert (found.shifts[0].change, found.shifts[0].before, found.shifts[0].after) == ("mended", "1.8", "1.9")


def test_readings_say_who_follows_them(lake):
    fill(lake, run(1, "1.0", {CURSOR: "pass"}, 0, readings={SEEK: "head", "R-2": "a"}))
    fill(lake, run(2, "1.1", {CURSOR: "pass", LAYOUT: "reading"}, 1, readings={SEEK: "current"}))
    fill(lake, run(3, "1.1", {CURSOR: "fail"}, 1, readings={"R-3": "never"}))
    made = [verdict(LAYOUT, "pass", who, day(0), count=5, readings={SEEK: "head"}) for who in ("192.0.2.1", "A", "A")]
    made += [verdict(LAYOUT, "pass", None, day(1), count=3, readings={SEEK: "head", "R-2": "b"})]
    made += [verdict(LAYOUT, "fail", "B", day(1), readings={SEEK: "head"}), verdict(X0, "pass", "C", day(1))]
    fill(lake, made)
    found = {(one["reading"], one["alternative"]): one for one in summary(gather(lake))["readings"]}
    assert set(found) == {(SEEK, "head"), (SEEK, "current"), ("R-2", "a"), ("R-2", "b")}
    assert (found[SEEK, "head"]["verdicts"], found[SEEK, "head"]["senders"]) == (2 + 15 + 3, 2)
    assert found[SEEK, "current"]["implementations"] == [{"implementation": "acme", "version": "1.1"}]
    assert (found["R-2", "b"]["verdicts"], found["R-2", "b"]["senders"]) == (3, 0)
    # The page names implementations in their latest version.
    page = render_corpus(gather(lake))
    assert "acme 1.1" in page and "acme 1.0" not in page


def test_plots_fit_what_they_draw():
    for top in (0, 0.03, 1, 7, 9.99, 10, 1234, 5e9):
        ticks = ticks_to(top)
        assert ticks[0] == 0 and ticks[-1] >= top and 2 <= len(ticks) <= 6
    assert [short(number) for number in (0, 7, 999.9, 35_000, 1.2e6)] == ["0", "7", "1k", "35k", "1.2M"]
    assert strip({0: (1, 0), 1: (2, 2), 2: (0, 1), 4: (0, 0)}, 6, "<x>").count("<rect") == 3
    drawn = stacked([{"fail": 1, "warn": 2}, {}], ("fail", "warn"), str, title="a & b")
    heights = [float(one) for one in re.findall(r'height="([\d.]+)"/>', drawn)]
    assert len(heights) == 2 and abs(heights[1] / heights[0] - 2) < 0.01 and "a &amp; b" in drawn
    span = Span.of([day(0), day(400)])
    assert span.buckets <= MOST_BUCKETS and span.bucket(day(400)) == span.buckets - 1


def test_the_command_tells_writes_and_ends_as_it_should(lake, tmp_path):
    fill(lake, [capture(day(0)), verdict(LAYOUT, "fail", A, day(0)), verdict(X0, "pass", None, day(0))])
    html = tmp_path / "corpus.html"
    done = CliRunner().invoke(analysis_app, ["report", str(lake.root), "--html", str(html), "--json"])
    assert done.exit_code == 0 and json.loads(done.stdout)["requirements"][0]["requirement"] == LAYOUT
    assert "<title>1 capture" in html.read_text()
    done = CliRunner().invoke(analysis_app, ["report", str(lake.root)])
    assert done.stdout.splitlines()[:2] == ["1 capture: 1 requirement broken at the end, none newly", f"days: {day(0)}"]
    none = CliRunner().invoke(analysis_app, ["report", str(tmp_path / "nowhere")])
    assert none.exit_code == 2 and none.stderr.count("\n") == 1 and "is not a lake" in none.stderr


def forget(lake: Lake, table: str, column: str) -> None:
    """Make a column null in all rows, as somebody else's writer can."""
    for path in (Path(lake.place) / table).rglob("part-*.parquet"):
        found = parquet.read_table(path)
        at = found.schema.get_field_index(column)
        field = found.schema.field(at).with_nullable(True)
        parquet.write_table(found.set_column(at, field, pa.nulls(len(found), field.type)), path)


def test_counts_that_cannot_be_are_refused(tmp_path):
    for number, (row, table, column) in enumerate(
        [
            (verdict(LAYOUT, "fail", A, day(1), count=-1), "verdicts", None),
            (verdict(LAYOUT, "fail", A, day(1)), "verdicts", "count"),
            (capture(day(1), packets=-1), "captures", None),
            (capture(day(1)), "captures", "packets"),
        ]
    ):
        lake = Lake.open(tmp_path / str(number), create=True)
        fill(lake, [verdict(LAYOUT, "pass", A, day(0)), row])
        if column is not None:
            forget(lake, table, column)
        with pytest.raises(PipelineError, match=f"has {table} without a number, or with one below 0"):
            gather(lake)


def test_requirements_without_a_name_are_shown(lake):
    fill(lake, [verdict(LAYOUT, "fail", A, day(0)), *run(1, None, {LAYOUT: "fail"}, 1)])
    forget(lake, "verdicts", "requirement")
    forget(lake, "results", "requirement")
    corpus = gather(lake)
    assert {one.requirement for one in corpus.demands} == {"not named"} and "not named" in render_corpus(corpus)


def test_days_at_both_ends_of_the_calendar_are_drawn(lake):
    fill(lake, [verdict(LAYOUT, "fail", A, date(2000 + 99 * at, 1, 1)) for at in range(80)])
    fill(lake, [verdict(LAYOUT, "fail", A, date.max), verdict(LAYOUT, "fail", A, date.min)])
    corpus = gather(lake)
    assert corpus.span.name(corpus.span.buckets - 1).endswith("9999-12-31") and "9999-12-31" in render_corpus(corpus)


def test_a_report_ends_at_its_time(lake, monkeypatch):
    fill(lake, [verdict(LAYOUT, "fail", A, day(0))])
    endless = "create temp view seen as select cast(sum(a.range) as text) as subject, date '2020-01-01' as date"
    endless += " from range(1000000000) a, range(1000000000) b"
    monkeypatch.setattr(report_queries, "_VIEWS", (*report_queries._VIEWS[:2], endless, report_queries._VIEWS[3]))
    with pytest.raises(PipelineError, match=r"more than 0\.1 s; give them more with --timeout"):
        gather(lake, 0.1)
