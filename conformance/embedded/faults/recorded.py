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


@dataclass(frozen=True, slots=True)
class Seen:
    """source: the digest of the fault that was tried. requirements: what failed, the first failure first.

    followed: runs went on until nothing failed. If not, only the first failure was seen; the others are expected.
    suite: the digest of what has judged it; empty in records of former versions.
    """

    source: str
    requirements: tuple[str, ...]
    followed: bool = True
    suite: str = ""


@cache
def recorded_faults() -> Mapping[str, Seen]:
    """Return the record of each fault."""
    stored = json.loads(SEEN.read_text(encoding="utf-8"))
    return {
        name: Seen(one["source"], tuple(one["seen"]), one["followed"], one.get("suite", ""))
        for name, one in stored.items()
    }


def shows_as(fault: Fault) -> tuple[str, ...]:
    """Return the requirements beside those it breaks that a fault was seen as, or is expected to be (`Seen.followed`).

    Empty for a fault without record.
    """
    found = recorded_faults().get(fault.name)
    return tuple(each for each in found.requirements if each not in fault.breaks) if found is not None else ()


def recorded_text(records: Mapping[str, Seen]) -> str:
    """Return the text of `seen.json`: a line for each fault, so that a diff shows what has changed."""
    lines = []
    for name, one in sorted(records.items()):
        suite = {"suite": one.suite} if one.suite else {}
        stored = {"source": one.source, **suite, "followed": one.followed, "seen": list(one.requirements)}
        lines.append(f"{json.dumps(name)}: {json.dumps(stored)}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def digest(fault: Fault) -> str:
    """Return a digest of the code that makes the deviation, with its helpers, without layout and what is declared."""
    texts = _closure(fault.module, [each.__qualname__.partition(".")[0] for each in fault.source if _is_code(each)])
    texts |= {_value(each) for each in fault.source if not _is_code(each)}
    texts |= {_value(cell.cell_contents) for each in fault.source for cell in getattr(each, "__closure__", None) or ()}
    return hashlib.sha256("".join(sorted(texts)).encode()).hexdigest()[:12]


def _is_code(made: object) -> bool:
    return hasattr(made, "__qualname__") and "<lambda>" not in made.__qualname__


def _value(value: object) -> str:
    """Return what is digested of a value of a table: the place of an object in memory is none of it."""
    code = getattr(value, "__code__", None)
    text = repr(value) if code is None else f"{code.co_names}{code.co_consts}"
    return re.sub(" at 0x[^>]+", "", text)


@dataclass(frozen=True, slots=True)
class _Module:
    """texts, uses: of each definition. imported: names from other modules of faults, with the module."""

    texts: Mapping[str, str]
    uses: Mapping[str, frozenset[str]]
    imported: Mapping[str, str]


@cache
def _module(name: str) -> _Module:
    texts: dict[str, str] = {}
    uses: dict[str, frozenset[str]] = {}
    imported: dict[str, str] = {}
    for node in ast.parse(Path(str(import_module(name).__file__)).read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(_PACKAGE):
            imported |= {each.name: str(node.module) for each in node.names}
        for defined in _defined(node):
            texts[defined] = _text(node)
            uses[defined] = frozenset(each.id for each in ast.walk(node) if isinstance(each, ast.Name))
    return _Module(texts, uses, imported)


def _text(node: ast.stmt) -> str:
    """Return the code of a definition without its docstring, and of its decorator what it is in place of."""
    if not isinstance(node, ast.ClassDef | ast.FunctionDef):
        return ast.unparse(node)
    body = [part for part in node.body if not (isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant))]
    places = [each.args[1] for each in node.decorator_list if isinstance(each, ast.Call) and len(each.args) > 1]
    bases = node.bases if isinstance(node, ast.ClassDef) else [node.args]
    return "\n".join(ast.unparse(each) for each in (*places, *bases, *body))


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


def _defined(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.ClassDef | ast.FunctionDef):
        return [node.name]
    if isinstance(node, ast.Assign):
        return [each.id for each in node.targets if isinstance(each, ast.Name)]
    return [node.target.id] if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) else []
