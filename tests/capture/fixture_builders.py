"""The scripts that make the fixtures, as modules."""

from __future__ import annotations

import sys
from pathlib import Path

FIXTURES = Path(__file__).parents[2] / "fixtures"
sys.path.insert(0, str(FIXTURES))

import build_captures  # noqa: E402
import build_packets  # noqa: E402

__all__ = ["FIXTURES", "build_captures", "build_packets"]
