"""The page of a run while it goes on: it follows the record, stays on this machine, and says how the run ended."""

from __future__ import annotations

import http.client
import json
import re
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import conformance
from conformance.interrupts import SIGNALS
from conformance.report import live_page
from conformance.report.live_page import LivePage, LiveRecord
from conformance.report.table import roll_up
from conformance.runlog import Header, Run, RunWriter, StoryStep
from conformance.verdict import Outcome, Verdict

BROKEN = "MQDMPR-3.2.7.3.illegal-cursor-action"
OTHER = "MQDMPR-3.1.7.1.3.invalid-path-name"
Serve = Callable[[Path], LivePage]


@pytest.fixture
def serve() -> Iterator[Serve]:
    pages: list[LivePage] = []

    def begin(folder: Path) -> LivePage:
        pages.append(LivePage(folder, 0))
        return pages[-1]

    yield begin
    for one in pages:
        one.close()


def ask(page: LivePage, path: str = "/state.json", method: str = "GET", **headers: str) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", page.port, timeout=60)
    connection.request(method, path, headers=headers)
    answer = connection.getresponse()
    return answer.status, answer.read()


def begun(folder: Path) -> RunWriter:
    writer = RunWriter(folder)
    writer.header(Header("r1", connector="embedded", profile="msmq-4.0", level="must", reading_set="windows"))
    return writer


def fails(writer: RunWriter, name: str = BROKEN, **other: Any) -> str:
    verdict = Verdict(name, Outcome.FAIL, "peek", expected={"status": 1}, actual={"status": 0})
    return writer.verdict(verdict, suite="cursors", test="cursors/test_x.py::t", **other)


def test_the_state_says_what_the_report_says(typical: Run) -> None:
    record = LiveRecord(typical.parts[0].parent)
    record.update()
    table = roll_up(typical)
    state = record.to_json()
    assert state["requirements"] == {outcome.value: number for outcome, number in table.counts.items()}
    assert {(one["document"], one["section"]): (one["judged"], one["demanded"]) for one in state["sections"]} == {
        (one.document, one.number): (one.judged, one.demanded) for one in table.sections if one.judged
    }
    first = next(one for one in state["broken"] if one["requirement"] == BROKEN)
    assert len(first["steps"]) == 5 and "MQ_ERROR_ILLEGAL_CURSOR_ACTION" in first["expected"]
    assert state["implementation"] == "acme-mq 2.1"


def test_each_state_has_what_was_added(tmp_path: Path) -> None:
    record = LiveRecord(tmp_path)
    record.update()
    assert record.to_json()["broken"] == []
    with begun(tmp_path) as writer:
        writer.verdict(
            Verdict(OTHER, Outcome.SKIP, "create", reason="no such method"), suite="names", test="names/test_x.py::t"
        )
        fails(writer, provisional=True)
        record.update()
        assert [(one["requirement"], one["provisional"]) for one in record.to_json()["broken"]] == [(BROKEN, True)]
        final = fails(writer)
        writer.story(final, [StoryStep("send 'a' to q1 -> ok")], repro=None)
        writer.verdict(Verdict(OTHER, Outcome.PASS, "create"), suite="names", test="names/test_x.py::u")
        record.update()
        (one,) = record.to_json()["broken"]
        assert (one["provisional"], one["steps"]) == (False, ["send 'a' to q1 -> ok"])
        assert record.to_json()["requirements"] == {"fail": 1, "pass": 1}


def test_a_failure_that_is_a_consequence_goes(tmp_path: Path) -> None:
    record = LiveRecord(tmp_path)
    with begun(tmp_path) as writer:
        fails(writer, OTHER, provisional=True)
        record.update()
        assert len(record.to_json()["broken"]) == 1
        fails(writer, BROKEN, replaces=OTHER)
        record.update()
        assert [one["requirement"] for one in record.to_json()["broken"]] == [BROKEN]


def test_the_worst_come_first(tmp_path: Path) -> None:
    with begun(tmp_path) as writer:
        crash = Verdict(OTHER, Outcome.CRASH, "create", reason="it ended")
        error = Verdict("MQDMPR-3.1.7.1.10.removes", Outcome.ERROR, "receive", reason="the harness failed")
        for verdict in (error, crash):
            writer.verdict(verdict, suite="names", test="names/test_x.py::t")
        fails(writer)
    record = LiveRecord(tmp_path)
    record.update()
    assert [one["outcome"] for one in record.to_json()["broken"]] == ["fail", "crash", "error"]


@pytest.mark.skipif(sys.platform != "linux", reason="asks /proc")
def test_its_thread_takes_no_signals(tmp_path: Path, serve: Serve) -> None:
    serve(tmp_path)
    (thread,) = (each for each in threading.enumerate() if each.name == "live page")
    status = Path(f"/proc/self/task/{thread.native_id}/status").read_text()
    blocked = int(status.partition("SigBlk:")[2].split()[0], 16)
    assert all(blocked >> number - 1 & 1 for number in SIGNALS)


