"""Items, the demands that extractors find in a document, with the `source` and the word that identify them.

An extractor yields drafts; `finished` turns the drafts of a document into items. Text stays in memory: the catalogue
stores only the `source`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from tools.audit.document import Block
from tools.audit.text import Demand, demands, digest, packed, sentences, strongest
from tools.audit.words import Group, assign, clashes, groups, letters, spelled

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
_FAR = 6  # number of preceding items that may make a word unique before letters of the digest do


@dataclass(frozen=True, slots=True)
class Draft:
    """One demand of a document, as an extractor found it.

    context: the field, argument or table that contains it, which distinguishes it from an equal text elsewhere in its
    section. marked: identifiers shown by markup. detail: (name, value) pairs of the document's identifiers and numbers,
    from which our own description can be made.
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
    """One demand of a document. source: a digest of section and text in 16 hexadecimal digits.

    document: such as `MQMQ`. kind: one of KINDS. line: 1-based, for people only, not part of any
    identity. text: normalised, held in memory only. level: of the strongest demand, None for a declaration. identifier:
    the document's own name for it, if any. word: proposed last part of an id. demands: one for each catalogue entry
    that the item needs at least.
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
        """Return the proposed id, such as `MQMQ-2.2.19.1.version-number-field`."""
        return f"{self.document}-{self.section}.{self.word}"


def finished(document: str, drafts: Iterable[Draft]) -> tuple[Item, ...]:
    """Return the items of a document in the order of its lines, each with its source and its word."""
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
    """Return the source of each draft. Preceding drafts, as many as needed, distinguish equal texts of one place."""
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
            parts.append("|")  # the section begins here, so this key is shorter by one
            break
        parts.append(packed(drafts[here].text))
    return tuple(parts)


def _previous(drafts: Sequence[Draft]) -> list[int | None]:
    """Return, for each draft, the preceding one in its section: of its kind, or of the flow of steps."""
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
    """Return the parts of a draft that determine its word before its surroundings do."""
    return draft.kind, draft.prefix, draft.context, draft.text, draft.marked


def _tell_apart(
    places: Sequence[int],
    cores: Sequence[str],
    previous: Sequence[int | None],
    words: list[str],
    sources: Sequence[str],
) -> None:
    """Make the words of equal texts in a section unique by preceding items, as many as needed."""
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
    """True if the document's own name is enough for the word."""
    return draft.identifier is not None and bool(draft.prefix)


def _spare(draft: Draft) -> list[Group]:
    """Return the groups that distinguish equal words: text (if a name made the word), context, kind."""
    spare = groups(draft.text, draft.marked) if named(draft) else []
    return list(dict.fromkeys([*spare, *groups(draft.context), tuple(draft.kind.split("-"))]))


def marks(raw: str) -> tuple[str, ...]:
    """Return identifiers shown by markup: bold, italic, code, and titles of linked sections, but no glossary terms."""
    text = re.sub(r"\[(?:\*\*)?([^\]]*?)(?:\*\*)?\]\(#gt_[^)]*\)", r"\1", raw.replace("\\_", "_"))
    spans = re.findall(r"\*\*([^*]+)\*\*|(?<![\w*])\*([^*\s][^*]*)\*|`([^`]+)`", text)
    return tuple(part for span in spans for part in span if part)


def demanding(block: Block, context: str = "", text: str | None = None) -> Iterator[Draft]:
    """Yield a draft for each sentence of `block` (or of `text`, if given) that has a keyword."""
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
    """Return the sentences of `text` without a keyword: they belong to the declaration itself."""
    return " ".join(sentence for sentence in sentences(text) if not demands(sentence))
