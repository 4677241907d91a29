"""MQDMPR-3.1.7.1.10.no-wait-code is broken.

A receive without cursor, time-out zero and nothing available, fails with MQ_ERROR_IO_TIMEOUT.

1. create queue q1 -> ok
2. open q1 for send as s -> ok
3. open q1 for receive as r -> ok
4. send 'a' to q1 (recoverable) -> ok
5. send 'b' to q1 (recoverable) -> ok
6. purge q1 -> ok
7. send 'c' to q1 (recoverable) -> ok
8. kill the queue manager and start it again -> ok
9. open q1 for send as s -> ok
10. open q1 for receive as r -> ok
11. receive from q1 -> message 'c' (priority 3)
12. receive from q1 -> fails with MQ_ERROR

A repro of mqconform: `MQCONFORM_ADAPTER='stdio:./my-driver' pytest test_07f7954c60f03cef.py` fails while the deviation is there.
Without the variable the embedded implementation is judged.
"""

import json
import os

from conformance.repro import FIXED, again

REPRO = json.loads(r'''{
 "format": 1,
 "suite": "restart",
 "test": "restart/test_mqdmpr_3_1_3_what_was_done_stays_done.py::test_a_purge_stays_done",
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
  "send 'a' to q1 (recoverable) -> ok",
  "send 'b' to q1 (recoverable) -> ok",
  "purge q1 -> ok",
  "send 'c' to q1 (recoverable) -> ok",
  "kill the queue manager and start it again -> ok",
  "open q1 for send as s -> ok",
  "open q1 for receive as r -> ok",
  "receive from q1 -> message 'c' (priority 3)",
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
    "delivery": "recoverable"
   },
   {
    "method": "messages.send",
    "handle": "s",
    "message": "b",
    "delivery": "recoverable"
   },
   {
    "method": "queues.purge",
    "handle": "r"
   },
   {
    "method": "messages.send",
    "handle": "s",
    "message": "c",
    "delivery": "recoverable"
   },
   {
    "method": "restart",
    "kill": true
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
    "handle": "r"
   },
   {
    "method": "messages.receive",
    "handle": "r"
   }
  ]
 }
}''')


def test_mqdmpr_3_1_7_1_10_no_wait_code():
    answer = again(REPRO, adapter=os.environ.get("MQCONFORM_ADAPTER", "embedded"))
    assert answer.answer == FIXED, answer.text
