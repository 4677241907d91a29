"""MQDMPR-3.1.1.17.send-access-no-receive is broken.

A handle opened for send can neither peek nor receive, and removes nothing.

1. create queue q1 -> ok
2. open q1 for send as h1 -> ok
3. send 'a' to q1 -> ok
4. receive from q1 -> message 'a'

A repro of mqconform: `MQCONFORM_ADAPTER='stdio:./my-driver' pytest test_2b414e98124f6cac.py` fails while the deviation is there.
Without the variable the embedded implementation is judged.
"""

import json
import os

from conformance.repro import FIXED, again

REPRO = json.loads(r'''{
 "format": 1,
 "suite": "cursors",
 "test": "cursors/test_mqdmpr_3_1_7_1_5_queues.py::test_a_walk_with_handles",
 "profile": "msmq-4.0",
 "level": "must",
 "reading_set": "windows",
 "chosen": {},
 "seed": 0,
 "verdict": {
  "requirement": "MQDMPR-3.1.1.17.send-access-no-receive",
  "outcome": "fail",
  "subject": "messages.receive",
  "expected": "fails",
  "actual": {
   "status": "0x00000000",
   "message": "a"
  }
 },
 "story": [
  "create queue q1 -> ok",
  "open q1 for send as h1 -> ok",
  "send 'a' to q1 -> ok",
  "receive from q1 -> message 'a'"
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
    "method": "messages.send",
    "handle": "h1",
    "message": "a"
   },
   {
    "method": "messages.receive",
    "handle": "h1"
   }
  ]
 }
}''')


def test_mqdmpr_3_1_1_17_send_access_no_receive():
    answer = again(REPRO, adapter=os.environ.get("MQCONFORM_ADAPTER", "embedded"))
    assert answer.answer == FIXED, answer.text
