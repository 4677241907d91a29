"""Which requirements the harness claims to check, and by what: computed from the code that checks, never typed.

A requirement is claimed when a conformance test's marker names it, when a packet rule or a session rule judges it, or
when a branch of the model names it. What is *discriminated* by a rule is computed too: its mutation is judged here.
"""

from __future__ import annotations

import ast
import contextlib
import io
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from conformance.spec.catalogue import catalogue
from conformance.suites.registry import suite_of, suites, suites_folder
from conformance.verdict import Outcome

# The rooms whose code judges: an id that one of them names is one that it judges.
_ROOMS = ("judge", "model", "activex")


class IndexFailed(RuntimeError):
    """The suites cannot be collected, so nobody can say what they claim. The message is one sentence."""


def claims() -> Mapping[str, tuple[str, ...]]:
    """Requirement id to what checks it, such as `suite cursors: test_walk`, `packet rule`, `conformance.model.reads`.

    Takes a second or two: the suites are collected as for a run. Raises IndexFailed when that fails.
    """
    found: dict[str, dict[str, None]] = defaultdict(dict)
    for name, by in (*_by_marker(), *_by_packet_rule(), *_by_code()):
        found[name][by] = None
    known = catalogue().requirements
    return {name: tuple(found[name]) for name in known if name in found}


def _by_marker() -> Iterator[tuple[str, str]]:
    """What the markers of the suites' tests name. They are made when a module runs, so it has to."""
    import pytest

    collector = _Collector()
    modules = [str(path) for paths in suites().values() for path in paths]
    options = ["-c=/dev/null", f"--rootdir={suites_folder()}", "-p", "no:cacheprovider", "--collect-only", "-q"]
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        # A conformance run that is at work in this process keeps its own plugin: this session has no adapter.
        status = pytest.main([*modules, *options, "-p", "conformance.plugin"], plugins=[collector])
    if status != 0:
        last = next((line for line in reversed(said.getvalue().splitlines()) if line.strip()), "")
        raise IndexFailed(f"The suites cannot be collected, so their claims are not known: {last}")
    yield from collector.named


class _Collector:
    """A plugin of pytest that reads the markers of what is collected."""

    def __init__(self) -> None:
        self.named: list[tuple[str, str]] = []

    def pytest_collection_finish(self, session: Any) -> None:
        for item in session.items:
            test = f"suite {suite_of(Path(item.path))}: {item.originalname}"
            for marker in item.iter_markers("requirement"):
                self.named += [(str(name), test) for name in marker.args]


def _by_packet_rule() -> Iterator[tuple[str, str]]:
    from conformance.judge.packets import RULES
    from conformance.judge.session_packets import RULES as SESSION_PACKET_RULES
    from conformance.judge.structure_rules import RULES as STRUCTURE_RULES
    from conformance.judge.transfer_buffer_rules import RULES as BUFFER_RULES

    for rule in RULES:
        yield rule.requirement, "packet rule"
    for rules in SESSION_PACKET_RULES.values():
        for each in rules:
            yield each.requirement, "session packet rule"
    for structure_rule in STRUCTURE_RULES:
        yield structure_rule.requirement, "structure rule"
    for buffer_rule in BUFFER_RULES:
        yield buffer_rule.requirement, "structure rule"


def _by_code() -> Iterator[tuple[str, str]]:
    """The ids that the modules of the judging rooms name: as literals, and made when the module is imported."""
    known = catalogue().requirements
    package = suites_folder().parent
    for room in _ROOMS:
        for path in sorted((package / room).rglob("*.py")):
            module = ".".join(("conformance", *path.relative_to(package).with_suffix("").parts))
            module = module.removesuffix(".__init__")
            names = {name for name in literals(path.read_text(encoding="utf-8")) if name in known}
            names |= {name for name in texts(vars(import_module(module)), module) if name in known}
            for name in sorted(names):
                yield name, module


def literals(source: str) -> Iterator[str]:
    """The string constants of a module that are no docstrings."""
    tree = ast.parse(source)
    remarks = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in remarks:
            yield node.value


