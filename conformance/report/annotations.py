"""Deviations as a CI server shows them beside a job: commands on its log, or GitLab's Code Quality report.

A server obeys what it reads on a log: what others wrote is kept from being a command.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from hashlib import sha256

from conformance.report.findings import Group, groups, heading
from conformance.report.sarif import place
from conformance.report.table import roll_up
from conformance.report.text import label
from conformance.runlog import Run
from conformance.verdict import Json, Outcome

MAX_ANNOTATIONS = 50
"""What one job shows at most; a server cuts off well before."""


def github(run: Run) -> str:
    """Workflow commands of GitHub Actions (`::error title=...::...`), a line each."""
    lines = []
    for group in _groups(run):
        kind = {"warning": "warning", "note": "notice"}.get(_severity(run, group), "error")
        title = _property(f"{group.outcome.value} {label(group.row.id, 120)}")
        lines.append(f"::{kind} title={title}::{_data(_words(group))}")
    return "".join(f"{line}\n" for line in lines)


def azure(run: Run) -> str:
    """Logging commands of Azure Pipelines (`##vso[task.logissue ...]...`), a line each."""
    lines = []
    for group in _groups(run):
        kind = "error" if _severity(run, group) == "error" else "warning"
        words = f"{group.outcome.value} {label(group.row.id, 120)}: {_words(group)}"
        lines.append(f"##vso[task.logissue type={kind}]{words.replace('##', '# #')}")
    return "".join(f"{line}\n" for line in lines)


def gitlab(run: Run) -> str:
    """The Code Quality report of GitLab: an issue a requirement and outcome, at its repro file or the run record."""
    severities = {"error": "major", "warning": "minor", "note": "info"}
    found: list[Json] = []
    for group in _groups(run):
        identity = f"{group.row.id}\0{group.outcome.value}".encode("utf-8", "backslashreplace")
        found.append(
            {
                "type": "issue",
                "check_name": label(group.row.id),
                "description": f"{group.outcome.value}: {_words(group)}",
                "categories": ["Compatibility"],
                "severity": severities[_severity(run, group)],
                "fingerprint": sha256(identity).hexdigest(),
                "location": {"path": place(run, group.shown[0]), "lines": {"begin": 1}},
            }
        )
    return json.dumps(found, indent=1) + "\n"


FORMS: Mapping[str, Callable[[Run], str]] = {"azure": azure, "github": github, "gitlab": gitlab}
"""By the name of the server."""


def _groups(run: Run) -> list[Group]:
    failures, notable = groups(run, roll_up(run))
    return [*failures, *notable][:MAX_ANNOTATIONS]


def _severity(run: Run, group: Group) -> str:
    if group.outcome is Outcome.READING:
        return "error" if run.header.reading_set == "strict" else "note"
    return "warning" if group.outcome is Outcome.WARN else "error"


def _words(group: Group) -> str:
    told = f"{heading(group.row)} On: {label(group.shown[0].recorded.verdict.subject, 200)}."
    return f"{told} {group.seen:,} times." if group.seen > 1 else told


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
