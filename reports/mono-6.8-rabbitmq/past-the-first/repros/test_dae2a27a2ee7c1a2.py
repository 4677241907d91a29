"""MQDMPR-3.1.7.1.9.available is broken.

A message sent outside any transaction is available at once to readers of its queue.

1. create queue q1 -> ok
2. open q1 for send as h1 -> ok
3. open q1 for receive as h2 -> ok
4. send 'a' to q1 -> ok
5. send 'b' to q1 (priority 7) -> ok
6. open cursor c1 on q1 -> ok
7. peek from q1 (cursor c1) -> message 'a'
8. a look into q1, by receiving all there is -> it is empty

A repro of mqconform: `MQCONFORM_ADAPTER='stdio:./my-driver' pytest test_dae2a27a2ee7c1a2.py` fails while the deviation is there.
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
  "outcome": "fail",
  "subject": "messages.peek",
  "expected": {
   "message": "b"
  },
  "actual": {
   "status": "0x00000000",
   "message": "a"
  }
 },
 "story": [
  "create queue q1 -> ok",
  "open q1 for send as h1 -> ok",
  "open q1 for receive as h2 -> ok",
  "send 'a' to q1 -> ok",
  "send 'b' to q1 (priority 7) -> ok",
  "open cursor c1 on q1 -> ok",
  "peek from q1 (cursor c1) -> message 'a'",
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
    "message": "a"
   },
   {
    "method": "messages.send",
    "handle": "h1",
    "message": "b",
    "priority": 7
   },
   {
    "method": "cursors.open",
    "name": "c1",
    "handle": "h2"
   },
   {
    "method": "messages.peek",
    "handle": "h2",
    "cursor": "c1"
   }
  ]
 }
}''')


def test_mqdmpr_3_1_7_1_9_available():
    answer = again(REPRO, adapter=os.environ.get("MQCONFORM_ADAPTER", "embedded"))
    assert answer.answer == FIXED, answer.text
