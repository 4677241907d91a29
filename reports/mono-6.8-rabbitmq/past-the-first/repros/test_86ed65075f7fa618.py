"""MQDMPR-3.1.7.1.10.no-wait-code is broken.

A receive without cursor, time-out zero and nothing available, fails with MQ_ERROR_IO_TIMEOUT.

1. create queue q1 -> ok
2. open q1 for send as s -> ok
3. open q1 for receive as r -> ok
4. send 'a' to q1 (express) -> ok
5. send 'b' to q1 (recoverable) -> ok
6. peek from q1 -> message 'a'
7. peek from q1 -> message 'a'
8. close s (q1) -> ok
9. close r (q1) -> ok
10. open q1 for receive as r2 -> ok
11. receive from q1 -> message 'a'
12. receive from q1 -> message 'b'
13. receive from q1 -> fails with MQ_ERROR

A repro of mqconform: `MQCONFORM_ADAPTER='stdio:./my-driver' pytest test_86ed65075f7fa618.py` fails while the deviation is there.
Without the variable the embedded implementation is judged.
"""

import json
import os

from conformance.repro import FIXED, again

REPRO = json.loads(r'''{
 "format": 1,
 "suite": "cursors",
 "test": "cursors/test_mqdmpr_3_1_7_1_5_queues.py::test_messages_stay_when_nobody_has_their_queue_open",
 "profile": "msmq-4.0",
 "level": "must",
 "reading_set": "windows",
 "chosen": {},
 "seed": 0,
 "verdict": {
  "requirement": "MQDMPR-3.1.7.1.10.no-wait-code",
  "outcome": "fail",
  "subject": "messages.receive",
  "expected": {
   "fails with": [
    "0xC00E001B",
    "0xC00E0088"
   ]
  },
  "actual": {
   "status": "0xC00E0001"
  }
 },
 "story": [
  "create queue q1 -> ok",
  "open q1 for send as s -> ok",
  "open q1 for receive as r -> ok",
  "send 'a' to q1 (express) -> ok",
  "send 'b' to q1 (recoverable) -> ok",
  "peek from q1 -> message 'a'",
  "peek from q1 -> message 'a'",
  "close s (q1) -> ok",
  "close r (q1) -> ok",
  "open q1 for receive as r2 -> ok",
  "receive from q1 -> message 'a'",
  "receive from q1 -> message 'b'",
  "receive from q1 -> fails with MQ_ERROR"
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
    "method": "messages.send",
    "handle": "s",
    "message": "a",
    "delivery": "express"
   },
   {
    "method": "messages.send",
    "handle": "s",
    "message": "b",
    "delivery": "recoverable"
   },
   {
    "method": "messages.peek",
    "handle": "r"
   },
   {
    "method": "messages.peek",
    "handle": "r"
   },
   {
    "method": "queues.close",
    "handle": "s"
   },
   {
    "method": "queues.close",
    "handle": "r"
   },
   {
    "method": "queues.open",
    "name": "r2",
    "queue": "q1",
    "access": "receive"
   },
   {
    "method": "messages.receive",
    "handle": "r2"
   },
   {
    "method": "messages.receive",
    "handle": "r2"
   },
   {
    "method": "messages.receive",
    "handle": "r2"
   }
  ]
 }
}''')


def test_mqdmpr_3_1_7_1_10_no_wait_code():
    answer = again(REPRO, adapter=os.environ.get("MQCONFORM_ADAPTER", "embedded"))
    assert answer.answer == FIXED, answer.text
