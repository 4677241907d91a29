"""MQDMPR-3.1.7.1.15.no-wait-code is broken.

A peek with time-out zero and nothing available fails with MQ_ERROR_IO_TIMEOUT.

1. create queue q1 -> ok
2. open q1 for send as s -> ok
3. open q1 for receive as r -> ok
4. w1: peek from q1 (waiting up to 60000 ms) -> waits
5. w2: peek from q1 (waiting up to 60000 ms) -> waits
6. w3: receive from q1 (waiting up to 60000 ms) -> waits
7. send 'a' to q1 -> ok; the waiting w1 ends: message 'a' (priority 3); the waiting w2 ends: message 'a' (priority 3); the waiting w3 ends: message 'a' (priority 3)
8. peek from q1 -> fails with MQ_ERROR

A repro of mqconform: `MQCONFORM_ADAPTER='stdio:./my-driver' pytest test_238e5637122b06b8.py` fails while the deviation is there.
Without the variable the embedded implementation is judged.
"""

import json
import os

from conformance.repro import FIXED, again

REPRO = json.loads(r'''{
 "format": 1,
 "suite": "cursors",
 "test": "cursors/test_mqdmpr_3_1_7_3_1_waiting_reads.py::test_peeks_that_wait_do_not_keep_a_receive_from_its_message",
 "profile": "msmq-4.0",
 "level": "must",
 "reading_set": "windows",
 "chosen": {},
 "seed": 0,
 "verdict": {
  "requirement": "MQDMPR-3.1.7.1.15.no-wait-code",
  "outcome": "fail",
  "subject": "messages.peek",
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
  "w1: peek from q1 (waiting up to 60000 ms) -> waits",
  "w2: peek from q1 (waiting up to 60000 ms) -> waits",
  "w3: receive from q1 (waiting up to 60000 ms) -> waits",
  "send 'a' to q1 -> ok; the waiting w1 ends: message 'a' (priority 3); the waiting w2 ends: message 'a' (priority 3); the waiting w3 ends: message 'a' (priority 3)",
  "peek from q1 -> fails with MQ_ERROR"
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
    "method": "messages.peek",
    "name": "w1",
    "handle": "r",
    "timeout_ms": 60000
   },
   {
    "method": "messages.peek",
    "name": "w2",
    "handle": "r",
    "timeout_ms": 60000
   },
   {
    "method": "messages.receive",
    "name": "w3",
    "handle": "r",
    "timeout_ms": 60000
   },
   {
    "method": "messages.send",
    "handle": "s",
    "message": "a"
   },
   {
    "method": "messages.peek",
    "handle": "r"
   }
  ]
 }
}''')


def test_mqdmpr_3_1_7_1_15_no_wait_code():
    answer = again(REPRO, adapter=os.environ.get("MQCONFORM_ADAPTER", "embedded"))
    assert answer.answer == FIXED, answer.text
