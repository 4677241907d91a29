"""Queue names in bulk: one regular expression, made from the grammar, whose groups are the parts.

The expression has the language of the rules exactly; nothing of the syntax of names is said here again. Where the
grammar is ambiguous, which of its ways a text is taken apart is not promised, only that it is one of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from conformance.grammar.automaton import Dfa, dfa
from conformance.grammar.making import CAPTURED, KINDS, MAKERS, Made
from conformance.grammar.positions import positions
from conformance.grammar.regex import compiled, regex
from conformance.grammar.tree import Alt, Chars, Grammar, Lit, Node, Ref, Rep, Rule, Seq, children, fold_case, rebuild
from conformance.grammar.values import MultipleElementName, QueueName

PATH_NAME, FORMAT_NAME, MULTIPLE_ELEMENT = "path_name", "format_name", "multiple_element"
FORMS = (PATH_NAME, FORMAT_NAME, MULTIPLE_ELEMENT)
STARTS: Mapping[str, tuple[str, ...]] = {
    PATH_NAME: ("QueuePathName",),
    FORMAT_NAME: ("FormatName", "Machine"),
    MULTIPLE_ELEMENT: ("MultipleElementName",),
}
"""The rules of each form of `names.parse`. 2.1.7 leaves the machine name out of its FormatName."""

# Longer texts are refused unread. The longest name of the rules that have one is below 1,000 characters; a port of
# `*(%x30-39)` and a host of RFC 3986 have no longest one.
MAX_ONE = 1 << 16
MAX_ALL = 1 << 24

_Handler: TypeAlias = Callable[[str, re.Match[str]], QueueName]
_Expression: TypeAlias = tuple[Callable[[str], "re.Match[str] | None"], list[_Handler]]
_NOTHING: _Expression = (lambda text: None, [])
_WHOLE = "one-branch"  # the rule made of a branch


class NameError_(ValueError):
    """A text that is no name of the form asked for. text, form: what was asked."""

    def __init__(self, text: str, form: str, why: str = "") -> None:
        shown = text if len(text) <= 80 else text[:77] + "..."
        super().__init__(f"{shown!a} is no {form.replace('_', ' ')}{why and f': {why}'}")
        self.text, self.form = text, form


@dataclass(frozen=True, slots=True)
class Branch:
    """One way through a start rule. rules: case-folded names of the rules passed; node: what is left to derive."""

    rules: tuple[str, ...]
    node: Node

    @property
    def kind(self) -> str:
        """The kind of name, by the rules passed. Raises KeyError for a branch that passed none of 2.1."""
        return next(KINDS[rule] for rule in self.rules if rule in KINDS)


def branches(grammar: Grammar, *starts: str) -> Iterator[Branch]:
    """The alternatives of the start rules, and of the rules that alone make one up, in order."""
    pending = [Branch((), Ref(start)) for start in starts]
    while pending:
        branch = pending.pop(0)
        node = branch.node
        if isinstance(node, Alt):
            pending[:0] = [Branch(branch.rules, each) for each in node.items]
        elif isinstance(node, Ref) and node.name.casefold() not in branch.rules:
            pending.insert(0, Branch((*branch.rules, node.name.casefold()), grammar.rule(node.name).node))
        else:
            yield branch


def may_hold(grammar: Grammar, start: str, char: str) -> bool:
    """Whether a character occurs in any rule that the start needs."""
    code = ord(char)
    pending: list[Node] = [rule.node for rule in grammar.reachable(start).values()]
    while pending:
        match pending.pop():
            case Chars(ranges) if any(low <= code <= high for low, high in ranges):
                return True
            case Lit(text, sensitive) if any(
                low <= code <= high
                for each in text
                for low, high in ([(ord(each),) * 2] if sensitive else fold_case(each))
            ):
                return True
            case Alt(items) | Seq(items):
                pending.extend(items)
            case Rep() as rep:
                pending.append(rep.node)
            case _:
                pass
    return False


class Names:
    """Takes names apart by one grammar of MS-MQMQ 2.1. Keep it: it is costly to make."""

    def __init__(self, grammar: Grammar) -> None:
        self.grammar = grammar
        self._paths = self._expressions(*STARTS[PATH_NAME])
        self._ones = self._expressions(*STARTS[FORMAT_NAME])
        self._elements = self._expressions("FormatName")
        self._all = compiled(grammar, STARTS[MULTIPLE_ELEMENT][0])
        # The rule says how few elements there are; where it is divided at commas, their number has to be known.
        self._fewest = 1 if self._all.fullmatch(self._shortest()) else 2
        self._commas = may_hold(grammar, "FormatName", ",")
        self._parsers = {PATH_NAME: self.path, FORMAT_NAME: self.format_name, MULTIPLE_ELEMENT: self.multiple}

    def _shortest(self) -> str:
        return dfa(self.grammar, "FormatName").shortest() or ""

    def parse(self, text: str, form: str) -> QueueName:
        """The name of a text. Raises NameError_, and KeyError for another form than `FORMS`."""
        return self._parsers[form](text)

    def path(self, text: str) -> QueueName:
        """A path name (2.1.1). Raises NameError_."""
        return self._whole(text, self._paths, PATH_NAME)

    def format_name(self, text: str) -> QueueName:
        """One format name (2.1.2 to 2.1.6). Raises NameError_."""
        match, handlers = self._ones.get(text[:1]) or self._ones[""]
        found = match(text) if len(text) <= MAX_ONE else None
        if found is None:
            raise NameError_(text, FORMAT_NAME)
        return handlers[found.lastindex or 0](text, found)

    def multiple(self, text: str) -> MultipleElementName:
        """A multiple-element name (2.1.7). Raises NameError_."""
        if self._commas:
            return MultipleElementName(text, tuple(self._divided(text)))
        if len(text) > MAX_ALL:
            raise NameError_(text, MULTIPLE_ELEMENT)
        made: list[QueueName] = []
        expressions = self._elements
        for element in text.split(","):
            match, handlers = expressions.get(element[:1]) or expressions[""]
            found = match(element) if len(element) <= MAX_ONE else None
            if found is None:
                raise NameError_(text, MULTIPLE_ELEMENT)
            made.append(handlers[found.lastindex or 0](element, found))
        if len(made) < self._fewest:
            raise NameError_(text, MULTIPLE_ELEMENT)
        return MultipleElementName(text, tuple(made))

    @staticmethod
    def _whole(text: str, expressions: Mapping[str, _Expression], form: str) -> QueueName:
        match, handlers = expressions.get(text[:1]) or expressions[""]
        found = match(text) if len(text) <= MAX_ONE else None
        if found is None:
            raise NameError_(text, form)
        return handlers[found.lastindex or 0](text, found)

    def _divided(self, text: str) -> Iterator[QueueName]:
        """The elements where one of them may hold a comma: the longest first that leaves a name behind it."""
        if len(text) > MAX_ONE or not self._all.fullmatch(text):
            raise NameError_(text, MULTIPLE_ELEMENT)
        begin = 0
        while begin <= len(text):
            ends = [len(text), *(at for at in range(len(text) - 1, begin, -1) if text[at] == ",")]
            for end in ends:
                element = text[begin:end]
                match, handlers = self._elements.get(element[:1]) or self._elements[""]
                found = match(element)
                if found and (end == len(text) or self._all.fullmatch(text, end + 1)):
                    yield handlers[found.lastindex or 0](element, found)
                    begin = end + 1
                    break
            else:
                raise AssertionError("a text of the rule has a way through it")

    def _expressions(self, *starts: str) -> dict[str, _Expression]:
        """The expression of each ASCII character a text can begin with: few branches are tried on one. "": the rest."""
        grammar = _unrolled(self.grammar)
        firsts: dict[str, list[Branch]] = {"": []}
        for branch in branches(grammar, *starts):
            begun = Dfa(positions(grammar.with_rules([Rule(_WHOLE, branch.node)]), _WHOLE)).expected("")
            for low, high in begun:
                for code in range(low, min(high, 0x7F) + 1):
                    firsts.setdefault(chr(code), []).append(branch)
            if any(high > 0x7F for _, high in begun):
                firsts[""].append(branch)
        made: dict[tuple[int, ...], _Expression] = {(): _NOTHING}
        for some in firsts.values():
            key = tuple(map(id, some))
            if key not in made:
                made[key] = self._expression(grammar, some)
        return {char: made[tuple(map(id, some))] for char, some in firsts.items()}

    @staticmethod
    def _expression(grammar: Grammar, some: Sequence[Branch]) -> _Expression:
        """The expression of some branches, a group around each, and by the number of that group what makes its value.

        The group around a branch closes last, so that it is the `lastindex` of a match.
        """
        written: list[str] = []
        kinds: list[tuple[str, str]] = []
        for number, branch in enumerate(some):
            kind = branch.kind
            groups = {rule: f"{role}_{number}_" for rule, role in CAPTURED[kind].items() if rule in grammar}
            whole = grammar.with_rules([Rule(_WHOLE, branch.node)])
            written.append(f"(?P<branch_{number}_>{regex(whole, _WHOLE, groups)})")
            kinds.append((f"branch_{number}_", kind))
        pattern = re.compile("|".join(written))
        handlers: list[_Handler] = [_never] * (pattern.groups + 1)
        for number, (group, kind) in enumerate(kinds):
            roles: dict[str, list[int]] = {}
            for name, index in pattern.groupindex.items():
                role, _, rest = name.partition("_")
                if rest.partition("_")[0] == str(number):
                    roles.setdefault(role, []).append(index)
            handlers[pattern.groupindex[group]] = _handler(kind, roles)
        return pattern.fullmatch, handlers


def _unrolled(grammar: Grammar) -> Grammar:
    """The same languages, a few fixed repetitions of a sequence written out: `re` is slow with repeated groups."""

    def unroll(node: Node) -> Node:
        node = rebuild(node, tuple(map(unroll, children(node))))
        if isinstance(node, Rep) and node.least == node.most and node.least <= 4 and isinstance(node.node, Seq):
            return Seq((node.node,) * node.least)
        return node

    return grammar.with_rules([Rule(rule.name, unroll(rule.node), rule.line) for rule in grammar.rules.values()])


def _never(text: str, found: re.Match[str]) -> QueueName:
    raise AssertionError(f"no branch of its own: {text!a}")


def _handler(kind: str, roles: Mapping[str, list[int]]) -> _Handler:
    """What makes the value of a match from the groups of one branch."""
    make: Made = MAKERS[kind]
    order = tuple(dict.fromkeys(CAPTURED[kind].values()))
    groups = [roles.get(role, []) for role in order]
    if all(len(each) <= 1 for each in groups):
        indexes = [each[0] if each else None for each in groups]
        return make(indexes)
    return _several(make, groups)


def _several(make: Made, groups: list[list[int]]) -> _Handler:
    """The handler of a branch in which a rule has several places: the one that matched is looked for."""
    known: dict[tuple[int | None, ...], _Handler] = {}

    def handle(text: str, found: re.Match[str]) -> QueueName:
        key = tuple(next((at for at in each if found.start(at) >= 0), None) for each in groups)
        if key not in known:
            known[key] = make(list(key))
        return known[key](text, found)

    return handle
