"""`mqconform faults`: list the deviations that can be switched on in the embedded implementation."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Annotated, Any

import typer

from conformance.cli.output import console, emit_json, fail
from conformance.cli.shared_options import Json, Suites, group, joined
from conformance.verdict import ExitCode

if TYPE_CHECKING:
    from conformance.embedded.faults import Fault

app = group("Show the named deviations of the embedded implementation, to try the checks that find them.")


@app.command("list", epilog="Example: mqconform faults list --suite transactions")
def faults_list(
    suite: Suites = None,
    json: Json = False,
) -> None:
    """List the faults with the suite that finds each, its effect, and the first requirement it breaks."""
    from conformance.embedded.faults import FAULTS
    from conformance.harness.suite_registry import UnknownSuite, select

    try:
        wanted = select(joined(suite))
    except UnknownSuite as error:
        fail(str(error), ExitCode.BAD_INPUT)
    found = [FAULTS[name] for name in sorted(FAULTS, key=lambda name: (FAULTS[name].suite, name))]
    found = [each for each in found if each.suite in wanted]
    if json:
        emit_json([as_json(each) for each in found])
        return
    out = console()
    for each in found:
        out.print(f"{each.suite:<12}  {each.name}: {story(each)}", markup=False, soft_wrap=True)
        out.print(f"{'':<12}  breaks {_breaks(each)}", markup=False, soft_wrap=True, style="dim")
    out.print(f"{len(found)} faults; try one with --adapter embedded+NAME", markup=False, soft_wrap=True)


@app.command("show", epilog="Example: mqconform faults show ignores-priority")
def faults_show(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The fault's name.")],
    json: Json = False,
) -> None:
    """Show one fault, what it breaks, what else it was seen as, and the command that finds it."""
    from conformance.embedded.faults import FAULTS
    from conformance.embedded.faults.recorded import seen, shows_as
    from conformance.spec.catalogue import catalogue, did_you_mean

    if name not in FAULTS:
        fail(f"There is no fault {name!r}{did_you_mean(name, FAULTS) or '.'}", ExitCode.BAD_INPUT)
    fault = FAULTS[name]
    if json:
        emit_json(as_json(fault))
        return
    out = console()
    lines = [name, f"  {story(fault)}", f"  found by the suite {fault.suite}"]
    if fault.profile:
        lines.append(f"  shows with --profile {fault.profile}")
    lines.append(f"  breaks {len(fault.breaks)} requirement{'' if len(fault.breaks) == 1 else 's'}:")
    known = catalogue().requirements
    lines += [f"    {each}  {known[each].says}" for each in fault.breaks]
    for each in fault.first_seen_as:
        lines += ["  may be blamed first:", f"    {each}  {known[each].says}", f"    because {fault.because}"]
    others = [each for each in shows_as(fault) if each not in fault.first_seen_as]
    if others:
        followed = seen()[fault.name].followed
        lines.append("  was also seen as:" if followed else "  is expected to show as these too:")
        lines += [f"    {each}  {known[each].says}" for each in others]
    lines.append(f"  try it: {command(fault)}")
    for line in lines:
        out.print(line, markup=False, soft_wrap=True)


def as_json(fault: type[Fault]) -> dict[str, Any]:
    """Return a fault as `--json` prints it. breaks: requirement ids, from the text.

    shows_as: other requirements. followed: a run has seen all of them, see `Seen.followed`.
    """
    from conformance.embedded.faults.recorded import seen, shows_as

    return {
        "name": fault.name,
        "suite": fault.suite,
        "does": story(fault),
        "breaks": list(fault.breaks),
        "first_seen_as": list(fault.first_seen_as),
        "because": fault.because or None,
        "shows_as": list(shows_as(fault)),
        "followed": fault.name in seen() and seen()[fault.name].followed,
        "profile": fault.profile,
        "command": command(fault),
    }


def story(fault: type[Fault]) -> str:
    """Return the effect of a fault in one line."""
    return " ".join((inspect.getdoc(fault) or "").split())


def command(fault: type[Fault]) -> str:
    """Return the command that finds a fault."""
    profile = f" --profile {fault.profile}" if fault.profile else ""
    return f"mqconform run --adapter embedded+{fault.name} --suite {fault.suite}{profile}"


def _breaks(fault: type[Fault]) -> str:
    more = len(fault.breaks) - 1
    return fault.breaks[0] + (f" and {more} more" if more else "")
