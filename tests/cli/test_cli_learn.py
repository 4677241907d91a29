"""`mqconform learn`: what is told of an implementation's machine, in words, as JSON and as pictures."""

from __future__ import annotations

import json
import re
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import pytest
from fake_drivers import fake
from tests_cli import mqconform, one_sentence, stdio

import conformance.learn
from conformance.command_options import BadInput
from conformance.histories.learning.work import Learning
from conformance.learn import MissingExtra, learn
from conformance.report.machine import (
    DEVIATES,
    as_json,
    completeness,
    conclusion,
    inner_svg,
    lines,
    picture,
    render_machine,
)
from conformance.verdict import ExitCode

FAKES = Path(__file__).parent / "fakes"
SMALL = ("close", "open", "another receives", "wait")
"""Letters of a cursor without which its machine is small, and learned in a second."""


def learned(adapter: str, what: str = "cursor", **options: Any) -> Learning:
    return learn(**{"adapter": adapter, "what": what, "more_states": 0, "in_process": True, "without": SMALL} | options)


@pytest.fixture(scope="module")
def rewinding() -> Learning:
    """A cursor that stands at the start again after each receive."""
    return learned("embedded+cursor-goes-home-after-receive")


def test_the_embedded_manager_is_the_specifications_machine() -> None:
    found = learned("embedded", more_states=1)
    assert found.exit_code is ExitCode.CONFORMS and not found.differences and found.sentence is None
    assert found.learned is not None and found.demanded is not None and found.learned.finished
    assert len(found.learned.machine) == len(found.demanded) > 10
    assert conclusion(found) == "It is the specification's machine."
    assert "at most 1 state more" in completeness(found)


def test_a_difference_has_its_word_and_its_requirement(rewinding: Learning) -> None:
    assert rewinding.exit_code is ExitCode.DEVIATES
    assert {one.judgement.verdict and one.judgement.verdict.requirement for one in rewinding.differences} == {
        "MQDMPR-3.2.7.4.continues"
    }
    told = as_json(rewinding)
    first: Any = told["differences"][0]  # type: ignore[index]
    assert first["word"] == ["receive", "send higher", "peek"] and first["came"] == "h"
    assert first["deviates"] and "peek from q1 (cursor c0) -> message 'h'" in first["story"][-1]
    assert json.loads(json.dumps(told)) == told
    text = "\n".join(lines(rewinding))
    assert "1. DIFFERS MQDMPR-3.2.7.4.continues: receive, send higher, peek" in text


def test_a_reading_followed_both_ways_differs() -> None:
    """Each answer is allowed by some reading, and no reading allows all of them."""
    found = learned("embedded+timed-out-cursor-keeps-place", without=("close", "open", "another receives"))
    assert found.exit_code is ExitCode.DEVIATES and found.both_ways
    assert not any(one.deviates for one in found.differences)
    assert "another reading than the one that other answers show" in "\n".join(lines(found))


def test_an_accepted_reading_is_no_difference() -> None:
    """The machine of the specification is made under the reading that the answers show."""
    found = learned(
        "embedded", without=(*SMALL[:3],), chosen=["R-MQDMPR-parked-cursor-after-timeout=sees-arrivals|waits"]
    )
    assert found.exit_code is ExitCode.CONFORMS and not found.differences
    assert found.readings == {"R-MQDMPR-parked-cursor-after-timeout": "waits"}


def test_the_picture_shows_the_difference(rewinding: Learning) -> None:
    drawn = picture(rewinding)
    assert drawn is not None and rewinding.walk is not None
    assert len(drawn.boxes) == len(rewinding.walk.pairs)
    assert len(drawn.arrows) == len(drawn.boxes) * len(drawn.letters)
    red = [arrow for arrow in drawn.arrows if arrow.kind == DEVIATES]
    assert red and {arrow.difference for arrow in red} == set(range(1, len(rewinding.differences) + 1))
    root = ElementTree.fromstring(f"<svg xmlns='http://www.w3.org/2000/svg'>{inner_svg(drawn)}</svg>")[0]
    badges = list(root.iter("{http://www.w3.org/2000/svg}circle"))
    assert len(badges) == len({(arrow.source, arrow.difference) for arrow in red})
    for one in root.iter("{http://www.w3.org/2000/svg}rect"):
        inside = float(one.get("x") or 0) + float(one.get("width") or 0) <= float(root.get("width") or 0)
        assert inside and float(one.get("y") or 0) + float(one.get("height") or 0) <= float(root.get("height") or 0)


def test_the_page_has_every_word_and_runs_nothing(rewinding: Learning) -> None:
    page = render_machine(rewinding)
    assert "receive, send higher, peek" in page and "MQDMPR-3.2.7.4.continues" in page and "<svg" in page
    assert "<script" not in page and "default-src 'none'" in page
    assert len(re.findall(r'id="difference-\d+"', page)) == len(rewinding.differences)


def test_limits_say_what_was_not_asked() -> None:
    found = learned("embedded", steps=60)
    assert found.exit_code is ExitCode.NOTHING_JUDGED and found.steps <= 60 + 40
    assert "limits ended it" in completeness(found) and "Not learned to the end" in conclusion(found)
    assert found.sentence is not None
    nothing = learned("embedded", steps=1)
    assert nothing.exit_code is ExitCode.NOTHING_JUDGED and nothing.learned is None and picture(nothing) is None
    assert "before anything was learned" in str(nothing.sentence) and "<svg" not in render_machine(nothing)


def test_answers_that_are_no_function_of_the_history_are_told() -> None:
    done = mqconform(
        "learn", "--what", "cursor", "--json", "--adapter", stdio(sys.executable, FAKES / "follows_both_readings.py")
    )
    assert "no function of the history" in one_sentence(done, ExitCode.NOTHING_JUDGED)
    two = json.loads(done.stdout)["two_answers"]
    assert len(two["answers"]) == 2 and two["word"]
    assert sum(one["times"] for one in two["answers"]) == 7


def test_a_driver_that_dies_or_lacks_the_facet_is_told() -> None:
    done = mqconform("learn", "--what", "cursor", "--adapter", stdio(sys.executable, FAKES / "dies_in_reset.py"))
    assert "what was asked last is" in one_sentence(done, ExitCode.UNUSABLE)
    done = mqconform("learn", "--what", "cursor", "--adapter", stdio(sys.executable, FAKES / "offers_names_only.py"))
    assert "the driver does not offer queues.create" in one_sentence(done, ExitCode.NOTHING_JUDGED)
    done = mqconform("learn", "--what", "journal", "--adapter", fake("honest"))
    assert "each history begins with queues.open, which fails" in one_sentence(done, ExitCode.NOTHING_JUDGED)


def test_wrong_words_are_the_users_mistake(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BadInput, match="no machine 'cursr'"):
        learn(what="cursr")
    with pytest.raises(BadInput, match="no letter 'peak'"):
        learn(what="cursor", without=["peak"])
    monkeypatch.setattr(conformance.learn, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"pip install 'mqconform\[learn\]'"):
        learn(what="cursor")
