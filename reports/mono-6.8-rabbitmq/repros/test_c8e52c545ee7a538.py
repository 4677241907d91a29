"""MQDMPR-3.1.7.1.6.pending-read-cancelled is broken.

Closing a handle ends every read that waits on it with a failure.

1. create transactional queue q2 -> ok
2. open q2 for receive as h1 -> ok
3. w1: receive from q2 (waiting up to 60000 ms) -> waits
4. close h1 (q2) -> ok

A repro of mqconform: `MQCONFORM_ADAPTER='stdio:./my-driver' pytest test_c8e52c545ee7a538.py` fails while the deviation is there.
Without the variable the embedded implementation is judged.
"""

import json
import os

from conformance.repro import FIXED, again

REPRO = json.loads(r'''{
 "format": 1,
 "suite": "cursors",
 "test": "cursors/test_mqdmpr_3_1_7_3_1_waiting_reads.py::test_a_walk_with_waiting_reads",
 "profile": "msmq-4.0",
 "level": "must",
 "reading_set": "windows",
 "chosen": {},
 "seed": 0,
 "verdict": {
  "requirement": "MQDMPR-3.1.7.1.6.pending-read-cancelled",
  "outcome": "fail",
  "subject": "queues.close",
  "expected": {
   "w1": {
    "fails with": [
     "0xC00E0008"
    ]
   }
  },
  "actual": {
   "w1": "waits"
  },
  "readings": {
   "R-MQDMPR-pending-reads-at-close": "all"
  }
 },
 "story": [
  "create transactional queue q2 -> ok",
  "open q2 for receive as h1 -> ok",
  "w1: receive from q2 (waiting up to 60000 ms) -> waits",
  "close h1 (q2) -> ok"
 ],
 "repro": {
  "kind": "calls",
  "format": 1,
  "calls": [
   {
    "method": "queues.create",
    "queue": "q2",
    "transactional": true
   },
   {
    "method": "queues.open",
    "name": "h1",
    "queue": "q2",
    "access": "receive"
   },
   {
    "method": "messages.receive",
    "name": "w1",
    "handle": "h1",
    "timeout_ms": 60000
   },
   {
    "method": "queues.close",
    "handle": "h1"
   }
  ]
 }
}''')


def test_mqdmpr_3_1_7_1_6_pending_read_cancelled():
    answer = again(REPRO, adapter=os.environ.get("MQCONFORM_ADAPTER", "embedded"))
    assert answer.answer == FIXED, answer.text
