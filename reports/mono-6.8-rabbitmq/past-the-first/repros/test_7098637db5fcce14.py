"""MQDMPR-3.1.7.1.5.exclusive-then-receive is broken.

While a queue is open exclusively for receive, opening it for receive, shared, fails.

1. create queue q1 -> ok
2. open q1 for send as s -> ok
3. open q1 for receive as r -> ok
4. close r (q1) -> ok
5. open q1 for receive, denying receive to others, as x -> ok
6. open q1 for receive as h1 -> ok

A repro of mqconform: `MQCONFORM_ADAPTER='stdio:./my-driver' pytest test_7098637db5fcce14.py` fails while the deviation is there.
Without the variable the embedded implementation is judged.
"""

import json
import os

from conformance.repro import FIXED, again

REPRO = json.loads(r'''{
 "format": 1,
 "suite": "cursors",
 "test": "cursors/test_mqdmpr_3_1_7_1_5_queues.py::test_an_exclusive_receiver",
 "profile": "msmq-4.0",
 "level": "must",
 "reading_set": "windows",
 "chosen": {},
 "seed": 0,
 "verdict": {
  "requirement": "MQDMPR-3.1.7.1.5.exclusive-then-receive",
  "outcome": "fail",
  "subject": "queues.open",
  "expected": {
   "fails with": [
    "0xC00E0009"
   ]
  },
  "actual": {
   "status": "0x00000000"
  }
 },
 "story": [
  "create queue q1 -> ok",
  "open q1 for send as s -> ok",
  "open q1 for receive as r -> ok",
  "close r (q1) -> ok",
  "open q1 for receive, denying receive to others, as x -> ok",
  "open q1 for receive as h1 -> ok"
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
    "method": "queues.close",
    "handle": "r"
   },
   {
    "method": "queues.open",
    "name": "x",
    "queue": "q1",
    "access": "receive",
    "share": "deny_receive"
   },
   {
    "method": "queues.open",
    "name": "h1",
    "queue": "q1",
    "access": "receive"
   }
  ]
 }
}''')


def test_mqdmpr_3_1_7_1_5_exclusive_then_receive():
    answer = again(REPRO, adapter=os.environ.get("MQCONFORM_ADAPTER", "embedded"))
    assert answer.answer == FIXED, answer.text
