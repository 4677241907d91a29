"""Reads one of the documents into blocks: sections, paragraphs, bullets, rows, fences and notes.

There are three line grammars: `pipes` (MS-MQMQ, MS-MQDMPR, siblings: one line is one block, tables with pipes, anchors
before headings), `pages` (MC-MQAC: converted page by page, tables with tabs, nested bullets, unlabelled fences) and
`flat` (the excerpt of MS-MQMP: tables with one cell per line). Each line alone decides where bullets, tables and fences
interrupt each other: by the rules of Markdown, a bullet would swallow the paragraph after it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from tools.audit.text import collapsed, plain, repaired

Shape = Literal["heading", "paragraph", "bullet", "row", "fence", "note"]

# For each audited document: the revision that the catalogue was made from, and the last section of a whole file.
KNOWN = {
    "MQMQ": ("26.0", "7"), "MQDMPR": ("32.0", "7"), "MQAC": ("25.0", "9"), "MQMP": ("", "2.2.3.2"),
    "MQQB": ("33.0", "7"), "MQRR": ("29.0", "8"), "MQQP": ("25.0", "8"), "MQMR": ("18.0", "8"),
}  # fmt: skip
_NAMES = {"MC-MQAC": "MQAC", **{f"MS-{name}": name for name in KNOWN if name not in ("MQAC", "MQMP")}}
_AUDITED = "MS-MQMQ, MS-MQDMPR, MC-MQAC, MS-MQQB, MS-MQRR, MS-MQQP, MS-MQMR or section 2.2.3.2 of MS-MQMP"
_MAX_BYTES = 16_000_000

_TITLE = re.compile(r"^#{1,6} \[(M[SC]-[A-Z]+)\]")
_EXCERPT = re.compile(r"^2\.2\.3\.2 CACTransferBufferV1\s*$")
_HEADING = re.compile(r"^#{1,6}\s+\**\s*((?:\d+\.)*\d+)\.?\s+(.*?)\**\s*$")
_NOTE_LINE = re.compile(r"^<(\d+)> Section ([\d.]+):")
_CONTENTS = re.compile(r"\]\(#Section_((?:\d+\.)*\d+)\)")
_PAGE_CONTENTS = re.compile(r"^(?:<b>)?((?:\d+\.)+\d+)[\t ]\s*\S.*\.{3,}\s*(?:</b>)?\s*\t")


class AuditError(ValueError):
    """A file is not one of the documents, ends in the middle, or has another revision. The message is one sentence."""


@dataclass(frozen=True, slots=True)
class Block:
    """Lines that belong together. line: 1-based. raw: damage repaired, markup kept. depth: of bullets only.

    notes: numbers of the product notes that the text refers to; a note itself has its own number first.
    """

    line: int
    section: str
    shape: Shape
    text: str
    raw: str
    depth: int = 0
    notes: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Document:
    """A whole document. name: one of KNOWN; titles: section number to its heading."""

    name: str
    revision: str
    titles: Mapping[str, str]
    blocks: tuple[Block, ...]

    def sections(self) -> dict[str, list[Block]]:
        """Return the blocks of each section (without those of its subsections), in the order of the document."""
        found: dict[str, list[Block]] = {number: [] for number in self.titles}
        for block in self.blocks:
            if block.shape != "heading":
                found.setdefault(block.section, []).append(block)
        return found


def read_document(path: Path) -> Document:
    """Read the document in the file at `path`. Raises AuditError with one sentence when it cannot be audited."""
    try:
        if path.stat().st_size > _MAX_BYTES:
            raise AuditError(f"{path} is larger than any of the documents; name the file of {_AUDITED}")
        content = path.read_text(encoding="utf-8")
    except OSError as error:
        raise AuditError(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise AuditError(f"{path} is not UTF-8 text; name the file of {_AUDITED}") from None
    return parse_document(content, str(path))


def parse_document(content: str, where: str) -> Document:
    """Parse the text of a document. where: its name in errors."""
    lines = [repaired(line.rstrip("\n")) for line in content.splitlines()]
    name = _identify(lines, where)
    if name == "MQMP":
        return _finish(name, "", flat_blocks(lines), where, frozenset())
    revision = _revision(lines)
    if name == "MQAC":
        promised = frozenset(match[1] for line in lines if (match := _PAGE_CONTENTS.match(line)))
        return _finish(name, revision, rejoined(page_blocks(lines)), where, promised)
    promised = frozenset(number for line in lines if line.lstrip().startswith("- [") for number in _promised(line))
    return _finish(name, revision, pipe_blocks(lines), where, promised)


def _promised(line: str) -> list[str]:
    """Return the section that a line of the contents links to; a link inside a bullet of the text does not count."""
    match = re.match(r"^\s*- \[((?:\d+\.)*\d+) [^\]]*\]\(#Section_", line)
    return [match[1]] if match else []


def _identify(lines: list[str], where: str) -> str:
    for line in lines[:40]:
        if _EXCERPT.match(line):
            return "MQMP"
        title = _TITLE.match(line)
        if title and title[1] in _NAMES:
            return _NAMES[title[1]]
        if title:
            raise AuditError(f"{where} holds {title[1]}, which is not audited; name the file of {_AUDITED}")
    raise AuditError(f"{where} is not one of the documents; name the file of {_AUDITED}")


def _revision(lines: list[str]) -> str:
    rows = [re.match(r"^(?:\| )?(\d+/\d+/\d{4})(?: \|)?\s+(\d+\.[\d.]+)", line) for line in lines]
    versions = [row[2] for row in rows if row]
    return versions[-1] if versions else ""


def _finish(name: str, revision: str, blocks: Iterable[Block], where: str, promised: frozenset[str]) -> Document:
    found = tuple(blocks)
    titles = {block.section: block.text for block in found if block.shape == "heading"}
    known, last = KNOWN[name]
    absent = sorted(promised - titles.keys(), key=section_key)
    if last not in titles or absent:
        lacks = absent[0] if absent else last
        raise AuditError(f"{where} ends in the middle or is incomplete: it has no section {lacks}")
    if name == "MQMP" and not any(block.raw.startswith("pulVersion:") for block in found):
        raise AuditError(f"{where} ends in the middle: its last member, pulVersion, is not described")
    if not revision and known:
        raise AuditError(f"{where} ends in the middle or is incomplete: its revision history is missing")
    if revision != known:
        raise AuditError(f"{where} is revision {revision}; the catalogue was made from revision {known}")
    return Document(name, revision or known, titles, found)


def section_key(number: str) -> tuple[int, ...]:
    """Return (2, 10, 1) for `2.10.1`: the sort key of section numbers."""
    return tuple(int(part) for part in number.split("."))


def pipe_blocks(lines: list[str]) -> Iterator[Block]:
    """Read MS-MQMQ or MS-MQDMPR: one line is one block. The contents precede the first numbered heading."""
    section, fence = "", False
    for at, line in enumerate(lines, start=1):
        heading = None if fence else _HEADING.match(line)
        if line.startswith("```"):
            fence = not fence
        elif heading:
            section = heading[1]
            yield Block(at, section, "heading", plain(heading[2])[0], line)
        elif line.startswith("#") and not fence:
            section = ""  # the revision history: a heading without number that ends the last section
        elif section and line.strip() and not line.startswith("<a id="):
            yield _pipe_block(at, section, line, fence)


def _pipe_block(at: int, section: str, line: str, fence: bool) -> Block:
    if fence:
        return Block(at, section, "fence", line.strip(), line)
    note = _NOTE_LINE.match(line)
    if note:
        text, notes = plain(line[note.end() :])
        return Block(at, section, "note", f"{note[2]}: {text}", line, notes=(int(note[1]), *notes))
    text, notes = plain(line)
    shape: Shape = "row" if line.startswith("|") else "bullet" if line.startswith("- ") else "paragraph"
    if shape == "bullet":
        text = text.removeprefix("- ")
    return Block(at, section, shape, text, line.strip(), notes=notes)


def page_blocks(lines: list[str]) -> Iterator[Block]:
    """Read MC-MQAC. Contents and index use the same numbers as the text, so only the part between them is read."""
    section, fence = "", False
    for at, line in enumerate(lines, start=1):
        heading = None if fence else _HEADING.match(line.replace("\\_", "_"))
        if heading and not section and heading[1] != "1":
            continue  # one line of the contents is marked up as a heading
        if line.startswith("```"):
            fence = not fence
        elif heading and not heading[2].endswith("....."):
            section = heading[1]
            yield Block(at, section, "heading", plain(heading[2])[0], line)
        elif section and section != "9" and line.strip():
            yield _page_block(at, section, line, fence)


def _page_block(at: int, section: str, line: str, fence: bool) -> Block:
    if fence:
        return Block(at, section, "fence", line.strip(), line)
    if "\t" in line.rstrip():
        found = [plain(cell) for cell in line.split("\t")]
        notes = tuple(note for _, named in found for note in named)
        return Block(at, section, "row", "\t".join(cell for cell, _ in found), line, notes=notes)
    bullet = re.match(r"^(\s*)(?:-|\d+\.)\s+(?=\S)", line)
    if bullet:
        text, notes = plain(line[bullet.end() :])
        return Block(at, section, "bullet", text, line.strip(), depth=len(bullet[1]) // 2, notes=notes)
    head = re.match(r"^\[?(?:\\?\*)*<(\d+)> Section ([\d.]+?):?(?:\\?\*)*(?:\]\(#\)|:)\s*", plain_angles(line))
    if head and section == "7":
        text, notes = plain(plain_angles(line)[head.end() :])
        return Block(at, section, "note", f"{head[2]}: {text.lstrip(': ')}", line, notes=(int(head[1]), *notes))
    text, notes = plain(line.lstrip("#").strip())
    return Block(at, section, "paragraph", text, line.strip(), notes=notes)


def rejoined(blocks: Iterable[Block]) -> Iterator[Block]:
    """Join paragraphs and bullets cut by a page break: the rest begins with a small letter after an open sentence."""
    held: Block | None = None
    for block in blocks:
        cut = held is not None and held.shape in ("paragraph", "bullet") and held.text[-1:] not in ".:;!?)"
        if held is not None and cut and block.shape == "paragraph" and block.text[:1].islower():
            notes = (*held.notes, *block.notes)
            held = replace(held, text=f"{held.text} {block.text}", raw=f"{held.raw} {block.raw}", notes=notes)
            continue
        if held is not None:
            yield held
        held = block
    if held is not None:
        yield held


def plain_angles(line: str) -> str:
    """Remove the entities and tags around a note's number, so that `<12>` remains."""
    return re.sub(r"</?(?:a|u|sup|b)(?:\s[^>]*)?>", "", line).replace("&lt;", "<").replace("&gt;", ">")


def flat_blocks(lines: list[str]) -> Iterator[Block]:
    """Read the excerpt of MS-MQMP: declaration lines are indented, every other line is a paragraph or a cell."""
    for at, line in enumerate(lines, start=1):
        if _EXCERPT.match(line):
            number, _, title = line.partition(" ")
            yield Block(at, number, "heading", collapsed(title), line)
        elif line.startswith(" ") and not re.match(r"^ 0x[0-9A-F]+$", line):
            yield Block(at, "2.2.3.2", "fence", line.strip(), line)
        elif line.strip():
            text, notes = plain(line)
            yield Block(at, "2.2.3.2", "paragraph", text, line.strip(), notes=notes)
