"""Each rule of a session is judged in captures, or docs/captures.md says why only a live dialogue shows it."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from types import ModuleType

import pytest

from conformance.judge.sessions import flow_steps, order_steps
from conformance.judge.sessions.reports import RULES
from conformance.spec.catalogue import catalogue
from conformance.suites.claims_index import claims

PAGE = Path(__file__).parents[2] / "docs" / "captures.md"
JUDGE = "conformance.judge.sessions"


def test_a_rule_that_no_capture_shows_is_named_with_its_reason() -> None:
    named = dict(re.findall(r"^\| (MQ(?:QB|MQ)-\S+) \| (.+) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE))
    of_sessions = {one.id for one in catalogue() if one.checked == "session" and one.document in ("MS-MQQB", "MS-MQMQ")}
    shown = {name for name, checks in claims().items() if any(JUDGE in check for check in checks)}
    assert named.keys() == of_sessions - shown


@pytest.mark.parametrize("steps", [flow_steps, order_steps])
def test_each_rule_that_a_step_judges_has_its_words(steps: ModuleType) -> None:
    found = set(re.findall(r"\b(?:judge|put|leave)\((?:rows, base, )?out, ([A-Z_]+)", inspect.getsource(steps)))
    assert len(found) > 6
    assert {getattr(steps, name) for name in found} <= set(RULES)
