"""MQDMPR-3.1.2.4.expires is broken.

A message not received within its time to be received is no longer receivable.

1. create queue q1 -> ok
2. open q1 for send as s -> ok
3. open q1 for receive as r -> ok
4. send 'a' to q1 (time to be received 1 s) -> ok
5. send 'b' to q1 (time to be received 60 s) -> ok
6. send 'c' to q1 -> ok
7. send 'd' to q1 (time to be received 4294967295 s) -> ok
8. 2500 ms pass
9. receive from q1 -> message 'a' (priority 3)

A repro of mqconform: `MQCONFORM_ADAPTER='stdio:./my-driver' pytest test_32d6bd0f46af105b.py` fails while the deviation is there.
Without the variable the embedded implementation is judged.
"""

import json
import os

from conformance.repro import FIXED, again

REPRO = json.loads(r'''{
 "format": 1,
 "suite": "journals",
 "test": "journals/test_mqdmpr_3_1_2_4_time_to_be_received.py::test_a_message_whose_time_is_over_is_gone",
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
  "send 'a' to q1 (time to be received 1 s) -> ok",
  "send 'b' to q1 (time to be received 60 s) -> ok",
  "send 'c' to q1 -> ok",
  "send 'd' to q1 (time to be received 4294967295 s) -> ok",
  "2500 ms pass",
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
    "live_s": 1
   },
   {
    "method": "messages.send",
    "handle": "s",
    "message": "b",
    "live_s": 60
   },
   {
    "method": "messages.send",
    "handle": "s",
    "message": "c"
   },
   {
    "method": "messages.send",
    "handle": "s",
    "message": "d",
    "live_s": 4294967295
   },
   {
    "method": "clock.advance",
    "by_ms": 2500
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
