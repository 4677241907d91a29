"""Names generated from the grammar, with the rule that each breaks."""

from __future__ import annotations

import re
import string
import tomllib
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from types import MappingProxyType

from hypothesis import assume
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from conformance.files import resource
from conformance.grammar.abnf import Grammar
from conformance.grammar.automaton import Dfa, dfa
from conformance.grammar.bulk import Names, compiled
from conformance.grammar.names import bulk
from conformance.grammar.sources import (
    KEYWORDS,
    RULES,
    WITNESSES,
    holds_keyword,
    narrowest,
    ordinary,
    version_of,
    widest,
)
from conformance.grammar.strategies import WORDS, Miss, in_pieces, lookalikes, misses, texts
from conformance.grammar.values import DirectName, DistributionListName, PathName, PrivateName, PublicName, QueueName
from conformance.judge.names import FORMAT_NAME, MULTIPLE_ELEMENT, ONLY, PATH_NAME, Expectation, NameCase
from conformance.spec.catalogue import catalogue, reading_id, requirement, requirement_id
from conformance.suites.names.checks import PLAIN


class ParsersDisagree(Exception):
    """The two parsers of the harness disagree on a text, so neither can support a verdict."""

    def __init__(self, text: str, form: str, where: str, automaton: bool) -> None:
        accepts, refuses = ("automaton", "expression") if automaton else ("expression", "automaton")
        shown = ascii(text if len(text) <= 80 else text[:77] + "...")
        super().__init__(f"As a {form} of {where}, {shown} is accepted by our {accepts} and refused by our {refuses}.")


def is_none(text: str, form: str, version: str) -> bool:
    """Return True if no reading takes a text for a name. version: `4.0` or a profile. Raises ParsersDisagree."""
    return not _accepts(text, form, widest(version_of(version)))


def is_sure(text: str, form: str, version: str) -> bool:
    """Return True if all readings take a text for a name, keywords apart. Raises ParsersDisagree."""
    return _accepts(text, form, narrowest(version_of(version)))


def _accepts(text: str, form: str, grammar: Grammar) -> bool:
    automaton, expression = _parsers(grammar, form)
    accepts = automaton.accepts(text)
    if accepts != bool(expression.fullmatch(text)):
        raise ParsersDisagree(text, form, grammar.where, accepts)
    return accepts


@cache
def _parsers(grammar: Grammar, form: str) -> tuple[Dfa, re.Pattern[str]]:
    return dfa(grammar, RULES[form]), compiled(grammar, RULES[form])


Blame = Callable[[Miss, int], "str | None"]
PREFIX = "MQMQ-2.1.2.prefix-reject"
_HEX, _DIGITS = frozenset(string.hexdigits), frozenset(string.digits)
_GUID_LENGTH, _QUEUE_LENGTH = 36, 124


def _control(text: str) -> bool:
    return any(char < " " for char in text)


def _printable(text: str) -> bool:
    return all("!" <= char <= "~" for char in text)


def lowered(text: str) -> str:
    """Return the text with ASCII letters lowered. U+017F and U+212A stay: they are not letters of a keyword."""
    return "".join(char.lower() if char.isascii() else char for char in text)


def _keyword(miss: Miss) -> str | None:
    """Return the word for an edit of the keyword, up to the equals sign; the next rule begins after it."""
    return None if lowered(miss.piece).startswith(miss.rule.strip('"')) else PREFIX


def path_name(miss: Miss, version: int) -> str | None:
    """MS-MQMQ 2.1.1."""
    text = miss.piece
    match miss.rule:
        case "computer":
            if not text:
                return "computer-missing"
            if not _printable(text):
                return "computer-alphabet-reject"
            return "computer-too-long" if len(text) > 256 else None
        case "queuename":
            return _path_queue(text, version)
        case "subqueue":
            if not text:
                return "subqueue-missing"
            if len(text) > 32:
                return "subqueue-too-long"
            return "subqueue-alphabet-reject" if _control(text) or set(text) & set(';+,"\\') else None
        case '"\\private$\\"' if miss.text.count("\\") > 1:
            return "queue-name-backslash-reject"
    return None if "\\" in miss.text else "separator"


