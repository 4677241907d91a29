"""Run `mqconform` as `python -m conformance`."""

from conformance.interrupts import begin

begin()  # Handle signals before any import that takes time.

from conformance.cli import main  # noqa: E402

main()
