"""MQDMPR-3.1.7.1.9.queue-quota is broken.

A send that would take the queue over its quota is refused, and the message is not in the queue.

1. create queue q1 (quota 40 KB) -> ok
2. open q1 for send as s -> ok
3. open q1 for receive as r -> ok
4. send 'a' to q1 (11264 bytes) -> ok
5. send 'b' to q1 (11264 bytes) -> ok
6. send 'c' to q1 (11264 bytes) -> ok
7. send 'd' to q1 (11264 bytes) -> ok

A repro of mqconform: `MQCONFORM_ADAPTER='stdio:./my-driver' pytest test_e6ab2df20daa4a97.py` fails while the deviation is there.
Without the variable the embedded implementation is judged.
"""

import json
import os

from conformance.repro import FIXED, again

REPRO = json.loads(r'''{
 "format": 1,
 "suite": "quotas",
 "test": "quotas/test_mqdmpr_3_1_7_1_9_quotas.py::test_a_full_queue_refuses_more_until_something_is_received",
 "profile": "msmq-4.0",
 "level": "must",
 "reading_set": "windows",
 "chosen": {},
 "seed": 0,
 "verdict": {
  "requirement": "MQDMPR-3.1.7.1.9.queue-quota",
  "outcome": "fail",
  "subject": "messages.send",
  "expected": "fails",
  "actual": {
   "status": "0x00000000"
  }
 },
 "story": [
  "create queue q1 (quota 40 KB) -> ok",
  "open q1 for send as s -> ok",
  "open q1 for receive as r -> ok",
  "send 'a' to q1 (11264 bytes) -> ok",
  "send 'b' to q1 (11264 bytes) -> ok",
  "send 'c' to q1 (11264 bytes) -> ok",
  "send 'd' to q1 (11264 bytes) -> ok"
 ],
 "repro": {
  "kind": "calls",
  "format": 1,
  "calls": [
   {
    "method": "queues.create",
    "queue": "q1",
    "quota_kb": 40
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
    "size": 11264
   },
   {
    "method": "messages.send",
    "handle": "s",
    "message": "b",
    "size": 11264
   },
   {
    "method": "messages.send",
    "handle": "s",
    "message": "c",
    "size": 11264
   },
   {
    "method": "messages.send",
    "handle": "s",
    "message": "d",
    "size": 11264
   }
  ]
 }
}''')


def test_mqdmpr_3_1_7_1_9_queue_quota():
    answer = again(REPRO, adapter=os.environ.get("MQCONFORM_ADAPTER", "embedded"))
    assert answer.answer == FIXED, answer.text
