"""Extracts ABNF files from a document: the rules as printed, in valid ABNF.

The documents print ABNF like prose. Only the following is undone: a rule's lines are separate paragraphs without
indentation, with blank lines between them; a line that begins no rule continues the one above. Rules run into each
other (`(VCHAR)VCHAR =`, `%x41-5Aname =`) or into the prose of a table cell. Prose between rules selects a version, and
may lack the word between two. `|` is written for `/` and `0x0000` for `%x0000`, a string lacks its closing quote, a
table lists alternatives. Comments are dropped: they are prose, some of it wrong. Examples that look like rules precede
the announcement of ABNF and are skipped.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from conformance.grammar.abnf import read_parts
from tools.audit.document import Block, Document, read_document

_TOKEN = re.compile(
    r'(?P<string>%?[si]?"[^"]*")|(?P<prose><[^>]*>)|(?P<comment>;.*)|(?P<number>%[xX][0-9A-Fa-f]+(?:(?:\.[0-9A-Fa-f]+)+|'
    r"-[0-9A-Fa-f]+)?)|(?P<foreign>0x[0-9A-Fa-f]+)|(?P<repeat>\d+\*\d*|\*\d*|\d+)|(?P<name>[A-Za-z][A-Za-z0-9-]*)|"
    r"(?P<define>=/?)|(?P<mark>[/|()\[\]])|(?P<space>\s+)|(?P<other>.)",
    re.DOTALL,
)
_START = re.compile(r"[A-Za-z][A-Za-z0-9-]*\s*=(?!=)")
_TABLE = re.compile(r"one of the strings listed")


@dataclass(slots=True)
class _Set:
    """The rules of one place and version: the lines of each, in order."""

    name: str
    title: str
    lines: list[str] = field(default_factory=list)
    table: bool = False


def extract(path: Path) -> dict[str, str]:
    """Map file name to content for each rule set of the document in the file at `path`.

    Raises AuditError when the file is not one of the documents, AbnfError when a rule set is not as expected.
    """
    return extract_document(read_document(path))


def extract_document(document: Document) -> dict[str, str]:
    """Extract the rule sets of a document that has been read, as `extract`."""
    found: dict[str, str] = {}
    for each in _sets(document):
        rules = list(dict.fromkeys(_rules(each.lines)))
        if not rules:
            continue
        header = f"; M{'C' if document.name == 'MQAC' else 'S'}-{document.name} {each.title}\n"
        text = header + "".join(f"{rule}\n" for rule in rules)
        read_parts(text, where=each.name)
        found[f"{each.name}.abnf"] = text
    return found


def _sets(document: Document) -> Iterator[_Set]:
    prefix = document.name.lower()
    for number, blocks in document.sections().items():
        place, about = f"{prefix}-{number}", number
        run: list[Block] = []
        for block in blocks:
            if block.shape == "note":
                yield from _section(place, about, run)
                run, place, about = [], f"{prefix}-note-{block.notes[0]}", f"product note {block.notes[0]}"
            run.append(block)
        yield from _section(place, about, run)


def _section(place: str, about: str, blocks: Sequence[Block]) -> Iterator[_Set]:
    """Yield the rule sets of one section or one product note."""
    announced = False
    here = _Set(place, about)
    cells = _Set(f"{place}.http", f"{about}, HTTP and HTTPS")
    for block in blocks:
        line = block.raw.rstrip()
        if here.table and block.shape == "row":
            cell = line.strip("| ").split("|")[0].strip()
            if cell.isdigit():
                here.lines[-1] += f'{"" if here.lines[-1].endswith("=") else " /"} "{cell}"'
            continue
        if block.shape == "row" and announced:
            cells.lines += [
                re.split(r"\sWhere\b", cell)[0]
                for cell in map(str.strip, line.split("|"))
                if _START.match(cell) and "%x" in cell
            ]
        elif announced and block.shape in ("paragraph", "fence") and _belongs(line, bool(here.lines)):
            here.table = bool(_TABLE.search(line))
            here.lines.append(line[: line.index("=") + 1] if here.table else line)
        elif "ABNF" in line or re.match(r"For MSMQ", line):
            announced = True
            version = _version(line)
            if here.lines and version:
                yield here
                here = _Set(place, about)
            if version:
                here.name, here.title = f"{place}.{version}", f"{about}, {version}"
    yield here
    yield cells


def _version(line: str) -> str:
    found = re.search(r"For (MSMQ|Windows) (NT|\d+)((?:\.\d)?)", line)
    return f"{found[1].lower()}-{found[2].lower()}{found[3]}" if found and "ABNF notation" not in line[:80] else ""


def _belongs(line: str, opened: bool) -> bool:
    """Return True when a paragraph is a rule, or the continuation of one."""
    if not (_START.match(line) or opened):
        return False
    kinds = {token.lastgroup for token in _TOKEN.finditer(_closed(line))}
    return "other" not in kinds or bool(_TABLE.search(line))


def _closed(line: str) -> str:
    """Restore the lost quote of a line: behind two backslashes, or replaced by the other brace."""
    return line if line.count('"') % 2 == 0 else re.sub(r'"(\\+|\{)}?(?=\s)', r'"\1"', line, count=1)


def _rules(lines: Iterable[str]) -> Iterator[str]:
    """Yield the rules in valid ABNF, one a line."""
    tokens = [
        token
        for line in lines
        for token in (*_TOKEN.finditer(_closed(line)), *_TOKEN.finditer(" "))
        if token.lastgroup != "comment"
    ]
    starts = [at for at in range(len(tokens)) if _starts(tokens, at)]
    for begin, end in zip(starts, [*starts, len(tokens)][1:], strict=True):
        name, *body = tokens[begin:end]
        at = next(at for at, token in enumerate(body) if token.lastgroup == "define")
        yield f"{name[0]} {body[at][0]} {_spelled(body[at + 1 :])}"


def _starts(tokens: Sequence[re.Match[str]], at: int) -> bool:
    if tokens[at].lastgroup != "name":
        return False
    following = [token for token in tokens[at + 1 : at + 3] if token.lastgroup != "space"]
    return bool(following) and following[0].lastgroup == "define"


def _spelled(tokens: Sequence[re.Match[str]]) -> str:
    out = ""
    for token in tokens:
        text = token[0]
        match token.lastgroup:
            case "space":
                text = " "
            case "mark":
                text = {"|": " / ", "/": " / "}.get(text, text)
            case "foreign":
                text = f"%x{text[2:]}"
        out += text[1:] if text.startswith(" ") and (not out or out.endswith(" ")) else text
    return out.strip()
