"""Print catalogue entries to fill in, one for each demand of a document.

    python -m tools.skeleton DOC FILE [--section 2.2.19] [--kind field] [--missing] [--list]

DOC is an audited document, such as MQMQ. `--section` takes that section and all below it; `--missing` leaves out what
the catalogue has. `--list` prints line, id, source and text instead, for reading beside the document: what it prints is
the document's own text and does not belong in the project.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from conformance.spec.catalogue import catalogue
from tools.audit.document import KNOWN, AuditError, read_document
from tools.audit.extract import extract
from tools.audit.items import KINDS, Item
from tools.audit.text import Demand
from tools.skeleton_guess import guessed, role
from tools.skeleton_says import said


def entries(items: Iterable[Item], titles: Mapping[str, str]) -> Iterator[str]:
    """TOML of an entry for each demand of each item; a sentence about both ends of a transfer gives two."""
    originals: dict[str, str] = {}
    for item in items:
        # A later declaration of the same name repeats the first: the full listing at the end of a document.
        repeats = originals.get(item.identifier or "") if item.kind in ("declaration", "enumeration") else None
        if item.kind in ("declaration", "enumeration") and item.identifier:
            originals.setdefault(item.identifier, item.id)
        asked: Sequence[Demand | None] = item.demands or (None,)
        for demand in asked:
            suffix = f"-{demand.role}" if demand is not None and len(asked) > 1 else ""
            yield _entry(item, demand, suffix, titles, repeats)


def _entry(item: Item, demand: Demand | None, suffix: str, titles: Mapping[str, str], repeats: str | None) -> str:
    guess = guessed(item, demand)
    says = said(item, titles)
    lines = [
        "[[requirement]]",
        f"id = {_quoted(item.id + suffix)}",
        f"level = {_quoted(demand.level if demand else 'must')}",
        f"role = {_quoted(role(item, demand))}",
        f"checked = {_quoted('none' if repeats else guess.checked)}",
    ]
    reason = f"duplicate-of {repeats}" if repeats else guess.reason
    if reason:
        lines.append(f"reason = {_quoted(reason)}")
    elif guess.needs:
        lines.append(f"needs = {_quoted(guess.needs)}")
    lines += [f"kind = {_quoted(item.kind)}", f"source = [{_quoted(item.source)}]", f"says = {_quoted(says)}"]
    if says:
        lines.append("generated = true")
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    # A JSON string is a TOML basic string as long as it has no characters outside ASCII to escape as surrogates.
    return json.dumps(text, ensure_ascii=False)


def chosen(items: Iterable[Item], section: str | None, kinds: Sequence[str], missing: bool) -> list[Item]:
    """The items of a section and those below it, of some kinds, without those the catalogue has."""
    claimed = {source for entry in catalogue() for source in entry.source} if missing else set()
    return [
        item
        for item in items
        if (section is None or item.section == section or item.section.startswith(section + "."))
        and (not kinds or item.kind in kinds)
        and item.source not in claimed
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print to stdout. 0 when something was printed; 2, with one sentence on stderr, for a wrong file or selection."""
    parser = argparse.ArgumentParser(prog="skeleton", description="Print catalogue entries to fill in.")
    parser.add_argument("document", choices=tuple(KNOWN))
    parser.add_argument("file", type=Path)
    parser.add_argument("--section", help="this section and those below it")
    parser.add_argument("--kind", action="append", default=[], choices=KINDS, help="only items of this kind")
    parser.add_argument("--missing", action="store_true", help="only items the catalogue has no entry for")
    parser.add_argument("--list", action="store_true", help="line, id, source and text, for reading only")
    options = parser.parse_args(arguments)
    try:
        document = read_document(options.file)
    except AuditError as error:
        print(error, file=sys.stderr)
        return 2
    if document.name != options.document:
        print(f"{options.file} is {document.name}, not {options.document}; name the right file", file=sys.stderr)
        return 2
    items = chosen(extract(document), options.section, options.kind, options.missing)
    if not items:
        print("no item is left by these options; --section takes a number such as 2.2.19", file=sys.stderr)
        return 2
    if options.list:
        for item in items:
            print(item.line, item.kind, item.id, item.source, item.text, sep="\t")
    else:
        for entry in entries(items, document.titles):
            print(entry)
    return 0


if __name__ == "__main__":
    sys.exit(main())
