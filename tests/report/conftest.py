"""Run records made with the real writer, for the reports to be made from, and a browser that shows their pages."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from conformance.runlog import Header, PacketLine, Run, RunWriter, StoryStep, read_run
from conformance.spec.catalogue import catalogue
from conformance.verdict import Evidence, Outcome, Verdict

Fill = Callable[[RunWriter], None]
Show = Callable[..., Any]
NAMES = ("chromium", "chromium-browser", "google-chrome")
GENEROUS = 120_000
"""Milliseconds: a machine may be busy with everything else."""

BROKEN = "MQDMPR-3.2.7.3.illegal-cursor-action"
HOSTILE = (
    "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'{{7*7}}{% if %}\u202egnp.\x1b[31m\x00\ud800]]>"
)


def made(folder: Path, fill: Fill | None, footer: str | None, **header: object) -> Run:
    """The run that this writes into a new folder."""
    with RunWriter(folder) as writer:
        members = {"run_id": "r1", "connector": "embedded", "seed": 7, "profile": "msmq-4.0", "level": "must"}
        writer.header(Header(**{**members, "reading_set": "windows", **header}))  # type: ignore[arg-type]
        if fill is not None:
            fill(writer)
        if footer is not None:
            writer.footer(footer, stateful_steps=1200, steps_per_second=310.5, examples=100)
    return read_run(folder)


@pytest.fixture
def make_run(tmp_path: Path) -> Callable[..., Run]:
    """make_run(fill, footer="completed", **header members) -> Run."""

    def make(fill: Fill | None = None, *, footer: str | None = "completed", **header: object) -> Run:
        return made(tmp_path / f"run{len(list(tmp_path.iterdir()))}", fill, footer, **header)

    return make


def fill_typical(writer: RunWriter) -> None:
    """A run with one of everything, over the requirements of the catalogue."""
    writer.hello({"name": "acme-mq", "version": "2.1", "profile": "msmq-4.0"})
    names = [demand.id for demand in catalogue() if demand.checked == "call" and demand.id != BROKEN]
    for at, name in enumerate(names[:120]):
        outcome, reason = Outcome.PASS, None
        if at % 17 == 3:
            outcome, reason = Outcome.SKIP, "the driver does not offer queues.get"
        if at == 20:
            outcome, reason = Outcome.INCONCLUSIVE, "answered 12 ms later than the declared slack"
        if at == 30:
            outcome = Outcome.WARN
        writer.verdict(
            Verdict(name, outcome, "receive", reason=reason), suite="cursors", test="test_cursor.py::t", count=at + 1
        )
    writer.evidence("call", {"method": "messages.peek_next", "params": {"cursor": "c1"}}, ref="call-17")
    failed = writer.verdict(
        Verdict(
            BROKEN,
            Outcome.FAIL,
            "peek_next on a cursor that never peeked",
            expected={"status": 0xC00E001C},
            actual={"status": 0, "message": {"label": "b", "priority": 3, "body": "aGVsbG8="}},
            readings=((next(iter(catalogue().readings)), "unknown-alternative"),),
            evidence=Evidence("call", "call-17"),
        ),
        suite="cursors",
        test="conformance/suites/cursors/test_mqdmpr_3_2_cursor.py::test_cursors",
    )
    steps = [
        StoryStep("create queue q1", {"method": "queues.create", "params": {"path": ".\\private$\\q1"}}, {"status": 0}),
        StoryStep("open q1 for receive access -> handle h1"),
        StoryStep("send 'a' (priority 3) to q1"),
        StoryStep("open cursor c1 on h1"),
        StoryStep("peek next with c1, without waiting -> message 'a' (priority 3)"),
    ]
    writer.story(failed, steps, repro="reports/out/first/repros/0f3a9b2c11d04e55.json")
    crashed = writer.verdict(
        Verdict(names[121], Outcome.CRASH, "messages.receive", actual="The driver exited with 139 while it was asked."),
        suite="transactions",
        test="test_mqdmpr_3_1_4_transactions.py::test_transactions",
    )
    writer.story(crashed, steps[:3], repro="reports/out/first/repros/1f3a9b2c11d04e55.json")
    writer.driver(
        "crash", "exited with -11", epoch=1, returncode=-11, stderr="panic: index out of range\n  at main.go:7"
    )
    writer.driver("restart", "started again with the same state folder", epoch=2)
    for number in range(1, 9):
        bad = number == 7
        writer.packet(
            PacketLine(
                number,
                1_236_789_012.25 + number / 1000,
                "10.0.0.1:1801 → 10.0.0.2:49152",
                "user message" if bad else "session acknowledgement",
                "DIRECT=TCP:10.0.0.1\\private$\\q" if bad else None,
                Outcome.FAIL if bad else Outcome.PASS,
                ("MQQB-2.2.5.signature",) if bad else (),
            )
        )
    writer.note("The time-out of waiting reads was shortened to 200 ms: the clock of the driver is real.")


def fill_hostile(writer: RunWriter) -> None:
    """The same hostile text in every place that takes text from outside."""
    writer.hello({"name": HOSTILE, "version": HOSTILE, "profile": HOSTILE})
    value = {HOSTILE: HOSTILE, "list": [HOSTILE, 2**200, -1.5e300, None, True], "big": "L" * (1 << 20)}
    for name in (BROKEN, HOSTILE, "MQMQ-9" + "9" * 3000 + ".x"):
        for outcome in (Outcome.FAIL, Outcome.WARN, Outcome.SKIP, Outcome.ERROR):
            ref = writer.verdict(
                Verdict(name, outcome, HOSTILE, value, value, ((HOSTILE, HOSTILE),), HOSTILE,
                        Evidence(HOSTILE, HOSTILE, {HOSTILE: HOSTILE})),
                suite=HOSTILE,
                test=HOSTILE,
            )  # fmt: skip
            writer.story(ref, [StoryStep(HOSTILE, value, value), StoryStep("L" * (1 << 20))], repro=HOSTILE)
    writer.packet(PacketLine(1, 1e300, HOSTILE, HOSTILE, HOSTILE + "Q" * (1 << 20), Outcome.FAIL, (HOSTILE,), HOSTILE))
    writer.driver("crash", HOSTILE, stderr=HOSTILE * 100)
    writer.note(HOSTILE)


@pytest.fixture(scope="session")
def typical(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Made once: a run does not change."""
    folder = tmp_path_factory.mktemp("typical") / "run"
    return made(folder, fill_typical, "completed", suites=("cursors", "transactions"), command=("mqconform", "run"))


