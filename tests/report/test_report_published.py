"""The published reports: each deviation was looked at, and the records are good for what `reports/README.md` says."""

from __future__ import annotations

import json
import re
from pathlib import Path

from conformance.harness.run_session import EXAMPLE
from conformance.report.gate import decide
from conformance.report.standing import standing
from conformance.runlog import read_run

MONO = Path(__file__).parents[2] / "reports" / "mono-6.8-rabbitmq"


def test_each_deviation_has_its_finding() -> None:
    run = read_run(MONO)
    now = standing(run, "may")
    findings = (MONO / "FINDINGS.md").read_text(encoding="utf-8")
    assert len(now.deviating) > 30
    assert [name for name in now.deviating if f"`{name}`" not in findings] == []
    assert {each.kind for each in run.evidence.values()} >= {EXAMPLE}  # `judge` has something to judge again
    assert now.phases and not decide(now, before=now).objections
    named = {Path(story.repro).name for story in run.stories if story.repro}
    assert named == {path.name for path in (MONO / "repros").iterdir()}


def test_what_a_finding_links_to_is_there() -> None:
    findings = (MONO / "FINDINGS.md").read_text(encoding="utf-8")
    links = [link.partition(")")[0] for link in findings.split("](")[1:]]
    assert len(links) > 30
    assert [link for link in links if not (MONO / link).is_file()] == []
    linked = {Path(link).name for link in links}
    assert {path.name for path in (MONO / "findings").iterdir()} <= linked


def test_what_a_finding_links_to_shows_the_requirement_before_it() -> None:
    """The repro that follows a requirement in its paragraph is one of that requirement, and of no other."""
    findings = (MONO / "FINDINGS.md").read_text(encoding="utf-8")
    for paragraph in findings.partition("## What was withdrawn")[0].split("\n\n"):
        named = set(re.findall(r"`(M[QC][A-Z]+-[^`]+)`", paragraph))
        for link in re.findall(r"\]\((findings/[^)]+)\)", paragraph):
            shown = json.loads((MONO / link).read_text(encoding="utf-8"))["verdict"]["requirement"]
            assert shown in named, f"{link} shows {shown}"