def texts(value: Any, module: str, depth: int = 4) -> Iterator[str]:
    """The strings in a module's own variables: in tables and collections too, up to a depth."""
    if isinstance(value, str):
        yield value
    elif depth and isinstance(value, Mapping):
        for key, each in value.items():
            if not (isinstance(key, str) and key.startswith("__")):
                yield from texts(key, module, depth - 1)
                yield from texts(each, module, depth - 1)
    elif depth and isinstance(value, (tuple, list, set, frozenset)):
        for each in value:
            yield from texts(each, module, depth - 1)


@cache
def by_mutation() -> frozenset[str]:
    """The requirements seen to hold and to fail for a mutation: of packets, structures, captures and observations."""
    from conformance.judge.attribute_mutations import caught as misread
    from conformance.judge.field_mutations import caught as misplaced
    from conformance.judge.packets import RULES, Result, find, judge_packet
    from conformance.suites.packets.mistakes import caught as mistaken
    from conformance.suites.packets.presence_mistakes import caught as misplaced_or_missing
    from conformance.suites.packets.security_mutations import caught as insecure
    from conformance.suites.stateful.observed_mutations import caught as observed
    from conformance.wire import dissect

    caught = {*observed(), *misplaced(), *misread(), *mistaken(), *misplaced_or_missing(), *insecure()}
    for rule in RULES:
        # A rule that a reading decides is broken for certain under the strict set.
        readings = "strict" if rule.reading else "windows"
        valid, broken = dissect(rule.breaks.valid()), rule.breaks.broken()
        holds = find(rule, valid, readings=readings, transport="buffer").result is Result.HOLDS
        verdicts = judge_packet(broken, profile="msmq-4.0", transport="buffer", readings=readings, level="may")
        failed = {verdict.requirement for verdict in verdicts if verdict.outcome is Outcome.FAIL}
        if holds and rule.requirement in failed:
            caught.add(rule.requirement)
    return frozenset(caught | _structures_by_mutation()) | _by_session_mutation()


def _by_session_mutation() -> frozenset[str]:
    """The requirements of sessions that an edited capture fails, and the capture as it was does not."""
    from conformance.judge.session_edits import captured
    from conformance.judge.session_mutations import MUTATIONS, failed

    names = {mutation.capture for mutation in MUTATIONS.values()}
    clean = {name for name in names if not failed(captured(name))}
    return frozenset(
        requirement
        for requirement, mutation in MUTATIONS.items()
        if mutation.capture in clean and requirement in failed(mutation.broken())
    )


def _structures_by_mutation() -> set[str]:
    """The same of the rules on structures, and of the comparison: bytes moved or changed, blamed as declared."""
    from conformance.judge.structure_mutations import MUTATIONS, QUEUE_FORMATS, caught
    from conformance.judge.structure_rules import RULES
    from conformance.judge.structures import judge_structure
    from conformance.judge.transfer_buffer_mutations import caught as caught_in_buffers

    out = {mutation.requirement for mutation in MUTATIONS if caught(mutation)} | caught_in_buffers()
    for rule in RULES:
        before = judge_structure(rule.structure, rule.breaks.valid(rule.structure))
        after = judge_structure(rule.structure, rule.breaks.broken(rule.structure))
        failed = [{v.requirement for v in found if v.outcome is Outcome.FAIL} for found in (before, after)]
        if rule.requirement in failed[1] - failed[0]:
            out.add(rule.requirement)
    for name, data in QUEUE_FORMATS:
        if {v.requirement for v in judge_structure("QUEUE_FORMAT", data) if v.outcome is Outcome.FAIL} == {name}:
            out.add(name)
    return out


def unclaimed(found: Mapping[str, Iterable[str]]) -> tuple[str, ...]:
    """The requirements of the catalogue that nothing checks, what cannot be checked left out."""
    return tuple(
        entry.id for entry in catalogue() if entry.id not in found and entry.checked not in ("none", "white-box")
    )
