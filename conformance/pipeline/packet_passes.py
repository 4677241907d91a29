"""The passes on one packet as kinds: found once for all packets of which the packet rules say the same."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from conformance.captures.followed import Key, Read, key_of, read_of
from conformance.judge.packets.judged import Judged, Pattern
from conformance.verdict import Outcome, Verdict

Said = Sequence[Verdict | Key]


def parted(said: Said, number: int) -> tuple[tuple[Key, ...], Said, Read]:
    """Part what was said of packet `number`: the passes known by their kind alone, and the rest.

    The third are the verdicts of both that show how the sender reads the documents.
    """
    if not isinstance(said, Judged) or said.frame != number or said.others.keys() != set(said.pattern.others):
        return (), said, read_of([key_of(one) for one in said])
    passes, read = _passes(said.pattern)
    left = [(at, said.others[at]) for at in said.pattern.others]
    left += enumerate(said.behind, len(said.pattern.told))
    keys = [(at, key_of(one)) for at, one in left]
    if not read and not any(key[2] for _, key in keys):
        return passes, [one for _, one in left], ()
    more = [(at, key) for at, key in keys if key[2] or key[1] is not Outcome.PASS]
    return passes, [one for _, one in left], sorted((*read, *more), key=lambda one: one[0])


@lru_cache(maxsize=1 << 12)
def _passes(pattern: Pattern) -> tuple[tuple[Key, ...], Read]:
    keys = [(at, (one.requirement, one.outcome, one.readings)) for at, one in enumerate(pattern.told)]
    good = [(at, key) for at, key in keys if key[1] is Outcome.PASS]
    return tuple(key for _, key in good), tuple((at, key) for at, key in good if key[2])
