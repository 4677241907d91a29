"""Reads tables, product notes and grammar rules in the form of MS-MQMQ and MS-MQDMPR."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tools.audit.document import Block, Document
from tools.audit.items import Draft, marks
from tools.audit.text import collapsed, plain
from tools.audit.words import groups, spelled

ABNF_RULE = re.compile(r"^([A-Za-z][A-Za-z0-9-]*)\s*=(?!=)")
_PART = re.compile(r'"[^"]*"|;[^\n]*|([A-Za-z][A-Za-z0-9-]*)\s*=(?!=)')
_PROSE = re.compile(r"^(?:<\d+>|[A-Z][a-z]+\b).*\b(?:the|is|are|as|a|be|this|of)\b.*[.:]$|^Where:?$|\*\*|\]\(")
_SEPARATOR = re.compile(r"^\|(?:\s*:?-+:?\s*\|)+$")


@dataclass(frozen=True, slots=True)
class TableRow:
    """A data row of a table. header: the cells of the table's first row; cells: without markup."""

    block: Block
    header: tuple[str, ...]
    cells: tuple[str, ...]


def rows(blocks: Sequence[Block]) -> Iterator[TableRow]:
    """Yield the data rows of the tables among `blocks`, without headers and separators."""
    header: tuple[str, ...] = ()
    last = -2
    for at, block in enumerate(blocks):
        if block.shape != "row":
            continue
        starts = at != last + 1
        last = at
        if starts:
            header = cells(block)
        elif at + 1 < len(blocks) and blocks[at + 1].shape == "row" and _SEPARATOR.match(blocks[at + 1].raw):
            header = cells(block)  # a second table directly after the first
        elif not _SEPARATOR.match(block.raw):
            yield TableRow(block, header, cells(block))


def cells(block: Block) -> tuple[str, ...]:
    """Return the cells of a row without markup."""
    return tuple(plain(cell)[0] for cell in block.raw.strip().strip("|").split("|"))


def row_draft(row: TableRow, context: str = "") -> Draft:
    """Return a table row as an item, which includes the header of each cell."""
    # If the first column is "Variable" in every row, the name is in the next one.
    name = row.cells[1] if row.cells[0] == "Variable" and len(row.cells) > 1 else row.cells[0]
    over = row.header[0] if re.match(r"^(?:0x[0-9A-Fa-f]+|\d+)$", name) and "." in row.header[0] else ""
    return Draft(
        section=row.block.section,
        kind="table-row",
        line=row.block.line,
        text=" | ".join(row.cells),
        context=" | ".join((context, *row.header)),
        identifier=name or None,
        marked=marks(row.block.raw),
        prefix=(*spelled(context), *spelled(over), *(spelled(name) if len(name) < 60 else ()), "row"),
        detail=tuple(zip(row.header, row.cells, strict=False)),
    )


def product_notes(blocks: Sequence[Block], document: Document) -> Iterator[Draft]:
    """Yield the notes of the appendix on products, each with the paragraphs, rows and rules that follow it.

    A note is named after the place that refers to it: many say the same about different fields or methods.
    """
    places = {number: block for block in document.blocks if block.shape != "note" for number in block.notes}
    note: Block | None = None
    lines: list[str] = []
    for block in (*blocks, None):
        if block is None or block.shape == "note":
            if note is not None:
                yield _note_draft(note, lines, document.titles, places)
            note, lines = block, []
        elif note is not None:
            lines.append(block.text)


def _note_draft(note: Block, lines: Sequence[str], titles: Mapping[str, str], places: Mapping[int, Block]) -> Draft:
    section, _, text = note.text.partition(": ")
    place = places.get(note.notes[0])
    about = spelled(re.sub(r"\(.*", "", titles.get(section, section)))
    if place is not None and place.section.startswith(section):
        head = re.split(r"[\t|:(]", place.text.strip("| "))[0]
        named = groups(head, marks(place.raw))[:2] if head not in ("Description", "Return Values") else []
        about += tuple(piece for group in named if group != about for piece in group)
    return Draft(
        section=note.section,
        kind="product-note",
        line=note.line,
        text=collapsed(" ".join((text, *lines))),
        context=section,
        identifier=f"<{note.notes[0]}>",
        marked=marks(note.raw),
        prefix=("note", *about),
        detail=(("note", str(note.notes[0])), ("of", section)),
    )


def grammar_rules(blocks: Sequence[Block]) -> Iterator[Draft]:
    """Yield the ABNF rules of one section. Every line of a rule is a paragraph, not indented; blank lines end nothing.

    A rule begins where a paragraph has `name =` after one that announces ABNF, or within a line if it is joined to
    another rule. Prose between rules selects a version and is part of a rule's context.
    """
    announced, context = False, ""
    pending: list[str] = []
    start: Block | None = None
    for block in (*blocks, None):
        line = block.raw if block is not None else ""
        prose = block is None or block.shape != "paragraph" or bool(_PROSE.search(line))
        begins = announced and not prose and bool(ABNF_RULE.match(line))
        if (prose or begins) and start is not None:
            yield from _glued(start, "\n".join(pending), context)
            pending, start = [], None
        if block is None:
            break
        if begins:
            start, pending = block, [line]
        elif start is not None:
            pending.append(line)
        elif "ABNF" in line:
            announced, context = True, _versions(line)
        elif prose and re.match(r"For MSMQ|For Windows", line):
            context = _versions(line)
        if block.shape == "row" and "%x" in line:
            for cell in line.strip("|").split("|"):
                if ABNF_RULE.match(cell.strip()):
                    yield from _glued(block, re.split(r"\sWhere\b", cell.strip())[0], line.split("|")[1].strip())


def _versions(line: str) -> str:
    # Two versions side by side mean a range from one to the other: the word between them is lost.
    return " to ".join(re.findall(r"MSMQ \d+\.\d+", line)) or ", ".join(re.findall(r"Windows [A-Z0-9]\w*", line))


def _glued(start: Block, text: str, context: str) -> Iterator[Draft]:
    places = [match for match in _PART.finditer(text) if match[1]]
    ends = [place.start() for place in places[1:]] + [len(text)]
    for place, end in zip(places, ends, strict=True):
        yield Draft(
            section=start.section,
            kind="grammar-rule",
            line=start.line + text.count("\n", 0, place.start()),
            text=collapsed(text[place.start() : end]),
            context=context,
            identifier=place[1],
            prefix=(*spelled(place[1]), "rule", *spelled(context)),
            detail=(("versions", context),) if context else (),
        )
