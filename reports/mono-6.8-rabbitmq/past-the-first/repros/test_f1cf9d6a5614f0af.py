"""MQDMPR-3.1.7.2.2.others-remain is broken.

Readers not served by an arrival go on waiting for the next.

1. create queue q1 -> ok
2. open q1 for send as s -> ok
3. open q1 for receive as r -> ok
4. open cursor c1 on q1 -> ok
5. open cursor c2 on q1 -> ok
6. w1: receive from q1 (cursor c1, waiting up to 60000 ms) -> waits
7. w2: receive from q1 (cursor c2, waiting up to 60000 ms) -> waits
8. w3: receive from q1 (waiting up to 60000 ms) -> waits
9. close cursor c1 -> ok
10. send 'a' to q1 -> ok; the waiting w1 ends: fails (InvalidOperationException: Operation is not valid due to the current state of the object.); the waiting w2 ends: message 'a'

A repro of mqconform: `MQCONFORM_ADAPTER='stdio:./my-driver' pytest test_f1cf9d6a5614f0af.py` fails while the deviation is there.
Without the variable the embedded implementation is judged.
"""

import json
import os

from conformance.repro import FIXED, again

REPRO = json.loads(r'''{
 "format": 1,
 "suite": "cursors",
 "test": "cursors/test_mqdmpr_3_1_7_3_1_waiting_reads.py::test_a_cursor_is_closed_while_a_read_waits_with_it",
 "profile": "msmq-4.0",
 "level": "must",
 "reading_set": "windows",
 "chosen": {},
 "seed": 0,
 "verdict": {
  "requirement": "MQDMPR-3.1.7.2.2.others-remain",
  "outcome": "fail",
  "subject": "messages.send",
  "expected": {
   "w1": "goes on waiting"
  },
  "actual": {
   "w1": {
    "status": null,
    "failure": "InvalidOperationException: Operation is not valid due to the current state of the object."
   }
  },
  "readings": {
   "R-MQDMPR-waiting-readers-order": "by-arrival"
  }
 },
 "story": [
  "create queue q1 -> ok",
  "open q1 for send as s -> ok",
  "open q1 for receive as r -> ok",
  "open cursor c1 on q1 -> ok",
  "open cursor c2 on q1 -> ok",
  "w1: receive from q1 (cursor c1, waiting up to 60000 ms) -> waits",
  "w2: receive from q1 (cursor c2, waiting up to 60000 ms) -> waits",
  "w3: receive from q1 (waiting up to 60000 ms) -> waits",
  "close cursor c1 -> ok",
  "send 'a' to q1 -> ok; the waiting w1 ends: fails (InvalidOperationException: Operation is not valid due to the current state of the object.); the waiting w2 ends: message 'a'"
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
    "method": "cursors.open",
    "name": "c1",
    "handle": "r"
   },
   {
    "method": "cursors.open",
    "name": "c2",
    "handle": "r"
   },
   {
    "method": "messages.receive",
    "name": "w1",
    "handle": "r",
    "cursor": "c1",
    "timeout_ms": 60000
   },
   {
    "method": "messages.receive",
    "name": "w2",
    "handle": "r",
    "cursor": "c2",
    "timeout_ms": 60000
   },
   {
    "method": "messages.receive",
    "name": "w3",
    "handle": "r",
    "timeout_ms": 60000
   },
   {
    "method": "cursors.close",
    "cursor": "c1"
   },
   {
    "method": "messages.send",
    "handle": "s",
    "message": "a"
   }
  ]
 }
}''')


def test_mqdmpr_3_1_7_2_2_others_remain():
    answer = again(REPRO, adapter=os.environ.get("MQCONFORM_ADAPTER", "embedded"))
    assert answer.answer == FIXED, answer.text
