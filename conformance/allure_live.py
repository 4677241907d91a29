"""Adds requirements, stories and attachments to the results of allure-pytest. Loaded only if `--alluredir` is given.

An Allure result is one test, and a test judges several requirements. Allure would list it under every combination of
their documents and sections. So the result is listed under one requirement: the first that is broken, else the first
that the test claims. Requirements of the same section become stories, the others tags.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from conformance.harness.suite_registry import OWN, suite_of
from conformance.report.allure import MAX_REPRO, MAX_TEXT, digest, parts, places, titled, write_surroundings
from conformance.report.findings import ReportedFinding, repro_command, story_lines
from conformance.report.text import label
from conformance.runlog import RecordedVerdict, RunRecordError, Story, read_run
from conformance.spec.catalogue import catalogue, current, requirement
from conformance.verdict import Outcome

if TYPE_CHECKING:
    from conformance.harness.run_session import RunSession

MAX_PARAMETER = 200
"""Characters kept of a test's parameter; some parameters are packets."""
_MARK = "allure_label"
_OURS = frozenset({"epic", "feature", "story", "severity"})


class AllureHooks:
    """The hooks of a run that allure-pytest reports on."""

    def __init__(self, config: pytest.Config, session: RunSession) -> None:
        self.config = config
        self.session = session
        self._found: list[ReportedFinding] = []
        session.on_failed = self._failed

    def _failed(self, recorded: RecordedVerdict, story: Story) -> None:
        command = repro_command(story.repro, self.session.connector) if story.repro else None
        self._found.append(ReportedFinding(recorded, story, recorded.verdict.evidence, command))

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Mark each test with all places of its requirements, so that `--allure-epics` and its like select it."""
        for item in items:
            if not set(_marked(item)) & _OURS:
                for kind, value in dict.fromkeys(place for name in _claimed(item) for place in _places(name)):
                    item.add_marker(getattr(pytest.mark, _MARK)(value, label_type=kind, mqconform=True))

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, None]:
        """Complete the result after the last phase: its verdicts are known and Allure has not yet written it."""
        yield
        if call.when != "teardown":
            return
        found, self._found = self._found, []
        listener = self.config.pluginmanager.get_plugin("allure_listener")
        result = listener.allure_logger.get_test(None) if listener is not None else None
        if result is not None:
            self._place(item, result, found)
            for finding in found:
                _attach(finding)

    def _place(self, item: pytest.Item, result: Any, found: list[ReportedFinding]) -> None:
        from allure_commons.model2 import Label, Status, StatusDetails

        suite = suite_of(Path(item.path))
        name = item.nodeid if suite == OWN else f"{Path(item.path).name}::{item.name}"
        result.historyId = result.testCaseId = digest(suite, name)
        for parameter in result.parameters:
            parameter.value = label(str(parameter.value), MAX_PARAMETER)
        broken = [finding.recorded.verdict.requirement for finding in found]
        named = list(dict.fromkeys((*broken, *_claimed(item))))
        if named and not set(_marked(item)) & _OURS:  # a test's own labels win
            chosen = dict(_places(named[0]))
            result.labels = [each for each in result.labels if each.name not in _OURS]
            for other in named:
                place = dict(_places(other))
                same = all(place[kind] == chosen[kind] for kind in ("epic", "feature"))
                result.labels.append(Label("story" if same else "tag", other))
            result.labels += [Label(kind, value) for kind, value in chosen.items() if kind != "story"]
        if found:
            verdict = found[0].recorded.verdict
            flaky = verdict.outcome is Outcome.FLAKY
            says = f"{verdict.outcome.value}: {verdict.requirement}: {requirement(verdict.requirement).says}"
            trace = "\n\n".join("\n".join(story_lines(finding)) for finding in found)[:MAX_TEXT]
            result.status = Status.FAILED
            result.statusDetails = StatusDetails(message=says, trace=trace, flaky=flaky)

    @pytest.hookimpl(trylast=True)
    def pytest_unconfigure(self) -> None:
        """Write the data of the whole run from its record, which is closed by now."""
        if hasattr(self.config, "workerinput"):
            return
        folder = Path(self.config.option.allure_report_dir)
        try:
            if folder.is_dir():
                write_surroundings(read_run(self.session.out), folder)
        except (OSError, RunRecordError) as error:
            self.config.issue_config_time_warning(pytest.PytestWarning(str(error)), stacklevel=2)


def _attach(finding: ReportedFinding) -> None:
    import allure

    for part in parts(finding, _repro(finding)):
        allure.attach(part.content, titled(part, finding), part.kind, part.suffix)


def _repro(finding: ReportedFinding) -> bytes | None:
    if finding.story is None or not finding.story.repro:
        return None
    try:
        path = Path(finding.story.repro)
        return path.read_bytes() if path.stat().st_size <= MAX_REPRO else None
    except OSError:
        return None


def _claimed(item: pytest.Item) -> list[str]:
    """Return the known requirements that a test claims, those of the nearest marker first."""
    named = (current(str(name)) for mark in item.iter_markers("requirement") for name in mark.args)
    return [name for name in dict.fromkeys(named) if name in catalogue().requirements]


def _places(name: str) -> Iterable[tuple[str, str]]:
    demand = requirement(name)
    return places(demand.document, demand.section, name, demand.level)


def _marked(item: pytest.Item) -> list[str]:
    """Return the kinds of label that the test itself sets."""
    marks = [mark for mark in item.iter_markers(_MARK) if not mark.kwargs.get("mqconform")]
    return [str(mark.kwargs.get("label_type")) for mark in marks]
