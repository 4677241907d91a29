"""The page of a run while it goes on: verdicts, coverage by section and stories as its record gets them.

It is served on 127.0.0.1 alone and answers only requests that name this host, so that no page of another site reads it.
"""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final

from msgspec import convert

from conformance.interrupts import without_signals
from conformance.report.findings import statement
from conformance.report.page import render_page
from conformance.report.records import TODAY
from conformance.report.table import PROBLEMS, REFUTED, UNJUDGED, section_place, section_title
from conformance.report.text import label, value_text
from conformance.runlog.events import Header, Hello, RecordedVerdict, replaces_provisional, story_of, verdict_of
from conformance.runlog.writer import parsed
from conformance.spec.catalogue import catalogue, demanded, profile_of
from conformance.spec.constants.codes import named
from conformance.verdict import Json, Outcome, of_requirement

ADDRESS: Final = "127.0.0.1"
MAX_READ: Final = 16 << 20
"""Bytes of a part that are read for one answer; a page that comes late has the rest in its next ones."""
MAX_BROKEN: Final = 200
MAX_STEPS: Final = 60
"""Broken requirements on the page, and steps of a story."""
MAX_REQUESTS: Final = 8
"""Requests at one time."""
REQUEST_S: Final = 10
LAST_S: Final = 3.0
"""Seconds for which a page that is open can still ask how the run ended."""
MAX_VALUE: Final = 400
"""Characters of a value."""


@dataclass(slots=True)
class _Broken:
    """The latest verdict against a requirement, with the steps of its story once it has one."""

    recorded: RecordedVerdict
    steps: tuple[str, ...] = ()


@dataclass(slots=True)
class LiveRecord:
    """The content of a run's record so far. folder: of the record."""

    folder: Path
    header: Header | None = None
    hello: Mapping[str, Json] | None = None
    _read: dict[Path, int] = field(default_factory=dict)
    _final: dict[str, set[Outcome]] = field(default_factory=dict)
    _provisional: dict[tuple[str, str], Outcome] = field(default_factory=dict)
    _broken: dict[str, _Broken] = field(default_factory=dict)
    _named: dict[str, str] = field(default_factory=dict)

    def update(self) -> None:
        """Read the whole lines that were added. A line that is no event is left to the report at the end."""
        for part in sorted(self.folder.glob("run-*.ndjson")):
            for line in self._added(part):
                try:
                    event = parsed(line)
                    handle = _HANDLERS.get(event["event"])
                    if handle is not None:
                        handle(self, event)
                except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError):
                    continue

    def _added(self, part: Path) -> list[bytes]:
        begin = self._read.get(part, 0)
        try:
            with part.open("rb") as file:
                file.seek(begin)
                found = file.read(MAX_READ)
        except OSError:
            return []
        whole = found[: found.rfind(b"\n") + 1]
        self._read[part] = begin + len(whole)
        return whole.splitlines()

    def _head(self, event: Mapping[str, Json]) -> None:
        self.header = self.header or Header.from_json(event)

    def _greet(self, event: Mapping[str, Json]) -> None:
        self.hello = convert(event, Hello).hello

    def _verdict(self, event: Mapping[str, Json]) -> None:
        recorded = verdict_of(event, TODAY)
        name, outcome = recorded.verdict.requirement, recorded.verdict.outcome
        if replaces_provisional(recorded.verdict):
            for former in {name, recorded.replaces or name}:
                self._provisional.pop((recorded.test, former), None)
        if recorded.provisional:
            self._provisional[recorded.test, name] = outcome
        else:
            self._final.setdefault(name, set()).add(outcome)
        if outcome in PROBLEMS:
            self._broken[name] = _Broken(recorded)
            self._named[recorded.id] = name

    def _story(self, event: Mapping[str, Json]) -> None:
        story = story_of(event)
        broken = self._broken.get(self._named.get(story.verdict, ""))
        if broken is not None and broken.recorded.id == story.verdict:
            broken.steps = tuple(label(named(step.text)) for step in story.steps[-MAX_STEPS:])

    @property
    def outcomes(self) -> dict[str, Outcome]:
        """The worst outcome of each requirement so far."""
        found = {name: set(outcomes) for name, outcomes in self._final.items()}
        for (_, name), outcome in self._provisional.items():
            found.setdefault(name, set()).add(outcome)
        return {name: one for name, outcomes in found.items() if (one := of_requirement(outcomes)) is not None}

    def to_json(self) -> dict[str, Json]:
        """Return what the page shows, worst first, bounded."""
        outcomes = self.outcomes
        counts = Counter(outcomes.values())
        header, hello = self.header, self.hello or {}
        profile = profile_of(None if header is None else header.profile)
        wrong = sorted((one.rank, name) for name, one in outcomes.items() if one in PROBLEMS and name in self._broken)
        broken = [self._broken[name] for _, name in wrong]
        return {
            "implementation": label(" ".join(str(hello[name]) for name in ("name", "version") if hello.get(name))),
            "connector": label(header.connector or "", 200) if header else "",
            "started": header.started if header else None,
            "profile": profile,
            "requirements": {one.value: counts[one] for one in Outcome if counts[one]},
            "sections": list(_sections(profile, outcomes)),
            "broken": [_broken_json(one) for one in broken[:MAX_BROKEN]],
            "more": max(0, len(broken) - MAX_BROKEN),
        }


