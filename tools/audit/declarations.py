"""Reads C declarations from the documents' text, in which blanks between words may be missing."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tools.audit.document import Block
from tools.audit.items import Draft
from tools.audit.text import collapsed
from tools.audit.words import spelled

_MEMBER = re.compile(r"^\s*([A-Za-z_]\w*)\s*(?:=\s*(.+?)\s*)?$", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Declaration:
    """A typedef. members: name and value of each enumerator, for an enumeration."""

    section: str
    line: int
    name: str
    text: str
    members: tuple[tuple[str, str, int], ...] = ()

    @property
    def enumerates(self) -> bool:
        """True if it declares an enumeration."""
        return bool(re.match(r"typedef\s*(?:\[[^\]]*\]\s*)?enum", self.text))


def declarations(blocks: Sequence[Block]) -> Iterator[Declaration]:
    """Yield the typedefs among the blocks of one section, in fences or paragraphs, each up to its last semicolon."""
    lines: list[Block] = []
    for block in blocks:
        code = block.raw.strip()
        if not lines and not code.startswith("typedef"):
            continue
        lines.append(block)
        text = "\n".join(part.raw.strip() for part in lines)
        if code.endswith(";") and text.count("{") <= text.count("}"):
            yield _declaration(lines, text)
            lines = []


def _declaration(lines: Sequence[Block], text: str) -> Declaration:
    flat = collapsed(text)
    tail = flat.rsplit("}", 1)[-1] if "}" in flat else flat
    names = re.findall(r"[A-Za-z_]\w*", tail)
    name = names[0] if "}" in flat and names else (names[-1] if names else "")
    found = Declaration(lines[0].section, lines[0].line, _unglued(name), flat)
    if not found.enumerates or "{" not in text:
        return found
    return Declaration(found.section, found.line, found.name, flat, tuple(_members(lines, text)))


def _unglued(name: str) -> str:
    """Return the declared name if the blank before it is missing, as in `typedefshortVARIANT_BOOL;`."""
    glued = re.search(r"(?:short|long|DWORD|tag_inner_PROPVARIANT)([A-Z][A-Z_]+)$", name)
    return glued[1] if glued else name


def _members(lines: Sequence[Block], text: str) -> Iterator[tuple[str, str, int]]:
    body = text[text.index("{") + 1 : text.rindex("}")].replace("{", " ").replace("}", " ")
    following = 0
    for part in body.split(","):
        match = _MEMBER.match(part)
        if match is None:
            continue
        value = collapsed(match[2] or str(following))
        # A member without a value has the value of the one before it plus one.
        following = int(value, 0) + 1 if re.fullmatch(r"0[xX][0-9A-Fa-f]+|\d+", value) else following
        at = next((block.line for block in lines if re.search(rf"\b{match[1]}\b", block.raw)), lines[0].line)
        yield match[1], value, at


def declared_drafts(found: Declaration, described: dict[str, str] | None) -> Iterator[Draft]:
    """Yield the declaration as an item and, for an enumeration, each of its members.

    described: name of a member to its description in the text, without its value; None if the declaration only repeats
    one whose members are listed elsewhere.
    """
    yield Draft(
        section=found.section,
        kind="enumeration" if found.enumerates else "declaration",
        line=found.line,
        text=found.text,
        identifier=found.name,
        prefix=(*spelled(found.name), "declaration"),
        detail=(("members", str(len(found.members))),) if found.members else (),
    )
    if described is None:
        return
    for name, value, line in found.members:
        yield Draft(
            section=found.section,
            kind="member",
            line=line,
            text=collapsed(f"{name} = {value} {described.get(name, '')}"),
            context=found.name,
            identifier=name,
            prefix=spelled(name),
            detail=(("value", value), ("of", found.name)),
        )
