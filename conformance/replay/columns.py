"""The documented name of the function that judges a part of a file."""

from conformance.captures.columns import judge_range

__all__ = ["judge_range"]
