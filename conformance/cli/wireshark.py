"""`mqconform wireshark`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from conformance.aside import write_text
from conformance.cli.output import emit_json, fail
from conformance.verdict import ExitCode


def command(
    *, out: Path | None, profile: str | None, level: str, readings: str, chosen: Sequence[str], json: bool
) -> None:
    """Write the dissector to a file or stdout."""
    from conformance.report.wireshark import dissector
    from conformance.run import BadInput, check_chosen, check_words
    from conformance.spec.catalogue import assignment
    from conformance.spec.versions import DEFAULT_PROFILE

    try:
        check_words(profile=profile, level=level, readings=readings)
        accepted = assignment(readings, check_chosen(chosen))
    except BadInput as error:
        fail(str(error), ExitCode.BAD_INPUT)
    made = dissector(profile=profile or DEFAULT_PROFILE, readings=accepted, level=level)
    if out is not None:
        try:
            write_text(out, made.source)
        except OSError as error:
            fail(f"{out} cannot be written ({error.strerror}).", ExitCode.BAD_INPUT)
    if json:
        told = {"fields": made.fields, "rules": list(made.rules), "left_out": list(made.left_out)}
        emit_json(told | ({"path": str(out)} if out is not None else {"lua": made.source}))
    elif out is None:
        sys.stdout.write(made.source)
