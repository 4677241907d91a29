"""MQDMPR-3.1.7.1.6.pending-read-cancelled is broken.

Closing a handle ends every read that waits on it with a failure.

1. create queue q1 -> ok
2. open q1 for send as s -> ok
3. open q1 for receive as r -> ok
4. open q1 for receive as r2 -> ok
5. w1: receive from q1 (waiting up to 60000 ms) -> waits
6. w2: receive from q1 (waiting up to 60000 ms) -> waits
7. close r (q1) -> ok

A repro of mqconform: `MQCONFORM_ADAPTER='stdio:./my-driver' pytest test_cdbb3fca01392439.py` fails while the deviation is there.
Without the variable the embedded implementation is judged.
"""

import json
import os

from conformance.repro import FIXED, again

REPRO = json.loads(r'''{
 "format": 1,
 "suite": "cursors",
 "test": "cursors/test_mqdmpr_3_1_7_3_1_waiting_reads.py::test_a_close_ends_the_reads_of_its_handle",
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
  "create queue q1 -> ok",
  "open q1 for send as s -> ok",
  "open q1 for receive as r -> ok",
  "open q1 for receive as r2 -> ok",
  "w1: receive from q1 (waiting up to 60000 ms) -> waits",
  "w2: receive from q1 (waiting up to 60000 ms) -> waits",
  "close r (q1) -> ok"
 ],
 "repro": {
  "kind": "calls",
  "format": 1,
  "calls": [
   {
    "method": "queues.create",
    "queue": "q1"
   },
   {
    "method": "queues.open",
    "name": "s",
    "queue": "q1",
    "access": "send"
   },
   {
    "method": "queues.open",
    "name": "r",
    "queue": "q1",
    "access": "receive"
   },
   {
    "method": "queues.open",
    "name": "r2",
    "queue": "q1",
    "access": "receive"
   },
   {
    "method": "messages.receive",
    "name": "w1",
    "handle": "r",
    "timeout_ms": 60000
   },
   {
    "method": "messages.receive",
    "name": "w2",
    "handle": "r2",
    "timeout_ms": 60000
   },
   {
    "method": "queues.close",
    "handle": "r"
   }
  ]
 }
}''')


def test_mqdmpr_3_1_7_1_6_pending_read_cancelled():
    answer = again(REPRO, adapter=os.environ.get("MQCONFORM_ADAPTER", "embedded"))
    assert answer.answer == FIXED, answer.text
