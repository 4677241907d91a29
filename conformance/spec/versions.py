"""The MSMQ versions that a profile can name, with the levels and the reading sets."""

from __future__ import annotations

PROFILES = ("msmq-1.0", "msmq-2.0", "msmq-3.0", "msmq-4.0", "msmq-5.0", "msmq-6.0")
DEFAULT_PROFILE = "msmq-4.0"
PROFILES_TEXT = f"{PROFILES[0]} to {PROFILES[-1]} (default {DEFAULT_PROFILE})"
"""The versions as the help of a command names them."""
LEVELS = ("must", "should", "may")
READING_SETS = ("windows", "strict", "permissive")


def rank(profile: str) -> int:
    """Return the position of a profile in time, oldest first. Raises ValueError for an unknown profile."""
    return PROFILES.index(profile)


def applies(profile: str, since: str | None, until: str | None) -> bool:
    """True if a requirement valid from `since` to `until`, both included (None: unbounded), binds this profile."""
    at = rank(profile)
    return (since is None or rank(since) <= at) and (until is None or at <= rank(until))
