"""An empty lake on tables of a format that others know too: its head, and its tables."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Final

from conformance import __version__
from conformance.aside import make_folder
from conformance.pipeline.errors import PipelineError
from conformance.pipeline.lakes import delta_tables
from conformance.pipeline.lakes.lease import LEASE
from conformance.pipeline.lakes.port import HEAD, LOCK, STAGING, WATCH
from conformance.pipeline.lakes.store import LocalStore, Store
from conformance.pipeline.lakes.tables import BATCHES
from conformance.pipeline.log import STATE
from conformance.pipeline.schemas import TABLES

NUMBER: Final = 2
"""The format in the head of such a lake."""
OWN: Final = (HEAD, BATCHES, STATE, STAGING, LOCK, WATCH, LEASE, *TABLES)
"""Names that may lie in the place of a new lake."""


def create(store: Store) -> None:
    """Make an empty lake. Raises PipelineError, OSError and UnfitError."""
    delta_tables.require()
    if any(name not in OWN for name in store.names("")):
        raise PipelineError(f"{store.place} is a folder with other files in it; name a new one for the lake.")
    if isinstance(store, LocalStore):  # Its error has the system's reason, which that of the first table lacks.
        make_folder(store.root)
    for name in (*TABLES, BATCHES):
        delta_tables.make(store, name)
    with suppress(FileExistsError):
        store.create(HEAD, json.dumps({"format": NUMBER, "tables": "delta", "version": __version__}).encode())
