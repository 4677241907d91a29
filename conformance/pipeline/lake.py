"""A lake: the tables that ingest writes, and that queries and reports read. See `lakes.port`."""

from __future__ import annotations

from conformance.pipeline.lakes.port import (
    HEAD,
    WATCH,
    Entry,
    Kept,
    Lake,
    Part,
    Snapshot,
    Target,
    local,
)

__all__ = ["HEAD", "WATCH", "Entry", "Kept", "Lake", "Part", "Snapshot", "Target", "local"]