def _path_queue(text: str, version: int) -> str | None:
    if not text:
        return "queue-name-missing"
    if len(text) > _QUEUE_LENGTH:
        return "queue-name-too-long"
    if _control(text):
        return "queue-name-control-reject"
    if ";" in text:
        return "queue-name-semicolon-reject" if version < 4 else None
    for char, word in (("+", "plus"), (",", "comma"), ('"', "quote")):
        if char in text:
            return f"queue-name-{word}-reject"
    return None


def direct(miss: Miss, version: int) -> str | None:
    """MS-MQMQ 2.1.2."""
    text = miss.piece
    match miss.rule:
        case '"direct="':
            return _keyword(miss)
        case '"tcp:"' | '"os:"' | '"http"' | '"https"':
            if lowered(text).startswith(miss.rule.strip('"')):
                return None
            if "\\" in text:  # One parser finds a wrong protocol before the colon, another none before the backslash.
                return None
            return "protocol-reject" if ":" in miss.text.partition("\\")[0] else "protocol-missing"
        case "tcpaddress":
            return "tcp-address-reject" if text else "address-missing"
        case "oscomputer":
            return None if text else "address-missing"
        case '"//"' | '"/msmq"' | "webseparator":
            return "http-msmq-reject"
        case "webport":
            return "http-port-reject" if set(text) - _DIGITS else None
        case "directqueuename" | "webqueuename":
            return "queue-name-reject" if text else "queue-name-missing"
        case '"\\"':
            return "queue-name-reject" if "\\" in text else "queue-name-missing"
        case "subqueue" | "journal":
            if not text:
                return "suffix-empty-reject"
            return "suffix-reject" if version < 4 else "queue-name-reject"
        case "machinequeue":
            return "system-queue-reject" if text else None
        case '"\\private$\\"' | '"\\system$;"' | '"private$"' | '"system$;"':
            return "queue-name-reject"
    return None


def public(miss: Miss, version: int) -> str | None:
    """MS-MQMQ 2.1.3."""
    if miss.rule != "guid":
        return _keyword(miss) if miss.rule == '"public="' else None
    if not miss.piece:
        return "guid-missing"
    return "trailing-reject" if _behind_guid(miss.piece) else "guid-reject"


def _behind_guid(text: str) -> str:
    """Return the text after a whole GUID; further digits belong to its last group, which is too long."""
    groups = text[:_GUID_LENGTH].split("-")
    whole = [len(group) for group in groups] == [8, 4, 4, 4, 12] and set("".join(groups)) <= _HEX
    rest = text[_GUID_LENGTH:]
    return rest if whole and rest[:1] not in _HEX else ""


def private(miss: Miss, version: int) -> str | None:
    """MS-MQMQ 2.1.4."""
    text = miss.piece
    match miss.rule:
        case '"private="':
            return _keyword(miss)
        case "guid":
            return "guid-reject"
        case "privateidentifier":
            if not text:
                return "number-missing"
            if set(text) - _HEX:
                return "suffix-reject" if ";" in text else "number-reject"
            return "number-too-long" if len(text) > 8 else None
        case "journal":
            return "suffix-reject"
    return None


def distribution_list(miss: Miss, version: int) -> str | None:
    """MS-MQMQ 2.1.5."""
    text = miss.piece
    match miss.rule:
        case '"dl="':
            return _keyword(miss)
        case "guid":
            return "guid-reject"
        case "domainname":
            if not text:
                return "domain-missing"
            if not _printable(text):
                return "domain-alphabet-reject"
            return "domain-too-long" if len(text) > 255 else None
    return None


def machine(miss: Miss, version: int) -> str | None:
    """MS-MQMQ 2.1.6, MACHINE=."""
    if miss.rule == '"machine="':
        return _keyword(miss)
    return "machine-guid-reject" if miss.rule == "guid" else "machine-suffix"


def connector(miss: Miss, version: int) -> str | None:
    """MS-MQMQ 2.1.6, CONNECTOR=."""
    if miss.rule == '"connector="':
        return _keyword(miss)
    return "connector-suffix" if _behind_guid(miss.piece).startswith(";") else "connector-guid-reject"


