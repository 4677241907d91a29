"""MQMQ-2.2.19.1.higher-priority-nearer-front is broken.

A message of higher priority stands nearer to the front of its queue than one of lower priority.

1. create queue q1 -> ok
2. open q1 for send as s -> ok
3. open q1 for receive as r -> ok
4. send 'a' to q1 (recoverable) -> ok
5. send 'b' to q1 (recoverable) -> ok
6. send 'c' to q1 (priority 6, recoverable) -> ok
7. send 'd' to q1 -> ok
8. send 'e' to q1 (recoverable) -> ok
9. receive from q1 -> message 'a'
10. a look into q1, by receiving all there is -> 'b', 'c', 'd', 'e'

A repro of mqconform: `MQCONFORM_ADAPTER='stdio:./my-driver' pytest test_8481e05e85ebf98b.py` fails while the deviation is there.
Without the variable the embedded implementation is judged.
"""

import json
import os

from conformance.repro import FIXED, again

REPRO = json.loads(r'''{
 "format": 1,
 "suite": "transactions",
 "test": "transactions/test_mqdmpr_3_1_3_restart.py::test_recoverable_messages_survive[stopped]",
 "profile": "msmq-4.0",
 "level": "must",
 "reading_set": "windows",
 "chosen": {},
 "seed": 0,
 "verdict": {
  "requirement": "MQMQ-2.2.19.1.higher-priority-nearer-front",
  "outcome": "fail",
  "subject": "messages.receive",
  "expected": {
   "message": "c"
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
  "send 'a' to q1 (recoverable) -> ok",
  "send 'b' to q1 (recoverable) -> ok",
  "send 'c' to q1 (priority 6, recoverable) -> ok",
  "send 'd' to q1 -> ok",
  "send 'e' to q1 (recoverable) -> ok",
  "receive from q1 -> message 'a'",
  "a look into q1, by receiving all there is -> 'b', 'c', 'd', 'e'"
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
    "method": "messages.send",
    "handle": "s",
    "message": "c",
    "priority": 6,
    "delivery": "recoverable"
   },
   {
    "method": "messages.send",
    "handle": "s",
    "message": "d"
   },
   {
    "method": "messages.send",
    "handle": "s",
    "message": "e",
    "delivery": "recoverable"
   },
   {
    "method": "messages.receive",
    "handle": "r"
   }
  ]
 }
}''')


def test_mqmq_2_2_19_1_higher_priority_nearer_front():
    answer = again(REPRO, adapter=os.environ.get("MQCONFORM_ADAPTER", "embedded"))
    assert answer.answer == FIXED, answer.text
