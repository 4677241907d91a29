"""Finds the tests, rules, model branches, faults and mutations that name one requirement.

What only an import of the suites can tell stands in an index, which `python -m tools.covered` writes from the code;
the lines that name a requirement are looked up in the sources.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from importlib import import_module
from pathlib import Path
from typing import Any

from conformance.harness.suite_registry import suites_folder
from conformance.runlog.counts import counted
from conformance.spec.catalogue import Requirement, catalogue
from conformance.suites.claims_index import tests, texts

_MAX_VALUE = 60
"""Characters to show of a mutation's value."""
_ELSEWHERE = ("also", "also_breaks")
"""Members of a mutation that are not the change: values of the packet it starts from, and further requirements."""


@dataclass(frozen=True, slots=True)
class Place:
    """A line that names the requirement. file: relative to the checkout or to the folder the package is installed in.

    line: None where the id is composed when the module is imported. function: the function around it, if any.
    """

    file: str
    line: int | None = None
    function: str | None = None

    def __str__(self) -> str:
        line = "" if self.line is None else f":{self.line}"
        return f"{self.file}{line}{f' in {self.function}' if self.function else ''}"


@dataclass(frozen=True, slots=True)
class Uses:
    """Everything that names one requirement.

    claims: suite to the test functions that claim it. rules: rules of packets and structures by name. judged: code of
    the room `judge`. model: rows of transition tables. branches: code of the model. features: the distinctions that
    situations are made of, by operation. faults: faults of the embedded implementation that declare it, by the suite
    that finds them. mutations: declared ways of breaking it.
    caught: a judged mutation or a recorded fault breaks it. tests: tests of this project; None without a checkout.
    """

    claims: dict[str, tuple[str, ...]]
    rules: tuple[str, ...]
    judged: tuple[Place, ...]
    model: tuple[str, ...]
    branches: tuple[Place, ...]
    features: tuple[str, ...]
    faults: dict[str, str]
    mutations: tuple[str, ...]
    caught: bool
    tests: tuple[Place, ...] | None


def uses_of(entry: Requirement, found: Mapping[str, Any]) -> Uses:
    """Return the uses of a requirement. found: what the index has of it."""
    composed = frozenset(found.get("composed", ()))
    named: dict[str, tuple[str, ...]] = {
        name: tuple(found.get(name, ())) for name in ("rules", "model", "features", "mutations")
    }
    return Uses(
        claims={suite: tuple(functions) for suite, functions in found.get("claims", {}).items()},
        rules=named["rules"],
        judged=tuple(each for each in _code("judge", entry.id, composed) if not each.file.endswith("mutations.py")),
        model=named["model"],
        branches=tuple(each for each in _code("model", entry.id, composed) if not each.file.endswith("/tables.py")),
        features=named["features"],
        faults=dict(found.get("faults", {})),
        mutations=named["mutations"],
        caught=bool(found.get("mutated") or found.get("seen")),
        tests=_tests((entry.id, *entry.aliases)),
    )


def index() -> dict[str, dict[str, Any]]:
    """Return the members of `Uses` that are not looked up in sources, for each requirement that has some.

    Takes some seconds. Raises IndexFailed if the suites cannot be collected.
    """
    from conformance.embedded.faults import FAULTS

    found: dict[str, dict[str, Any]] = {}
    for test in tests():
        for name in test.requirements:
            functions = found.setdefault(name, {}).setdefault("claims", {}).setdefault(test.suite, [])
            if test.function not in functions:
                functions.append(test.function)
    for word, pairs in (
        ("rules", _rules()),
        ("model", _rows()),
        ("features", _features()),
        ("mutations", _mutations()),
        ("composed", _composed()),
    ):
        for name, text in pairs:
            found.setdefault(name, {}).setdefault(word, []).append(text)
    for fault, declared in sorted(FAULTS.items()):
        for name in declared.breaks:
            found.setdefault(name, {}).setdefault("faults", {})[fault] = declared.suite
    return found


