"""`mqconform serve --mqrt`: what is printed of a session for programs that use the flat API of Message Queuing."""

from __future__ import annotations

import json as json_module
import sys
from typing import TYPE_CHECKING, Any, NoReturn

from conformance.cli.output import emit_json, fail, json_wanted, one_line
from conformance.verdict import ExitCode

if TYPE_CHECKING:
    from conformance.live.mqrt import Told
    from conformance.verdict import Verdict

_SHOWN = 40


def mqrt_command(at: str, *, budget_s: float | None, wanted: dict[str, Any]) -> NoReturn:
    """Serve programs until the end. Ends the command with the exit code of what was judged."""
    from conformance.adapter.errors import ConnectorError, DriverUnusable
    from conformance.cli.stop import stop_event
    from conformance.command_options import BadInput
    from conformance.live.mqrt import Session, Wanted

    with stop_event() as stop:
        try:
            session = Session(at, Wanted(**wanted, command=sys.argv[1:]), on_deviation=_deviation)
        except BadInput as error:
            fail(str(error), ExitCode.BAD_INPUT)
        except ConnectorError as error:
            fail(error.sentence, ExitCode.BAD_INPUT)
        except DriverUnusable as error:
            fail(error.sentence, ExitCode.UNUSABLE)
        with session:
            if json_wanted():
                print(json_module.dumps({"ready": {"mqrt": session.address}}), flush=True)
            else:
                print(f"ready: mqrt={session.address}", flush=True)
            told = session.run(stop, budget_s)
    _finish(told)


def _deviation(verdict: Verdict) -> None:
    line = f"FAIL {verdict.requirement}, {verdict.subject}: expected {_short(verdict.expected)}, actual"
    print(f"mqconform: {one_line(f'{line} {_short(verdict.actual)}')}", file=sys.stderr, flush=True)


def _short(value: object) -> str:
    return json_module.dumps(value, default=str)[:200]


def _finish(told: Told) -> NoReturn:
    code = told.exit_code
    failures = [
        {"method": method, "status": status, "calls": number}
        for (method, status), number in sorted(told.failures.items())
    ]
    if json_wanted():
        emit_json(
            {
                "programs": told.programs,
                "calls": told.calls,
                "judged": told.judged,
                "not_judged": told.not_judged,
                "outcomes": dict(told.outcomes),
                "relied": dict(sorted(told.relied.items())),
                "failures": failures,
                "findings": told.findings,
                "deviations": [verdict.to_json() for verdict in told.deviations],
                "run_record": str(told.folder),
                "exit_code": int(code),
                "sentence": sentence(told),
            }
        )
        sys.exit(int(code))
    print(f"{told.programs:,} programs, {told.calls:,} calls, {told.judged:,} of them and of the clock judged")
    if told.relied:
        from conformance.spec.catalogue import requirement

        print(f"The programs relied on {len(told.relied):,} requirements, such as:")
        for name, number in told.relied.most_common(_SHOWN):
            print(one_line(f"  {number:>9,}  {name}: {requirement(name).says}"))
    for each in failures:
        print(one_line(f"{each['method']} failed {each['calls']:,} times with {each['status']}"))
    for finding in told.findings:
        print(one_line(finding))
    print(f"run record: {told.folder}")
    print(sentence(told))
    sys.exit(int(code))


def sentence(told: Told) -> str:
    """Return the conclusion in one sentence."""
    if told.deviations:
        return f"The queue manager deviates: {told.deviations[0].requirement}."
    if told.gone is not None:
        return f"The queue manager is gone: {told.gone}"
    if not told.relied:
        return "Nothing was judged: no program made a call that the model follows."
    if told.not_judged:
        return f"What was judged is as documented; {told.not_judged:,} calls were not judged."
    return "Your programs used Message Queuing, and it answered as documented."
