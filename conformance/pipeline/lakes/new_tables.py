"""An empty lake on tables of a format that others know too: its head, and its tables."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Final

from conformance import __version__
from conformance.aside import make_folder
from conformance.pipeline.errors import PipelineError
from conformance.pipeline.lakes import delta_tables, fold
from conformance.pipeline.lakes.lease import LEASE
from conformance.pipeline.lakes.port import HEAD, LOCK, STAGING, WATCH
from conformance.pipeline.lakes.store import LocalStore, Store
from conformance.pipeline.lakes.tables import BATCHES, Tables
from conformance.pipeline.log import STATE
from conformance.pipeline.schemas import TABLES

NUMBER: Final = 2
"""The format in the head of such a lake."""
OWN: Final = (HEAD, BATCHES, fold.FOLD, STATE, STAGING, LOCK, WATCH, LEASE, *TABLES)
"""Names that may lie in the place of a new lake."""


def create(store: Store) -> None:
    """Make an empty lake. Raises PipelineError, OSError and UnfitError."""
    create_on(store, delta_tables, head("delta", NUMBER))


def head(named: str, number: int) -> bytes:
    """Return the head of a lake whose tables have the format of this name and number."""
    return json.dumps({"format": number, "tables": named, "version": __version__}).encode()


def create_on(store: Store, tables: Tables, head: bytes) -> None:
    """Make an empty lake with this head. Raises PipelineError, OSError and UnfitError."""
    tables.require()
    if any(name not in OWN for name in store.names("")):
        raise PipelineError(f"{store.place} is a folder with other files in it; name a new one for the lake.")
    if isinstance(store, LocalStore):  # Its error has the system's reason, which that of the first table lacks.
        make_folder(store.root)
    for name in (*TABLES, BATCHES):
        tables.make(store, name)
    with suppress(FileExistsError):
        store.create(HEAD, head)