def _rules() -> Iterator[tuple[str, str]]:
    from conformance.judge.packets.judge import ALL_RULES
    from conformance.judge.sessions.packets import RULES as SESSION_PACKET_RULES
    from conformance.judge.structures.judge import RULES as STRUCTURE_RULES
    from conformance.judge.structures.transfer_buffer_rules import RULES as BUFFER_RULES

    for rule in ALL_RULES:
        yield rule.requirement, f"packet rule {rule.id}" + (f", decided by {rule.reading}" if rule.reading else "")
    for kind, rules in SESSION_PACKET_RULES.items():
        for each in rules:
            yield each.requirement, f"session rule on {each.field} of {kind}"
    for structure_rule in STRUCTURE_RULES:
        yield structure_rule.requirement, f"structure rule {structure_rule.id} on {structure_rule.structure}"
    for buffer_rule in BUFFER_RULES:
        yield buffer_rule.requirement, f"structure rule {buffer_rule.id} on MQTransferBuffer"


def _rows() -> Iterator[tuple[str, str]]:
    """Yield requirement and row of the model's tables, such as `cursor: Unread --Peek Next--> Unread`."""
    from conformance.model.tables import TABLES

    for name, rows in TABLES.items():
        for row in rows:
            for each in dict.fromkeys(row.requirements if hasattr(row, "requirements") else (row.claim,)):
                yield each, f"{name}: {row.id}"


def _features() -> Iterator[tuple[str, str]]:
    """Yield requirement and feature, such as `queues.create: kind (plain, transactional)`."""
    from conformance.histories.features.table import FEATURES

    for method, table in FEATURES.items():
        for one in table:
            for each in dict.fromkeys(one.steps):
                yield each, f"{method}: {one.name} ({', '.join(one.values)})"


def _composed() -> Iterator[tuple[str, str]]:
    """Yield requirement and file where a module composes the id when it is imported."""
    known = catalogue().requirements
    package = suites_folder().parent
    for room in ("judge", "model"):
        for path in sorted((package / room).rglob("*.py")):
            if "columns" in path.parts:  # compiled from the packet rules; needs an extra
                continue
            nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            written = {node.value for node in nodes if isinstance(node, ast.Constant)}
            module = ".".join(path.relative_to(package.parent).with_suffix("").parts).removesuffix(".__init__")
            for name in sorted(set(texts(vars(import_module(module)), module)) - written):
                if name in known:
                    yield name, path.relative_to(package.parent).as_posix()


def _code(room: str, requirement: str, composed: frozenset[str]) -> Iterator[Place]:
    """Yield the lines of a room's modules that name it, and the modules that compose its id."""
    package = suites_folder().parent
    for path in sorted((package / room).rglob("*.py")):
        file = path.relative_to(package.parent).as_posix()
        source = path.read_text(encoding="utf-8")
        if file in composed:
            yield Place(file)
        elif requirement in source:
            yield from (Place(file, *place) for place in _lines(source, requirement))


