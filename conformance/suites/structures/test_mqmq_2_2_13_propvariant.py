"""MS-MQMQ 2.2.12 to 2.2.16: PROPVARIANT, BLOB and the counted arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from conformance.suites.structures.checks import VARIANTS, Kind, explore, kinds_of

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder, RunOptions

Need = Callable[..., None]


@pytest.mark.parametrize("kind", kinds_of("encode", *VARIANTS))
def test_written(kind: Kind, mq: Port, mq_need: Need, judge: Recorder, run_options: RunOptions) -> None:
    """Each member is written in place with the given value."""
    mq_need("structures.encode")
    explore("encode", kind, mq, judge, run_options)


@pytest.mark.parametrize("kind", kinds_of("decode", *VARIANTS))
def test_read(kind: Kind, mq: Port, mq_need: Need, judge: Recorder, run_options: RunOptions) -> None:
    """Each member is read as it was written."""
    mq_need("structures.decode")
    explore("decode", kind, mq, judge, run_options)
