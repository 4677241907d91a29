"""What the extractors find, and how it gets its `source` and its word.

An extractor yields drafts; `finished` turns the drafts of a document into items. Text stays in memory: the catalogue
stores the `source` alone.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from conformance.spec.audit.document import Block
from conformance.spec.audit.text import Demand, demands, digest, packed, sentences, strongest
from conformance.spec.audit.words import Group, assign, clashes, groups, letters, spelled

KINDS = (
    "sentence",
    "step",
    "binding",
    "argument",
    "return-value",
    "status-code",
    "field",
    "struct-member",
    "attribute",
    "attribute-value",
    "property",
    "constant",
    "enumeration",
    "member",
    "declaration",
    "table-row",
    "grammar-rule",
    "class",
    "interface",
    "method",
    "precondition",
    "hresult",
    "product-note",
)


_FLOW = frozenset({"step", "binding", "precondition", "hresult"})
_FAR = 6  # how many items back a word looks before it takes letters of the digest


@dataclass(frozen=True, slots=True)
class Draft:
    """One thing a document demands, as an extractor found it.

    context: the field, argument or table it stands in: part of what makes it different from an equal text elsewhere in
    its section. marked: the identifiers its markup shows. detail: (name, value) pairs that are identifiers and numbers
    of the document, from which a line of our own can be made.
    """

    section: str
    kind: str
    line: int
    text: str
    context: str = ""
    identifier: str | None = None
    demands: tuple[Demand, ...] = ()
    marked: tuple[str, ...] = ()
    prefix: Group = ()
    detail: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Item:
    """One thing a document demands. `source` is 16 hexadecimal digits: section and text, so it changes when they do.

    document: `MQMQ`, `MQDMPR`, `MQAC` or `MQMP`. kind: one of KINDS. line: 1-based, for people; no part of any
    identity. text: normalised, held in memory only. level: of the strongest demand, None for a declaration.
    identifier: the document's own name for it, where it has one. word: proposed last part of an id. demands: one for
    each catalogue entry the item asks for at least.
    """

    document: str
    section: str
    kind: str
    line: int
    text: str
    source: str
    level: str | None
    identifier: str | None
    word: str
    context: str = ""
    demands: tuple[Demand, ...] = ()
    detail: tuple[tuple[str, str], ...] = ()

    @property
    def id(self) -> str:
        """The proposed id, such as `MQMQ-2.2.19.1.version-number-field`."""
        return f"{self.document}-{self.section}.{self.word}"


def finished(document: str, drafts: Iterable[Draft]) -> tuple[Item, ...]:
    """The items of a document in the order of its lines, each with its source and its word."""
    ordered = sorted(drafts, key=lambda draft: draft.line)
    sources = _sources(ordered)
    words = _words(ordered, sources)
    return tuple(
        Item(
            document=document,
            section=draft.section,
            kind=draft.kind,
            line=draft.line,
            text=draft.text,
            source=source,
            level=strongest([demand.level for demand in draft.demands]),
            identifier=draft.identifier,
            word=word,
            context=draft.context,
            demands=draft.demands,
            detail=draft.detail,
        )
        for draft, source, word in zip(ordered, sources, words, strict=True)
    )


def _sources(drafts: Sequence[Draft]) -> list[str]:
    """Equal texts of one place are told apart by what stands before each, as far back as it takes."""
    back = [0] * len(drafts)
    previous = _previous(drafts)
    for _ in range(len(drafts)):
        keys = [_key(drafts, previous, at, back[at]) for at in range(len(drafts))]
        places: dict[tuple[str, ...], list[int]] = defaultdict(list)
        for at, key in enumerate(keys):
            places[key].append(at)
        clashing = [at for members in places.values() if len(members) > 1 for at in members]
        if not clashing:
            break
        for at in clashing:
            back[at] += 1
    return [digest(*key) for key in keys] if drafts else []


def _key(drafts: Sequence[Draft], previous: Sequence[int | None], at: int, back: int) -> tuple[str, ...]:
    draft = drafts[at]
    parts = [draft.section, draft.kind, packed(draft.context), packed(draft.text)]
    here: int | None = at
    for _ in range(back):
        here = previous[here] if here is not None else None
        if here is None:
            parts.append("|")  # the start of the section: shorter by one than the others
            break
        parts.append(packed(drafts[here].text))
    return tuple(parts)


def _previous(drafts: Sequence[Draft]) -> list[int | None]:
    """For each draft, the one before it in its section: of its kind, or of the flow of steps."""
    last: dict[tuple[str, str], int] = {}
    before: list[int | None] = []
    for at, draft in enumerate(drafts):
        place = (draft.section, "flow" if draft.kind in _FLOW else draft.kind)
        before.append(last.get(place))
        last[place] = at
    return before


def _words(drafts: Sequence[Draft], sources: Sequence[str]) -> list[str]:
    members: dict[str, list[int]] = defaultdict(list)
    for at, draft in enumerate(drafts):
        members[draft.section].append(at)
    previous = _previous(drafts)
    words = [""] * len(drafts)
    for places in members.values():
        different: dict[tuple[object, ...], int] = {}
        for at in places:
            different.setdefault(_said(drafts[at]), at)
        firsts = list(different.values())
        own = [[] if named(drafts[at]) else groups(drafts[at].text, drafts[at].marked) for at in firsts]
        found = assign([drafts[at].prefix for at in firsts], own, [_spare(drafts[at]) for at in firsts])
        core = dict(zip(different, found, strict=True))
        _tell_apart(places, [core[_said(drafts[at])] for at in places], previous, words, sources)
    return words


def _said(draft: Draft) -> tuple[object, ...]:
    """What decides the word of a draft, before anything around it does."""
    return draft.kind, draft.prefix, draft.context, draft.text, draft.marked


def _tell_apart(
    places: Sequence[int],
    cores: Sequence[str],
    previous: Sequence[int | None],
    words: list[str],
    sources: Sequence[str],
) -> None:
    """Equal texts of a section are named after what stands before them, as far back as it takes."""
    core = dict(zip(places, cores, strict=True))
    found = list(cores)
    behind: list[int | None] = list(places)
    for _ in range(_FAR):
        clashing = [at for members in clashes(found) for at in members]
        for at in clashing:
            here = behind[at]
            behind[at] = None if here is None else previous[here]
            following = behind[at]
            if here is not None:
                found[at] = f"{cores[at]}-first" if following is None else f"{cores[at]}-after-{core[following]}"
    for members in clashes(found):
        for at in members:
            found[at] += "-" + letters(sources[places[at]])
    for at, word in zip(places, found, strict=True):
        words[at] = word


def named(draft: Draft) -> bool:
    """Whether the document's own name is word enough."""
    return draft.identifier is not None and bool(draft.prefix)