def multicast(miss: Miss, version: int) -> str | None:
    """MS-MQMQ 2.1.6, MULTICAST=."""
    text = miss.piece
    match miss.rule:
        case '"multicast="':
            return _keyword(miss)
        case "multicasthost":
            return _octets(text.split("."))
        case "port":
            if not text:
                return "port-missing"
            small = set(text) <= _DIGITS and int(text[:400]) <= 65535
            return "port-zero-reject" if small else "port-range-reject"
    return None if ":" in miss.text else "port-missing"


def _octets(octets: list[str]) -> str:
    if len(octets) != 4 or not all(octet and set(octet) <= _DIGITS for octet in octets):
        return "address-reject"
    if any(len(octet) > 1 and octet[0] == "0" for octet in octets):
        return "octet-zero-reject"
    return "octet-range-reject" if any(int(octet[:400]) > 255 for octet in octets) else "first-octet-reject"


def multiple(miss: Miss, version: int) -> str | None:
    """MS-MQMQ 2.1.7. An element as long as this may break only a length, which the section of its own form claims."""
    if not all(miss.text.split(",")):
        return "empty-element-reject"
    if miss.rule == "element":
        return "element-reject" if len(miss.piece) <= _QUEUE_LENGTH else None
    return "separator-reject"


BLAME: Mapping[str, tuple[Blame, str]] = MappingProxyType(
    {
        "QueuePathName": (path_name, "2.1.1"),
        "DirectName": (direct, "2.1.2"),
        "PublicName": (public, "2.1.3"),
        "PrivateName": (private, "2.1.4"),
        "DistributionListName": (distribution_list, "2.1.5"),
        "Machine": (machine, "2.1.6"),
        "Connector": (connector, "2.1.6"),
        "Multicast": (multicast, "2.1.6"),
        "MultipleElementName": (multiple, "2.1.7"),
    }
)
"""Rule that near misses are made from, to the function that blames them and the section of MS-MQMQ."""


def blamed(rule: str, miss: Miss, version: int) -> str | None:
    """Return the id of the requirement that a near miss of a rule of BLAME breaks, or None. version: 1 to 6."""
    judge, section = BLAME[rule]
    word = judge(miss, version)
    return word if word is None or word.startswith("MQMQ-") else f"MQMQ-{section}.{word}"


_ALPHABET = reading_id("R-MQMQ-queue-name-alphabet")
_PATH_KIND = requirement_id("MQMQ-2.1.1.kind")
_REFUSED: Mapping[str, tuple[Expectation, ...]] = {ONLY: (Expectation(False),)}
_SECTION = {
    "path": "2.1.1",
    "direct": "2.1.2",
    "public": "2.1.3",
    "private": "2.1.4",
    "distribution_list": "2.1.5",
    "machine": "2.1.6",
    "connector": "2.1.6",
    "multicast": "2.1.6",
    "multiple_element": "2.1.7",
}
FORM_OF = {rule: PATH_NAME if rule == "QueuePathName" else FORMAT_NAME for rule in BLAME} | {
    "MultipleElementName": MULTIPLE_ELEMENT
}
# The rules that are one piece of a near miss each. An edit inside such a piece breaks no other claim.
_PIECES = frozenset(
    (
        *("computer", "queuename", "subqueue", "machinequeue", "systemqueuename", "journal", "guid", "domainname"),
        *("tcpaddress", "oscomputer", "webhost", "webport", "webseparator", "directqueuename", "webqueuename"),
        *("privateidentifier", "multicasthost", "port", "element"),
    )
)
# A plain word for each freely chosen piece, so that look-alikes replace only letters of keywords, digits or marks.
_WORDS = {
    **{name: words[0] for name, words in WORDS.items()},
    "guid": "0123ABCD-4567-89ab-CDEF-0123456789ab",
    "privateidentifier": "10af",
    "domainname": "example.com",
    "tcpaddress": "10.0.0.1",
    "multicasthost": "234.1.1.1",
    "port": "1801",
    "webport": "80",
    "webseparator": "/",
    "machinequeue": "DEADXACT",
    "systemqueuename": "DEADXACT",
    "journal": "JOURNAL",
    "element": "MULTICAST=234.1.1.1:1801",
}
_SPOILED = (
    *("guid", "privateidentifier", "tcpaddress", "multicasthost", "port", "webport", "machinequeue", "journal"),
    "element",
)


