"""MQDMPR-3.1.7.1.9.queue-quota is broken.

A send that would take the queue over its quota is refused, and the message is not in the queue.

1. create queue q1 (quota 40 KB) -> ok
2. open q1 for send as s -> ok
3. open q1 for receive as r -> ok
4. create queue q2 -> ok
5. open q2 for send as s2 -> ok
6. send 'a' to q1 (11264 bytes) -> ok
7. send 'b' to q1 (11264 bytes) -> ok
8. send 'c' to q1 (11264 bytes) -> ok
9. send 'd' to q2 (11264 bytes) -> ok
10. send 'e' to q2 (11264 bytes) -> ok
11. send 'f' to q2 (11264 bytes) -> ok
12. send 'g' to q2 (11264 bytes) -> ok
13. purge q1 -> ok
14. send 'h' to q1 (11264 bytes) -> ok
15. send 'i' to q1 (11264 bytes) -> ok
16. send 'j' to q1 (11264 bytes) -> ok
17. send 'k' to q1 (11264 bytes) -> ok

A repro of mqconform: `MQCONFORM_ADAPTER='stdio:./my-driver' pytest test_a1c9fd7d802bf28c.py` fails while the deviation is there.
Without the variable the embedded implementation is judged.
"""

import json
import os

from conformance.repro import FIXED, again

REPRO = json.loads(r'''{
 "format": 1,
 "suite": "quotas",
 "test": "quotas/test_mqdmpr_3_1_7_1_9_quotas.py::test_a_purge_and_other_queues_leave_room",
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
  "create queue q2 -> ok",
  "open q2 for send as s2 -> ok",
  "send 'a' to q1 (11264 bytes) -> ok",
  "send 'b' to q1 (11264 bytes) -> ok",
  "send 'c' to q1 (11264 bytes) -> ok",
  "send 'd' to q2 (11264 bytes) -> ok",
  "send 'e' to q2 (11264 bytes) -> ok",
  "send 'f' to q2 (11264 bytes) -> ok",
  "send 'g' to q2 (11264 bytes) -> ok",
  "purge q1 -> ok",
  "send 'h' to q1 (11264 bytes) -> ok",
  "send 'i' to q1 (11264 bytes) -> ok",
  "send 'j' to q1 (11264 bytes) -> ok",
  "send 'k' to q1 (11264 bytes) -> ok"
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
    "method": "queues.create",
    "queue": "q2"
   },
   {
    "method": "queues.open",
    "name": "s2",
    "queue": "q2",
    "access": "send"
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
    "handle": "s2",
    "message": "d",
    "size": 11264
   },
   {
    "method": "messages.send",
    "handle": "s2",
    "message": "e",
    "size": 11264
   },
   {
    "method": "messages.send",
    "handle": "s2",
    "message": "f",
    "size": 11264
   },
   {
    "method": "messages.send",
    "handle": "s2",
    "message": "g",
    "size": 11264
   },
   {
    "method": "queues.purge",
    "handle": "r"
   },
   {
    "method": "messages.send",
    "handle": "s",
    "message": "h",
    "size": 11264
   },
   {
    "method": "messages.send",
    "handle": "s",
    "message": "i",
    "size": 11264
   },
   {
    "method": "messages.send",
    "handle": "s",
    "message": "j",
    "size": 11264
   },
   {
    "method": "messages.send",
    "handle": "s",
    "message": "k",
    "size": 11264
   }
  ]
 }
}''')


def test_mqdmpr_3_1_7_1_9_queue_quota():
    answer = again(REPRO, adapter=os.environ.get("MQCONFORM_ADAPTER", "embedded"))
    assert answer.answer == FIXED, answer.text
