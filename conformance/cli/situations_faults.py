"""`mqconform situations show` for what a network does to the packets of a session."""

from __future__ import annotations

from typing import Any

from conformance.cli.output import console, emit_json, fail
from conformance.verdict import ExitCode


def show_fault(name: str, *, json: bool) -> None:
    """Show a situation by its name, such as `cut/first-byte/express/acceptor/open`: its walk, or why there is none."""
    from conformance.judge.dialogues.walk_faults import METHOD, SITUATIONS, excluded
    from conformance.judge.dialogues.walk_plans import meeting, plans
    from conformance.spec.catalogue import did_you_mean

    every = {one.name: one for one in SITUATIONS}
    found = every.get(name)
    if found is None:
        near = did_you_mean(name, every) or "."
        fail(f"There is no situation {name!r} of {METHOD}{near}", ExitCode.BAD_INPUT)
    walk = meeting(found)
    story = [act.sentence for act in plans()[walk].acts] if walk is not None else []
    if json:
        said: dict[str, Any] = {"situation": f"{METHOD}: {name}", "operation": METHOD, "features": found.values}
        emit_json({**said, "unreachable": excluded(found), "walk": walk, "story": story})
        return
    out = console()
    out.print(f"{METHOD}: {name}", markup=False, soft_wrap=True)
    if walk is None:
        out.print(f"  not reachable, or not counted: {excluded(found)}", markup=False, soft_wrap=True)
        return
    out.print(f"  the walk {walk} meets it:", markup=False, soft_wrap=True)
    for number, line in enumerate(story, 1):
        out.print(f"    {number:>2}. {line}", markup=False, soft_wrap=True)
