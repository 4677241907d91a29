"""Finds a circle of modules that import each other, where imports in functions count as any other."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent


def circle(top: Path = TOP) -> list[str]:
    """Return the modules of one circle in conformance/, the first again at the end; none if there is no circle."""
    files = {_dotted(file.relative_to(top)): file for file in top.glob("conformance/**/*.py")}
    graph = {name: set(_imports(ast.parse(file.read_bytes()), set(files))) - {name} for name, file in files.items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def _dotted(file: Path) -> str:
    return ".".join(file.with_suffix("").parts).removesuffix(".__init__")


def _imports(node: ast.AST, known: set[str]) -> Iterator[str]:
    if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
        return
    if isinstance(node, ast.Import):
        yield from (each.name for each in node.names if each.name in known)
    elif isinstance(node, ast.ImportFrom):
        names = [f"{node.module}.{each.name}" for each in node.names]
        yield from (name if name in known else str(node.module) for name in names if {name, node.module} & known)
    for child in ast.iter_child_nodes(node):
        yield from _imports(child, known)
