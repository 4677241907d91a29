"""What each workload of the default budget judges whatever the seed: the requirements its test claims."""

from __future__ import annotations

from typing import Final

PLAIN: Final = ()
WAITS: Final = ()
TRANSACTIONS: Final = ()
CURSORS: Final = ()
