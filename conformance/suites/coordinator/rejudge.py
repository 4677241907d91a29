"""Runs an example of this suite again, from its repro file: a history of calls, or a story with a kill in a call."""

from conformance.suites.restart.rejudge import rejudge

__all__ = ["rejudge"]
