"""Check a connector text and open its client, with the names of the embedded implementation's faults."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from socketserver import BaseRequestHandler

from conformance.adapter.client import Client
from conformance.adapter.connectors import Options, connect, launcher
from conformance.adapter.process import look


def check_connector(connector: str, *, in_process: bool = False) -> None:
    """Check a connector without starting anything. Raises ConnectorError, with the nearest name, for an invalid text.

    Raises DriverUnusable for a program that does not exist.
    """
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
    look(connector, in_process=in_process)


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
    """Open the client for a connector. log: file for the driver's stderr. profile: of the embedded implementation.

    Raises ConnectorError or DriverUnusable.
    """
    client = connect(
        connector,
        state_dir=state_dir,
        in_process=in_process,
        deadline_ms=deadline_ms,
        namespace=namespace,
        log=log,
        profile=profile,
        known_faults=known_faults(connector),
    )
    client.directory_handlers = {"ldap": ldap_handler}
    return client


def ldap_handler() -> type[BaseRequestHandler]:
    """Load what answers a manager that asks the directory over LDAP."""
    from conformance.harness.directory_ldap import Handler  # whose library takes half a second

    return Handler


def known_faults(connector: str) -> Collection[str] | None:
    """Return the embedded implementation's faults if the connector names faults, otherwise None."""
    if not connector.startswith("embedded+"):
        return None
    from conformance.embedded.faults import EVERY_FAULT

    return EVERY_FAULT