def _refused(form: str, rule: str, requirement: str, text: str) -> NameCase:
    section = requirement.removeprefix("MQMQ-").rpartition(".")[0]
    told = (requirement_id(f"MQMQ-{section}.kind"), requirement_id(f"MQMQ-{section}.parts"))
    return NameCase(text, form, rule, requirement_id(requirement), *told, _REFUSED)


@cache
def miss_cases(rule: str, profile: str) -> SearchStrategy[NameCase]:
    """Generate near misses of a rule of BLAME, in the alphabet and lengths of the profile's version."""
    form, number = FORM_OF[rule], _number(profile)

    def wanted(miss: Miss) -> bool:
        return blamed(rule, miss, number) is not None and is_none(miss.text, form, profile)

    valid = in_pieces(ordinary(version_of(profile)), rule, _PIECES)
    return misses(valid, wanted).map(lambda miss: _refused(form, rule, str(blamed(rule, miss, number)), miss.text))


def lookalike_cases(rule: str, profile: str) -> Iterator[NameCase]:
    """Yield names of a rule in which a look-alike replaces one letter of a keyword, one digit or one mark.

    A parser that folds case or converts digits by the Unicode tables takes them.
    """
    form, number, version = FORM_OF[rule], _number(profile), version_of(profile)
    seen: set[str] = set()
    for miss in lookalikes(ordinary(version), rule, {name: _WORDS[name] for name in _PIECES}, _SPOILED):
        if miss.text in seen:
            continue
        seen.add(miss.text)
        requirement = blamed(rule, miss, number) or _SPELLED[rule]
        if is_none(miss.text, form, version):
            yield _refused(form, rule, requirement, miss.text)
        elif form == PATH_NAME and "$" in miss.rule:
            yield _spelled_out(miss.text, rule, requirement, version)


def _spelled_out(text: str, rule: str, requirement: str, version: str) -> NameCase:
    """Return the case of a path name with a letter beyond ASCII in its keyword.

    A reading that allows such letters may take it for a queue name, or refuse it for a keyword after the semicolon. A
    parser that recognises the keyword breaks the rule of that keyword.
    """
    name = bulk(version, {_ALPHABET: "unicode", "R-MQMQ-suffix-or-subqueue": "subqueue"}).parse(text, PATH_NAME)
    expected = {"unicode": (Expectation(True, name.kind, name.parts), Expectation(False)), "letter": _REFUSED[ONLY]}
    return NameCase(text, PATH_NAME, rule, requirement, _PATH_KIND, requirement, expected, _ALPHABET)


# The requirement that a misspelt keyword breaks if its piece has no claim of its own.
_SPELLED = {
    "QueuePathName": "MQMQ-2.1.1.keyword-case",
    "DirectName": "MQMQ-2.1.2.queue-name-reject",
    "PublicName": "MQMQ-2.1.3.guid-reject",
    "PrivateName": "MQMQ-2.1.4.number-reject",
    "DistributionListName": "MQMQ-2.1.5.guid-reject",
    "Machine": "MQMQ-2.1.6.machine-suffix",
    "Connector": "MQMQ-2.1.6.connector-guid-reject",
    "Multicast": "MQMQ-2.1.6.address-reject",
    "MultipleElementName": "MQMQ-2.1.7.separator-reject",
}


def missed_queues(profile: str) -> SearchStrategy[str]:
    """Generate the queue parts of near misses of private path names."""

    def queue(case: NameCase) -> str:
        return case.text.partition("private$\\")[2]

    def told(case: NameCase) -> bool:
        # The whole is a near miss only if the edit is in the part that is kept.
        return bool(queue(case)) and is_none(f"HOST\\private$\\{queue(case)}", PATH_NAME, profile)

    return miss_cases("QueuePathName", profile).filter(told).map(queue)


@cache
def sure_cases(form: str, profile: str) -> SearchStrategy[NameCase]:
    """Generate names of a form that all readings accept, with their parts."""
    grammar = narrowest(version_of(profile))
    return texts(grammar, RULES[form]).map(lambda text: _accepted(text, form, profile))