def test_lines_that_are_no_events_and_half_lines_wait(tmp_path: Path) -> None:
    with begun(tmp_path) as writer:
        fails(writer)
    path = tmp_path / "run-main.ndjson"
    whole = path.read_bytes()
    path.write_bytes(b'\xff{[\n[]\n{}\n{"event":"hello","hello":[]}\n' + b"[" * 100_000 + b"\n" + whole + b'{"event":')
    record = LiveRecord(tmp_path)
    record.update()
    assert len(record.to_json()["broken"]) == 1


def test_only_this_machine_reads_and_nobody_writes(tmp_path: Path, serve: Serve) -> None:
    page = serve(tmp_path)
    assert ask(page)[0] == 200 and b"<html" in ask(page, "/")[1]
    assert ask(page, "/", "HEAD") == (200, b"")
    for host in ("evil.example", f"evil.example:{page.port}", "127.0.0.1", f"127.0.0.1:{page.port + 1}", ""):
        assert ask(page, Host=host)[0] == 403
    assert ask(page, Host=f"localhost:{page.port}")[0] == 200
    assert {ask(page, method=method)[0] for method in ("POST", "PUT", "DELETE", "OPTIONS")} == {501}
    assert {ask(page, path)[0] for path in ("/../etc/passwd", "/state.json?x=1", "//evil.example/", "/x")} == {404}
    assert page._server.server_address[0] == "127.0.0.1"


def test_many_who_are_slow_leave_the_run_alone(tmp_path: Path, serve: Serve) -> None:
    page = serve(tmp_path)
    slow = [socket.create_connection(("127.0.0.1", page.port)) for _ in range(40)]
    for one in slow:
        one.sendall(b"GET / HTTP/1.1\r\nHost: ")
    assert ask(page)[0] == 200
    for one in slow:
        one.close()


def test_a_port_in_use_is_one_sentence(tmp_path: Path, serve: Serve) -> None:
    port = serve(tmp_path).port
    with pytest.raises(conformance.BadInput, match=rf"127\.0\.0\.1:{port} \(Address already in use\); give --live"):
        conformance.run(suites="names", out=tmp_path / "out", live=port)


def test_a_run_is_followed_to_its_end(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_page, "LAST_S", 60.0)  # A busy machine lets the thread below ask late.
    states: list[Any] = []

    def follow(progress: Any) -> None:
        if not states:
            port = int(re.findall(r"live at http://127\.0\.0\.1:(\d+)/", capsys.readouterr().err)[0])
            states.append(None)
            threading.Thread(target=watch, args=(port,), daemon=True).start()

    def watch(port: int) -> None:
        while states[-1] is None or states[-1]["end"] is None:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
            connection.request("GET", "/state.json")
            states.append(json.loads(connection.getresponse().read()))
        over.set()

    over = threading.Event()
    result = conformance.run(
        adapter="embedded+ignores-priority", suites="cursors", out=tmp_path / "out", live=0, on_progress=follow,
        max_examples=5, pytest_args=["-k", "of_a_message or opened_again"],
    )  # fmt: skip
    assert over.wait(60)
    last = states[-1]
    assert last["end"]["tone"] == ("bad" if result.exit_code else "good")
    assert last["progress"]["done"] == last["progress"]["total"] > 0
    assert last["requirements"] == {one.value: many for one, many in roll_up(result.record).counts.items()}


@pytest.mark.parametrize(("name", "broken"), [("typical", 2), ("hostile", 3)])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_shows_it_to_everybody(
    request: pytest.FixtureRequest, serve: Serve, chromium: Any, axe: Any, name: str, broken: int, scheme: str
) -> None:
    run: Run = request.getfixturevalue(name)
    live = serve(run.parts[0].parent)
    live.progress = {"done": 3, "total": 9, "suite": "cursors", "left_s": 61.0}
    context = chromium.new_context(color_scheme=scheme, viewport={"width": 1440, "height": 900})
    page = context.new_page()
    asked: list[str] = []
    complaints: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(live.address, timeout=120_000)
    page.locator("#broken .group").first.wait_for(timeout=120_000)
    assert page.locator("#headline").inner_text() == "Does not conform so far"
    assert "3 of 9 tests done, 1:01 left" in page.locator("#progress").inner_text()
    assert page.locator("#broken .group").count() == broken
    for width in (1440, 390):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        serious = [
            one["id"] for one in axe.run(page).response["violations"] if one["impact"] in ("serious", "critical")
        ]
        assert serious == []
    live.end = {"headline": "Does not conform", "tone": "bad", "report": "out/report.html"}
    page.locator("text=Run finished").first.wait_for(timeout=120_000)
    assert page.locator("#headline").inner_text() == "Does not conform" and "out/report.html" in page.inner_text(
        "#facts"
    )
    assert {one.removeprefix(live.address) for one in asked} <= {"", "state.json"} and complaints == []
    context.close()
