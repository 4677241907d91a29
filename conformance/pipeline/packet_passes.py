"""The passes on one packet as kinds: found once for all packets of which the packet rules say the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

from conformance.captures.followed import Key, Read, key_of, read_of
from conformance.captures.patterns import keys_of, read_in
from conformance.judge.packets.judged import Judged, Pattern
from conformance.verdict import Outcome, Verdict

Said = Sequence[Verdict | Key]


def parted(said: Said, number: int, wanted: Callable[[Key], bool]) -> tuple[tuple[Key, ...], Said, Read]:
    """Part what was said of packet `number`: the passes known by their kind alone, and the rest.

    wanted: tells of which kinds the rest has verdicts; of others it may have the kind alone. The third are the verdicts
    of both that show how the sender reads the documents.
    """
    if not isinstance(said, Judged) or said.frame != number or said.behind:
        return (), said, read_of([key_of(one) for one in said])
    keys = keys_of(said.pattern)
    rest = [said.others[at] if wanted(keys[at]) else keys[at] for at in said.pattern.others]
    return _passes(said.pattern), rest, read_in(said.pattern)


@lru_cache(maxsize=1 << 12)
def _passes(pattern: Pattern) -> tuple[Key, ...]:
    return tuple(key for key in keys_of(pattern) if key[1] is Outcome.PASS)
