"""The MSMQ versions a profile can name, and nothing else."""

from __future__ import annotations

PROFILES = ("msmq-1.0", "msmq-2.0", "msmq-3.0", "msmq-4.0", "msmq-5.0", "msmq-6.0")
DEFAULT_PROFILE = "msmq-4.0"
LEVELS = ("must", "should", "may")
READING_SETS = ("windows", "strict", "permissive")


def rank(profile: str) -> int:
    """Position of a profile in time, oldest first. Raises ValueError for a name that is no profile."""
    return PROFILES.index(profile)


def applies(profile: str, since: str | None, until: str | None) -> bool:
    """Whether a demand valid from `since` up to and including `until` (None: unbounded) binds this profile."""
    at = rank(profile)
    return (since is None or rank(since) <= at) and (until is None or at <= rank(until))
