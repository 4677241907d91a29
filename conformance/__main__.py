"""Run `mqconform` as `python -m conformance`."""

import sys

if not sys.flags.safe_path:
    sys.path.append(sys.path.pop(0))  # The working folder comes last: what lies there replaces no module.

from conformance.interrupts import begin

begin()  # Handle signals before any import that takes time.

from conformance.cli import main  # noqa: E402

main()
