"""Objects in transactions of a coordinator: honest managers pass, and each defect is blamed rightly and found again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import contexts_manager
import pytest

from conformance.activex import plans_coordinated
from conformance.activex.plans import Plan
from conformance.activex.scene_coordinated import coordinated_objects
from conformance.activex.services_reference_answers import claimed
from conformance.adapter.client import Client
from conformance.adapter.connectors import connect
from conformance.adapter.errors import NotAccepted, NotOffered
from conformance.harness.recorder import ConformanceFailure, Recorder, RunOptions
from conformance.spec.catalogue import assignment
from conformance.suites.objects import rejudge, services
from conformance.verdict import Outcome, Verdict

OPTIONS = RunOptions("msmq-4.0", "must", assignment("windows"), "windows", 0, 3, 25, first_only=True)
HONEST = ("Contexts", "SaysNothing", "ListsWork")
_BEGIN, _COMMIT, _ABORT, _INFO = (f"MQAC-3.{section}." for section in ("7.4.1.1", "8.4.1.1", "8.4.1.2", "8.4.1.3"))
_RECEIVE, _SEND = "MQAC-3.11.4.1.14.", "MQAC-3.17.4.1.48."
_MAPS = f"{_RECEIVE}define-transaction-identifier-retrieve"
BLAMED = {
    "BeginFails": ("dispensed", "begun", f"{_BEGIN}status"),
    "BeginSucceedsRefused": ("dispensed", "refused", f"{_BEGIN}status"),
    "BeginsAlone": ("dispensed", "begun", f"{_BEGIN}initiate-transaction-manager-new"),
    "BeginsTwice": ("dispensed", "begun", f"{_BEGIN}initiate-transaction-manager-new"),
    "OwnIdentifier": ("dispensed", "identified", f"{_BEGIN}retrieve-transaction-object-transaction-impl"),
    "Internal": ("dispensed", "external", f"{_BEGIN}variable-is-internal-created-transaction"),
    "Unannounced": ("dispensed", "announced", f"{_BEGIN}generate-create-transaction-inputs"),
    "Unwrapped": ("dispensed", "begun", f"{_BEGIN}create-msmq-transaction-coclass"),
    "OldInterface": ("dispensed", "begun", f"{_BEGIN}invoke-i-unknown-query-interface"),
    "GivesNothing": ("dispensed", "begun", f"{_BEGIN}output-ptransaction-imsmq-transaction3-variable"),
    "CommitUnasked": ("ended", "commit", f"{_COMMIT}send-commit-request-transaction"),
    "AbortUnasked": ("ended", "abort", f"{_ABORT}send-transaction-manager-queue-managers"),
    "InformationUnasked": ("ended", "information", f"{_INFO}send-transaction-manager-transaction-identifier"),
    "CommitIgnoresErrors": ("ended", "commit-refused", f"{_COMMIT}errors-generated-distributed-transaction"),
    "AbortIgnoresErrors": ("ended", "abort-refused", f"{_ABORT}errors-generated-distributed-transaction"),
    "AbortEndsRefused": ("ended", "abort-refused", f"{_ABORT}errors-generated-distributed-transaction"),
    "InformationIsZero": ("ended", "information", f"{_INFO}remaining-pinfo-properties-output-obtained"),
    "InformationOfAnother": ("ended", "information", f"{_INFO}uow-pinfo-transaction-after-variable-is-internal"),
    "InformationForInternal": ("ended", "information-internal", f"{_INFO}remaining-pinfo-properties-output-0"),
    "ContextAlone": ("known", "Receive-mts", _MAPS),
    "MtsAlone": ("known", "Receive-mts", _MAPS),
    "ContextAnother": ("known", "Receive-xa", _MAPS),
    "LeftOutAlone": ("known", "Receive-left-out", f"{_RECEIVE}transaction-default"),
    "ContextGoesFirst": ("beside", "argument", "MQAC-3.11.server-client-transaction-use"),
    "UnknownIsRefused": (
        "unknown",
        "Receive-mts",
        f"{_RECEIVE}create-transaction-identifier-transaction-identifier",
    ),
    "UnknownSendIsAnother": ("unknown", "Send-xa", f"{_SEND}generate-create-transaction-inputs"),
    "SendOutside": ("known", "Send-mts", f"{_SEND}true-transactional-send-after-define-transaction-identifier"),
    "SendAnother": ("known", "Send-xa", f"{_SEND}define-transaction-identifier-transaction-retrieve"),
    "BarredIsDoneAlone": ("beside", "refused", "MQAC-2.2.2.1.mq-mts-transaction-operation-msdtc-performed"),
    "EnlistsRefused": ("enlistments", "import", "MQMP-3.1.4.13.failure"),
    "EnlistsInSilence": ("enlistments", "connect", "MQMP-3.1.4.13.failure"),
}
"""Each defect with the plans that find it, by group and name, and what they blame first."""
CODES = {
    "connect": "MQMQ-2.4.mq-error-dtc-connect",
    "import": "MQMQ-2.4.mq-error-transaction-import",
    "enlist": "MQMQ-2.4.mq-error-transaction-enlist",
}
GROUPS = plans_coordinated.groups()


def opened(manager: str, folder: Path) -> Client:
    return connect(f"python:contexts_manager:{manager}", state_dir=folder, in_process=True)


def every_plan() -> Iterator[tuple[Plan, ...]]:
    for plans in GROUPS.values():
        yield from plans.values()


def played(client: Client, plans: tuple[Plan, ...]) -> list[Verdict]:
    """Play plans as a test of the suite does."""

    def need(*methods: str) -> None:
        if not all(map(client.offers, methods)):
            pytest.skip("the manager does not offer it")

    seen: list[Verdict] = []
    judge = Recorder(OPTIONS, lambda verdict, count: seen.append(verdict))
    with suppress(pytest.skip.Exception, NotAccepted, NotOffered):
        services.check(plans, client, judge, need, services.COORDINATED)
    judge.flush()
    return seen


@pytest.mark.parametrize("manager", HONEST)
def test_an_honest_manager_passes(manager: str, tmp_path: Path) -> None:
    with opened(manager, tmp_path) as client:
        seen = [verdict for plans in every_plan() for verdict in played(client, plans)]
    assert {verdict.outcome for verdict in seen} == {Outcome.PASS}
    judged = {verdict.requirement for verdict in seen}
    of_all = {name for plans in every_plan() for name in claimed(plans, coordinated_objects)}
    unshown = {f"{_BEGIN}generate-create-transaction-inputs", f"{_INFO}remaining-pinfo-properties-output-obtained"}
    assert of_all - judged == (unshown if manager == "SaysNothing" else set())


@pytest.mark.parametrize("manager", BLAMED)
def test_a_defect_is_blamed_and_found_again(manager: str, tmp_path: Path) -> None:
    group, name, blamed = BLAMED[manager]
    with opened(manager, tmp_path / "suite") as client, pytest.raises(ConformanceFailure) as found:
        played(client, GROUPS[group][name])
    failure = found.value
    assert failure.verdict.requirement == blamed
    for again, fails in ((manager, True), ("Contexts", False)):
        with opened(again, tmp_path / f"again-{again}") as client:
            verdicts = rejudge.rejudge(failure.repro, client, OPTIONS)
        assert any(verdict.outcome is Outcome.FAIL for verdict in verdicts) == fails


def test_what_makes_an_internal_transaction_is_blamed_before_what_it_leads_to(tmp_path: Path) -> None:
    """If neither end asks, the transaction is taken for an internal one; if one does, the other is to blame."""
    for manager, first in (("CommitUnasked", f"{_COMMIT}send-commit-request-transaction"), ("Internal", None)):
        with opened(manager, tmp_path / manager) as client, pytest.raises(ConformanceFailure) as found:
            played(client, GROUPS["dispensed"]["external"])
        assert found.value.verdict.requirement == (first or f"{_BEGIN}variable-is-internal-created-transaction")


@pytest.mark.parametrize("what", CODES)
def test_another_code_is_told_and_does_not_fail(what: str, tmp_path: Path) -> None:
    with opened("OneCodeForAll", tmp_path) as client:
        seen = played(client, GROUPS["enlistments"][what])
    told = {verdict.requirement: verdict.outcome for verdict in seen if verdict.outcome is not Outcome.PASS}
    assert told == {CODES[what]: Outcome.WARN}


def test_a_call_of_the_coordinator_that_is_refused_shows_nothing(tmp_path: Path) -> None:
    with opened("RefusesCalls", tmp_path) as client:
        for plans in (*GROUPS["known"].values(), *GROUPS["unknown"].values()):
            assert {verdict.outcome for verdict in played(client, plans)} <= {Outcome.PASS}


def test_what_an_example_leaves_is_taken_back_where_nothing_resets(tmp_path: Path) -> None:
    with opened("NoReset", tmp_path) as client:
        with pytest.raises(ConformanceFailure):
            played(client, GROUPS["beside"]["refused"])
        assert not contexts_manager.NoReset.last.refused
        assert contexts_manager.NoReset.last.context is None


@pytest.mark.parametrize("method", contexts_manager.CONTEXTS)
def test_a_driver_without_a_method_loses_its_plans_only(method: str, tmp_path: Path) -> None:
    name = f"coordinator.{method}"
    with opened("Contexts", tmp_path) as client:
        client.hello.facets["coordinator"] = [
            one for one in contexts_manager.ALL["coordinator"] if one != method
        ]  # as its driver would declare
        for plans in every_plan():
            assert bool(played(client, plans)) is (name not in services.methods(plans))


def test_no_defect_here_is_untested() -> None:
    classes = (value for value in vars(contexts_manager).values() if isinstance(value, type))
    made = {value.__name__ for value in classes if issubclass(value, contexts_manager.Contexts)}
    assert made == {*BLAMED, *HONEST, "OneCodeForAll", "RefusesCalls", "NoReset"}
