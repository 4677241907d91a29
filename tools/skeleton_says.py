"""A line of our own for an item, made of identifiers and numbers; empty where only a person can find the words.

Nothing here repeats a sentence: what goes in are names, values, sizes and section titles.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from tools.audit.items import Item
from tools.audit.words import identifiers
from tools.skeleton_guess import boilerplate

_SHORT = 64
_NAMES = 4


def said(item: Item, titles: Mapping[str, str]) -> str:
    """A line for `item`, or an empty string when it has to be written by hand."""
    maker = _MAKERS.get(item.kind)
    title = re.sub(r" \(Opnum \d+\)$", "", titles.get(item.section, item.section))
    return maker(item, dict(item.detail), title) if maker else ""


def _property(item: Item, detail: Mapping[str, str], title: str) -> str:
    return f"{item.identifier} is property {detail['value']} with variant type {detail['type']}."


def _constant(item: Item, detail: Mapping[str, str], title: str) -> str:
    return f"{item.identifier} is {detail['value']}."


def _member(item: Item, detail: Mapping[str, str], title: str) -> str:
    return f"{item.identifier} of {detail['of']} is {detail['value']}."


def _enumeration(item: Item, detail: Mapping[str, str], title: str) -> str:
    return f"{item.identifier} has {detail.get('members', 'no')} members."


def _declaration(item: Item, detail: Mapping[str, str], title: str) -> str:
    uuid = f" with class id {detail['uuid']}" if "uuid" in detail else ""
    return f"{item.identifier} has the declared members in the declared order{uuid}."


def _field(item: Item, detail: Mapping[str, str], title: str) -> str:
    if "bits" in detail:
        low, high = detail["bits"].split("-")
        where = f"bit {low}" if low == high else f"bits {low} to {high}"
        return f"{detail['name']} is {where} of its field, the least significant bit being 0."
    if detail["size"].startswith("variable"):
        return f"{detail['name']} stands where {title} has it and has a length of its own."
    return f"{detail['name']} stands where {title} has it and takes {detail['size']}."


def _struct_member(item: Item, detail: Mapping[str, str], title: str) -> str:
    return f"{detail['of']} has a member {item.identifier}."


def _row(item: Item, detail: Mapping[str, str], title: str) -> str:
    """The short cells of a row. A cell that says something in a sentence is left for a person."""
    short = [(name, value) for name, value in item.detail if value and name != "of" and _is_name(value)]
    if not short:
        return ""
    place = item.context.split(" | ")[0] or title
    return f"{place}: " + ", ".join(f"{name} {value}" for name, value in short) + "."


def _is_name(cell: str) -> bool:
    """Whether a cell holds a name or a value and no sentence, however short."""
    return len(cell) < _SHORT and cell.count(" ") < 4 and not cell.endswith((".", ":", ";"))


def _rule(item: Item, detail: Mapping[str, str], title: str) -> str:
    versions = f" of {detail['versions']}" if detail.get("versions") else ""
    return f"What rule {item.identifier}{versions} derives is accepted, and nothing else is."


def _method(item: Item, detail: Mapping[str, str], title: str) -> str:
    kind = {"method": "a method", "get": "a getter", "put": "a putter", "putref": "a putter by reference"}
    return f"{item.identifier} of {detail['interface']} is {kind[detail['invocation']]} with opnum {detail['opnum']}."


def _interface(item: Item, detail: Mapping[str, str], title: str) -> str:
    return (
        f"{item.identifier} has interface id {detail.get('uuid', 'as declared')}, "
        f"base {detail['base']} and {detail['methods']} methods of its own."
    )


def _class(item: Item, detail: Mapping[str, str], title: str) -> str:
    return f"{item.identifier} is an object class a client can create or be given."


def _precondition(item: Item, detail: Mapping[str, str], title: str) -> str:
    answer = detail.get("code", "a failure")
    return f"{title} checks {_named(detail)} and answers {answer} when the check fails."


def _result(item: Item, detail: Mapping[str, str], title: str) -> str:
    return f"{title} answers {detail.get('code', 'a failure')} here and goes no further."


def _step(item: Item, detail: Mapping[str, str], title: str) -> str:
    return f"{title} has a step that concerns {_named(detail)}." if item.document == "MQAC" else ""


def _sentence(item: Item, detail: Mapping[str, str], title: str) -> str:
    if boilerplate(item):
        return f"{title} is processed as its arguments and steps are listed."
    if item.document != "MQAC":
        return ""
    return f"{title}: what the text demands of {item.context or _named(detail)}."


def _named(detail: Mapping[str, str]) -> str:
    names = [name for name in detail.get("names", "").split(", ") if name]
    return ", ".join(names[:_NAMES]) or "its arguments"


def _note(item: Item, detail: Mapping[str, str], title: str) -> str:
    return f"Product note {detail['note']} on section {detail['of']}."


def _argument(item: Item, detail: Mapping[str, str], title: str) -> str:
    return f"{item.identifier} is an argument of {title}."


def _result_value(item: Item, detail: Mapping[str, str], title: str) -> str:
    return f"{item.identifier} is a result of {title}."


def _status(item: Item, detail: Mapping[str, str], title: str) -> str:
    value = f" ({detail['value']})" if detail.get("value") else ""
    return f"{title} can answer {item.identifier}{value}."


def _attribute(item: Item, detail: Mapping[str, str], title: str) -> str:
    return f"{detail.get('of', title)} has the attribute {item.identifier}."


def _attribute_value(item: Item, detail: Mapping[str, str], title: str) -> str:
    name = (item.identifier or "").rpartition(".")[2]
    if not name:
        names = " and ".join(identifiers(item.text)[:_NAMES]) or "a part"
        return f"{names} is listed by {item.context or title}."
    return f"{name} is a value of {item.context}." if item.context else f"{name} belongs to {title}."


def _binding(item: Item, detail: Mapping[str, str], title: str) -> str:
    names = identifiers(item.text)[:_NAMES]
    return f"{' and '.join(names) or 'An argument'} bound for an event that {title} raises."


_MAKERS: dict[str, Callable[[Item, Mapping[str, str], str], str]] = {
    "property": _property,
    "constant": _constant,
    "member": _member,
    "enumeration": _enumeration,
    "declaration": _declaration,
    "field": _field,
    "struct-member": _struct_member,
    "table-row": _row,
    "grammar-rule": _rule,
    "method": _method,
    "interface": _interface,
    "class": _class,
    "precondition": _precondition,
    "hresult": _result,
    "step": _step,
    "sentence": _sentence,
    "product-note": _note,
    "argument": _argument,
    "return-value": _result_value,
    "status-code": _status,
    "attribute": _attribute,
    "attribute-value": _attribute_value,
    "binding": _binding,
}
