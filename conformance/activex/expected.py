"""Demands on the answer to a call of a member, told from the object's state: data in, demands out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from functools import cache
from typing import Any, Final

from lark import Lark

from conformance.activex.members import Check, Kind, Member, flags, requirements
from conformance.activex.tables import CLASSES, CREATED, RECEIVED, REFRESHED, refuses
from conformance.activex.values import E_NOTIMPL, MISSING, S_OK, Variant, accepted, failed, hollow, same
from conformance.grammar.names import parser_of, to_lark, tree_of
from conformance.grammar.sources import load_set
from conformance.model.values import value
from conformance.spec.constants.enumerations import ENUMERATIONS

Readings = Mapping[str, tuple[str, ...]]

NEW_MESSAGE: Final = "R-MQAC-new-message-defaults"
AS_LISTED: Final = "as-listed"
_DISPUTED: Final = frozenset(
    {"TimeToReachQueue", "ApplicationTag", "Label", "CorrelationIdentifier", "HashAlgorithm", "SentTime"}
)
_TRANSACTION_TYPES: Final = frozenset({"UNKNOWN", "DISPATCH", "I4", "I8"})
_TRANSACTIONS: Final = frozenset({"DISPATCH", "UNKNOWN", "I4"})
_CURSORS: Final = frozenset(ENUMERATIONS["MQMSGCURSOR"].members.values())
_SEND, _DENY_NONE = 2, 0
_GUID_TEXTS: Final = frozenset({"SourceMachineGuid", "ConnectorTypeGuid"})


@value
class Invoke:
    """A call of a member: by its name, in one of its forms."""

    member: str
    kind: Kind
    arguments: tuple[Variant, ...] = ()


@value
class Seen:
    """The answer: a status, and what the member answered, if anything.

    waits: there is no answer yet. shown: properties of the message that the member answered, got from it at once.
    """

    status: int
    value: Variant | None = None
    waits: bool = False
    shown: Mapping[str, Seen] = field(default_factory=dict)

    @property
    def gives(self) -> bool:
        """True if the member answered an object."""
        handed = self.value is not None and self.value.vt in ("DISPATCH", "UNKNOWN") and bool(self.value.value)
        return self.status == S_OK and not self.waits and handed

    def to_json(self) -> dict[str, Any]:
        if self.waits:
            return {"waits": True}
        out: dict[str, Any] = {"status": self.status}
        if self.value is not None:
            out["value"] = self.value.to_json()
        if self.shown:
            out["shown"] = {name: seen.to_json() for name, seen in self.shown.items()}
        return out


@value
class Held:
    """An object as the client's calls have left it. values: what was put, by the attribute that keeps it.

    also: names of checks that fail, beside those of its state: of a queue that is not open for reading. former: what
    was put before the values that are there now.
    """

    coclass: str
    state: str
    values: Mapping[str, Variant] = field(default_factory=dict)
    also: frozenset[str] = frozenset()
    former: Mapping[str, Variant] = field(default_factory=dict)


@value
class Demand:
    """One demand on an answer, whether it holds, and the requirements it stands for. expected: JSON."""

    requirements: tuple[str, ...]
    holds: bool
    expected: Any
    readings: tuple[tuple[str, str], ...] = ()


def demands(held: Held, call: Invoke, seen: Seen, readings: Readings) -> Iterator[Demand]:
    """Yield the demands on an answer. None for a call of which the tables say nothing."""
    member = CLASSES[held.coclass][call.member]
    if member.unimplemented:  # its own code says most: an argument is ignored where nothing is done
        names = requirements(member, call.kind, "unimplemented")
        yield from reversed(list(refused(names, seen, E_NOTIMPL, readings)))
        return
    check = refusing(member, held, call)
    if check is not None:
        columns = [f"check:{check.name}"]
        if held.coclass == "MSMQTransaction" and check.name == "empty":
            columns.append("initial")
        yield from refused(requirements(member, call.kind, *columns), seen, check.status, readings)
    elif call.kind == "put":
        yield from _put(member, call.arguments[-1], seen, readings)
    elif call.kind == "get":
        yield from _with_text(member, held, call, seen, _get(member, held, seen, readings))
    elif call.kind == "method":
        yield _status(requirements(member, "method", "success"), seen, S_OK)
    if call.kind == "put":
        yield from _with_text(member, held, call, seen, ())


def _with_text(member: Member, held: Held, call: Invoke, seen: Seen, found: Iterable[Demand]) -> Iterator[Demand]:
    """Yield demands with those of a grammar: these first if the text has the digits of the value, written wrongly."""
    if held.coclass != "MSMQMessage" or member.name not in _GUID_TEXTS:
        yield from found
        return

    of_text = tuple(guid_demands(member, call, seen))
    held_there = held.values.get(member.kept_as or "") or member.initial
    if seen.value is not None and held_there is not None and _digits(seen.value) == _digits(held_there):
        yield from (*of_text, *found)
    else:
        yield from (*found, *of_text)


def _digits(value: Variant) -> str:
    return "".join(one for one in str(value.value).casefold() if one.isalnum())


def refusing(member: Member, held: Held, call: Invoke) -> Check | None:
    """Return the first precondition, in the order of the text, that the call does not meet."""
    broken = refuses(held.coclass, held.state) | held.also | _by_arguments(member, call.arguments)
    return next((check for check in member.checks if check.name in broken), None)


def _by_arguments(member: Member, arguments: tuple[Variant, ...]) -> frozenset[str]:
    if member.name == "InitNew" and arguments[0].vt not in _TRANSACTION_TYPES:
        return frozenset({"type"})
    if member.name == "Open" and arguments[0].value == _SEND and arguments[1].value != _DENY_NONE:
        return frozenset({"share-mode"})
    if member.coclass == "MSMQQueue" and arguments:
        return frozenset(_by_read_arguments(member, arguments))
    return frozenset()


def _by_read_arguments(member: Member, arguments: tuple[Variant, ...]) -> Iterator[str]:
    for one, given in zip(member.slots[0].arguments, arguments, strict=False):
        if one.name == "Transaction" and given != MISSING and given.vt not in _TRANSACTIONS:
            yield "transaction-type"
        elif one.name == "LookupId" and given.value in (0, "0"):
            yield "lookup-identifier"
        elif one.name == "Event" and given.value is None:
            yield "no-event"
        elif one.name == "Cursor" and given != MISSING and given.value not in _CURSORS:
            yield "cursor-name"


def _status(names: tuple[str, ...], seen: Seen, wanted: int | None) -> Demand:
    if wanted is None:
        return Demand(names, failed(seen.status), {"status": "a failing HRESULT"})
    return Demand(names, seen.status == wanted, {"status": wanted})


def refused(names: tuple[str, ...], seen: Seen, code: int | None, readings: Readings) -> Iterator[Demand]:
    """Yield the demands on a refusal: that the call fails, and that it fails with a code, None for any."""
    if code is None:
        yield _status(names, seen, None)
        return
    codes = codes_of(names)
    others = tuple(name for name in names if name not in codes)
    if others:
        yield Demand(others, failed(seen.status), {"status": code})
    yield _coded(codes, seen, code, readings)


def _coded(names: tuple[str, ...], seen: Seen, code: int, readings: Readings) -> Demand:
    """Return the demand on a code: of the numbers that stand for it, those that are accepted."""
    fits = accepted(names, code, readings)
    found = next((follows for number, follows in fits if number == seen.status), None)
    assumed = (found or ()) if len(fits) > 1 else ()
    return Demand(names, found is not None, {"status": fits[0][0]}, assumed)


def codes_of(names: Iterable[str]) -> tuple[str, ...]:
    """Return those of some requirements that demand a code; the others demand that the call fails, or shows nothing."""
    return tuple(name for name in names if name.rpartition(".")[2].startswith(("return-", "not-implemented")))


def _put(member: Member, value: Variant, seen: Seen, readings: Readings) -> Iterator[Demand]:
    if member.takes is None:
        return
    if member.takes.admits(value):
        of_type, success = requirements(member, "put", f"type:{value.vt}"), requirements(member, "put", "success")
        refused_whole = _purposes(member) if seen.status != S_OK else ()
        yield _status((*of_type, *refused_whole, *success), seen, S_OK)
    elif member.refusal is not None:
        yield from refused(requirements(member, "put", "refused"), seen, member.refusal, readings)


def _purposes(member: Member) -> tuple[str, ...]:
    """Return what a put is there for, in one sentence of the text: a put that fails breaks it, and no single step."""
    return tuple(name for name in requirements(member, "put", "kept") if name.endswith(".purpose"))


def _get(member: Member, held: Held, seen: Seen, readings: Readings) -> Iterator[Demand]:
    if member.vt == "DISPATCH" or not _state_decides(member, held):
        return
    yield _status(requirements(member, "get", "success"), seen, S_OK)
    if seen.status != S_OK:
        return
    put = held.values.get(member.kept_as or "")
    if put is not None and member.name == "BodyLength":
        put = Variant("I4", len(put.value)) if isinstance(put.value, bytes) else None
        if put is None:
            return
    if put is not None:
        yield from _unchanged(member, held, put, seen)
    elif member.kept_as not in held.values and held.state != RECEIVED:
        yield from _initial(member, seen, readings)


def _state_decides(member: Member, held: Held) -> bool:
    """Tell whether the state alone says what the getter shows.

    A getter of MSMQQueueInfo first refreshes the object, which takes a queue that exists; a put that the queue has not
    got is lost then, or not (R-MQAC-getter-after-put).
    """
    if held.coclass != "MSMQQueueInfo":
        return held.coclass == "MSMQMessage"
    if member.name == "FormatName":
        return held.state not in (CREATED, REFRESHED)
    return held.state == CREATED and member.kept_as in held.values


def _unchanged(member: Member, held: Held, put: Variant, seen: Seen) -> Iterator[Demand]:
    """Yield the demands on a getter after a put. A value that is neither old nor new is the getter's fault first."""
    holds = seen.value is not None and (same(seen.value, put) or _same_guid(member, seen.value, put))
    expected = {"value": put.to_json()}
    names = requirements(member, "get", "gives", _case(put), f"gives:{put.value}")
    getter = (*_flags(flags(member, "get"), put, seen), Demand(names, holds, expected))
    former = held.former.get(member.kept_as or "")
    stale = former is not None and seen.value is not None and same(seen.value, former)
    strange = not holds and not stale and not _is_initial(member, seen.value)
    if strange:
        yield from getter
    for writer in CLASSES[held.coclass].values() if held.state != RECEIVED else ():
        if writer.kept_as == member.kept_as and writer.slot("put") is not None and member.name != "BodyLength":
            yield from _flags(flags(writer, "put", f"kept:{put.value}"), put, seen)
            yield Demand(requirements(writer, "put", "kept", f"kept:{put.value}"), holds, expected)
    if not strange:
        yield from getter


