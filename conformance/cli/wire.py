"""`mqconform wire check`."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from conformance.cli.output import emit_json, fail, one_line
from conformance.verdict import ExitCode

if TYPE_CHECKING:
    from conformance.live.wire_check import Finding


def check_command(host: str, *, owned: str | None, record: Path | None, json: bool) -> NoReturn:
    """Look at a host and print a line for each step. Ends the command: 0 when it also connected back, else 3."""
    from conformance.adapter.errors import ConnectorError, DriverUnusable
    from conformance.cli.permitting import permitted
    from conformance.live.wire_check import wire_check
    from conformance.net.addresses import Permit
    from conformance.net.connector import understood

    def show(found: Finding) -> None:
        if not json:
            print(f"{found.state:<8} {found.what}: {one_line(found.text)}", flush=True)

    try:
        name, declared = understood(f":{host}")
        target = permitted(name, Permit(owned))
        checked = wire_check(target, declared, record=record, on_finding=show)
    except ConnectorError as error:
        fail(error.sentence, ExitCode.BAD_INPUT)
    except DriverUnusable as error:
        fail(error.sentence, ExitCode.UNUSABLE)
    if json:
        found = [asdict(each) for each in checked.findings]
        emit_json({"steps": found, "exit_code": int(checked.exit_code), "sentence": checked.sentence})
    if checked.sentence:
        fail(checked.sentence, checked.exit_code)
    sys.exit(int(checked.exit_code))
