"""The generated files: `grammars/*.lark` and `fixtures/names/witnesses.toml`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from conformance.grammar.lark_text import LarkText, read_lark, to_lark
from conformance.grammar.sources import RULES, SETS, VERSIONS, load_set, reading_set
from conformance.grammar.tree import Grammar
from conformance.grammar.witnesses import to_toml
from conformance.resources import resource

WITNESSES = "fixtures/names/witnesses.toml"

# `permissive` accepts more alternatives than `windows`, with the same defaults: its grammars would be the same files.
LARK_SETS = ("windows", "strict")


def lark_name_of(form: str, version: str, readings: str) -> str:
    """File name of the Lark grammar of a form of names, such as `path_name`."""
    return f"names-{version}-{readings}-{form.replace('_', '-')}.lark"


def lark_grammars() -> Iterator[tuple[str, Grammar, str]]:
    """File name, grammar and start rule of every Lark grammar that ships."""
    for version in VERSIONS:
        for readings in LARK_SETS:
            grammar = load_set("names", version, reading_set(readings))
            for form, rule in RULES.items():
                yield lark_name_of(form, version, readings), grammar, rule
    for name, source in SETS.items():
        if not source.versioned:
            for rule in source.starts:
                yield f"{name}.lark", load_set(name), rule


def shipped(form: str, version: str, readings: str = "windows") -> LarkText:
    """The Lark grammar of a form of names, from its file. Raises FileNotFoundError for a set without files."""
    return read_lark(resource(f"grammars/{lark_name_of(form, version, readings)}").read_text(encoding="utf-8"))


def stale() -> list[str]:
    """The generated files that are missing or not what would be generated, the choice of parser aside."""
    found = []
    for name, grammar, rule in lark_grammars():
        try:
            text = resource(f"grammars/{name}").read_text(encoding="utf-8")
            known = read_lark(text)
        except (FileNotFoundError, ValueError):
            found.append(f"grammars/{name}")
            continue
        if to_lark(grammar, rule, chosen=(known.parser, known.why)).text != text:
            found.append(f"grammars/{name}")
    try:
        fresh = resource(WITNESSES).read_text(encoding="utf-8") == to_toml()
    except FileNotFoundError:
        fresh = False
    return found if fresh else [*found, WITNESSES]


def build(root: Path) -> list[str]:
    """Write the generated files below `root`; the names of those that changed."""
    changed = []
    files = [(f"grammars/{name}", grammar, rule) for name, grammar, rule in lark_grammars()]
    for name, grammar, rule in files:
        changed += _written(root, name, to_lark(grammar, rule).text)
    return [*changed, *_written(root, WITNESSES, to_toml())]


def _written(root: Path, name: str, text: str) -> list[str]:
    path = root / name
    if path.exists() and path.read_text(encoding="utf-8") == text:
        return []
    path.write_text(text, encoding="utf-8")
    return [name]
