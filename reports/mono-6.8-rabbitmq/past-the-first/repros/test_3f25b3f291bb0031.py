"""MQMQ-2.2.19.1.higher-priority-nearer-front is broken.

A message of higher priority stands nearer to the front of its queue than one of lower priority.

1. create queue q1 -> ok
2. open q1 for send as h1 -> ok
3. open q1 for receive as h2 -> ok
4. send 'a' to q1 -> ok
5. send 'b' to q1 (priority 7) -> ok
6. peek from q1 -> message 'a'
7. a look into q1, by receiving all there is -> 'a', 'b'

A repro of mqconform: `MQCONFORM_ADAPTER='stdio:./my-driver' pytest test_3f25b3f291bb0031.py` fails while the deviation is there.
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
  "requirement": "MQMQ-2.2.19.1.higher-priority-nearer-front",
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
  "peek from q1 -> message 'a'",
  "a look into q1, by receiving all there is -> 'a', 'b'"
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
    "method": "messages.peek",
    "handle": "h2"
   }
  ]
 }
}''')


def test_mqmq_2_2_19_1_higher_priority_nearer_front():
    answer = again(REPRO, adapter=os.environ.get("MQCONFORM_ADAPTER", "embedded"))
    assert answer.answer == FIXED, answer.text
