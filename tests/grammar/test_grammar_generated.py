"""Grammars that are generated: two parsers agree about them, and about those of the RFCs."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from functools import cache

import abnf.grammars
import pytest
from abnf import GrammarError, ParseError, Rule
from cases import all_of
from drawn import drawn
from nightly import NIGHTLY, amount, sample

from conformance.files import resource
from conformance.grammar.abnf import Grammar, Prose, Ref, read_parts, walk
from conformance.grammar.abnf import Rule as Rule_
from conformance.grammar.automaton import Dfa, NotRegularError, dfa
from conformance.grammar.bulk import compiled
from conformance.grammar.names import parser_of, read_lark, to_lark, tree_of
from conformance.grammar.sources import SETS, VERSIONS, load, load_set, plain, reading_set, renamed
from tools.abnf_text import definitions
from tools.grammar_files import lark_grammars, shipped, stale

MODULES = tuple(name for _, name, _ in pkgutil.iter_modules(abnf.grammars.__path__) if name.startswith(("rfc", "cors")))


def second(module: str) -> type[Rule]:
    """The package's own rules."""
    found = importlib.import_module(f"abnf.grammars.{module}").Rule
    assert issubclass(found, Rule)
    return found


def ours(module: str, above: tuple[str, ...] = ()) -> Grammar:
    """The same text read by us; rules taken over from other modules come from our reading of those.

    A rule taken over from a module that itself is waiting for this one stays as its own module has it.
    """
    rules = second(module)
    text = rules.grammar if isinstance(rules.grammar, str) else "\n".join(rules.grammar)
    grammar = Grammar(read_parts(text, where=module), where=module)
    for name, source in getattr(rules, "_imported_rules", ()):
        origin = type(source).__module__.rsplit(".", 1)[-1]
        if origin in (*above, module) or origin not in MODULES:
            continue
        other = ours(origin, (*above, module))
        # What a rule taken over refers to is meant as its own module means it, whatever has that name here.
        theirs = {key: rule for key, rule in other.reachable(source.name).items() if key in other.rules}
        names = {
            key: rule.name if rule.name.startswith("from-") else f"from-{origin}-{rule.name}"
            for key, rule in theirs.items()
        }
        moved = [Rule_(names[key], renamed(rule.node, names), rule.line) for key, rule in theirs.items()]
        alias = Rule_(name, Ref(names.get(source.name.casefold(), source.name)))
        grammar = grammar.with_rules([*moved, alias], where=module)
    return grammar


def prose(grammar: Grammar, rule: str) -> bool:
    """Whether the rule needs one that is only described in words."""
    return any(isinstance(node, Prose) for each in grammar.reachable(rule).values() for node in walk(each.node))


class SecondParser:
    """Accepts texts of rules of a grammar of ours: of those given, and of the ones they need."""

    def __init__(self, grammar: Grammar, *starts: str) -> None:
        self.rules: type[Rule] = type(f"Rules{id(self)}", (Rule,), {})
        for text in definitions(grammar, *starts).values():
            self.rules.create(text)
        self.start = starts[0]

    def accepts(self, text: str, rule: str | None = None) -> bool:
        """Whether the text is one of the rule, by default the first that was given."""
        try:
            self.rules(rule or self.start).parse_all(text)
        except ParseError:
            return False
        return True


def regular() -> Iterator[tuple[str, str, str]]:
    """Set, version and name of every rule that ships and is regular; one that is the same in several stands once.

    It stands under the newest version that has it.
    """
    seen = set()
    for name, source in SETS.items():
        for version in reversed(VERSIONS) if source.versioned else VERSIONS[-1:]:
            grammar = load_set(name, version)
            meanings = {key: plain(rule.node) for key, rule in grammar.rules.items()}
            for key, rule in grammar.rules.items():
                needed = frozenset((each, meanings.get(each)) for each in grammar.reachable(key))
                if (key, needed, grammar.alphabet) not in seen and rule.name not in FILTERS:
                    seen.add((key, needed, grammar.alphabet))
                    yield name, version, rule.name


# A filter can stand in a filter (RFC 4515), so that these have no automaton.
FILTERS = frozenset({"ldapurl", "filter", "filtercomp", "and", "or", "not", "filterlist"})
REGULAR = list(regular())


@cache
def automaton(name: str, version: str, rule: str) -> Dfa:
    return dfa(load_set(name, version), rule)


@cache
def parser(name: str, version: str) -> SecondParser:
    grammar = load_set(name, version)
    return SecondParser(grammar, *(rule.name for rule in grammar.rules.values()))


def test_nothing_generated_is_stale() -> None:
    assert stale(thorough=NIGHTLY) == []


