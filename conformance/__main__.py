"""`python -m conformance` is `mqconform`."""

from conformance.cli import main

main()
