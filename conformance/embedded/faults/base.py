"""A fault: a part of the manager, replaced by a subclass of itself. Defining one registers it."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, cast

if TYPE_CHECKING:
    from conformance.embedded.manager import Parts

REGISTERED: dict[str, type[Fault]] = {}  # by name; `conformance.embedded.faults` fills it


class Fault:
    """A deviation. A subclass that has a name is registered; a name that is taken raises ValueError.

    name: what a user calls it. breaks: the 1 to 5 requirements it breaks, from the text of the documents and not from
    what a run has shown. first_seen_as: requirements beside them that a run may blame first, and `because`: why that
    is no mistake of the judge. suite: the suite that must find it, which is the name of its folder. replaces: a part of
    `Parts` and the subclass that deviates; several faults of one part combine. also: further parts it needs.
    profile: the MSMQ version it shows in, for a part that this version has and the default one has not.
    races: whether it lets requests in while another is being done, so that they need threads.
    """

    name: ClassVar[str]
    breaks: ClassVar[tuple[str, ...]]
    first_seen_as: ClassVar[tuple[str, ...]] = ()
    because: ClassVar[str] = ""
    suite: ClassVar[str]
    replaces: ClassVar[tuple[str, type]]
    also: ClassVar[tuple[tuple[str, type], ...]] = ()
    profile: ClassVar[str | None] = None
    races: ClassVar[bool] = False

    def __init_subclass__(cls) -> None:
        if "name" not in cls.__dict__:
            return
        present = REGISTERED.setdefault(cls.name, cls)
        if present is not cls:
            raise ValueError(f"two faults are named {cls.name}: in {present.__module__} and in {cls.__module__}")
        cls.suite = cls.__module__.split(".")[-2]

    def apply(self, parts: Parts) -> None:
        """Put the deviating class in place."""
        parts.races = parts.races or self.races
        for part, deviating in (self.replaces, *self.also):
            present = getattr(parts, part)
            setattr(parts, part, type(deviating.__name__, (deviating, present), {}))


def fault(module: str, name: str, story: str, breaks: tuple[str, ...], replaces: tuple[str, type]) -> type[Fault]:
    """Register a fault of a table, for families that differ in one datum.

    module: the `__name__` of the module that has the table. story: the docstring. See `Fault` for the rest.
    """
    members = {"__module__": module, "__doc__": story, "name": name, "breaks": breaks, "replaces": replaces}
    return cast("type[Fault]", type(name.title().replace("-", ""), (Fault,), members))
