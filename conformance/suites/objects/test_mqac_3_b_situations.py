"""MC-MQAC 3: planned histories that bring together every two conditions of each member of the objects."""

from __future__ import annotations

from functools import partial
from itertools import chain, groupby
from typing import TYPE_CHECKING, Any

import pytest

from conformance.activex import reference_answers, scenes, services_reference_answers
from conformance.activex.underlying_calls import Done
from conformance.activex.walk import followed
from conformance.harness.recorder import ConformanceFailure
from conformance.histories.features.objects import vector
from conformance.histories.situations.book import BookError
from conformance.histories.situations.coverage import FAILED, NOT_OFFERED, OF_OBJECTS, OTHERWISE, Met
from conformance.histories.situations.object_book import Planned, load, space
from conformance.histories.situations.object_clients import CLIENT
from conformance.histories.situations.service_clients import STAGES, needs
from conformance.suites.objects import playing, services, staging
from conformance.suites.objects.playing import Need, NotCreated, begin, claimed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder


def _judged(histories: Iterable[Planned]) -> tuple[str, ...]:
    plans = {stage: [one.acts for one in histories if one.stage == stage] for stage in ("", CLIENT, *STAGES)}
    staged = scenes.judged(plans[CLIENT], staging.STAGES[CLIENT])
    served = (services_reference_answers.claimed(plans[stage], STAGES[stage]) for stage in STAGES)
    return tuple(dict.fromkeys((*reference_answers.judged(plans[""]), *staged, *chain.from_iterable(served))))


def _rows() -> Iterator[Any]:
    """Yield the histories of each member, marked with the requirements that they judge; nothing for a stale book."""
    try:
        book = load()
    except BookError as error:
        yield pytest.param((), id="none", marks=pytest.mark.skip(f"no planned history is played: {error}"))
        return
    for member, some in groupby(book.histories, lambda one: one.member):
        histories = tuple(some)
        marks = pytest.mark.requirement(*claimed(histories, partial(_judged, histories)))
        yield pytest.param(histories, id=member, marks=marks)


@pytest.mark.parametrize("histories", list(_rows()))
def test_every_two_conditions_of_a_member(
    histories: tuple[Planned, ...], mq: Port, judge: Recorder, mq_need: Need
) -> None:
    mq_need(*playing.METHODS)
    met = Met()
    try:
        for planned in histories:
            play = _play_of_services if planned.stage in STAGES else _play
            play(planned, mq, judge, met)
    finally:
        judge.evidence.append((OF_OBJECTS, {"digest": space().digest, **met.to_json()}))


def _play(planned: Planned, mq: Port, judge: Recorder, met: Met) -> None:
    """Play a history, and note the situations that it meets until an answer is wrong."""
    example = {"acts": [act.to_json() for act in planned.acts]}
    begin(mq, judge, example if not planned.stage else {**example, "scene": planned.stage})
    judged = [not planned.stage or act.call is not None for act in planned.acts]  # a scene judges no creation
    calls = iter(numbers for numbers, each in zip(planned.met, judged, strict=True) if each)
    left = {number for numbers in planned.met for number in numbers}
    why, history = OTHERWISE, list[Done]()
    met.played += 1
    if planned.stage:
        played = staging.play(planned.acts, mq, judge.readings, judge.step_told, planned.stage, history)
    else:
        played = playing.play(planned.acts, mq, judge.readings, judge.step_told, history)
    try:
        for verdicts in playing.judged_twin(played, history, mq, judge.options, judge.step_told, judge.disabled):
            now = next(calls, ())
            met.calls += 1
            met.met.update(now)
            left.difference_update(now)
            judge.record(*verdicts)
    except NotCreated as lacking:
        why = NOT_OFFERED
        pytest.skip(str(lacking))
    except ConformanceFailure as failure:
        why = FAILED
        played.close()
        again, passes = partial(playing.example, mq=mq), followed
        if planned.stage:
            again = partial(staging.example, mq=mq, stage=planned.stage)
            passes = partial(staging.followed, planned.stage)
        raise playing.shortened(failure, planned.acts, judge, again, passes) from None
    finally:
        played.close()
        if left:
            met.falls(why, left)


def _play_of_services(planned: Planned, mq: Port, judge: Recorder, met: Met) -> None:
    """Play a history of services. A situation is met if the scene has it before the call: some calls are left out."""
    left, why = {number for numbers in planned.met for number in numbers}, OTHERWISE
    try:
        if not all(map(mq.offers, needs(planned.acts))):
            why = NOT_OFFERED
            return
        begin(mq, judge, {"acts": [act.to_json() for act in planned.acts], "scene": planned.stage})
        met.played += 1
        player = services.Player(mq, judge.readings, judge.step_told, planned.stage)
        try:
            for act, numbers in zip(planned.acts, planned.met, strict=True):
                there = space().numbers(planned.member, vector(planned.member, player.scene, act)) if numbers else ()
                verdicts = player.do(act)
                now = left.intersection(numbers, there) if verdicts else set[int]()
                met.calls += bool(verdicts)
                met.met |= now
                left -= now
                judge.record(*verdicts)
        finally:
            player.leave()
    except NotCreated as lacking:
        why = NOT_OFFERED
        pytest.skip(str(lacking))
    except ConformanceFailure:
        why = FAILED
        raise
    finally:
        if left:
            met.falls(why, left)
