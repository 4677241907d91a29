"""MQDMPR-3.1.7.1.15.first-available is broken.

A peek without cursor gives the first available message of the queue.

1. create queue q1 -> ok
2. open q1 for send as h1 -> ok
3. open q1 for receive as h2 -> ok
4. send 'b' to q1 (priority 7) -> ok
5. peek from q1 -> fails with MQ_ERROR
6. a look into q1, by receiving all there is -> 'b'

A repro of mqconform: `MQCONFORM_ADAPTER='stdio:./my-driver' pytest test_06d199966c6a9c8c.py` fails while the deviation is there.
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
  "requirement": "MQDMPR-3.1.7.1.15.first-available",
  "outcome": "flaky",
  "subject": "messages.peek",
  "expected": {
   "message": "b"
  },
  "actual": {
   "status": "0xC00E0001"
  },
  "reason": "flaky(4/5): the same calls do not always get the same answer"
 },
 "story": [
  "create queue q1 -> ok",
  "open q1 for send as h1 -> ok",
  "open q1 for receive as h2 -> ok",
  "send 'b' to q1 (priority 7) -> ok",
  "peek from q1 -> fails with MQ_ERROR",
  "a look into q1, by receiving all there is -> 'b'"
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
    "name": "h1",
    "queue": "q1",
    "access": "send"
   },
   {
    "method": "queues.open",
    "name": "h2",
    "queue": "q1",
    "access": "receive"
   },
   {
    "method": "messages.send",
    "handle": "h1",
    "message": "b",
    "priority": 7
   },
   {
    "method": "messages.peek",
    "handle": "h2"
   }
  ]
 }
}''')


def test_mqdmpr_3_1_7_1_15_first_available():
    answer = again(REPRO, adapter=os.environ.get("MQCONFORM_ADAPTER", "embedded"))
    assert answer.answer == FIXED, answer.text
