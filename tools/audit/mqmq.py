"""Extracts the items of MS-MQMQ: names, structures, packet fields, property identifiers, error codes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tools.audit.declarations import declarations, declared_drafts
from tools.audit.document import Block, Document
from tools.audit.items import Draft, declared, demanding, marks
from tools.audit.pipes import cells, grammar_rules, product_notes, row_draft, rows
from tools.audit.text import Demand, collapsed, demands, sentences
from tools.audit.words import spelled

ERROR_CODES = "2.4"
NOTES = "6"
DECLARATIONS = ("2.2", "5")

_FIELD = re.compile(r"^\*\*(?:([A-Z]+) - )?(.+?) \((variable|[\d.]+ (?:bytes?|bits?)[^)]*)\):\*\*\s*")
_NAMED = re.compile(r"^\*\*([^*]+):\*\*\s*|^([A-Z]+_[A-Z_0-9]+): ")
_DRAWN = re.compile(r'^\s*(\d+)-(\d+): "([^"(]+?)(?: \(([^)]*)\))?"')
_SMALL = re.compile(r"\bmust be set to\b")
_CODE = re.compile(r"^0x[0-9A-Fa-f]{8} (MQ\w+)$")


@dataclass(slots=True)
class _Field:
    """A field declared by a paragraph, with every block up to the next field."""

    name: str
    letter: str | None
    size: str
    within: str
    block: Block
    texts: list[str]


def drafts(document: Document) -> Iterator[Draft]:
    """Yield everything that MS-MQMQ demands."""
    for number, blocks in document.sections().items():
        if number == "1.1" or number.startswith("7"):
            continue  # The glossary only mentions keywords; the last section is about the document itself.
        fields = list(_fields(blocks))
        yield from _sentences(blocks, fields)
        yield from _drawn(blocks, fields)
        yield from _rows(number, blocks, fields)
        yield from grammar_rules(blocks)
        if number.startswith("2.3.") and document.titles[number].startswith("PROPID_"):
            yield _property(number, document.titles[number], blocks)
        if number == NOTES:
            yield from product_notes(blocks, document)
        if number.split(".")[0] == "5" or number.startswith("2."):
            yield from _declared(blocks, fields)


def _fields(blocks: Sequence[Block]) -> Iterator[_Field]:
    """Yield the declared fields of one section; bits belong to the last field that has bytes."""
    current: _Field | None = None
    holder = ""
    for block in blocks:
        if block.shape == "fence":
            continue
        match = _FIELD.match(block.raw)
        if match:
            if current is not None:
                yield current
            bits = "bit" in match[3]
            current = _Field(match[2], match[1], match[3], holder if bits else "", block, [])
            holder = holder if bits else match[2]
        if current is not None and block.shape != "row":
            current.texts.append(block.text)
    if current is not None:
        yield current


def _place(fields: Sequence[_Field], line: int) -> str:
    """Return the field that a line belongs to, as `Flags.PR` or `PacketSize`; empty before a section's first field."""
    found = ""
    for field in fields:
        if field.block.line <= line:
            found = f"{field.within}.{field.name}" if field.within else field.name
    return found


def _sentences(blocks: Sequence[Block], fields: Sequence[_Field]) -> Iterator[Draft]:
    member = ""
    for block in blocks:
        if block.shape == "fence":
            continue
        named = _NAMED.match(block.raw)
        if named and not _FIELD.match(block.raw):
            member = named[1] or named[2]
        place = _place(fields, block.line) or (member if member != "Note" else "")
        if block.shape == "row":
            for cell in cells(block):
                yield from demanding(block, _joined(place, cells(block)[0]), cell)
        else:
            yield from demanding(block, place)
            yield from _in_small_letters(block, place)


def _in_small_letters(block: Block, place: str) -> Iterator[Draft]:
    """Yield the demand on packet layout whose keyword is in small letters; elsewhere such a word states a fact."""
    for sentence in sentences(block.text):
        if block.section.startswith("2.2.") and _SMALL.search(sentence) and not demands(sentence):
            yield Draft(
                section=block.section,
                kind="sentence",
                line=block.line,
                text=sentence,
                context=place,
                demands=(Demand("any", "must"),),
                marked=marks(block.raw),
                prefix=spelled(place),
            )


def _joined(place: str, first: str) -> str:
    return f"{place} {first}".strip() if len(first) < 60 else place


