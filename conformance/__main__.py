"""Run `mqconform` as `python -m conformance`."""

import sys

# The working folder comes last, unless this is a checkout in it: what lies there replaces no module.
if not sys.flags.safe_path and sys.path[0] != __file__.rpartition("/conformance/")[0]:
    sys.path.append(sys.path.pop(0))

from conformance.interrupts import begin

begin()  # Handle signals before any import that takes time.

from conformance.cli import main  # noqa: E402

main()
