"""The requirements that each fault broke when it was last tried, as `mqconform selftest --update` wrote them.

`seen.json` has, by fault, a digest of its source and the requirements whose checks failed, in the order of failure:
each round switches off the checks that failed in the round before. A digest that differs shows that the fault changed.
"""

from __future__ import annotations

import ast
import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path

from conformance.embedded.faults.base import Fault

SEEN = Path(__file__).with_name("seen.json")
_PACKAGE = "conformance.embedded.faults."
_DECLARED = frozenset({"breaks", "first_seen_as", "because"})  # what is said of a fault is not what it does
_REQUIREMENT = re.compile(r"\"MQ[A-Z]+-[^\"]+\"")
_LAYOUT = re.compile(r"[\s,()]+")


@dataclass(frozen=True, slots=True)
class Seen:
    """source: the digest of the fault that was tried. requirements: what failed, the first failure first.

    followed: runs went on until nothing failed. If not, only the first failure was seen; the others are expected.
    """

    source: str
    requirements: tuple[str, ...]
    followed: bool = True


@cache
def seen() -> Mapping[str, Seen]:
    """Return the record of each fault."""
    stored = json.loads(SEEN.read_text(encoding="utf-8"))
    return {name: Seen(one["source"], tuple(one["seen"]), one["followed"]) for name, one in stored.items()}


def shows_as(fault: type[Fault]) -> tuple[str, ...]:
    """Return the requirements beside those it breaks that a fault was seen as, or is expected to be (`Seen.followed`).

    Empty for a fault without record.
    """
    found = seen().get(fault.name)
    return tuple(each for each in found.requirements if each not in fault.breaks) if found is not None else ()


def recorded_text(records: Mapping[str, Seen]) -> str:
    """Return the text of `seen.json`: a line for each fault, so that a diff shows what has changed."""
    lines = [
        f"{json.dumps(name)}: "
        + json.dumps({"source": one.source, "followed": one.followed, "seen": list(one.requirements)})
        for name, one in sorted(records.items())
    ]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def digest(fault: type[Fault]) -> str:
    """Return a digest of the code that makes the deviation, with its helpers, without layout and what is declared."""
    module = _module(fault.__module__)
    texts = _closure(fault.__module__, [fault.__name__] if fault.__name__ in module.texts else list(module.texts))
    plain = _LAYOUT.sub("", _REQUIREMENT.sub("", "".join(sorted(texts))))
    return hashlib.sha256(plain.encode()).hexdigest()[:12]


@dataclass(frozen=True, slots=True)
class _Module:
    """texts, uses: of each definition. imported: names from other modules of faults, with the module."""

    texts: Mapping[str, str]
    uses: Mapping[str, frozenset[str]]
    imported: Mapping[str, str]


@cache
def _module(name: str) -> _Module:
    source = Path(str(import_module(name).__file__)).read_text(encoding="utf-8")
    lines = source.splitlines()
    texts: dict[str, str] = {}
    uses: dict[str, frozenset[str]] = {}
    imported: dict[str, str] = {}
    for node in ast.parse(source).body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(_PACKAGE):
            imported |= {each.name: str(node.module) for each in node.names}
        elif not isinstance(node, ast.Import | ast.ImportFrom):
            kept = [part for part in node.body if not _declares(part)] if isinstance(node, ast.ClassDef) else [node]
            bases = [ast.unparse(base) for base in node.bases] if isinstance(node, ast.ClassDef) else []
            used = {each.id for part in [node] for each in ast.walk(part) if isinstance(each, ast.Name)}
            text = "\n".join(line for part in kept for line in lines[_first(part) - 1 : part.end_lineno])
            for defined in _defined(node):
                texts[defined] = "\n".join([*bases, *(re.sub(r"\s#\s.*", "", line) for line in text.splitlines())])
                uses[defined] = frozenset(used)
    return _Module(texts, uses, imported)


def _closure(name: str, wanted: Iterable[str]) -> set[str]:
    """The texts of these definitions and of all that they use."""
    found: set[str] = set()
    done: set[tuple[str, str]] = set()
    ahead = [(name, each) for each in wanted]
    while ahead:
        place, one = ahead.pop()
        module = _module(place)
        if one in module.imported:
            place, module = module.imported[one], _module(module.imported[one])
        if (place, one) not in done and one in module.texts:
            done.add((place, one))
            found.add(module.texts[one])
            ahead += [(place, each) for each in module.uses[one]]
    return found


def _declares(node: ast.stmt) -> bool:
    if isinstance(node, ast.Assign):
        return any(isinstance(each, ast.Name) and each.id in _DECLARED for each in node.targets)
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _defined(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.ClassDef | ast.FunctionDef):
        return [node.name]
    if isinstance(node, ast.Assign):
        return [each.id for each in node.targets if isinstance(each, ast.Name)]
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        return [node.target.id]
    return [f"line {node.lineno}"] if isinstance(node, ast.For | ast.Expr) else []


def _first(node: ast.stmt) -> int:
    decorators = node.decorator_list if isinstance(node, ast.ClassDef | ast.FunctionDef) else []
    return min([node.lineno, *(each.lineno for each in decorators)])