def _drawn(blocks: Sequence[Block], fields: Sequence[_Field]) -> Iterator[Draft]:
    """Yield the fields of the diagrams, each with its declaring paragraph, whose size takes precedence."""
    holder = ""
    after = 0
    for block in blocks:
        named = _FIELD.match(block.raw)
        if named and "bit" not in named[3]:
            holder = named[2]
        drawn = _DRAWN.match(block.raw) if block.shape == "fence" else None
        if not drawn:
            continue
        low, high, name, note = int(drawn[1]), int(drawn[2]), drawn[3].strip(), drawn[4]
        declaring = _declaring(fields, name, block.line)
        width = high - low + 1
        size = declaring.size if declaring else (note or (f"{width // 8} bytes" if not width % 8 else f"{width} bits"))
        name = declaring.name if declaring else name
        bits = "bit" in size
        text = " ".join(declared(part) for part in declaring.texts) if declaring else ""
        # In a diagram of bits the position is exact; in a diagram of bytes a variable field makes it meaningless.
        where = f"{low}-{high}" if bits else ""
        after += 1
        full = f"{holder}.{name}" if bits and holder else name
        yield Draft(
            section=block.section,
            kind="field",
            line=block.line,
            text=collapsed(f"{full} ({size}) {where} {note or ''} {text}"),
            identifier=full,
            prefix=(*spelled(full), "field"),
            marked=marks(declaring.block.raw) if declaring else (),
            detail=(("name", full), ("size", size), *((("bits", where),) if bits else ())),
        )


def _declaring(fields: Sequence[_Field], name: str, line: int) -> _Field | None:
    """Return the paragraph of a drawn field: the next one of that name or letter, else any of the section."""
    named = [field for field in fields if name in (field.name, field.letter, f"{field.letter} - {field.name}")]
    following = [field for field in named if field.block.line > line]
    return next(iter(following or named), None)


def _rows(number: str, blocks: Sequence[Block], fields: Sequence[_Field]) -> Iterator[Draft]:
    if not number.startswith("2."):
        return
    member = ""
    named = {block.line: match for block in blocks if (match := _NAMED.match(block.raw))}
    for row in rows(blocks):
        code = _CODE.match(row.cells[0])
        if number == ERROR_CODES and code:
            yield _constant(row.block, code[1], row.cells)
            continue
        member = next(
            ((named[line][1] or named[line][2]) for line in sorted(named, reverse=True) if line < row.block.line), ""
        )
        yield row_draft(row, _place(fields, row.block.line) or member)


def _constant(block: Block, name: str, found: Sequence[str]) -> Draft:
    return Draft(
        section=block.section,
        kind="constant",
        line=block.line,
        text=" ".join(found),
        identifier=name,
        prefix=spelled(name),
        detail=(("value", found[0].split(" ")[0]),),
    )


def _property(number: str, title: str, blocks: Sequence[Block]) -> Draft:
    value = next((match[1] for block in blocks if (match := re.match(r"Value: (\d+)", block.text))), "")
    variant = next((block.text for block in blocks if block.text.startswith("Variant type:")), "")
    names = " | ".join(dict.fromkeys(re.findall(r"VT_\w+", variant)))
    rest = (declared(block.text) for block in blocks if block.shape in ("paragraph", "bullet"))
    return Draft(
        section=number,
        kind="property",
        line=blocks[0].line,
        text=collapsed(f"{title} {value} {variant} {' '.join(rest)}"),
        identifier=title,
        prefix=spelled(title),
        detail=(("value", value), ("type", names)),
    )


def _declared(blocks: Sequence[Block], fields: Sequence[_Field]) -> Iterator[Draft]:
    typedefs = list(declarations([block for block in blocks if block.shape == "paragraph"]))
    described: dict[str, str] = {}
    members: list[tuple[Block, str]] = []
    for block in blocks:
        match = _NAMED.match(block.raw)
        if match and not _FIELD.match(block.raw) and block.shape == "paragraph":
            name = match[1] or match[2]
            described[name] = declared(block.text)
            members.append((block, name))
    enumerators = {name for typedef in typedefs for name, _, _ in typedef.members}
    for typedef in typedefs:
        repeats = typedef.section.startswith("5")
        yield from declared_drafts(typedef, None if repeats else described)
    if not any("struct" in typedef.text for typedef in typedefs):
        return
    for block, name in members:
        if name not in enumerators and name != "Note":
            yield Draft(
                section=block.section,
                kind="struct-member",
                line=block.line,
                text=collapsed(f"{name} {described[name]}"),
                identifier=name,
                prefix=(*spelled(name), "member"),
                marked=marks(block.raw),
                detail=(("of", ", ".join(typedef.name for typedef in typedefs)),),
            )
