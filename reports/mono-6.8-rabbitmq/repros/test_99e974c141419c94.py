"""MQDMPR-3.1.2.4.expires is broken.

A message not received within its time to be received is no longer receivable.

1. create queue q1 -> ok
2. open q1 for send as s -> ok
3. open q1 for receive as r -> ok
4. send 'a' to q1 (recoverable, time to be received 3 s) -> ok
5. send 'b' to q1 (recoverable, time to be received 60 s) -> ok
6. kill the queue manager and start it again -> ok
7. open q1 for send as s -> ok
8. open q1 for receive as r -> ok
9. 5500 ms pass
10. receive from q1 -> message 'a' (priority 3)

A repro of mqconform: `MQCONFORM_ADAPTER='stdio:./my-driver' pytest test_99e974c141419c94.py` fails while the deviation is there.
Without the variable the embedded implementation is judged.
"""

import json
import os

from conformance.repro import FIXED, again

REPRO = json.loads(r'''{
 "format": 1,
 "suite": "restart",
 "test": "restart/test_mqdmpr_3_1_3_what_was_done_stays_done.py::test_time_goes_on_for_a_message",
 "profile": "msmq-4.0",
 "level": "must",
 "reading_set": "windows",
 "chosen": {},
 "seed": 0,
 "verdict": {
  "requirement": "MQDMPR-3.1.2.4.expires",
  "outcome": "fail",
  "subject": "messages.receive",
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
  "open q1 for send as s -> ok",
  "open q1 for receive as r -> ok",
  "send 'a' to q1 (recoverable, time to be received 3 s) -> ok",
  "send 'b' to q1 (recoverable, time to be received 60 s) -> ok",
  "kill the queue manager and start it again -> ok",
  "open q1 for send as s -> ok",
  "open q1 for receive as r -> ok",
  "5500 ms pass",
  "receive from q1 -> message 'a' (priority 3)"
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
    "delivery": "recoverable",
    "live_s": 3
   },
   {
    "method": "messages.send",
    "handle": "s",
    "message": "b",
    "delivery": "recoverable",
    "live_s": 60
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
    "method": "clock.advance",
    "by_ms": 5500
   },
   {
    "method": "messages.receive",
    "handle": "r"
   }
  ]
 }
}''')


def test_mqdmpr_3_1_2_4_expires():
    answer = again(REPRO, adapter=os.environ.get("MQCONFORM_ADAPTER", "embedded"))
    assert answer.answer == FIXED, answer.text
