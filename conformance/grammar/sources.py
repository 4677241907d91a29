"""The grammars that ship: the rules of the documents, completed and corrected by the readings.

`grammars/*.abnf` has each rule set as its document prints it, and the rules of RFCs they refer to; `*.overlay.toml` has
the corrections. A version is the first MSMQ version of a run with the same rules: 1.0, 2.0 (and 3.0), 4.0 (to 6.0).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from types import MappingProxyType

from conformance.grammar.abnf import read_parts
from conformance.grammar.checks import check
from conformance.grammar.overlay import VERSIONS, CorrectionStep, apply, read_overlay
from conformance.grammar.tree import AbnfError, Grammar, Node, Ref, Rule, children, rebuild
from conformance.resources import resource
from conformance.spec.catalogue import alternative_of, assignment, catalogue

__all__ = ["RULES", "SETS", "VERSIONS", "WITNESSES", "letter", "load", "load_set", "reading_set", "version_of"]

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