_HANDLERS: Final[Mapping[str, Callable[[LiveRecord, Mapping[str, Json]], None]]] = {
    "header": LiveRecord._head,
    "hello": LiveRecord._greet,
    "verdict": LiveRecord._verdict,
    "story": LiveRecord._story,
}


def _sections(profile: str, outcomes: Mapping[str, Outcome]) -> Iterator[Json]:
    """Yield the sections of which something is judged, in the order of the documents."""
    members: dict[tuple[str, str], list[str]] = {}
    for entry in demanded(profile):
        members.setdefault((entry.document, entry.section), []).append(entry.id)
    for document, number in sorted(members, key=lambda key: section_place(*key)):
        names = members[document, number]
        found = Counter(outcomes[name] for name in names if name in outcomes)
        judged = sum(count for one, count in found.items() if one not in UNJUDGED)
        if judged:
            yield {
                "document": document,
                "section": number,
                "title": section_title(document, number),
                "judged": judged,
                "demanded": len(names),
                "broken": sum(found[one] for one in REFUTED),
            }


def _broken_json(one: _Broken) -> Json:
    verdict = one.recorded.verdict
    demand = catalogue().requirements.get(verdict.requirement)
    return {
        "requirement": label(verdict.requirement),
        "outcome": verdict.outcome.value,
        "says": statement(demand) if demand else "",
        "test": label(one.recorded.test),
        "provisional": one.recorded.provisional,
        "steps": list(one.steps),
        "expected": None if verdict.expected is None else value_text(verdict.expected, MAX_VALUE),
        "actual": None if verdict.actual is None else value_text(verdict.actual, MAX_VALUE),
        "reason": label(named(verdict.reason)) if verdict.reason else None,
    }


class LivePage:
    """Serves the page. `progress` and `end` are set by the run that it shows."""

    def __init__(self, folder: Path, port: int) -> None:
        """Begin to serve. port: 0 for any. Raises OSError if it cannot be used."""
        self.record = LiveRecord(folder)
        self.progress: Mapping[str, Json] = {}
        self.end: Mapping[str, Json] | None = None
        self._lock, self._places = threading.Lock(), threading.BoundedSemaphore(MAX_REQUESTS)
        self._asked = self._answered = 0.0
        page = self

        class Handler(_Handler):
            live = page

        self._server = _Server((ADDRESS, port), Handler)
        self.port = self._server.server_address[1]
        with without_signals():
            threading.Thread(target=self._server.serve_forever, name="live page", daemon=True).start()

    @property
    def address(self) -> str:
        """The address for a browser."""
        return f"http://{ADDRESS}:{self.port}/"

    @property
    def hosts(self) -> tuple[str, ...]:
        """The values of the header `Host` that are answered."""
        return tuple(f"{name}:{self.port}" for name in (ADDRESS, "localhost"))

    @contextmanager
    def place(self) -> Iterator[bool]:
        """Yield whether one more request finds room."""
        free = self._places.acquire(blocking=False)
        try:
            yield free
        finally:
            if free:
                self._places.release()

    def state(self) -> bytes:
        """Return the state as JSON."""
        with self._lock:
            self._asked = time.monotonic()
            over = self.end
            self.record.update()
            found = {**self.record.to_json(), "progress": self.progress, "end": over}
        if over is not None:
            self._answered = time.monotonic()
        return json.dumps(found).encode()

    def close(self) -> None:
        """Stop, after a page that is open has asked how the run ended."""
        until = self._asked + LAST_S
        while not self._answered and time.monotonic() < until:
            time.sleep(0.05)
        self._server.shutdown()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Write nothing: a browser that goes away is no matter of the run."""


class _Handler(BaseHTTPRequestHandler):
    live: LivePage
    timeout = REQUEST_S
    server_version, sys_version = "mqconform", ""

    def do_GET(self) -> None:
        with self.live.place() as free:
            if self.headers.get("Host") not in self.live.hosts:
                self._send(403, "text/plain", f"Ask {self.live.address}.\n".encode())
            elif not free:
                self._send(503, "text/plain", b"Too many requests at one time.\n")
            elif self.path == "/":
                self._send(
                    200, "text/html", render_page("live.html.j2", ["live.js"], ["report.css", "live.css"]).encode()
                )
            elif self.path == "/state.json":
                self._send(200, "application/json", self.live.state())
            else:
                self._send(404, "text/plain", b"There are / and /state.json.\n")

    do_HEAD = do_GET

    def _send(self, code: int, kind: str, body: bytes) -> None:
        self.send_response(code)
        for name, value in (
            ("Content-Type", f"{kind}; charset=utf-8"),
            ("Content-Length", str(len(body))),
            ("Cache-Control", "no-store"),
            ("X-Content-Type-Options", "nosniff"),
            ("X-Frame-Options", "DENY"),
            ("Cross-Origin-Resource-Policy", "same-origin"),
            ("Referrer-Policy", "no-referrer"),
        ):
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Write no log: stderr is the run's."""
