"""What a fault is: a part of the manager, replaced by a subclass of itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, cast

if TYPE_CHECKING:
    from conformance.embedded.manager import Parts


class Fault:
    """A deviation.

    name: what a user calls it. breaks: requirement ids it breaks, from the text of the documents. suite: the suite
    that must find it. replaces: a part of `Parts` and the subclass that deviates; several faults of one part combine.
    also: further parts it needs, with their subclasses.
    profile: the MSMQ version it shows in, for a part that this version has and the default one has not.
    races: whether it lets requests in while another is being done, so that they need threads.
    """

    name: ClassVar[str]
    breaks: ClassVar[tuple[str, ...]]
    suite: ClassVar[str]
    replaces: ClassVar[tuple[str, type]]
    also: ClassVar[tuple[tuple[str, type], ...]] = ()
    profile: ClassVar[str | None] = None
    races: ClassVar[bool] = False

    def __init_subclass__(cls) -> None:
        cls.breaks = tuple(dict.fromkeys(getattr(cls, "breaks", ())))  # groups overlap

    def apply(self, parts: Parts) -> None:
        """Put the deviating class in place."""
        parts.races = parts.races or self.races
        for part, deviating in (self.replaces, *self.also):
            present = getattr(parts, part)
            setattr(parts, part, type(deviating.__name__, (deviating, present), {}))


def fault(name: str, story: str, suite: str, breaks: tuple[str, ...], replaces: tuple[str, type]) -> type[Fault]:
    """A fault of a table, for families that differ in one datum. `story` is its docstring; see `Fault` for the rest."""
    members = {"__doc__": story, "name": name, "suite": suite, "breaks": breaks, "replaces": replaces}
    return cast("type[Fault]", type(name.title().replace("-", ""), (Fault,), members))
