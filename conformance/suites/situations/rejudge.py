"""Runs a history of this suite again."""

from conformance.histories.rejudge import rejudge

__all__ = ["rejudge"]