@cache
def _names(version: str) -> Names:
    return Names(narrowest(version))


def _accepted(text: str, form: str, profile: str) -> NameCase:
    name = _names(version_of(profile)).parse(text, form)
    assume(not any(map(_disputed, getattr(name, "elements", (name,)))))
    if not is_sure(text, form, profile):
        raise ParsersDisagree(text, form, narrowest(version_of(profile)).where, False)
    requirement = f"MQMQ-{_SECTION[name.kind]}.{_claim(name)}"
    told = (requirement_id(f"MQMQ-{_SECTION[name.kind]}.kind"), requirement_id(f"MQMQ-{_SECTION[name.kind]}.parts"))
    # With backslashes in a computer's name a private path can also be a public one (R-MQMQ-computer-alphabet).
    open_parts = isinstance(name, PathName) and name.scope != "public"
    wanted = Expectation(True, name.kind, None if open_parts else name.parts)
    return NameCase(text, form, RULES[form], requirement_id(requirement), *told, {ONLY: (wanted,)})


def _disputed(name: QueueName) -> bool:
    """Return True if one reading reserves a word of the name and another does not."""
    if isinstance(name, PathName):
        return name.scope == "system" or any(map(holds_keyword, (name.computer, name.queue, name.subqueue or "")))
    if isinstance(name, DirectName):
        return name.queue is None or name.suffix is not None or holds_keyword(f"{name.queue};{name.subqueue}")
    return False


def _claim(name: QueueName) -> str:
    """Return the last word of the requirement that accepts this name.

    A name that is unusual in two ways is not sent: its refusal would not tell which of two claims is broken.
    """
    unusual = list(_unusual(name))
    assume(len(unusual) <= 1)
    if unusual:
        return unusual[0]
    match name:
        case PathName():
            return f"{name.scope}-path"
        case DirectName():
            return f"{name.scope}-queue"
        case DistributionListName():
            return "list" if name.domain is None else "domain"
    words = {"public": "public", "private": "private", "connector": "connector", "multicast": "multicast"}
    return words.get(name.kind, "elements")


def _unusual(name: QueueName) -> Iterator[str]:
    """Yield the unusual traits of a name, each as the last word of the requirement about it."""
    match name:
        case PathName():
            if name.scope == "private" and "\\private$\\" not in name.text:
                yield "keyword-case"
            for part, long, alphabet in (
                (name.computer, "computer-length", "computer-alphabet"),
                (name.queue, "queue-name-length", "queue-name-alphabet"),
            ):
                if len(part) > 11:
                    yield long
                if set(part) - set(PLAIN):
                    yield alphabet
            if f"{name.queue.casefold()}$" in KEYWORDS:
                yield f"{name.scope}-path"
            if name.subqueue is not None:
                yield "subqueue-length" if len(name.subqueue) > 11 else "subqueue"
        case DirectName():
            if not name.text.startswith(f"DIRECT={name.protocol}:"):
                yield "keyword-case"
            if name.subqueue is not None:
                yield "subqueue"
            if set(name.queue or "") - set(PLAIN):
                yield f"{name.scope}-queue"
        case PrivateName():
            if not name.text.startswith("PRIVATE=") or (name.suffix and not name.text.endswith(";JOURNAL")):
                yield "case"
            if name.suffix:
                yield "journal"
        case PublicName() if not name.text.startswith("PUBLIC="):
            yield "hex-case"


# Versions differ in these characters (MS-MQMQ 2.1.1).
_MARKS: Mapping[str, str] = {"1.0": '+,"', "4.0": ";"}
_LACKING = {"1.0": ("2.0", "4.0"), "4.0": ("1.0", "2.0")}


@cache
def other_version_cases(form: str, profile: str) -> SearchStrategy[NameCase]:
    """Generate names that only some versions allow: the profile's own must be accepted, others' refused."""
    own = version_of(profile)
    foreign = [
        _only_in(version, own, form).map(lambda text: _foreign(text, form, profile))
        for version, lacking in _LACKING.items()
        if own in lacking
    ]
    native = [
        _only_in(own, other, form).map(lambda text: _accepted(text, form, profile)) for other in _LACKING.get(own, ())
    ]
    return st.one_of([*foreign, *native])


