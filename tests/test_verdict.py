"""The order of outcomes, and the exit codes made of it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.runlog.events import stored_verdict
from conformance.verdict import NEEDS_REASON, Evidence, ExitCode, Outcome, Verdict, exit_code, of_requirement, worst

OUTCOMES = st.sampled_from(list(Outcome))


def test_order_is_the_documented_one() -> None:
    assert [outcome.value for outcome in sorted(Outcome, key=lambda outcome: outcome.rank)] == [
        "fail",
        "crash",
        "timeout",
        "flaky",
        "error",
        "inconclusive",
        "reading",
        "warn",
        "skip",
        "pass",
    ]


@given(st.lists(OUTCOMES))
def test_worst_is_the_minimum_and_any_order_gives_it(outcomes: list[Outcome]) -> None:
    found = worst(outcomes)
    assert found == worst(reversed(outcomes))
    assert (found is None) == (not outcomes)
    assert found is None or all(found.rank <= outcome.rank for outcome in outcomes)


@given(st.lists(OUTCOMES))
def test_a_skip_hides_no_pass_of_the_same_requirement(outcomes: list[Outcome]) -> None:
    found = of_requirement(outcomes)
    assert found is of_requirement(outcomes[::-1])
    assert found is (Outcome.PASS if set(outcomes) == {Outcome.PASS, Outcome.SKIP} else worst(outcomes))


@pytest.mark.parametrize(
    ("outcomes", "strict", "code"),
    [
        ([], False, ExitCode.NOTHING_JUDGED),
        ([Outcome.SKIP, Outcome.INCONCLUSIVE], False, ExitCode.NOTHING_JUDGED),
        ([Outcome.PASS, Outcome.SKIP], False, ExitCode.CONFORMS),
        ([Outcome.WARN], False, ExitCode.CONFORMS),
        ([Outcome.PASS, Outcome.READING], False, ExitCode.CONFORMS),
        ([Outcome.PASS, Outcome.READING], True, ExitCode.DEVIATES),
        ([Outcome.PASS, Outcome.ERROR], False, ExitCode.HARNESS_ERROR),
        ([Outcome.ERROR, Outcome.FAIL], False, ExitCode.DEVIATES),
        ([Outcome.CRASH], False, ExitCode.DEVIATES),
        ([Outcome.TIMEOUT], False, ExitCode.DEVIATES),
        ([Outcome.FLAKY], False, ExitCode.DEVIATES),
    ],
)
def test_exit_code(outcomes: list[Outcome], strict: bool, code: ExitCode) -> None:
    assert exit_code(outcomes, strict=strict) is code


@pytest.mark.parametrize("outcome", sorted(NEEDS_REASON, key=lambda outcome: outcome.rank))
def test_an_excuse_needs_a_reason(outcome: Outcome) -> None:
    with pytest.raises(ValueError, match="needs a reason"):
        Verdict("X", outcome, "subject")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(OUTCOMES, JSON, JSON, st.dictionaries(st.text(), st.text()), st.text(min_size=1))
def test_json_round_trip(
    outcome: Outcome, expected: object, actual: object, readings: dict[str, str], text: str
) -> None:
    verdict = Verdict(
        "MQMQ-2.1.1.x",
        outcome,
        text,
        expected,
        actual,
        tuple(sorted(readings.items())),
        text,
        Evidence("call", text, {"a": 1}),
    )
    assert stored_verdict(verdict.to_json()) == verdict
