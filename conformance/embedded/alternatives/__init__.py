"""Alternatives of readings: parts that follow a reading which this implementation does not follow by default.

`embedded+R-MQDMPR-waiting-readers-order=peeks-first` is the implementation with that alternative. Unlike a fault, an
implementer can defend it; `hello` then declares it. `embedded+directory=ldap` is a manager whose directory speaks LDAP.
"""

from __future__ import annotations

from conformance.embedded.alternatives import directory, management, objects, reads, security, sends
from conformance.embedded.alternatives.base import ALTERNATIVES, SETTINGS, Alternative

MODULES = (reads, sends, management, objects, security, directory)  # importing one registers what is in it
NAMES = (*ALTERNATIVES, *SETTINGS)
__all__ = ["ALTERNATIVES", "MODULES", "NAMES", "SETTINGS", "Alternative"]
