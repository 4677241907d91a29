"""Another queue manager for the proofs of this set: that of set j, against the manager of this folder."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

_FOLDER = Path(__file__).resolve().parent
_SPEC = importlib.util.spec_from_file_location("peer_of_set_j", _FOLDER.parent / "j" / "peer.py")
_base = importlib.util.module_from_spec(_SPEC)
sys.modules[_SPEC.name] = _base
_SPEC.loader.exec_module(_base)
_base.SERVE = _FOLDER / "serve.py"

CODEC, HOST, OWN = _base.CODEC, _base.HOST, _base.OWN
PLAIN, TRANSACTIONAL, ANSWERS = _base.PLAIN, _base.TRANSACTIONAL, _base.ANSWERS
Manager, Peer, classes = _base.Manager, _base.Peer, _base.classes
