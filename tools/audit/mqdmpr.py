"""Extracts the items of MS-MQDMPR: the abstract data model, and events with arguments, results and steps."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from tools.audit.document import Block, Document
from tools.audit.items import Draft, declared, demanding, marks
from tools.audit.pipes import cells, grammar_rules, product_notes, row_draft, rows
from tools.audit.text import Demand, collapsed, demands
from tools.audit.words import spelled

NOTES = "6"
EVENTS = ("3.1.3", "3.1.4", "3.1.6", "3.1.7", "3.2.7")
MODEL = ("3.1.1", "3.1.2", "3.2.1")

_ARGUMENTS = re.compile(r"(?:generated|triggered) with the following (?:input )?arguments?")
_RETURNS = re.compile(r"^Return Values?:?$")
_STEPS = re.compile(r"performs? the following (?:actions?|steps?)")
# An argument of an event that a step generates: with a value, by name only, or a line of a filter.
_BINDING = re.compile(r"^(?:If .{1,80} supplied: )?(?:\w+ ?(?::=|: =|=)|i[A-Z]\w*$)|^\"\w+\" EQUALS |^Other parameters")
_VARIABLE = re.compile(r"^([ir][A-Z]\w*)\b ?(?:\(Optional\))? ?:?")
_CODE = re.compile(r"^(?:[\w.]*\.)?(\w+)(?: \((0x[0-9A-Fa-f]{8})\))?[.,]?$")
_VERB = re.compile(r"^(?:If|Else|For each|While|Generate|Set|Take|Return|Create|Remove|Add|Start|Stop|Wait)\b")
_ATTRIBUTE = re.compile(r"^\*\*([^*]+?):\*\*")
_VALUE = re.compile(r"^- \*\*([^*]+?)\*\*\s*(?:\(([^)]*)\))?[:.]?")
_MUST = (Demand("any", "must"),)


def drafts(document: Document, events: Sequence[str] = EVENTS) -> Iterator[Draft]:
    """Yield everything that MS-MQDMPR demands. events: the sections whose bullets are arguments, results and steps."""
    for number, blocks in document.sections().items():
        if number == "1.1" or number.startswith("7"):
            continue
        yield from _sentences(blocks)
        yield from grammar_rules(blocks)
        if number == NOTES:
            yield from product_notes(blocks, document)
        if _under(number, events):
            yield from _event(blocks)
        if _under(number, MODEL):
            yield from _model(blocks)
        if number.startswith(("2", "3")):
            yield from (row_draft(row) for row in rows(blocks))


def _under(number: str, roots: Sequence[str]) -> bool:
    return any(number == root or number.startswith(root + ".") for root in roots)


def _sentences(blocks: Sequence[Block]) -> Iterator[Draft]:
    attribute = ""
    for block in blocks:
        match = _ATTRIBUTE.match(block.raw)
        if match:
            attribute = match[1]
        elif block.shape == "paragraph":
            attribute = ""
        if block.shape == "row":
            for cell in cells(block):
                first = cells(block)[1] if cells(block)[0] == "Variable" else cells(block)[0]
                yield from demanding(block, first if len(first) < 60 else "", cell)
        elif block.shape == "bullet":
            variable = _VARIABLE.match(block.text)
            value = _VALUE.match(block.raw)
            within = variable[1] if variable else f"{attribute}.{value[1]}" if value and attribute else attribute
            yield from demanding(block, within)
        else:
            yield from demanding(block, attribute)


def _event(blocks: Sequence[Block]) -> Iterator[Draft]:
    """Yield arguments, then return values, then steps. A paragraph announces which of them its bullets are.

    One event has no such paragraph, and ten bullets of the document lost their dash.
    """
    part = "steps"
    for block in blocks:
        paragraph = block.shape == "paragraph"
        if paragraph and _ARGUMENTS.search(block.text):
            part = "arguments"
        elif paragraph and _RETURNS.match(block.text):
            part = "returns"
        elif paragraph and _STEPS.search(block.text):
            part = "steps"
        elif block.shape not in ("bullet", "paragraph") or re.match(r"^None\.?$", block.text):
            continue
        elif part == "steps" and (not paragraph or (_VERB.match(block.text) and not demands(block.text))):
            yield _step(block)
        elif part != "steps" and (not paragraph or _VARIABLE.match(block.text)):
            yield _listed(block, part)


def _step(block: Block) -> Draft:
    binding = _BINDING.match(block.text)
    return Draft(
        section=block.section,
        kind="binding" if binding else "step",
        line=block.line,
        text=block.text,
        demands=_MUST,
        marked=marks(block.raw),
    )


def _listed(block: Block, part: str) -> Draft:
    """Return a bullet among arguments or return values: one of them, a possible status code, or a remark on one."""
    variable = _VARIABLE.match(block.text)
    code = _CODE.match(block.text) if part == "returns" else None
    name = variable[1] if variable else code[1] if code else None
    kind = "status-code" if code else "attribute-value"
    if variable:
        kind = "argument" if part == "arguments" else "return-value"
    detail = (("value", code[2]),) if code and code[2] else ()
    return Draft(
        section=block.section,
        kind=kind,
        line=block.line,
        text=collapsed(declared(block.text) or block.text),
        identifier=name,
        marked=marks(block.raw),
        prefix=(*spelled(name), *(() if code else kind.split("-"))) if name else (),
        detail=detail,
    )


def _model(blocks: Sequence[Block]) -> Iterator[Draft]:
    """Yield the attributes of the data model's elements, and the values of their enumerations."""
    attribute = ""
    for block in blocks:
        match = _ATTRIBUTE.match(block.raw)
        value = _VALUE.match(block.raw) if block.shape == "bullet" else None
        if match:
            attribute = match[1]
            yield _named_draft(block, "attribute", match[1], "", ())
        elif value:
            yield _named_draft(block, "attribute-value", value[1].rstrip(":"), attribute, (("value", value[2] or ""),))
        elif block.shape == "bullet":
            yield Draft(block.section, "attribute-value", block.line, block.text, attribute, marked=marks(block.raw))


def _named_draft(block: Block, kind: str, name: str, context: str, detail: tuple[tuple[str, str], ...]) -> Draft:
    text = block.text if block.shape == "bullet" else f"{name}: {declared(block.text.removeprefix(name + ':'))}"
    return Draft(
        section=block.section,
        kind=kind,
        line=block.line,
        text=collapsed(text),
        context=context,
        identifier=f"{context}.{name}" if context else name,
        marked=marks(block.raw),
        prefix=(*spelled(context), *spelled(name), *(("attribute",) if kind == "attribute" else ())),
        detail=tuple(pair for pair in detail if pair[1]),
    )
