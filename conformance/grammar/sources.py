"""The grammars that ship, with overlays of the readings, and two that bound names under all readings."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import MappingProxyType

from conformance.files import resource
from conformance.grammar.abnf import (
    AbnfError,
    Alt,
    Chars,
    Grammar,
    Lit,
    Node,
    Ref,
    Rep,
    Rule,
    Seq,
    check,
    children,
    fold_case,
    normal,
    read_parts,
    rebuild,
    single,
)
from conformance.spec.catalogue import alternative_of, assignment, catalogue

VERSIONS = ("1.0", "2.0", "4.0")
KINDS = ("arrangement", "completion", "correction")
_MEMBERS = {"rules", "versions", "source", "when", "except", "prefix"}


@dataclass(frozen=True, slots=True)
class CorrectionStep:
    """One entry of an overlay. when: reading to the alternative it is for; empty for an entry that always holds."""

    kind: str
    rules: tuple[Rule, ...]
    versions: tuple[str, ...]
    when: Mapping[str, str]
    words: Mapping[str, tuple[str, ...]]
    prefixes: Mapping[str, tuple[str, ...]]

    def applies(self, version: str, readings: Mapping[str, str]) -> bool:
        """Return True when the entry holds for this version under these readings."""
        return version in self.versions and all(readings.get(name) == each for name, each in self.when.items())


def read_overlay(path: Path) -> tuple[CorrectionStep, ...]:
    """Read the steps of an overlay file: arrangements, then completions, then corrections, each in their order.

    Raises AbnfError for a file that is not as described in `grammars/names.overlay.toml`, CatalogueError for a reading
    or alternative that is not in the register.
    """
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise AbnfError(0, f"is not valid TOML: {error}", path.name) from None
    strange = set(content) - set(KINDS)
    if strange:
        raise AbnfError(0, f"{', '.join(sorted(strange))} is none of {', '.join(KINDS)}", path.name)
    return tuple(_step(kind, entry, path.name) for kind in KINDS for entry in content.get(kind, ()))


def _step(kind: str, entry: Mapping[str, object], where: str) -> CorrectionStep:
    versions = _words(entry.get("versions", VERSIONS))
    when = entry.get("when", {})
    if set(entry) - _MEMBERS or not set(versions) <= set(VERSIONS) or not isinstance(when, dict):
        raise AbnfError(0, f"a {kind} has members or versions that are unknown: {entry}", where)
    if (kind == "correction") != bool(when) or (kind == "completion") != ("source" in entry):
        raise AbnfError(0, "a correction has `when`, a completion has `source`, and no other has them", where)
    for name, alternative in when.items():
        alternative_of(name, alternative)
    text = str(entry.get("rules", ""))
    rules = read_parts(text, where=f"{where}, {kind}") if text else ()
    return CorrectionStep(kind, rules, versions, when, _lists(entry.get("except", {})), _lists(entry.get("prefix", {})))


def _words(value: object) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, Iterable) else ()


def _lists(value: object) -> dict[str, tuple[str, ...]]:
    return {name: _words(words) for name, words in value.items()} if isinstance(value, dict) else {}


def apply(grammar: Grammar, steps: Iterable[CorrectionStep]) -> Grammar:
    """Return the grammar after these steps. Exclusions are applied at the end, to the rules as they are then."""
    words: dict[str, tuple[str, ...]] = {}
    prefixes: dict[str, tuple[str, ...]] = {}
    for step in steps:
        grammar = grammar.with_rules(step.rules)
        for have, more in ((words, step.words), (prefixes, step.prefixes)):
            for name, each in more.items():
                have[name] = tuple(dict.fromkeys((*have.get(name, ()), *each)))
    taken = []
    for name in dict.fromkeys((*words, *prefixes)):
        rule = grammar.rule(name)
        taken.append(Rule(rule.name, without(grammar, rule, words.get(name, ()), prefixes.get(name, ())), rule.line))
    return grammar.with_rules(taken)


def without(grammar: Grammar, rule: Rule, words: tuple[str, ...], prefixes: tuple[str, ...]) -> Node:
    """Exclude these words and all texts with these prefixes, in any case; each text keeps one derivation.

    The rule must be a repetition of one character between two bounds. Raises AbnfError for another rule.
    """
    if not isinstance(rule.node, Rep) or rule.node.most is None or (ranges := single(grammar, rule.node.node)) is None:
        raise AbnfError(rule.line, f"words can be taken out of a bounded repetition only, not of {rule.name}")
    least, most, char = rule.node.least, rule.node.most, rule.node.node
    ends = {each.upper() for each in words}
    forbidden = {each.upper() for each in prefixes}
    stems = {each[:at] for each in ends | forbidden for at in range(len(each) + 1)}

    def behind(stem: str) -> Iterator[Node]:
        """Return the node of everything that may follow the stem."""
        at = len(stem)
        if stem in forbidden:
            return
        if at >= least and stem not in ends:
            yield Seq(())
        if at == most:
            return
        nexts = sorted(each[-1] for each in stems if len(each) == at + 1 and each.startswith(stem))
        rest = _less(ranges, nexts)
        if rest:
            more = Rep(max(0, least - at - 1), most - at - 1, char)
            yield Seq((Chars(rest), more)) if at + 1 < most else Chars(rest)
        for letter in nexts:
            following = list(behind(stem + letter))
            if following:
                yield Seq((Lit(letter), _choice(following)))

    return _choice(list(behind("")))


def _choice(nodes: list[Node]) -> Node:
    """Return the alternatives; an empty one makes the others an option."""
    empty = [node for node in nodes if node == Seq(())]
    others = [node for node in nodes if node != Seq(())]
    whole: Node = others[0] if len(others) == 1 else Alt(tuple(others))
    return Rep(0, 1, whole) if empty and others else whole if others else Seq(())


def _less(ranges: Iterable[tuple[int, int]], letters: Iterable[str]) -> tuple[tuple[int, int], ...]:
    """Return the ranges without these letters, in any case."""
    holes = normal(span for letter in letters for span in fold_case(letter))
    left = list(ranges)
    for first, last in holes:
        left = [
            part
            for low, high in left
            for part in ((low, min(high, first - 1)), (max(low, last + 1), high))
            if part[0] <= part[1]
        ]
    return normal(left)


WITNESSES = "fixtures/names/witnesses.toml"

# The start rule of each form of the adapter protocol.
RULES: Mapping[str, str] = MappingProxyType(
    {"path_name": "QueuePathName", "format_name": "SingleFormatName", "multiple_element": "MultipleElementName"}
)


@dataclass(frozen=True, slots=True)
class Source:
    """A rule set. files: names in `grammars/` without `.abnf`, {v} is replaced by the version; where two files have
    a rule of the same name, the later file's rule gets the new name in `renamed` (file to names). starts: the rules
    meant for use; alphabet: as in `Grammar`; versioned: versions differ; overlay: its file, if any."""

    files: tuple[str, ...]
    starts: tuple[str, ...]
    about: str
    alphabet: str = "unicode"
    overlay: str | None = None
    versioned: bool = False
    renamed: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


_ADDRESSES = ("rfc3986",)
SETS: Mapping[str, Source] = MappingProxyType(
    {
        "names": Source(
            (
                *("mqmq-2.1.1", "mqmq-2.1.1.msmq-{v}", "mqmq-2.1.2", "mqmq-2.1.2.http", "mqmq-2.1.3", "mqmq-2.1.4"),
                *("mqmq-2.1.5", "mqmq-2.1.6", "mqmq-2.1.7", "mqmq-2.3.1.23", "rfc3986"),
            ),
            (*RULES.values(), "MulticastAddress"),
            "path names and format names (MS-MQMQ 2.1, 2.3.1.23)",
            overlay="names",
            versioned=True,
            renamed={"mqmq-2.1.2.http": {"Port": "WebPort"}, "rfc3986": {"dec-octet": "ipv4-octet"}},
        ),
        "label": Source(
            ("mqmq-2.2.19.3",), ("label",), "the label of a message (MS-MQMQ 2.2.19.3)", "utf16", overlay="label"
        ),
        "directory-server": Source(
            ("mqmq-2.3.11.3",), ("DS",), "the directory server's name (MS-MQMQ 2.3.11.3)", "octets", overlay="directory"
        ),
        "next-hop": Source(("mqmq-2.3.12.12", *_ADDRESSES), ("Address",), "a next hop (MS-MQMQ 2.3.12.12)"),
        "connection-history": Source(
            ("mqmq-2.3.12.25",),
            ("Address",),
            "an address of the connection history (MS-MQMQ 2.3.12.25)",
            overlay="history",
        ),
        "machine-type": Source(("mqmq-note-30",), ("MachineType",), "PROPID_QM_MACHINE_TYPE (MS-MQMQ note 30)"),
        "version-nt": Source(("mqdmpr-note-2.windows-nt",), ("MachineType",), "QueueManagerVersion (MS-MQDMPR note 2)"),
        "version-2000": Source(
            ("mqdmpr-note-2.windows-2000",), ("MachineType",), "QueueManagerVersion (MS-MQDMPR note 2)"
        ),
        "ads-path": Source(
            ("rfc4516", "rfc4515", "rfc4514", *_ADDRESSES), ("ldapurl",), "PROPID_Q_ADS_PATH (RFC 4516)"
        ),
        "distinguished-name": Source(("rfc4514",), ("distinguishedName",), "a distinguished name (RFC 4514)"),
        "host": Source(_ADDRESSES, ("host",), "a host (RFC 3986)"),
        **{
            f"activex-{section}": Source((f"mqac-{section}",), (start,), f"MC-MQAC {section}")
            for section, start in (
                *(("3.2.4.1.1", "guid"), ("3.2.4.3.3", "DirectoryServer"), ("3.13.4.1.1", "guid")),
                *(("3.13.4.1.3", "guid"), ("3.17.4.1.19", "guid"), ("3.17.4.1.53", "guid"), ("3.17.4.1.54", "guid")),
            )
        },
    }
)


def version_of(profile: str) -> str:
    """Return the version whose rules a profile (`msmq-5.0`) or an MSMQ version (`5.0`) follows."""
    number = float(profile.removeprefix("msmq-"))
    return max((each for each in VERSIONS if float(each) <= number), key=float)


def reading_set(name: str) -> dict[str, str]:
    """Return the default alternative of every reading in a reading set. Raises CatalogueError for an unknown set."""
    return {reading: accepted[0] for reading, accepted in assignment(name).items()}


def load(version: str = "4.0", readings: Mapping[str, str] | None = None) -> Grammar:
    """Return the complete grammar of queue names; RULES holds its start rules.

    readings: reading id to alternative; those left out are as in the set `windows`. Raises AbnfError for another
    version, CatalogueError for an unknown reading or alternative.
    """
    return load_set("names", version, readings)


def load_set(name: str, version: str = "4.0", readings: Mapping[str, str] | None = None) -> Grammar:
    """Return the grammar of one of SETS, as `load`."""
    if version not in VERSIONS:
        raise AbnfError(0, f"Unknown version '{version}' (one of: {', '.join(VERSIONS)})")
    source = SETS.get(name)
    if source is None:
        raise AbnfError(0, f"Unknown rule set '{name}' (one of: {', '.join(SETS)})")
    for reading, alternative in (readings or {}).items():
        alternative_of(reading, alternative)
    touching = readings_of(name)
    chosen = {reading: (readings or {}).get(reading) or windows()[reading] for reading in touching}
    return _loaded(name, version, tuple(sorted(chosen.items())))


@cache
def windows() -> Mapping[str, str]:
    """Return `reading_set("windows")`, made once."""
    return MappingProxyType(reading_set("windows"))


@cache
def readings_of(name: str) -> tuple[str, ...]:
    """Return the readings on which a rule set depends, in the order of the register."""
    used = {reading for step in _steps(name) for reading in step.when}
    return tuple(reading for reading in catalogue().readings if reading in used)


@cache
def _steps(name: str) -> tuple[CorrectionStep, ...]:
    overlay = SETS[name].overlay
    return read_overlay(resource(f"grammars/{overlay}.overlay.toml")) if overlay else ()


@cache
def _loaded(name: str, version: str, readings: tuple[tuple[str, str], ...]) -> Grammar:
    source, chosen = SETS[name], dict(readings)
    steps = [step for step in _steps(name) if step.applies(version, chosen)]
    whole = apply(letter(name, version), steps)
    used = whole.reachable(*source.starts)
    kept = Grammar(
        (rule for key, rule in used.items() if key in whole.rules),
        where=f"{name} {version}",
        alphabet=source.alphabet,
    )
    check(kept, starts=source.starts)
    return kept


def letter(name: str, version: str, *, arranged: bool = False) -> Grammar:
    """Return the rules of a set as the documents print them, with all their names; some may be undefined.

    arranged: apply the arrangements of the overlay, which do not change any language.
    """
    source = SETS[name]
    rules: dict[str, Rule] = {}
    for pattern in source.files:
        file = pattern.format(v=version)
        for rule in _file(file, source.renamed.get(pattern, {})):
            known = rules.setdefault(rule.name.casefold(), rule)
            if plain(known.node) != plain(rule.node):
                raise AbnfError(rule.line, f"{rule.name} is defined differently in files of {name}", f"{file}.abnf")
    grammar = Grammar(rules.values(), where=f"{name} {version}, as printed", alphabet=source.alphabet)
    steps = [step for step in _steps(name) if step.kind == "arrangement" and version in step.versions]
    return apply(grammar, steps) if arranged else grammar


@cache
def file_text(name: str) -> str:
    """Return the content of `grammars/NAME.abnf`."""
    return resource(f"grammars/{name}.abnf").read_text(encoding="utf-8")


def _file(name: str, names: Mapping[str, str]) -> list[Rule]:
    folded = {old.casefold(): new for old, new in names.items()}
    return [
        Rule(folded.get(rule.name.casefold(), rule.name), renamed(rule.node, folded), rule.line)
        for rule in read_parts(file_text(name), where=f"{name}.abnf")
    ]


def renamed(node: Node, names: Mapping[str, str]) -> Node:
    """Return the node with rules renamed. names: case-folded to new."""
    if isinstance(node, Ref):
        return Ref(names.get(node.name.casefold(), node.name), node.line)
    return rebuild(node, tuple(renamed(each, names) for each in children(node)))


def plain(node: Node) -> Node:
    """Return the node without lines and with names in one case, for comparing spellings of a rule."""
    if isinstance(node, Ref):
        return Ref(node.name.casefold())
    return rebuild(node, tuple(map(plain, children(node))))


KEYWORDS = ("private$", "system$", "journal", "deadletter", "deadxact", "xactonly")

WIDE: Mapping[str, str] = MappingProxyType(
    {
        "R-MQMQ-computer-alphabet": "any-printable",
        "R-MQMQ-queue-name-alphabet": "unicode",
        "R-MQMQ-subqueue-length": "up-to-32",
        "R-MQMQ-suffix-or-subqueue": "subqueue",
        "R-MQMQ-journal-of-subqueue": "accepted",
        "R-MQMQ-public-journal": "accepted",
        "R-MQMQ-machine-suffix": "required",
        "R-MQMQ-connector-suffix": "optional",
        "R-MQMQ-port": "all",
        "R-MQMQ-port-zeros": "accepted",
        "R-MQMQ-http-separator": "backslash",
        "R-MQMQ-ipx": "either",
        "R-MQMQ-comma": "belongs",
        "R-MQMQ-single-element": "one-or-more",
        "R-MQMQ-read-only-element": "opened",
        "R-MQMQ-system-path": "any",
        "R-MQMQ-tcp-ipv6": "both",
        "R-MQMQ-http-port-empty": "accepted",
        "R-MQMQ-http-port-range": "accepted",
        "R-MQMQ-http-future-address": "any",
    }
)
NARROW: Mapping[str, str] = MappingProxyType(
    {
        "R-MQMQ-computer-alphabet": "separators-excluded",
        "R-MQMQ-queue-name-alphabet": "letter",
        "R-MQMQ-subqueue-length": "up-to-31",
        "R-MQMQ-suffix-or-subqueue": "subqueue",
        "R-MQMQ-journal-of-subqueue": "refused",
        "R-MQMQ-public-journal": "refused",
        "R-MQMQ-machine-suffix": "required",
        "R-MQMQ-connector-suffix": "none",
        "R-MQMQ-port": "letter",
        "R-MQMQ-port-zeros": "refused",
        "R-MQMQ-http-separator": "backslash",
        "R-MQMQ-ipx": "neither",
        "R-MQMQ-comma": "separates",
        "R-MQMQ-single-element": "two-or-more",
        "R-MQMQ-read-only-element": "parsed",
        "R-MQMQ-system-path": "three",
        "R-MQMQ-tcp-ipv6": "ipv4",
        "R-MQMQ-http-port-empty": "refused",
        "R-MQMQ-http-port-range": "refused",
        "R-MQMQ-http-future-address": "refused",
    }
)

# Readings whose alternatives each accept texts that the other rejects. The C1 controls are in neither alphabet, but the
# reading does not exclude them from "characters outside ASCII", nor surrogates.
_WIDER = r"""
PlainChar = %x20-21 / %x23-2A / %x2D-3A / %x3C-5B / %x5D-10FFFF
WebSeparator = "\" / "/"
Machine = "MACHINE=" Guid [";" MachineQueue]
"""
_NARROWER = r"""
PlainChar = %x21 / %x23-2A / %x2D-3A / %x3C-5B / %x5D-7E
PrivateQueuePath = "DIRECT=" Location "\PRIVATE$\" DirectQueue
PublicQueuePath = "DIRECT=" Location "\" DirectQueue
MachineQueuePath = "DIRECT=" Location "\SYSTEM$;" MachineQueue
SingleFormatName = FormatName
WritableDirect = "DIRECT=" Location "\" ["PRIVATE$\"] WritableQueue
"""


@cache
def widest(version: str = "4.0") -> Grammar:
    """Return a grammar with every text that some choice of readings accepts as a name of an MSMQ version."""
    return _with(load(version, WIDE), _WIDER, f"names {version}, any reading")


@cache
def narrowest(version: str = "4.0") -> Grammar:
    """Return a grammar of names of an MSMQ version that all readings accept, unless `holds_keyword`."""
    return _with(load(version, NARROW), _NARROWER, f"names {version}, all readings")


@cache
def ordinary(version: str = "4.0") -> Grammar:
    """Return `narrowest` with only the usual HTTP and machine names: the base of near misses."""
    whole = load(version, NARROW)
    kept = (whole.rule(name) for name in ("PrivateQueuePath", "PublicQueuePath", "SingleFormatName"))
    slash = read_parts('WebSeparator = "/"\n', where="ordinary names")
    return narrowest(version).with_rules((*kept, *slash), where=f"names {version}, ordinary ones")


def holds_keyword(text: str) -> bool:
    """Return True when a name has a word that one of the readings reserves and another does not."""
    return any(word in text.casefold() for word in KEYWORDS)


def _with(grammar: Grammar, rules: str, where: str) -> Grammar:
    return grammar.with_rules(read_parts(rules, where=where), where=where)


__all__ = [
    "KEYWORDS",
    "NARROW",
    "RULES",
    "SETS",
    "VERSIONS",
    "WIDE",
    "WITNESSES",
    "holds_keyword",
    "letter",
    "load",
    "load_set",
    "narrowest",
    "ordinary",
    "reading_set",
    "version_of",
    "widest",
]
