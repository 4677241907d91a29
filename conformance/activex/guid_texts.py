"""Texts of GUIDs by the grammars of MSMQMessage: which rules a text breaks (MC-MQAC 3.17.4.1.19, .53, .54).

The rule that 3.17.4.1.54 prints has a quote and a part too few (finding Q81): what the getter gives has to be taken by
the putter, so its texts are judged by the grammar of 3.17.4.1.53.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Final

from lark import Lark

from conformance.activex.cells import requirements
from conformance.activex.expected import Demand, Invoke, Seen
from conformance.activex.members import Member
from conformance.activex.statuses import S_OK
from conformance.grammar.lark_text import parser_of, to_lark, tree_of
from conformance.grammar.sources import load_set

BARE: Final = "activex-3.17.4.1.19"
IN_BRACES: Final = "activex-3.17.4.1.53"
GUID, DOUBLE_WORD, WORD, BYTE, DIGIT = "guid", "dword-part", "word-part", "byte-part", "hex-digit"
RULES: Final = (GUID, DOUBLE_WORD, WORD, BYTE, DIGIT)


@cache
def _parser(grammar: str, rule: str) -> Lark:
    return parser_of(to_lark(load_set(grammar), rule))


def _is(grammar: str, rule: str, text: str) -> bool:
    return bool(text) and tree_of(_parser(grammar, rule), text) is not None


def broken(text: str, grammar: str) -> frozenset[str]:
    """Return the rules that a text breaks, each judged on its part of the text; none for a text of the grammar."""
    if _is(grammar, GUID, text):
        return frozenset()
    return frozenset({GUID, *_broken_parts(text, grammar)})


def _broken_parts(text: str, grammar: str) -> Iterator[str]:
    inner = text.removeprefix("{").removesuffix("}") if grammar == IN_BRACES else text
    parts = inner.split("-")
    if not _is(grammar, DOUBLE_WORD, parts[0]):
        yield DOUBLE_WORD
    if len(parts) < 2 or not _is(grammar, WORD, parts[1]):
        yield WORD
    pairs = [part[at : at + 2] for part in parts for at in range(0, len(part), 2)]
    if not all(_is(grammar, BYTE, pair) for pair in pairs):
        yield BYTE
    if not all(_is(grammar, DIGIT, digit) for part in parts for digit in part):
        yield DIGIT


GRAMMARS: Final = {"SourceMachineGuid": BARE, "ConnectorTypeGuid": IN_BRACES}
"""Member of MSMQMessage to the grammar of its texts."""


def demands(member: Member, call: Invoke, seen: Seen) -> Iterator[Demand]:
    """Yield the demands of a grammar: a getter gives texts of it, a putter takes those and refuses all others."""
    grammar = GRAMMARS[member.name]
    value = call.arguments[-1] if call.kind == "put" else seen.value
    if value is None or value.vt != "BSTR" or (call.kind == "get" and seen.status != S_OK):
        return
    wrong = broken(value.value or "", grammar)
    for rule in RULES:
        names = requirements(member, call.kind, *(("rule:guid", "grammar") if rule == GUID else (f"rule:{rule}",)))
        if call.kind == "get":
            yield Demand(names, rule not in wrong, {"value": f"a text that follows the rule {rule}"})
        elif not wrong:
            yield Demand(names, seen.status == S_OK, {"status": S_OK})
        elif rule in wrong:
            yield Demand(names, seen.status == member.refusal, {"status": member.refusal})