def test_permissive_begins_where_windows_does() -> None:
    assert all(
        load(version, reading_set("permissive")) is load(version, reading_set("windows")) for version in VERSIONS
    )


@all_of(("name", "version", "rule"), REGULAR)
def test_the_second_parser_and_the_pattern_agree(name: str, version: str, rule: str) -> None:
    ours_, theirs = automaton(name, version, rule), parser(name, version)
    pattern = compiled(load_set(name, version), rule)
    inside, outside = drawn(
        ours_, amount("grammar.texts-of-a-rule" if version == VERSIONS[-1] else "grammar.texts-of-an-older-rule")
    )
    assert inside and outside
    for text in inside:
        assert theirs.accepts(text, rule) and pattern.fullmatch(text), ascii(text)
    for text in outside:
        assert not theirs.accepts(text, rule) and not pattern.fullmatch(text), ascii(text)


def test_as_many_texts_are_drawn_as_are_asked_for() -> None:
    """All but the rules of a few characters have them; a rule that has not is drawn to its end, or nearly."""
    for rule, inside in (("SingleFormatName", 100), ("Port", 100), ("Digit", 10), ("HexDig", 22), ("Journal", None)):
        found, missed = drawn(automaton("names", "4.0", rule), 200)
        assert len(set(found)) == len(found) and len(set(missed)) == len(missed)
        assert not set(found) & set(missed)
        assert inside in (None, len(found)) and missed


@pytest.mark.parametrize("name", [name for name, _, _ in lark_grammars() if not name.startswith("names-")])
def test_lark_agrees(name: str) -> None:
    grammar, rule = next((grammar, rule) for other, grammar, rule in lark_grammars() if other == name)
    lark = parser_of(read_lark(resource(f"grammars/{name}").read_text(encoding="utf-8")))
    try:
        ours_ = dfa(grammar, rule)
    except NotRegularError:
        assert name == "ads-path.lark"
        return
    inside, outside = drawn(ours_, amount("grammar.texts-for-lark"), length=60)
    for text in inside:
        assert tree_of(lark, text) is not None, ascii(text)
    for text in outside:
        assert tree_of(lark, text) is None, ascii(text)


def test_a_tree_has_the_rules_and_every_character() -> None:
    tree = tree_of(parser_of(shipped("path_name", "4.0")), r"host\private$\orders;late")
    assert tree is not None
    assert "".join(tree.scan_values(lambda token: True)) == r"host\private$\orders;late"
    parts = {each.data: "".join(each.scan_values(lambda token: True)) for each in tree.iter_subtrees()}
    assert (parts["computer"], parts["queuename"], parts["subqueue"]) == ("host", "orders", "late")


def test_lalr_where_there_is_no_conflict() -> None:
    grammar = load("4.0")
    assert to_lark(grammar, "PublicName").parser == "lalr"
    chosen = to_lark(grammar, "Port")
    assert (chosen.parser, "conflict" in chosen.why) == ("earley", True)


@pytest.mark.parametrize(
    ("text", "accepted"),
    [
        ("ldap://server/CN=q,DC=example,DC=com", True),
        ("LDAP://MyLDAPServer/CN=MyQueue,CN=msmq,CN=MyComputer,OU=MyOU,DC=example,DC=com", True),
        ("ldap:///o=x??sub?(&(a=1)(|(b=*)(!(c>=2))))", True),
        ("ldap://server:port/o=x", False),
        ("ldap:///=x", False),
        ("http://server/CN=q", False),
    ],
)
def test_ldap_urls(text: str, accepted: bool) -> None:
    lark = parser_of(read_lark(resource("grammars/ads-path.lark").read_text(encoding="utf-8")))
    assert (tree_of(lark, text) is not None) == accepted


@pytest.mark.parametrize("module", sample("grammar.rfcs", MODULES, MODULES[::4]))
def test_the_grammars_of_the_rfcs_mean_the_same_to_both(module: str) -> None:
    grammar, theirs, judged = ours(module), second(module), 0
    for rule in grammar.rules.values():
        if rule.name.startswith("from-") or prose(grammar, rule.name):
            continue
        try:
            ours_ = dfa(grammar, rule.name)
            their_rule = theirs(rule.name)
            inside, outside = drawn(ours_, amount("grammar.texts-of-an-rfc-rule"))
            for text in inside:
                their_rule.parse_all(text)
            for text in outside:
                with pytest.raises(ParseError):
                    their_rule.parse_all(text)
            judged += len(inside) + len(outside)
        except (NotRegularError, GrammarError):
            continue  # a filter in a filter; a rule that the package does not take over with the rule that needs it
    assert judged or module == "rfc7405"