def _lines(source: str, requirement: str) -> Iterator[tuple[int, str | None]]:
    """Yield line and function of each literal, and of each use of a module constant that holds the literal."""
    tree = ast.parse(source)
    constants = {
        target.id
        for node in tree.body
        if isinstance(node, ast.Assign) and _is_made_of(node.value, requirement)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    seen: dict[tuple[int, str | None], None] = {}

    def visit(node: ast.AST, function: str | None) -> None:
        if isinstance(node, ast.FunctionDef):
            function = node.name
        literal = isinstance(node, ast.Constant) and node.value == requirement
        used = isinstance(node, ast.Name) and node.id in constants and isinstance(node.ctx, ast.Load)
        if (literal or used) and isinstance(node, ast.expr):
            seen[(node.lineno, function)] = None
        for child in ast.iter_child_nodes(node):
            visit(child, function)

    visit(tree, None)
    yield from sorted(seen, key=lambda each: each[0])


def _is_made_of(node: ast.expr, requirement: str) -> bool:
    """Return True for the id itself or a call such as `requirement_id` of the id alone."""
    inner = node.args[0] if isinstance(node, ast.Call) and len(node.args) == 1 else node
    return isinstance(inner, ast.Constant) and inner.value == requirement


def _mutations() -> Iterator[tuple[str, str]]:
    """Yield requirement and description of every declared mutation."""
    from conformance.judge.packets.attribute_compare import PACKED_ATTRIBUTES
    from conformance.judge.packets.field_compare import PLACES, REGIONS
    from conformance.judge.packets.judge import ALL_RULES
    from conformance.judge.sessions.mutations import MUTATIONS as SESSIONS
    from conformance.judge.structures.judge import RULES as STRUCTURE_RULES
    from conformance.judge.structures.mutations import MUTATIONS as STRUCTURES
    from conformance.judge.structures.mutations import QUEUE_FORMATS
    from conformance.judge.structures.transfer_buffer import changes
    from conformance.judge.structures.transfer_buffer_rules import RULES as BUFFER_RULES
    from conformance.suites.packets.mistakes import MISTAKES, WRONG
    from conformance.suites.packets.mistakes import PRESENCE_MISTAKES as PRESENCE

    for rule in ALL_RULES:
        yield rule.requirement, f"packet with {_changed(rule.breaks)}"
    for structure_rule in STRUCTURE_RULES:
        yield structure_rule.requirement, f"{structure_rule.structure} with {_changed(structure_rule.breaks)}"
    for buffer_rule in BUFFER_RULES:
        yield buffer_rule.requirement, f"MQTransferBuffer with {_changed(buffer_rule.breaks)}"
    for name, mutation in SESSIONS.items():
        yield name, f"capture {mutation.capture} with {counted(len(mutation.edits), 'edit')}"
    for written in STRUCTURES:
        yield written.requirement, f"{written.structure} written wrongly"
    for name, _ in QUEUE_FORMATS:
        yield name, "QUEUE_FORMAT written wrongly"
    for change in changes():
        for name in sorted(change.breaks):
            yield name, f"MQTransferBuffer with {change.name} changed"
    for place in PLACES:
        yield place.requirement, f"packet with {', '.join(place.keys)} written elsewhere"
    for region in REGIONS:
        yield region.requirement, f"packet with {region.within} moved"
    for attribute in PACKED_ATTRIBUTES:
        yield attribute.requirement, f"message read with another {attribute.member}"
    for mistake in MISTAKES:
        yield mistake.requirement, f"packet encoded wrongly, of a message with {', '.join(mistake.message)}"
    for absent in PRESENCE:
        yield absent.requirement, f"packet encoded wrongly, of a message with {', '.join(absent.message)}"
    for wrong in WRONG:
        yield wrong.breaks, f"SecurityHeader with {counted(wrong.size, 'byte')} at {wrong.at} changed"


def _changed(mutation: Any) -> str:
    """Describe the members of a mutation that differ from their default, without those of _ELSEWHERE."""
    told = [
        f"{each.name} {_short(value)}"
        for each in fields(mutation)
        if (value := getattr(mutation, each.name)) and value != each.default and each.name not in _ELSEWHERE
    ]
    return ", ".join(told) or "a change"


def _short(value: Any) -> str:
    text = ", ".join(f"{key}={each!r}" for key, each in value.items()) if isinstance(value, dict) else repr(value)
    return text if len(text) <= _MAX_VALUE else f"{text[:_MAX_VALUE]}..."


def _tests(names: tuple[str, ...]) -> tuple[Place, ...] | None:
    """Find the lines of the checkout's tests that name one of these; None for an installation without a checkout."""
    root = suites_folder().parents[1]
    if not (root / "pyproject.toml").is_file() or not (root / "tests").is_dir():
        return None
    return tuple(place for path in sorted((root / "tests").rglob("*.py")) for place in _mentions(path, root, names))


def _mentions(path: Path, root: Path, names: tuple[str, ...]) -> Iterator[Place]:
    source = path.read_text(encoding="utf-8", errors="replace")
    for name in names:
        if name in source:
            for number, line in enumerate(source.splitlines(), 1):
                if re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", line):
                    yield Place(path.relative_to(root).as_posix(), number)
