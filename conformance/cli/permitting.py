"""The options by which a user permits packets to a host elsewhere."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from conformance.cli.output import fail
from conformance.verdict import ExitCode

if TYPE_CHECKING:
    from conformance.net.addresses import Permit, Target

IOwnThis = Annotated[
    str | None,
    typer.Option(
        "--i-own-this",
        metavar="HOST",
        help="The host of wire:HOST again, the same word: it is yours to test. Loopback addresses need nothing.",
    ),
]
Lab = Annotated[
    bool, typer.Option("--lab", help="That host is in a lab: malformed packets, if asked for, may be sent to it.")
]
_WIRE = "wire:"


def permit_connector(connector: str, owned: str | None, lab: bool) -> None:
    """Let the connector and its worker processes know what was permitted. Ends the command for a host that is not."""
    if not connector.startswith(_WIRE):
        if owned is not None or lab:
            fail("--i-own-this and --lab are for wire:HOST.", ExitCode.BAD_INPUT)
        return
    from conformance.adapter.errors import ConnectorError
    from conformance.net.addresses import Permit
    from conformance.net.connector import understood
    from conformance.net.outgoing import may_send

    try:
        host, declared = understood(connector.removeprefix(_WIRE[:-1]))
    except ConnectorError:
        return  # It is told where connectors are understood.
    permit = Permit(owned, lab)
    found = permitted(host, permit)
    why = may_send(declared.packets, found, permit)
    if why is not None:
        fail(why[0].upper() + why[1:], ExitCode.BAD_INPUT)
    yes = found.address if found.public else None
    os.environ.update(Permit(owned, lab, yes, found.address).to_environment())


def permitted(host: str, permit: Permit) -> Target:
    """Return the host to send packets to; asks for a typed yes when it is public. Ends the command if it may not."""
    from conformance.net.addresses import AddressError, UnresolvedError, target

    try:
        return target(host, permit, _asked if sys.stdin.isatty() and sys.stderr.isatty() else None)
    except UnresolvedError as error:
        fail(str(error), ExitCode.UNUSABLE)
    except AddressError as error:
        fail(str(error), ExitCode.BAD_INPUT)


def _asked(question: str) -> bool:
    print(f"mqconform: {question} Type yes to send packets there: ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip() == "yes"
