"""MS-MQMQ 2.2.1 to 2.2.5, 2.2.8, 2.2.10, 2.2.14, 2.2.17, 2.2.18.1, 2.2.21 and 2.2.22: packed structures."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from conformance.suites.structures.checks import FLAT, Kind, explore, kinds_of

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder, RunOptions

Need = Callable[..., None]


@pytest.mark.parametrize("kind", kinds_of("encode", *FLAT))
def test_written(kind: Kind, mq: Port, mq_need: Need, judge: Recorder, run_options: RunOptions) -> None:
    """Each member is written in place with the given value."""
    mq_need("structures.encode")
    explore("encode", kind, mq, judge, run_options)


@pytest.mark.parametrize("kind", kinds_of("decode", *FLAT))
def test_read(kind: Kind, mq: Port, mq_need: Need, judge: Recorder, run_options: RunOptions) -> None:
    """Each member is read as it was written."""
    mq_need("structures.decode")
    explore("decode", kind, mq, judge, run_options)
