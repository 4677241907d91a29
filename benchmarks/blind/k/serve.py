"""`python benchmarks/blind/k/serve.py --listen HOST:PORT --fault NAME`: the embedded queue manager on the network with
the faults of this folder beside its own. The arguments are those of `python -m conformance.embedded.network`."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import faults_messages  # noqa: F401
import faults_sequences  # noqa: F401
import faults_sessions  # noqa: F401

from conformance.embedded.network.__main__ import INTERRUPTED, main

if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
