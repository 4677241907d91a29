"""`mqconform run --list` and `mqconform soak --list`. They start no driver and write no record."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from typing import Any, NoReturn

from conformance.cli.output import console, emit_json, fail
from conformance.cli.waiting import at_work
from conformance.verdict import ExitCode


def list_tests(*, suites: str | None, requirements: Sequence[str], pytest_args: Sequence[str], json: bool) -> NoReturn:
    """Print by suite the tests that a run would execute, with the requirements they claim. Ends the command."""
    from conformance.command_options import BadInput
    from conformance.harness.suite_registry import UnknownSuite, select
    from conformance.harness.test_selection import NotCollected, claiming, collected
    from conformance.run import none_claims, requirement_ids

    try:
        ids = requirement_ids(requirements)
        modules = [module for each in select(suites).values() for module in each]
        with at_work("run", "reading the tests", quiet=json):
            found = collected(modules, pytest_args)
    except (BadInput, UnknownSuite) as error:
        fail(str(error), ExitCode.BAD_INPUT)
    except NotCollected as error:
        fail(str(error), ExitCode.BAD_INPUT if error.refused else ExitCode.HARNESS_ERROR)
    tests = list(claiming(found, ids)) if ids else found
    if not tests:
        fail(none_claims(ids) if ids else "No test is selected.", ExitCode.NOTHING_JUDGED)
    claimed = {name for test in tests for name in test.requirements}
    names = list(dict.fromkeys(test.suite for test in tests))
    if json:
        emit_json(
            {
                "tests": len(tests),
                "requirements": sorted(claimed),
                "suites": [_suite(name, [test for test in tests if test.suite == name]) for name in names],
            }
        )
        sys.exit(int(ExitCode.CONFORMS))
    out = console()
    for name in names:
        own = [test for test in tests if test.suite == name]
        claims = {each for test in own for each in test.requirements}
        out.print(f"{name}: {len(own):,} tests, {len(claims):,} requirements claimed", markup=False)
        counts = Counter((test.path.name, test.function) for test in own)
        for (module, function), count in counts.items():
            per = {
                each
                for test in own
                if (test.path.name, test.function) == (module, function)
                for each in test.requirements
            }
            cases = f", {count:,} cases" if count > 1 else ""
            out.print(f"  {module}::{function}{cases}, {len(per):,} claimed", markup=False, soft_wrap=True)
    out.print(f"{len(tests):,} tests, {len(claimed):,} requirements claimed; nothing was run", markup=False)
    sys.exit(int(ExitCode.CONFORMS))


def list_plans(*, json: bool) -> NoReturn:
    """Print the plans that a soak can walk. Ends the command."""
    from conformance.soak import known_plans

    plans = known_plans()
    if json:
        emit_json([{"name": name, "actions": sorted(set(plan.actions))} for name, plan in plans.items()])
    else:
        out = console()
        for name, plan in plans.items():
            out.print(f"{name}: {', '.join(dict.fromkeys(plan.actions))}", markup=False, soft_wrap=True)
    sys.exit(int(ExitCode.CONFORMS))


def _suite(name: str, tests: Sequence[Any]) -> dict[str, Any]:
    return {
        "suite": name,
        "requirements": sorted({each for test in tests for each in test.requirements}),
        "tests": [{"test": test.node, "requirements": list(test.requirements)} for test in tests],
    }
