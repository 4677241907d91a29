"""The book of objects: planned histories with the situations that each act meets, as data in the wheel.

`tools/object_situations.py` makes it; a test tells a stale one. The numbers are those of `space`: pairs of the features
of each member of the objects.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Final

from conformance.activex.plans import Act, Plan
from conformance.files import write_bytes
from conformance.histories.features.objects import FEATURES, excluded
from conformance.histories.situations.book import BookError
from conformance.histories.situations.situation import Space

DATA: Final = Path(__file__).with_name("object_book.zlib")
_FORMAT: Final = 1
_AGAIN: Final = "make it again with `python -m tools.object_situations`"


@dataclass(frozen=True, slots=True)
class Planned:
    """One history. stage: the scene that judges it, empty for the world of objects. member: whose situations it meets.

    met: for each act the numbers of the situations that it meets and that nothing before it in the book meets.
    """

    stage: str
    member: str
    acts: Plan
    met: tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class ObjectBook:
    """All planned histories of objects, in the order in which they are played."""

    digest: str
    histories: tuple[Planned, ...]

    @cached_property
    def unreachable(self) -> Mapping[int, str]:
        """The same as in `Book`; only who counts situations waits for it."""
        planned = {number for one in self.histories for numbers in one.met for number in numbers}
        return {number: why for number, why in space().excluded().items() if number not in planned}


@cache
def space() -> Space:
    """Return all situations of the members of objects."""
    return Space(FEATURES, frozenset(), excluded)


def packed(histories: Iterable[Planned]) -> bytes:
    """Return the book as bytes, the same for the same histories."""
    acts: dict[str, int] = {}

    def place(act: Act) -> int:
        return acts.setdefault(json.dumps(act.to_json(), separators=(",", ":"), sort_keys=True), len(acts))

    told = [[one.stage, one.member, [place(act) for act in one.acts], one.met] for one in histories]
    head = {"format": _FORMAT, "digest": space().digest, "histories": told, "acts": [json.loads(one) for one in acts]}
    return zlib.compress(json.dumps(head, separators=(",", ":")).encode("ascii"), 9)


def unpacked(raw: bytes, where: str) -> tuple[Planned, ...]:
    """Return the histories from their bytes. Raises BookError. where: the name of the file, for the sentence."""
    try:
        head: Mapping[str, Any] = json.loads(zlib.decompress(raw))
        if head["format"] != _FORMAT or head["digest"] != space().digest:
            raise BookError(f"{where} was made from other feature tables; {_AGAIN}")
        acts = [Act.from_json(one) for one in head["acts"]]
        return tuple(
            Planned(stage, member, tuple(acts[at] for at in places), tuple(map(tuple, met)))
            for stage, member, places, met in head["histories"]
        )
    except BookError:
        raise
    except (zlib.error, ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
        raise BookError(f"{where} is damaged ({type(error).__name__}); install it anew, or {_AGAIN}") from None


def save(histories: Iterable[Planned], path: Path = DATA) -> None:
    """Write the book."""
    write_bytes(path, packed(histories))


@cache
def load() -> ObjectBook:
    """Return the book of this version. Raises BookError for a file that is missing, damaged or stale."""
    try:
        raw = DATA.read_bytes()
    except OSError as error:
        raise BookError(f"{DATA.name} cannot be read ({error.strerror}); install it anew, or {_AGAIN}") from None
    return ObjectBook(space().digest, unpacked(raw, DATA.name))
