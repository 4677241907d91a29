"""Deviations as annotations of a CI job: commands on its log, or GitLab's Code Quality report.

A server executes commands that it reads on a log, so text from outside is escaped.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256

from conformance.report.excused import Excused, parted
from conformance.report.findings import Group, heading
from conformance.report.gate import Decision, Objection
from conformance.report.sarif import place, record_place
from conformance.report.table import roll_up
from conformance.report.text import label
from conformance.runlog import Run
from conformance.verdict import Json, Outcome

MAX_ANNOTATIONS = 50
"""The most annotations of one job; a server shows far fewer."""
_MINOR = {Outcome.READING: "note"}


def github(run: Run, decision: Decision | None = None) -> str:
    """Return GitHub Actions workflow commands (`::error title=...::...`), one a line; known deviations are notices."""
    lines = []
    shown, more = _annotations(run, decision)
    for one in shown:
        kind = {"warning": "warning", "note": "notice"}.get(one.severity, "error")
        lines.append(f"::{kind} title={_property(one.title)}::{_data(one.words)}")
    if run.incomplete:
        lines.append(f"::warning title=incomplete captures::{_data(run.incomplete.words)}")
    if more:
        lines.append(f"::notice title=more::{_data(more)}")
    return "".join(f"{line}\n" for line in lines)


def azure(run: Run, decision: Decision | None = None) -> str:
    """Return Azure Pipelines commands (`##vso[task.logissue ...]...`), one a line; known deviations are plain text."""
    lines = []
    shown, more = _annotations(run, decision)
    for one in shown:
        kind = "error" if one.severity == "error" else "warning"
        words = f"{one.title}: {one.words}".replace("##", "# #")
        lines.append(words if one.known else f"##vso[task.logissue type={kind}]{words}")
    if run.incomplete:
        lines.append(f"##vso[task.logissue type=warning]incomplete captures: {run.incomplete.words}")
    if more:
        lines.append(more)
    return "".join(f"{line}\n" for line in lines)


def gitlab(run: Run, decision: Decision | None = None) -> str:
    """Return GitLab's Code Quality report: an issue a requirement and outcome, at its repro file or the run record."""
    severities = {"error": "major", "warning": "minor", "note": "info"}
    found: list[Json] = []
    for one in _annotations(run, decision)[0]:
        found.append(
            {
                "type": "issue",
                "check_name": one.name,
                "description": f"{one.outcome}: {one.words}",
                "categories": ["Compatibility"],
                "severity": severities[one.severity],
                "fingerprint": sha256(one.identity.encode("utf-8", "backslashreplace")).hexdigest(),
                "location": {"path": one.path, "lines": {"begin": 1}},
            }
        )
    return json.dumps(found, indent=1) + "\n"


FORMS: Mapping[str, Callable[[Run, Decision | None], str]] = {"azure": azure, "github": github, "gitlab": gitlab}
"""The functions by the name of the server."""


@dataclass(frozen=True, slots=True)
class _Annotation:
    """One annotation. severity: `error`, `warning` or `note`. known: the deviation is excused."""

    name: str
    outcome: str
    words: str
    severity: str
    identity: str
    path: str
    known: bool = False

    @property
    def title(self) -> str:
        """The outcome and the requirement."""
        return f"{self.outcome} {label(self.name, 120)}"


def _annotations(run: Run, decision: Decision | None) -> tuple[list[_Annotation], str]:
    """Return (the first MAX_ANNOTATIONS: what shuts the gate, known deviations, the rest; a line on those left out)."""
    excused = Excused(run, decision)
    failures, known, notable = parted(excused, roll_up(run))
    whole = len(failures) + len(excused.others) + len(known) + len(notable)
    found = [_of(run, group, "error") for group in failures[:MAX_ANNOTATIONS]]
    found += [_objection(run, one) for one in excused.others[:MAX_ANNOTATIONS]]
    found += [_of(run, group, "note", excused.excuses[group.row.id]) for group in known[:MAX_ANNOTATIONS]]
    found += [_of(run, group, _MINOR.get(group.outcome, "warning")) for group in notable[:MAX_ANNOTATIONS]]
    more = whole - min(whole, MAX_ANNOTATIONS)
    if not more:
        return found, ""
    return found[: MAX_ANNOTATIONS - 1], f"{more + 1:,} more are in the report."


def _of(run: Run, group: Group, severity: str, excuse: str | None = None) -> _Annotation:
    outcome = group.outcome.value if excuse is None else f"known {group.outcome.value}"
    words = _words(group) if excuse is None else f"{_words(group)} Known: {label(excuse)}."
    identity = f"{group.row.id}\0{group.outcome.value}"
    return _Annotation(
        label(group.row.id), outcome, words, severity, identity, place(run, group.shown[0]), excuse is not None
    )


def _objection(run: Run, one: Objection) -> _Annotation:
    return _Annotation(label(one.what), one.kind, label(one.why), "error", f"{one.what}\0{one.kind}", record_place(run))


def _words(group: Group) -> str:
    told = f"{heading(group.row)} On: {label(group.shown[0].recorded.verdict.subject, 200)}."
    return f"{told} {group.seen:,} times." if group.seen > 1 else told


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
