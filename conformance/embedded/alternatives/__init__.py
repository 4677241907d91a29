"""The other side of a reading: parts that follow an alternative which this implementation does not follow by itself.

`embedded+R-MQDMPR-waiting-readers-order=peeks-first` is the implementation with that alternative. Unlike a fault, it is
something an implementer can defend; `hello` then declares it.
"""

from __future__ import annotations

from conformance.embedded.alternatives import keeping, outgoing, seeking, sending, statuses, waiting
from conformance.embedded.alternatives.base import ALTERNATIVES, Alternative

MODULES = (waiting, statuses, seeking, keeping, sending, outgoing)  # importing one registers what is in it
__all__ = ["ALTERNATIVES", "MODULES", "Alternative"]