def _same_guid(member: Member, shown: Variant, put: Variant) -> bool:
    """Tell whether two texts stand for one GUID, which is kept as a number: its letters may be small ones."""
    return member.name in GRAMMARS and shown.vt == put.vt == "BSTR" and shown.value.upper() == put.value.upper()


def _flags(every: Mapping[int, tuple[str, ...]], wanted: Variant, seen: Seen) -> Iterator[Demand]:
    """Yield the demands on each flag of which a value is made: a wrong one first."""
    shown = seen.value.value if seen.value is not None else None
    wrong = (shown ^ wanted.value) if isinstance(shown, int) and isinstance(wanted.value, int) else -1
    for flag, names in sorted(every.items(), key=lambda one: not wrong & one[0]):
        yield Demand(names, not wrong & flag, {"value": wanted.to_json()})


def _is_initial(member: Member, shown: Variant | None) -> bool:
    if member.initial is None or shown is None:
        return shown is None or hollow(shown)
    return same(shown, member.initial)


def _initial(member: Member, seen: Seen, readings: Readings) -> Iterator[Demand]:
    assumed: tuple[tuple[str, str], ...] = ()
    if member.kept_as in _DISPUTED and member.coclass == "MSMQMessage":
        if readings.get(NEW_MESSAGE, (AS_LISTED,)) != (AS_LISTED,):
            return
        assumed = ((NEW_MESSAGE, AS_LISTED),)
    shown = seen.value or Variant("EMPTY")
    if member.initial is not None:
        names = requirements(member, "get", "initial", "gives", _case(member.initial))
        yield Demand(names, same(shown, member.initial), {"value": member.initial.to_json()}, assumed)
        yield from _flags(flags(member, "get"), member.initial, seen)
    elif member.null or member.name == "FormatName":
        names = requirements(member, "get", "initial", "gives")
        yield Demand(names, hollow(shown), {"value": "any form of NULL"}, assumed)


def _case(value: Variant) -> str:
    if value.vt == "BSTR":
        return "gives:text" if value.value else "gives:null"
    return "gives:true" if value.value else "gives:false"


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


def guid_demands(member: Member, call: Invoke, seen: Seen) -> Iterator[Demand]:
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
