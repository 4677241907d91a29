"""A manager that opens what it must refuse, or refuses with another code: each is caught and blamed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from distorting import Params, judged, silent

from conformance.suites.cursors import test_mqdmpr_3_1_7_1_5_names as names
from conformance.verdict import Outcome


def renaming(name: str | None, access: str | None) -> Callable[[str, Params], Params]:
    """A manager that takes every name for this one, or every access for this one."""

    def asks(method: str, params: Params) -> Params:
        if method == "queues.open":
            params["format_name"] = name or params["format_name"]
            params["access"] = access or params["access"]
        return params

    return asks


DEAD_LETTERS = "DIRECT=OS:HOST\\SYSTEM$;DEADLETTER"


@pytest.mark.parametrize("case", names.REFUSED, ids=repr)
@pytest.mark.parametrize("defect", ["opens it", "other code"])
def test_a_manager_that_opens_what_it_must_refuse(case: names.Refused, defect: str, tmp_path: Path) -> None:
    other = "DIRECT=OS:HOST\\private$\\none" if case.code != names._MISSING else "MULTICAST=234.1.1.1:8001"
    asks = renaming(DEAD_LETTERS, "peek") if defect == "opens it" else renaming(other, "receive")
    run = (defect, lambda *given: names.test_a_name_that_cannot_be_opened_so(*given, case), asks, silent, set())
    last = judged(run, tmp_path)[-1]  # type: ignore[arg-type]
    assert last.outcome is Outcome.FAIL
    assert last.requirement == f"MQDMPR-3.1.7.1.5.{case.word}{'-code' if defect == 'other code' else ''}"


@pytest.mark.parametrize("makes", [False, True], ids=["makes none", "makes it"])
def test_an_unknown_queue_may_be_opened_for_send_but_not_made(makes: bool, tmp_path: Path) -> None:
    case = next(case for case in names.REFUSED if case.word == "not-found-send")

    def asks(method: str, params: Params) -> Params:
        if method == "queues.open" and (makes or params["access"] == "send"):
            params |= {"format_name": DEAD_LETTERS, "access": "peek"}
        return params

    run = ("", lambda *given: names.test_a_name_that_cannot_be_opened_so(*given, case), asks, silent, set())
    last = judged(run, tmp_path)[-1]  # type: ignore[arg-type]
    assert last.requirement == "MQDMPR-3.1.7.1.5.not-found-send"
    assert last.outcome is (Outcome.FAIL if makes else Outcome.READING)
    assert last.readings == (("R-MQDMPR-open-unknown-for-send", "accepted"),)


def test_a_manager_that_does_not_know_its_own_queues_or_asks_others(tmp_path: Path) -> None:
    run = (
        "",
        names.test_a_queue_of_another_computer_is_opened_without_asking,
        renaming("DIRECT=OS:HOST\\private$\\none", None),
    )
    last = judged((*run, silent, set()), tmp_path)[-1]  # type: ignore[arg-type]
    assert (last.outcome, last.requirement) == (Outcome.FAIL, "MQDMPR-3.1.7.1.5.remote-send")
