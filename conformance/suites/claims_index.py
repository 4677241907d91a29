"""Index of the requirements that the harness claims to check, computed from the code that checks them.

A requirement is claimed if the marker of a conformance test, a packet rule, a session rule or a branch of the model
names it. `by_mutation` judges mutations, to find the requirements whose check tells right from wrong.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import Any

from conformance.harness.suite_registry import suites, suites_folder
from conformance.harness.test_selection import Claiming, NotCollected, collected
from conformance.spec.catalogue import catalogue
from conformance.verdict import Outcome

# The rooms whose code judges: they judge every id that they name.
_ROOMS = ("judge", "model", "activex")
# Machine code compiled from the rules, which are indexed themselves. It needs an extra; the index must not.
_COMPILED = "columns"


class IndexFailed(RuntimeError):
    """The suites cannot be collected, so their claims are unknown. The message is one sentence."""


def claims() -> Mapping[str, tuple[str, ...]]:
    """Map requirement ids to their checks: `suite cursors: test_walk`, `packet rule`, `conformance.model.reads`.

    Collects the suites as for a run, which takes a second or two. Raises IndexFailed when that fails.
    """
    found: dict[str, dict[str, None]] = defaultdict(dict)
    for name, by in (*_by_marker(), *_by_packet_rule(), *_by_code()):
        found[name][by] = None
    known = catalogue().requirements
    return {name: tuple(found[name]) for name in known if name in found}


def tests() -> list[Claiming]:
    """Collect the tests of all suites, which takes a second or two. Raises IndexFailed."""
    try:
        return collected(module for modules in suites().values() for module in modules)
    except NotCollected as error:
        raise IndexFailed(f"The suites cannot be collected, so their claims are not known: {error}") from None


def _by_marker() -> Iterator[tuple[str, str]]:
    """Yield the requirements that the markers of the suites' tests name."""
    for test in tests():
        for name in test.requirements:
            yield name, f"suite {test.suite}: {test.function}"


def _by_packet_rule() -> Iterator[tuple[str, str]]:
    from conformance.judge.packets.judge import ALL_RULES
    from conformance.judge.sessions.packets import RULES as SESSION_PACKET_RULES
    from conformance.judge.structures.judge import RULES as STRUCTURE_RULES
    from conformance.judge.structures.transfer_buffer_rules import RULES as BUFFER_RULES

    for rule in ALL_RULES:
        yield rule.requirement, "packet rule"
    for rules in SESSION_PACKET_RULES.values():
        for each in rules:
            yield each.requirement, "session packet rule"
    for structure_rule in STRUCTURE_RULES:
        yield structure_rule.requirement, "structure rule"
    for buffer_rule in BUFFER_RULES:
        yield buffer_rule.requirement, "structure rule"


def _by_code() -> Iterator[tuple[str, str]]:
    """Yield the ids that modules of the judging rooms name, as literals or composed when the module is imported."""
    known = catalogue().requirements
    package = suites_folder().parent
    for room in _ROOMS:
        for path in sorted((package / room).rglob("*.py")):
            parts = path.relative_to(package).with_suffix("").parts
            if room == "judge" and _COMPILED in parts:
                continue
            module = ".".join(("conformance", *parts))
            module = module.removesuffix(".__init__")
            names = {name for name in literals(path.read_text(encoding="utf-8")) if name in known}
            names |= {name for name in texts(vars(import_module(module)), module) if name in known}
            for name in sorted(names):
                yield name, module


def literals(source: str) -> Iterator[str]:
    """Yield the string constants of a module except docstrings."""
    tree = ast.parse(source)
    remarks = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in remarks:
            yield node.value


def texts(value: Any, module: str, depth: int = 4) -> Iterator[str]:
    """Yield the strings in a module's own variables, also inside tables and collections, up to a depth."""
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
    """Return the requirements that hold before and fail after a mutation of a packet, structure, capture or answer."""
    from conformance.activex.all_plans import caught_in_client_plans, caught_in_descriptions, caught_in_services_plans
    from conformance.activex.library import caught_in_library as misdescribed
    from conformance.activex.scenes import caught_in_reads as answered
    from conformance.histories.observed_mutations import caught as observed
    from conformance.judge.packets.attribute_compare import caught as misread
    from conformance.judge.packets.field_compare import caught as misplaced
    from conformance.judge.packets.judge import ALL_RULES, REMOTE_RULES, Result, find, judge_packet
    from conformance.suites.packets.mistakes import caught as mistaken
    from conformance.suites.packets.mistakes import presence_caught as misplaced_or_missing
    from conformance.suites.packets.mistakes import security_caught as insecure
    from conformance.wire import dissect

    caught = {*answered(), *observed(), *misplaced(), *misread(), *mistaken(), *misplaced_or_missing(), *insecure()}
    caught |= caught_in_client_plans() | misdescribed() | caught_in_services_plans() | caught_in_descriptions()
    remote = frozenset(rule.id for rule in REMOTE_RULES)
    for rule in ALL_RULES:
        # The strict readings surely find a mutation of a rule that depends on a reading.
        readings = "strict" if rule.reading else "windows"
        transport = "remote" if rule.id in remote else "buffer"
        valid, broken = dissect(rule.breaks.valid()), rule.breaks.broken()
        holds = find(rule, valid, readings=readings, transport=transport).result is Result.HOLDS
        verdicts = judge_packet(broken, profile="msmq-4.0", transport=transport, readings=readings, level="may")
        failed = {verdict.requirement for verdict in verdicts if verdict.outcome is Outcome.FAIL}
        if holds and rule.requirement in failed:
            caught.add(rule.requirement)
    return frozenset(caught | _structures_by_mutation()) | _by_session_mutation()


def _by_session_mutation() -> frozenset[str]:
    """Return the session requirements that an edited capture fails and the original does not."""
    from conformance.judge.sessions.mutations import MUTATIONS, captured, failed

    names = {mutation.capture for mutation in MUTATIONS.values()}
    clean = {name for name in names if not failed(captured(name))}
    return frozenset(
        requirement
        for requirement, mutation in MUTATIONS.items()
        if mutation.capture in clean and requirement in failed(mutation.broken(), mutation.readings)
    )


def _structures_by_mutation() -> set[str]:
    """Do the same for structure rules and member comparisons: moved or changed bytes fail the declared requirement."""
    from conformance.judge.structures.judge import RULES, judge_structure
    from conformance.judge.structures.mutations import MUTATIONS, QUEUE_FORMATS, caught
    from conformance.judge.structures.transfer_buffer import caught as caught_in_buffers

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
    """Return the checkable requirements of the catalogue that nothing checks."""
    return tuple(entry.id for entry in catalogue() if entry.id not in found and entry.checkable)
