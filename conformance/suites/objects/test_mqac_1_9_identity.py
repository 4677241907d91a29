"""MC-MQAC 1.9, 3.x.4 and 6: identifiers, bases, members and revisions of the interfaces of each class."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.activex import identity, library
from conformance.suites.objects.playing import EXAMPLE, Need, NotCreated, identify

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder

COCLASSES = [
    pytest.param(coclass, id=coclass, marks=pytest.mark.requirement(*identity.claimed(coclass)))
    for coclass in library.classes()
]


@pytest.mark.parametrize("coclass", COCLASSES)
def test_a_class_is_what_the_document_declares(coclass: str, mq: Port, judge: Recorder, mq_need: Need) -> None:
    mq_need("objects.describe")
    judge.begin_example(EXAMPLE, {"identity": coclass})
    try:
        judge.record(*identify(coclass, mq, judge.readings, judge.step_told))
    except NotCreated as lacking:
        pytest.skip(str(lacking))
