"""`mqconform wireshark`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from conformance.cli.output import emit_json, fail, json_wanted
from conformance.files import write_text
from conformance.verdict import ExitCode

_BAD = ExitCode.BAD_INPUT


def command(
    *,
    out: Path | None,
    profile: str | None,
    level: str,
    readings: str,
    chosen: Sequence[str],
    left_out: bool,
) -> None:
    """Write the dissector to a file or stdout, or list the rules that are not in it."""
    from conformance.command_options import BadInput, check_chosen, check_words
    from conformance.report.wireshark import by_reason, dissector
    from conformance.spec.catalogue import assignment
    from conformance.spec.versions import DEFAULT_PROFILE

    try:
        check_words(profile=profile, level=level, readings=readings)
        accepted = assignment(readings, check_chosen(chosen))
    except BadInput as error:
        fail(str(error), _BAD)
    made = dissector(profile=profile or DEFAULT_PROFILE, readings=accepted, level=level)
    if left_out and out is not None:
        fail("--left-out lists the rules that are not in the script, and writes none: leave out --out.", _BAD)
    if left_out:
        reasons = by_reason(made.left_out)
        if json_wanted():
            emit_json({"rules": list(made.rules), "left_out": list(made.left_out), "left_out_because": reasons})
            return
        print(
            f"{len(made.rules)} rules are in the script, {len(made.left_out)} are not, which mqconform replay judges."
        )
        for reason, ids in reasons.items():
            print(f"\n{len(ids)}: {reason}", *(f"  {name}" for name in ids), sep="\n")
        return
    if out is not None:
        try:
            write_text(out, made.source)
        except OSError as error:
            fail(f"{out} cannot be written ({error.strerror}).", _BAD)
    if json_wanted():
        told = {"fields": made.fields, "rules": list(made.rules), "left_out": list(made.left_out)}
        told["left_out_because"] = by_reason(made.left_out)
        emit_json(told | ({"path": str(out)} if out is not None else {"lua": made.source}))
    elif out is None:
        sys.stdout.write(made.source)
