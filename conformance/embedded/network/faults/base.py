"""A fault of the network: some parts of a node, replaced by subclasses. Defining one registers it."""

from __future__ import annotations

from typing import ClassVar

REGISTERED: dict[str, type[NetworkFault]] = {}


class NetworkFault:
    """A deviation. The docstring of a subclass says it in one sentence.

    name: what a user calls it. breaks: the requirements it breaks, from the text of the documents. replaces: parts of
    `NetworkParts` and the subclasses that deviate.
    """

    name: ClassVar[str]
    breaks: ClassVar[tuple[str, ...]]
    replaces: ClassVar[tuple[tuple[str, type], ...]]

    def __init_subclass__(cls) -> None:
        if REGISTERED.setdefault(cls.name, cls) is not cls:
            raise ValueError(f"two faults are named {cls.name}")

    @classmethod
    def says(cls) -> str:
        """Return the sentence."""
        return " ".join((cls.__doc__ or "").split())


def fault(module: str, name: str, says: str, breaks: tuple[str, ...], *replaces: tuple[str, type]) -> None:
    """Register a fault of a table. module: the `__name__` of the module that has the table."""
    members = {"__module__": module, "__doc__": says, "name": name, "breaks": breaks, "replaces": replaces}
    type(name.title().replace("-", ""), (NetworkFault,), members)