def _spare(draft: Draft) -> list[Group]:
    """The groups equal words are told apart with: text (where a name made the word), context, kind."""
    spare = groups(draft.text, draft.marked) if named(draft) else []
    return list(dict.fromkeys([*spare, *groups(draft.context), tuple(draft.kind.split("-"))]))


def marks(raw: str) -> tuple[str, ...]:
    """The identifiers markup shows: bold, italic and code, and the titles of sections linked to; glossary terms not."""
    text = re.sub(r"\[(?:\*\*)?([^\]]*?)(?:\*\*)?\]\(#gt_[^)]*\)", r"\1", raw.replace("\\_", "_"))
    spans = re.findall(r"\*\*([^*]+)\*\*|(?<![\w*])\*([^*\s][^*]*)\*|`([^`]+)`", text)
    return tuple(part for span in spans for part in span if part)


def demanding(block: Block, context: str = "", text: str | None = None) -> Iterator[Draft]:
    """A draft for each sentence of `block` (of `text` instead, when given) that has a keyword."""
    for sentence in sentences(block.text if text is None else text):
        asked = demands(sentence)
        if asked:
            yield Draft(
                section=block.section,
                kind="sentence",
                line=block.line,
                text=sentence,
                context=context,
                demands=asked,
                marked=marks(block.raw),
                prefix=spelled(context),
            )


def declared(text: str) -> str:
    """The sentences of `text` that demand nothing: what is left for the declaration itself to answer for."""
    return " ".join(sentence for sentence in sentences(text) if not demands(sentence))
