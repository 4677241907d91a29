"""MQDMPR-3.1.7.1.15.first-available is broken.

A peek without cursor gives the first available message of the queue.

1. create queue q1 -> ok
2. open q1 for send as s -> ok
3. open q1 for receive as r -> ok
4. create queue q2 -> ok
5. open q2 for receive as r2 -> ok
6. send 'a' to q1 -> ok
7. peek from q1 -> message 'a' (priority 3)
8. peek from q1 -> fails with MQ_ERROR
9. a look into q1, by receiving all there is -> 'a'

A repro of mqconform: `MQCONFORM_ADAPTER='stdio:./my-driver' pytest test_df1ac7fe402aa832.py` fails while the deviation is there.
Without the variable the embedded implementation is judged.
"""

import json
import os

from conformance.repro import FIXED, again

REPRO = json.loads(r'''{
 "format": 1,
 "suite": "cursors",
 "test": "cursors/test_mqdmpr_3_1_7_1_5_names.py::test_closing_a_handle_whose_queue_is_gone",
 "profile": "msmq-4.0",
 "level": "must",
 "reading_set": "windows",
 "chosen": {},
 "seed": 0,
 "verdict": {
  "requirement": "MQDMPR-3.1.7.1.15.first-available",
  "outcome": "fail",
  "subject": "messages.peek",
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
  "create queue q2 -> ok",
  "open q2 for receive as r2 -> ok",
  "send 'a' to q1 -> ok",
  "peek from q1 -> message 'a' (priority 3)",
  "peek from q1 -> fails with MQ_ERROR",
  "a look into q1, by receiving all there is -> 'a'"
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
    "method": "queues.create",
    "queue": "q2"
   },
   {
    "method": "queues.open",
    "name": "r2",
    "queue": "q2",
    "access": "receive"
   },
   {
    "method": "messages.send",
    "handle": "s",
    "message": "a"
   },
   {
    "method": "messages.peek",
    "handle": "r"
   },
   {
    "method": "messages.peek",
    "handle": "r"
   }
  ]
 }
}''')


def test_mqdmpr_3_1_7_1_15_first_available():
    answer = again(REPRO, adapter=os.environ.get("MQCONFORM_ADAPTER", "embedded"))
    assert answer.answer == FIXED, answer.text
