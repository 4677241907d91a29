"""MQDMPR-3.1.7.1.9.available is broken.

A message sent outside any transaction is available at once to readers of its queue.

1. create queue q1 -> ok
2. open q1 for send as h1 -> ok
3. open q1 for receive as h2 -> ok
4. send 'f' to q1 -> ok
5. peek from q1 -> fails with MQ_ERROR
6. a look into q1, by receiving all there is -> it is empty

A repro of mqconform: `MQCONFORM_ADAPTER='stdio:./my-driver' pytest test_8ef4de4021e8d4e6.py` fails while the deviation is there.
Without the variable the embedded implementation is judged.
"""

import json
import os

from conformance.repro import FIXED, again

REPRO = json.loads(r'''{
 "format": 1,
 "suite": "cursors",
 "test": "cursors/test_mqdmpr_3_2_cursor.py::test_a_walk_with_cursors",
 "profile": "msmq-4.0",
 "level": "must",
 "reading_set": "windows",
 "chosen": {},
 "seed": 0,
 "verdict": {
  "requirement": "MQDMPR-3.1.7.1.9.available",
  "outcome": "flaky",
  "subject": "messages.peek",
  "expected": {
   "message": "f"
  },
  "actual": {
   "status": "0xC00E0001"
  },
  "reason": "flaky(2/5): the same calls do not always get the same answer"
 },
 "story": [
  "create queue q1 -> ok",
  "open q1 for send as h1 -> ok",
  "open q1 for receive as h2 -> ok",
  "send 'f' to q1 -> ok",
  "peek from q1 -> fails with MQ_ERROR",
  "a look into q1, by receiving all there is -> it is empty"
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
    "message": "f"
   },
   {
    "method": "messages.peek",
    "handle": "h2"
   }
  ]
 }
}''')


def test_mqdmpr_3_1_7_1_9_available():
    answer = again(REPRO, adapter=os.environ.get("MQCONFORM_ADAPTER", "embedded"))
    assert answer.answer == FIXED, answer.text
