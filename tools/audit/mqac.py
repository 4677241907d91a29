"""Extracts the items of MC-MQAC: classes, interfaces, methods with preconditions and results, enumerations, notes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from tools.audit.declarations import declarations, declared_drafts
from tools.audit.document import Block, Document
from tools.audit.idl import appendix
from tools.audit.items import Draft, declared, demanding, marks
from tools.audit.pipes import ABNF_RULE, product_notes
from tools.audit.text import Demand, collapsed, demands
from tools.audit.words import identifiers, spelled

ASSIGNMENTS, APPENDIX, NOTES = "1.9", "6", "7"

_METHOD = re.compile(r"^(\w+) \(Opnum (\d+)\)$")
_CLASS = re.compile(r"^(\w+) (?:[Cc]o)?[Cc]lass Details$")
_NAMED = re.compile(r"^\*\*([^*:]+):\*\*\s*")
_HEADERS = frozenset(
    {
        "Value",
        "Method",
        "Return value/code",
        "Method name (in the most recent interface revision)",
        "Property name",
        "PropertyName",
        "Name",
        "Parameter",
        "Instance variable",
        "Data element",
        "Cryptographic provider",
        "MSMQ version",
    }
)
_RETURN = re.compile(r"\breturn\b", re.IGNORECASE)
_RESULT = re.compile(r"\b((?:MQ|E|S|OLE|XACT|CONNECT|CO|RPC|DISP)_[A-Z][A-Z0-9_]*)\b(?:\s*\(?(0x[0-9A-Fa-f]{8})\)?)?")
_FAILURE = re.compile(r"\ban (?:implementation-specific )?error\b|\berror HRESULT\b|\br[Ss]tatus\b")
_CONDITION = re.compile(r"^(?:Else,? )?[Ii]f\b")
_ASSIGNED = re.compile(r"^\w+ ?:?= |^i[A-Z]\w+: ")
_VARIABLE = re.compile(r"^(?:-\s*)?\*{1,2}(\w+):?\*{1,2}:?\s")
_GUID = re.compile(r"[0-9A-Fa-f]{7,8}-[0-9A-Fa-f]{3,4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{3,4}-[0-9A-Fa-f]{11,12}")


def drafts(document: Document) -> Iterator[Draft]:
    """Yield everything that MC-MQAC demands."""
    sections = document.sections()
    for number, blocks in sections.items():
        title = document.titles[number]
        if number in ("1.1", "8", "9"):
            continue
        if number == APPENDIX:
            yield from appendix(blocks)
            continue
        rules = number.startswith("3.")
        bullets = [block for block in blocks if block.shape == "bullet"] if rules else []
        if not number.startswith(NOTES):
            yield from _sentences(blocks, rules)
        if number == NOTES:
            yield from product_notes(blocks, document)
        elif number.startswith(("1.9", "2", "3")):
            yield from _rows(blocks, number, title)
        if number.startswith("2"):
            yield from _types(blocks)
        yield from _rules(document, number, bullets)
        yield from _grammar(blocks)
        head = _METHOD.match(title)
        if head:
            yield _method(document, number, head, blocks)
        group = _CLASS.match(title)
        if group and number.count(".") == 1:
            yield _class(document, number, group[1], blocks)


def _line(document: Document, number: str) -> int:
    return next(block.line for block in document.blocks if block.shape == "heading" and block.section == number)


def _names(text: str, block: Block) -> tuple[tuple[str, str], ...]:
    found = identifiers(text, marks(block.raw))
    return (("names", ", ".join(found)),) if found else ()


def _sentences(blocks: Sequence[Block], rules: bool) -> Iterator[Draft]:
    """Yield sentences with a keyword, also in bullets unless bullets are items of their own."""
    parameter = ""
    for block in blocks:
        named = _NAMED.match(block.raw)
        if named and block.shape == "paragraph":
            parameter = named[1].replace("\\_", "_")
        elif block.shape == "paragraph" and "MUST follow" in block.text:
            parameter = ""
        if block.shape == "row":
            found = [draft for cell in block.text.split("\t") for draft in demanding(block, parameter, cell)]
        elif block.shape == "paragraph" or (block.shape == "bullet" and not rules):
            found = list(demanding(block, parameter))
        else:
            continue
        yield from (replace(draft, detail=_names(draft.text, block)) for draft in found)


def _rules(document: Document, number: str, bullets: Sequence[Block]) -> Iterator[Draft]:
    """Yield the bullets of a section as preconditions, results and steps.

    Page breaks reset the depth of bullets, so a condition guards the bullet after it, whatever its depth.
    """
    title = document.titles[number]
    for at, block in enumerate(bullets):
        if not block.text:
            continue
        following = bullets[at + 1].text if at + 1 < len(bullets) else ""
        guarded = block.text if _RETURN.search(block.text) else following
        fails = bool(_RETURN.search(guarded)) and bool(_FAILURE.search(guarded) or _code(guarded) not in (None, "S_OK"))
        kind = "step"
        if _CONDITION.match(block.text) and fails:
            kind = "precondition"
        elif _RETURN.search(block.text) and (_code(block.text) or _FAILURE.search(block.text)):
            kind = "hresult"
        asked = demands(block.text) or (Demand("any", "must"),)
        variable = _VARIABLE.match(block.raw) if title == "Abstract Data Model" else None
        if variable:
            kind = "attribute"
        elif kind == "step" and _ASSIGNED.match(block.text):
            kind = "binding"
        detail = [*_names(block.text, block)]
        answer = _RETURN.split(guarded if kind == "precondition" else block.text, maxsplit=1)
        code = _RESULT.search(answer[-1])
        if kind in ("precondition", "hresult") and code:
            detail += [("code", code[1]), *((("value", code[2]),) if code[2] else ())]
        yield Draft(
            section=number,
            kind=kind,
            line=block.line,
            text=block.text,
            identifier=variable[1] if variable else code[1] if kind == "hresult" and code else None,
            demands=asked if not variable else demands(block.text),
            marked=marks(block.raw),
            prefix=(*spelled(variable[1]), "attribute") if variable else (),
            detail=(*detail, *(_owner(document, number) if variable else ()), ("in", _METHOD.sub(r"\1", title))),
        )


def _owner(document: Document, number: str) -> tuple[tuple[str, str], ...]:
    """Return the class whose data model a section describes."""
    found = _CLASS.match(document.titles.get(number.rpartition(".")[0], ""))
    return (("of", found[1]),) if found else ()


def _code(text: str) -> str | None:
    found = _RESULT.search(text)
    return found[1] if found else None


def _method(document: Document, number: str, head: re.Match[str], blocks: Sequence[Block]) -> Draft:
    """Return a method: its signature, and the text about its parameters without demands."""
    signature = collapsed(" ".join(block.raw for block in blocks if block.shape == "fence"))
    said = " ".join(declared(block.text) for block in blocks if block.shape == "paragraph")
    parent = document.titles.get(number.rsplit(".", 1)[0], "")
    interface = parent.split(" ")[0]
    # Some attributes say put although the signature returns a value: such a method is a getter.
    kind = "put" if re.search(r"\[propput(?:ref)?\]", signature) and "retval" not in signature else ""
    if "[propputref]" in signature:
        kind = "putref"
    elif "[propget]" in signature or ("[prop" in signature and "retval" in signature):
        kind = "get"
    return Draft(
        section=number,
        kind="method",
        line=_line(document, number),
        text=collapsed(f"{head[1]} {head[2]} {signature} {said}"),
        identifier=head[1],
        prefix=(*((kind,) if kind else ()), *spelled(head[1]), "method"),
        detail=(("interface", interface), ("opnum", head[2]), ("invocation", kind or "method")),
    )


def _class(document: Document, number: str, name: str, blocks: Sequence[Block]) -> Draft:
    return Draft(
        section=number,
        kind="class",
        line=_line(document, number),
        text=collapsed(f"{name} {' '.join(declared(block.text) for block in blocks if block.shape == 'paragraph')}"),
        identifier=name,
        prefix=(*spelled(name), "class"),
    )


def _rows(blocks: Sequence[Block], number: str, title: str) -> Iterator[Draft]:
    """Yield rows of the tables. A page break repeats the header and cuts a row, whose rest has an empty first cell."""
    header: tuple[str, ...] = ()
    parameter = ""
    held: tuple[Block, list[str]] | None = None
    for block in blocks:
        named = _NAMED.match(block.raw)
        if named:
            parameter = "" if named[1] == "Return Values" else named[1].replace("\\_", "_")
        if block.shape != "row":
            continue
        found = [cell.strip() for cell in block.text.split("\t")]
        if found[0].split(" ")[0] == title:
            header, parameter = tuple(found), ""  # maps one enumeration to another, so it is not about a single member
        elif found[0] in _HEADERS or block.raw.count("<b>") >= len([cell for cell in found if cell]) > 1:
            header = tuple(found)
        elif not found[0] and held is not None:
            held[1].extend(found[1:])
        else:
            if held is not None:
                yield _row(held[0], held[1], header, parameter, number)
            held = (block, found)
    if held is not None:
        yield _row(held[0], held[1], header, parameter, number)


def _row(block: Block, found: Sequence[str], header: tuple[str, ...], parameter: str, number: str) -> Draft:
    guid = _GUID.search(" ".join(found))
    kind = "constant" if number == ASSIGNMENTS and guid else "table-row"
    first = found[0].split(" 0x")[0].rstrip(" .")
    return Draft(
        section=block.section,
        kind=kind,
        line=block.line,
        text=" | ".join(found),
        context=" | ".join((parameter, *header)),
        identifier=first,
        marked=marks(block.raw),
        prefix=(*spelled(parameter), *spelled(first[:60]), *(("row",) if kind == "table-row" else ())),
        detail=(("value", guid[0]),) if kind == "constant" and guid else tuple(zip(header, found, strict=False)),
    )


def _types(blocks: Sequence[Block]) -> Iterator[Draft]:
    """Yield enumerations and structures. Page breaks close and open a fence, so all fences of a section are joined."""
    described: dict[str, str] = {}
    for block in blocks:
        named = _NAMED.match(block.raw)
        if named and block.shape == "paragraph":
            described[named[1].replace("\\_", "_")] = declared(block.text)
    fences = [block for block in blocks if block.shape == "fence"]
    for found in declarations(_without_stray_brace(fences)):
        yield from declared_drafts(found, described)


def _without_stray_brace(fences: Sequence[Block]) -> list[Block]:
    """Remove a brace that a page end put in the middle of an enumeration; the last one is the enumeration's own."""
    closing = [at for at, block in enumerate(fences) if block.raw.strip() == "}"]
    ends = [at for at, block in enumerate(fences) if re.match(r"^\s*}\s*\w+", block.raw)]
    return [block for at, block in enumerate(fences) if not (at in closing and any(end > at for end in ends))]


def _grammar(blocks: Sequence[Block]) -> Iterator[Draft]:
    """Yield the ABNF rules, which are in fences here, with continuation lines indented."""
    rules: list[list[Block]] = []
    for block in blocks:
        if block.shape != "fence":
            continue
        if ABNF_RULE.match(block.raw) and not re.search(r"[;{]\s*$|HRESULT", block.raw):
            rules.append([block])
        elif rules and rules[-1][-1].line == block.line - 1 and block.raw.startswith(" "):
            rules[-1].append(block)
    for lines in rules:
        text = collapsed(" ".join(block.raw for block in lines))
        name = text.split("=")[0].strip()
        yield Draft(
            section=lines[0].section,
            kind="grammar-rule",
            line=lines[0].line,
            text=text,
            identifier=name,
            prefix=(*spelled(name), "rule"),
        )
