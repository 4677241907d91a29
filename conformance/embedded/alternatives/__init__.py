"""Alternatives of readings: parts that follow a reading which this implementation does not follow by default.

`embedded+R-MQDMPR-waiting-readers-order=peeks-first` is the implementation with that alternative. Unlike a fault, an
implementer can defend it; `hello` then declares it.
"""

from __future__ import annotations

from conformance.embedded.alternatives import (
    handles,
    leftovers,
    management,
    objects,
    objects_events,
    objects_management,
    objects_messages,
    objects_query,
    objects_reads,
    outgoing,
    properties,
    seeking,
    sending,
    statuses,
    waiting,
)
from conformance.embedded.alternatives.base import ALTERNATIVES, Alternative

MODULES = (
    handles,
    waiting,
    statuses,
    seeking,
    leftovers,
    sending,
    outgoing,
    properties,
    management,
    objects,
    objects_events,
    objects_management,
    objects_messages,
    objects_query,
    objects_reads,
)  # importing one registers what is in it
__all__ = ["ALTERNATIVES", "MODULES", "Alternative"]
