"""Errors that concern a capture file as a whole."""

from __future__ import annotations


class CaptureError(ValueError):
    """Raised when a file cannot be read as a capture. The text is one sentence that says what to do."""
