"""Builds and checks the generated files: `grammars/*.lark` and `fixtures/names/witnesses.toml`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from conformance.files import resource, write_text
from conformance.grammar.abnf import Grammar
from conformance.grammar.names import LarkText, lark_name_of, read_lark, to_lark
from conformance.grammar.sources import RULES, SETS, VERSIONS, WITNESSES, load_set, reading_set
from tools.grammar_witnesses import to_toml, tried

Progress = Callable[[int, int, str], None]
"""Called with (files done, files in all, the name of the current file)."""

# `permissive` accepts more alternatives than `windows`, with the same defaults: its grammars would be the same files.
LARK_SETS = ("windows", "strict")


def lark_grammars() -> Iterator[tuple[str, Grammar, str]]:
    """Yield file name, grammar and start rule of every Lark grammar that ships."""
    for version in VERSIONS:
        for readings in LARK_SETS:
            grammar = load_set("names", version, reading_set(readings))
            for form, rule in RULES.items():
                yield lark_name_of(form, version, readings), grammar, rule
    for name, source in SETS.items():
        if not source.versioned:
            for rule in source.starts:
                yield f"{name}.lark", load_set(name), rule


def stale(*, thorough: bool = False, on_progress: Progress = lambda done, total, name: None) -> list[str]:
    """Return the generated files that are missing or out of date.

    thorough: choose the parsers and compute the witnesses again, which takes minutes. Otherwise the parsers are
    trusted, and the witnesses of the newest version are only tried: they must distinguish alternatives as recorded.
    """
    found = []
    files = list(lark_grammars())
    for done, (name, grammar, rule) in enumerate(files):
        on_progress(done, len(files) + 1, name)
        try:
            text = resource(f"grammars/{name}").read_text(encoding="utf-8")
            known = read_lark(text)
        except (FileNotFoundError, ValueError):
            found.append(f"grammars/{name}")
            continue
        chosen = None if thorough else (known.parser, known.why)
        if to_lark(grammar, rule, chosen=chosen).text != text:
            found.append(f"grammars/{name}")
    on_progress(len(files), len(files) + 1, WITNESSES)
    try:
        text = resource(WITNESSES).read_text(encoding="utf-8")
    except FileNotFoundError:
        return [*found, WITNESSES]
    fresh = text == to_toml() if thorough else tried(text)
    return found if fresh else [*found, WITNESSES]


def build(root: Path, *, on_progress: Progress = lambda done, total, name: None) -> list[str]:
    """Write the generated files below `root`; return the names of those that changed."""
    changed = []
    files = [(f"grammars/{name}", grammar, rule) for name, grammar, rule in lark_grammars()]
    for done, (name, grammar, rule) in enumerate(files):
        on_progress(done, len(files) + 1, name)
        changed += _written(root, name, to_lark(grammar, rule).text)
    on_progress(len(files), len(files) + 1, WITNESSES)
    return [*changed, *_written(root, WITNESSES, to_toml())]


def _written(root: Path, name: str, text: str) -> list[str]:
    path = root / name
    if path.exists() and path.read_text(encoding="utf-8") == text:
        return []
    write_text(path, text)
    return [name]


def shipped(form: str, version: str, readings: str = "windows") -> LarkText:
    """Read the Lark grammar of a form of names from its file. Raises FileNotFoundError for a set without files."""
    return read_lark(resource(f"grammars/{lark_name_of(form, version, readings)}").read_text(encoding="utf-8"))
