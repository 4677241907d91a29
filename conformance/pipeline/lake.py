"""A lake: the tables that ingest writes, and that queries and reports read. See `lakes.port` for its two formats."""

from __future__ import annotations

from conformance.pipeline.lakes.port import (
    DEFAULT,
    HEAD,
    WATCH,
    Entry,
    Format,
    Kept,
    Lake,
    Part,
    Snapshot,
    Target,
    local,
)

__all__ = ["DEFAULT", "HEAD", "WATCH", "Entry", "Format", "Kept", "Lake", "Part", "Snapshot", "Target", "local"]
