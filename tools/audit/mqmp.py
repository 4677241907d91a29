"""Extracts the items of the excerpt of MS-MQMP: the members of CACTransferBufferV1 and their values.

Tables have one cell per line here, so a row is found by its value: a name may precede it, a meaning may follow.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from tools.audit.document import Block, Document
from tools.audit.items import Draft, declared, demanding
from tools.audit.text import collapsed
from tools.audit.words import spelled

_MEMBER = re.compile(r"^([A-Za-z]\w+): \S")
_VALUE = re.compile(r"^0x[0-9A-Fa-f]+$|^0 - 1$|^0x[0-9A-Fa-f]+ - 0x[0-9A-Fa-f]+$")
_NAME = re.compile(r"^[A-Z][A-Z0-9_]+(?:\|[A-Z0-9_]+)*$|^(?:Class Code|Reserved|[HRS])$")
_HEADERS = frozenset({"Name", "Value", "Meaning", "Message Class Value", "Message Class Type"})


def drafts(document: Document) -> Iterator[Draft]:
    """Yield everything that the excerpt demands."""
    for blocks in document.sections().values():
        yield _declaration([block for block in blocks if block.shape == "fence"])
        member = ""
        paragraphs = [block for block in blocks if block.shape == "paragraph"]
        for at, block in enumerate(paragraphs):
            named = _MEMBER.match(block.raw)
            if named:
                member = named[1]
                yield _member(block, member)
            row = _row(paragraphs, at, member)
            name = dict(row.detail).get("name") if row else None
            if row:
                yield row
            yield from _sentences(paragraphs, at, f"{member} {name}" if name else member)


def _declaration(lines: Sequence[Block]) -> Draft:
    return Draft(
        section=lines[0].section,
        kind="declaration",
        line=lines[0].line,
        text=collapsed(" ".join(block.raw for block in lines)),
        identifier="CACTransferBufferV1",
        prefix=(*spelled("CACTransferBufferV1"), "declaration"),
    )


def _member(block: Block, member: str) -> Draft:
    return Draft(
        section=block.section,
        kind="struct-member",
        line=block.line,
        text=collapsed(declared(block.text)) or f"{member}:",
        context=member,
        identifier=member,
        prefix=(*spelled(member), "member"),
        detail=(("of", "CACTransferBufferV1"),),
    )


def _row(paragraphs: Sequence[Block], at: int, member: str) -> Draft | None:
    block = paragraphs[at]
    if not _VALUE.match(block.text):
        return None
    before, after = paragraphs[at - 1].text if at else "", ""
    name = before if _NAME.match(before) else ""
    if at + 1 < len(paragraphs):
        after = paragraphs[at + 1].text
    ends = _NAME.match(after) or _VALUE.match(after) or after in _HEADERS or _MEMBER.match(after)
    meaning = "" if ends else after
    return Draft(
        section=block.section,
        kind="table-row",
        line=block.line,
        text=" | ".join(part for part in (name, block.text, declared(meaning)) if part),
        context=member,
        identifier=name or block.text,
        prefix=(*spelled(member), *spelled(name or block.text), "row"),
        detail=tuple(pair for pair in (("name", name), ("value", block.text), ("of", member)) if pair[1]),
    )


def _sentences(paragraphs: Sequence[Block], at: int, place: str) -> Iterator[Draft]:
    """Yield sentences with a keyword. The paragraph after a row's value is its meaning, so its place is the row."""
    block = paragraphs[at]
    if at and _VALUE.match(paragraphs[at - 1].text):
        row = paragraphs[at - 2].text if at > 1 and _NAME.match(paragraphs[at - 2].text) else paragraphs[at - 1].text
        place = f"{place.split(' ')[0]} {row}"
    for draft in demanding(block, place):
        yield replace(draft, detail=(("of", place),))
