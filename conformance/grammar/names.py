"""Parses queue names of an MSMQ version under chosen readings (MS-MQMQ 2.1): by Lark, and in bulk.

`parse_name` uses the Lark grammar and is the reference; `bulk` is a hundred times as fast and must agree with it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from conformance.grammar.bulk import (
    ELEMENT,
    FORMAT_NAME,
    FORMS,
    MAX_ONE,
    MULTIPLE_ELEMENT,
    PATH_NAME,
    NameError_,
    Names,
)
from conformance.grammar.lark_text import parser_of, to_lark, tree_of
from conformance.grammar.sources import RULES, load, readings_of, version_of, windows
from conformance.grammar.tree import AbnfError
from conformance.grammar.values import CAPTURED, KINDS, MAKERS, MultipleElementName, QueueName
from conformance.spec.catalogue import alternative_of

if TYPE_CHECKING:
    from lark import Lark, Tree

__all__ = [
    "FORMAT_NAME",
    "FORMS",
    "MULTIPLE_ELEMENT",
    "PATH_NAME",
    "NameError_",
    "Names",
    "QueueName",
    "bulk",
    "name_of",
    "parse_name",
]

Readings = Mapping[str, str]


def bulk(version: str = "4.0", readings: Readings | None = None) -> Names:
    """Return the bulk parser. version: `4.0` or a profile, `msmq-5.0`. readings: as in `sources.load`.

    The first name of each form has to wait for its expression, up to a second.
    """
    return _bulk(version_of(version), _alternatives(readings))


def parse_name(text: str, form: str, *, version: str = "4.0", readings: Readings | None = None) -> QueueName:
    """Parse a name by the Lark grammar. form: one of FORMS. version, readings: as in `bulk`.

    Raises NameError_ for a text that is not such a name, with the reason where it is too long to be parsed this way.
    """
    if len(text) > MAX_ONE:
        raise NameError_(text, form, f"longer than {MAX_ONE} characters")
    try:
        tree = tree_of(_lark(version_of(version), _alternatives(readings), form), text)
    except AbnfError as error:
        raise NameError_(text, form, error.text) from error
    if tree is None:
        raise NameError_(text, form)
    return name_of(tree, text, form)


def name_of(tree: Tree[Any], text: str, form: str) -> QueueName:
    """Make the name of a text from its tree, by the grammar of the form or of the one kind of name."""
    spans = list(_spans(tree))
    if form != MULTIPLE_ELEMENT:
        return _queue_name(text, form, spans)
    begins = [at for at, span in enumerate(spans) if span.rule == ELEMENT.casefold()]
    ends = [*begins[1:], len(spans)]
    return MultipleElementName(text, tuple(_element(text, spans[at:end]) for at, end in zip(begins, ends, strict=True)))


@dataclass(frozen=True, slots=True)
class _Span:
    rule: str
    begin: int
    end: int


class _Found:
    """Places in a text in the form that `making` needs; None: the rule was not used."""

    def __init__(self, text: str, spans: list[_Span | None]) -> None:
        self.text, self.spans = text, spans

    def __getitem__(self, index: int, /) -> Any:
        span = self.spans[index]
        return None if span is None else self.text[span.begin : span.end]

    def start(self, index: int, /) -> int:
        """Return the begin of a place; -1 for none."""
        span = self.spans[index]
        return -1 if span is None else span.begin


def _spans(tree: Tree[Any]) -> Iterator[_Span]:
    """Yield the place of each node of a tree, an outer one before those in it. Every token is one character."""
    pending: list[tuple[Any, int]] = [(tree, 0)]
    sizes = _sizes(tree)
    while pending:
        node, begin = pending.pop()
        yield _Span(str(node.data), begin, begin + sizes[id(node)])
        inner = []
        for child in node.children:
            if hasattr(child, "children"):
                inner.append((child, begin))
                begin += sizes[id(child)]
            else:
                begin += 1
        pending += reversed(inner)


def _sizes(tree: Tree[Any]) -> dict[int, int]:
    """Return the number of characters of each node."""
    sizes: dict[int, int] = {}
    for node in tree.iter_subtrees():  # children come before their parents
        sizes[id(node)] = sum(sizes[id(each)] if hasattr(each, "children") else 1 for each in node.children)
    return sizes


def _element(text: str, spans: Sequence[_Span]) -> QueueName:
    """Make the element of the first span; the others are in it."""
    first = spans[0].begin
    inside = [_Span(each.rule, each.begin - first, each.end - first) for each in spans]
    return _queue_name(text[first : spans[0].end], FORMAT_NAME, inside)


def _queue_name(text: str, form: str, spans: Sequence[_Span]) -> QueueName:
    kind = "path" if form == PATH_NAME else KINDS[text.partition("=")[0].upper()]
    roles = dict.fromkeys(CAPTURED[kind].values())
    places: dict[str, _Span | None] = dict(roles)
    for span in spans:
        role = CAPTURED[kind].get(span.rule)
        if role is not None and places[role] is None:
            places[role] = span
    order = list(roles)
    used = [number if places[role] is not None else None for number, role in enumerate(order)]
    return MAKERS[kind](used)(text, _Found(text, [places[role] for role in order]))


def _alternatives(readings: Readings | None) -> tuple[tuple[str, str], ...]:
    """Return the alternatives that matter for names, so that equivalent choices share a parser."""
    given = readings or {}
    for name, alternative in given.items():
        alternative_of(name, alternative)
    return tuple((name, given.get(name) or windows()[name]) for name in readings_of("names"))


@cache
def _bulk(version: str, readings: tuple[tuple[str, str], ...]) -> Names:
    return Names(load(version, dict(readings)))


@cache
def _lark(version: str, readings: tuple[tuple[str, str], ...], form: str) -> Lark:
    return parser_of(to_lark(load(version, dict(readings)), RULES[form]))
