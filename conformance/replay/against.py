"""The documented name of the exception for an implementation that cannot be given messages."""

from conformance.captures.compare_implementation import NotDeliverable

__all__ = ["NotDeliverable"]
