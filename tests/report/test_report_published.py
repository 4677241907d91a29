"""The published reports: each deviation was looked at, and the records are good for what `reports/README.md` says."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.harness.run_session import EXAMPLE
from conformance.report.comparison_key import standing
from conformance.report.gate import decide
from conformance.runlog import read_run

MONO = Path(__file__).parents[2] / "reports" / "mono-6.8-rabbitmq"


@pytest.mark.parametrize("folder", [MONO, MONO / "past-the-first"], ids=lambda folder: folder.name)
def test_each_deviation_has_its_finding(folder: Path) -> None:
    run = read_run(folder)
    now = standing(run, "may")
    findings = (MONO / "FINDINGS.md").read_text(encoding="utf-8")
    assert len(now.deviating) > 30
    assert [name for name in now.deviating if f"`{name}`" not in findings] == []
    assert {each.kind for each in run.evidence.values()} >= {EXAMPLE}  # `judge` has something to judge again
    assert now.phases and not decide(now, before=now).objections
    named = {Path(story.repro).name for story in run.stories if story.repro}
    assert named == {path.name for path in (folder / "repros").iterdir()}


def test_what_a_finding_links_to_is_there() -> None:
    findings = (MONO / "FINDINGS.md").read_text(encoding="utf-8")
    links = [link.partition(")")[0] for link in findings.split("](")[1:]]
    assert len(links) > 30
    assert [link for link in links if not (MONO / link).is_file()] == []
