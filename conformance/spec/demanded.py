"""The denominator of coverage: the requirements that can be judged, by the catalogue and the MSMQ version alone.

It is the same for every run: options and events of a run change how many requirements are judged, never of how many. It
includes all documents and all roles, and all levels: requirements weaker than the level of a run are judged too, and
reported as warnings. It excludes requirements that no run can check (UNCHECKABLE).
"""

from __future__ import annotations

from functools import cache

from conformance.spec.catalogue import Requirement, catalogue
from conformance.spec.versions import DEFAULT_PROFILE, PROFILES


@cache
def demanded(*profiles: str) -> tuple[Requirement, ...]:
    """Return the requirements that a run for these MSMQ versions (none: for any version) can judge, in order.

    Raises ValueError for an unknown version.
    """
    return tuple(
        entry
        for entry in catalogue()
        if entry.checkable and (not profiles or any(entry.binds(profile) for profile in profiles))
    )


@cache
def demanded_ids(*profiles: str) -> frozenset[str]:
    """Return the ids of `demanded`."""
    return frozenset(entry.id for entry in demanded(*profiles))


def profile_of(name: str | None) -> str:
    """Return the version that a record names, the default if it names no known one."""
    return name if name in PROFILES else DEFAULT_PROFILE
