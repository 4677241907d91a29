"""MQDMPR-3.1.7.1.15.keeps is broken.

A peek leaves the queue as it was: the same message is peeked and received afterwards.

1. create queue q1 -> ok
2. open q1 for send as s -> ok
3. open q1 for receive as r -> ok
4. open cursor c1 on q1 -> ok
5. send 'a' to q1 -> ok
6. send 'b' to q1 -> ok
7. peek from q1 (cursor c1) -> message 'a'
8. receive from q1 -> fails with MQ_ERROR
9. a look into q1, by receiving all there is -> it is empty

A repro of mqconform: `MQCONFORM_ADAPTER='stdio:./my-driver' pytest test_7f71916dc759c474.py` fails while the deviation is there.
Without the variable the embedded implementation is judged.
"""

import json
import os

from conformance.repro import FIXED, again

REPRO = json.loads(r'''{
 "format": 1,
 "suite": "cursors",
 "test": "cursors/test_mqdmpr_3_1_7_1_10_failed_receives.py::test_a_receive_that_fails_takes_no_other_message",
 "profile": "msmq-4.0",
 "level": "must",
 "reading_set": "windows",
 "chosen": {},
 "seed": 0,
 "verdict": {
  "requirement": "MQDMPR-3.1.7.1.15.keeps",
  "outcome": "fail",
  "subject": "messages.receive",
  "expected": {
   "message": "a"
  },
  "actual": {
   "status": "0xC00E0001"
  }
 },
 "story": [
  "create queue q1 -> ok",
  "open q1 for send as s -> ok",
  "open q1 for receive as r -> ok",
  "open cursor c1 on q1 -> ok",
  "send 'a' to q1 -> ok",
  "send 'b' to q1 -> ok",
  "peek from q1 (cursor c1) -> message 'a'",
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
    "method": "cursors.open",
    "name": "c1",
    "handle": "r"
   },
   {
    "method": "messages.send",
    "handle": "s",
    "message": "a"
   },
   {
    "method": "messages.send",
    "handle": "s",
    "message": "b"
   },
   {
    "method": "messages.peek",
    "handle": "r",
    "cursor": "c1"
   },
   {
    "method": "messages.receive",
    "handle": "r"
   }
  ]
 }
}''')


def test_mqdmpr_3_1_7_1_15_keeps():
    answer = again(REPRO, adapter=os.environ.get("MQCONFORM_ADAPTER", "embedded"))
    assert answer.answer == FIXED, answer.text