@pytest.fixture(scope="session")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Made once: a run does not change."""
    members = {"suites": (HOSTILE,), "connector": HOSTILE, "captures": (HOSTILE,), "run_id": HOSTILE}
    return made(tmp_path_factory.mktemp("hostile") / "run", fill_hostile, "completed", **members)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """Debian's Chromium under Playwright. Without either: a skip, and a failure where CI=true."""
    path = next(filter(None, map(shutil.which, NAMES)), None)
    try:
        import axe_playwright_python  # noqa: F401
        from playwright.sync_api import sync_playwright
    except ImportError:
        path = None
    if path is None:
        reason = "no Chromium or no playwright (Debian: apt-get install chromium; pip install -e .[dev])"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=path, args=["--no-sandbox", "--disable-gpu"], timeout=GENEROUS
        )
        yield browser
        browser.close()


@pytest.fixture
def axe(chromium: Any) -> Any:
    """axe-core, as a package brings it."""
    from axe_playwright_python.sync_playwright import Axe

    return Axe()


@pytest.fixture
def show(chromium: Any, tmp_path: Path) -> Iterator[Show]:
    """show(html, scheme="light", width=1200) -> the open page. What it logs and asks the network for fails the test."""
    contexts: list[Any] = []
    complaints: list[str] = []
    expected: list[str] = []

    def open_page(source: str, *, scheme: str = "light", width: int = 1200, refused: str = "") -> Any:
        if refused:
            expected.append(refused)
        file = tmp_path / f"page{len(contexts)}.html"
        file.write_text(source, encoding="utf-8")
        context = chromium.new_context(color_scheme=scheme, viewport={"width": width, "height": 900})
        context.set_default_timeout(GENEROUS)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: (complaints.append(f"dialog {dialog.message}"), dialog.dismiss()))
        page.on("request", lambda request: request.url == file.as_uri() or complaints.append(f"asked {request.url}"))
        page.goto(file.as_uri(), timeout=GENEROUS)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert [one for one in complaints if not any(word in one for word in expected)] == []
