"""Runs a history of this suite again."""

from conformance.suites.stateful.rejudge import rejudge

__all__ = ["rejudge"]
