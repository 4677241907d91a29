"""MS-MQMQ 2.2.6 to 2.2.11: QUEUE_FORMAT and DL_ID."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from conformance.suites.structures.checks import QUEUE_FORMATS, Kind, explore, kinds_of

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder, RunOptions

Need = Callable[..., None]


@pytest.mark.parametrize("kind", kinds_of("encode", *QUEUE_FORMATS))
def test_written(kind: Kind, mq: Port, mq_need: Need, judge: Recorder, run_options: RunOptions) -> None:
    """Each member is written in place with the given value."""
    mq_need("structures.encode")
    explore("encode", kind, mq, judge, run_options)


@pytest.mark.parametrize("kind", kinds_of("decode", *QUEUE_FORMATS))
def test_read(kind: Kind, mq: Port, mq_need: Need, judge: Recorder, run_options: RunOptions) -> None:
    """Each member is read as it was written."""
    mq_need("structures.decode")
    explore("decode", kind, mq, judge, run_options)
