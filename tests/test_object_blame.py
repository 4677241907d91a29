"""The program that prints what is blamed for faults of objects tells the one named, another one, and none apart."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.object_blame import Blamed, blind, main, recorded

NAMED, OTHER = ("MQAC-3.9.4.1.2.status",), ("MQAC-3.9.4.1.2.purpose", "MQAC-3.9.4.1.2.status")
MODULE = "test_mqac_3_9_transaction"


@pytest.mark.parametrize(
    ("blamed", "how"),
    [((), "missed"), ((NAMED,), "named"), ((OTHER,), "beside it"), ((OTHER[:1],), "not named")],
)
def test_what_is_blamed_is_compared_with_what_a_fault_names(blamed: tuple[tuple[str, ...], ...], how: str) -> None:
    row = Blamed("x", NAMED, tuple((names, "test") for names in blamed))
    assert row.how == how and f"| {how} |" in str(row)


def test_a_recorded_fault_is_blamed_as_it_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["transaction-commit-fails", "--module", MODULE, "--jobs", "1"]) == 0
    told = capsys.readouterr()
    assert told.out.startswith("transaction-commit-fails | named | MQAC-3.9.4.1.2.")
    assert told.err.endswith("1 of 1 caught, 1 rightly blamed first\n")


@pytest.mark.parametrize(
    ("fault", "module", "blamed"),
    [
        ("send-names-no-destination", "test_mqac_3_17_4_1_15_queues", "MQAC-3.17.4.1.48.result-queue-format-name"),
        ("queue-peek-fails", MODULE, "MQAC-3.11.4.1.15."),
    ],
    ids=["a name that nothing stored", "a look that fails by itself"],
)
def test_a_member_that_shows_what_another_broke_is_not_blamed(
    fault: str, module: str, blamed: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([fault, "--module", module, "--jobs", "1"]) == 0
    assert capsys.readouterr().out.startswith(f"{fault} | named | {blamed}")


def test_faults_of_a_blind_set_are_those_of_the_embedded_manager() -> None:
    faults = blind(Path(__file__).parents[1] / "benchmarks" / "blind" / "g")
    assert len(faults) == 60 and all(fault.breaks and fault.parts for fault in faults.values())
    assert not any(fault.faults for fault in faults.values())
    assert all(fault.faults == (name,) for name, fault in recorded().items())


def test_an_unknown_fault_is_refused() -> None:
    with pytest.raises(SystemExit):
        main(["no-such-fault"])
