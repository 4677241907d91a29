"""From a connector text to a client, with what only the harness knows: which faults there are."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from conformance.adapter.client import Client
from conformance.adapter.connectors import Options, connect, launcher


def check_connector(connector: str, *, in_process: bool = False) -> None:
    """Raise ConnectorError, with the nearest name, for a text that `connect` would refuse. Starts nothing."""
    launcher(
        connector,
        Options(
            state_dir=Path(),
            in_process=in_process,
            max_line_bytes=1,
            connect_ms=1,
            log=None,
            known_faults=known_faults(connector),
        ),
    )


def open_client(
    connector: str,
    *,
    state_dir: Path,
    in_process: bool,
    deadline_ms: int,
    namespace: str | None = None,
    log: Path | None = None,
    profile: str | None = None,
) -> Client:
    """The client for a connector. log: file for the driver's stderr. profile: what the embedded one is to be.

    Raises ConnectorError or DriverUnusable.
    """
    return connect(
        connector,
        state_dir=state_dir,
        in_process=in_process,
        deadline_ms=deadline_ms,
        namespace=namespace,
        log=log,
        profile=profile,
        known_faults=known_faults(connector),
    )


def known_faults(connector: str) -> Collection[str] | None:
    """The embedded implementation's faults, where the connector names any."""
    if not connector.startswith("embedded+"):
        return None
    from conformance.embedded.faults import FAULTS

    return FAULTS