def _only_in(inside: str, outside: str, form: str) -> SearchStrategy[str]:
    """Generate names that all readings accept in one version and none in another."""
    # Direct names are the only single format names that differ.
    valid = texts(narrowest(inside), "DirectName" if form == FORMAT_NAME else RULES[form])

    @st.composite
    def build(draw: st.DrawFn) -> str:
        text = draw(valid)
        for _ in range(6):
            if is_sure(text, form, inside) and is_none(text, form, outside):
                return text
            at = draw(st.integers(text.rfind("\\") + 1, len(text)))
            text = text[:at] + draw(st.sampled_from(_MARKS[inside])) + text[at:]
        assume(False)
        raise AssertionError("assume returned")  # pragma: no cover

    return build()


def _foreign(text: str, form: str, profile: str) -> NameCase:
    """Return the case of another version's name, which none of the profile's readings accepts."""
    assume(is_none(text, form, profile))
    rest = text.rpartition("\\")[2]
    if form == PATH_NAME:
        words = {"+": "plus", ",": "comma", '"': "quote", ";": "semicolon"}
        word = next((words[char] for char in rest if char in words), None)
        assume(word is not None)
        return _refused(form, RULES[form], f"MQMQ-2.1.1.queue-name-{word}-reject", text)
    if form == MULTIPLE_ELEMENT:
        return _refused(form, RULES[form], "MQMQ-2.1.7.element-reject", text)
    word = "suffix-reject" if ";" in rest else "queue-name-reject"
    return _refused(form, RULES[form], f"MQMQ-2.1.2.{word}", text)


# From MSMQ 4.0 a\system$;x is a subqueue under one reading, a system queue under another, so no answer is wrong.
_TWICE_DISPUTED = frozenset({("R-MQMQ-system-path", "4.0")})


@cache
def witness_cases(form: str, profile: str) -> tuple[NameCase, ...]:
    """Return the shipped witnesses of a form for the profile's version: texts with their result under each alternative.

    Leaves out witnesses whose reading affects no requirement of MS-MQMQ 2.1 for this profile.
    """
    content = tomllib.loads(resource(WITNESSES).read_text(encoding="utf-8"))
    made = []
    for entry in content["witness"]:
        if entry["set"] != "names" or entry.get("form") != form or entry["version"] != version_of(profile):
            continue
        if (entry["reading"], entry["version"]) in _TWICE_DISPUTED:
            continue
        demand = _touched(entry["reading"], form, profile)
        if demand is None:
            continue
        section = demand.removeprefix("MQMQ-").rpartition(".")[0]
        told = (f"MQMQ-{section}.kind", f"MQMQ-{section}.parts")
        expected = {name: (Expectation(accepts),) for name, accepts in entry["accepts"].items()}
        text = _in_capitals(entry["text"], form)
        made.append(NameCase(text, form, RULES[form], demand, *told, expected, entry["reading"]))
    return tuple(made)


def _in_capitals(text: str, form: str) -> str:
    """Return a witness with its keywords in their usual case; other tests find a parser that is case-sensitive."""
    return text if form == PATH_NAME else "".join(char.upper() if char.isascii() else char for char in text)


def _touched(reading: str, form: str, profile: str) -> str | None:
    """Return the first requirement of a reading that is about names of this form and binds the profile."""
    sections = {number for kind, number in _SECTION.items() if _form(kind) == form}
    for name in catalogue().readings[reading].requirements:
        if name.removeprefix("MQMQ-").rpartition(".")[0] in sections and requirement(name).binds(profile):
            return name
    return None


def _form(kind: str) -> str:
    return {"path": PATH_NAME, "multiple_element": MULTIPLE_ELEMENT}.get(kind, FORMAT_NAME)


def _number(profile: str) -> int:
    return int(profile.removeprefix("msmq-").partition(".")[0])


__all__ = [
    "FORM_OF",
    "lookalike_cases",
    "miss_cases",
    "missed_queues",
    "other_version_cases",
    "sure_cases",
    "witness_cases",
]
