"""Every requirement of mqqb-sessions.toml is broken by a session spoiled for it, and by what is declared besides."""

from __future__ import annotations

import tomllib
from importlib import resources

import pytest
from cases import all_of

from conformance.judge.sessions.judge import judge_sessions
from conformance.judge.sessions.mutations import MUTATIONS, captured, failed
from conformance.spec.catalogue import assignment
from conformance.verdict import Outcome

CLEAN = sorted({one.capture for one in MUTATIONS.values()})


def outcomes(events):
    return {one.outcome for one in judge_sessions(events, readings=assignment("windows"))}


@pytest.mark.parametrize("name", CLEAN)
def test_the_unspoiled_session_breaks_nothing(name):
    assert outcomes(captured(name)) == {Outcome.PASS}


@all_of("requirement", MUTATIONS)
def test_a_spoiled_session_breaks_its_requirement_and_what_is_declared(requirement):
    mutation = MUTATIONS[requirement]
    assert failed(mutation.broken(), mutation.readings) == {requirement, *mutation.also_breaks}


# What these demand comes after another deviation: the other side's, or the request that is wrongly answered.
AFTERWARDS = {name for name in MUTATIONS if name.endswith("-closes")}
AFTERWARDS |= {"MQQB-3.1.5.3.1.cs", "MQQB-3.1.5.8.6.accepted", "MQQB-2.2.7.signature-ignored"}


@all_of("requirement", MUTATIONS)
def test_the_first_to_be_blamed_is_what_was_broken(requirement):
    mutation = MUTATIONS[requirement]
    said = judge_sessions(mutation.broken(), readings=assignment(mutation.readings))
    wrong = [one for one in said if one.outcome is Outcome.FAIL]
    first = min(wrong, key=lambda one: one.frame)
    others = mutation.also_breaks if requirement in AFTERWARDS else ()
    assert first.requirement in (requirement, *others)


def test_a_mutation_breaks_at_most_two_others():
    assert not [name for name, mutation in MUTATIONS.items() if len(mutation.also_breaks) > 2]


@all_of("requirement", MUTATIONS)
def test_the_clean_capture_shows_the_requirement_kept(requirement):
    """A rule that says nothing of the clean capture could be one that never holds."""
    mutation = MUTATIONS[requirement]
    said = judge_sessions(mutation.valid(), readings=assignment("windows"))
    passed = {one.requirement for one in said if one.outcome is Outcome.PASS}
    assert requirement in passed or requirement in ONLY_BROKEN


# A faultless exchange gives no occasion to close, and these have acknowledgments of two kinds only.
ONLY_BROKEN = {name for name in MUTATIONS if name.endswith("-closes") or ".nack-" in name}


def test_every_requirement_of_the_catalogue_file_has_its_mutation():
    text = resources.files("conformance.spec").joinpath("data", "mqqb-sessions.toml").read_text(encoding="utf-8")
    assert {one["id"] for one in tomllib.loads(text)["requirement"]} <= set(MUTATIONS)
