"""MQDMPR-3.1.7.1.9.available is broken.

A message sent outside any transaction is available at once to readers of its queue.

1. create queue q1 -> ok
2. open q1 for send as s -> ok
3. open q1 for receive as r -> ok
4. w1: receive from q1 (waiting up to 60000 ms) -> waits
5. w2: receive from q1 (waiting up to 60000 ms) -> waits
6. send 'a' to q1 -> ok; the waiting w1 ends: message 'a' (priority 3)
7. send 'b' to q1 (priority 7) -> ok; the waiting w2 ends: message 'b' (priority 7)
8. send 'c' to q1 -> ok
9. receive from q1 -> fails with MQ_ERROR
10. a look into q1, by receiving all there is -> it is empty

A repro of mqconform: `MQCONFORM_ADAPTER='stdio:./my-driver' pytest test_ac644797e2a64158.py` fails while the deviation is there.
Without the variable the embedded implementation is judged.
"""

import json
import os

from conformance.repro import FIXED, again

REPRO = json.loads(r'''{
 "format": 1,
 "suite": "cursors",
 "test": "cursors/test_mqdmpr_3_1_7_3_1_waiting_reads.py::test_receives_on_one_handle_are_served_in_turn",
 "profile": "msmq-4.0",
 "level": "must",
 "reading_set": "windows",
 "chosen": {},
 "seed": 0,
 "verdict": {
  "requirement": "MQDMPR-3.1.7.1.9.available",
  "outcome": "fail",
  "subject": "messages.receive",
  "expected": {
   "message": "c"
  },
  "actual": {
   "status": "0xC00E0001"
  }
 },
 "story": [
  "create queue q1 -> ok",
  "open q1 for send as s -> ok",
  "open q1 for receive as r -> ok",
  "w1: receive from q1 (waiting up to 60000 ms) -> waits",
  "w2: receive from q1 (waiting up to 60000 ms) -> waits",
  "send 'a' to q1 -> ok; the waiting w1 ends: message 'a' (priority 3)",
  "send 'b' to q1 (priority 7) -> ok; the waiting w2 ends: message 'b' (priority 7)",
  "send 'c' to q1 -> ok",
  "receive from q1 -> fails with MQ_ERROR",
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
    "method": "messages.receive",
    "name": "w1",
    "handle": "r",
    "timeout_ms": 60000
   },
   {
    "method": "messages.receive",
    "name": "w2",
    "handle": "r",
    "timeout_ms": 60000
   },
   {
    "method": "messages.send",
    "handle": "s",
    "message": "a"
   },
   {
    "method": "messages.send",
    "handle": "s",
    "message": "b",
    "priority": 7
   },
   {
    "method": "messages.send",
    "handle": "s",
    "message": "c"
   },
   {
    "method": "messages.receive",
    "handle": "r"
   }
  ]
 }
}''')


def test_mqdmpr_3_1_7_1_9_available():
    answer = again(REPRO, adapter=os.environ.get("MQCONFORM_ADAPTER", "embedded"))
    assert answer.answer == FIXED, answer.text
