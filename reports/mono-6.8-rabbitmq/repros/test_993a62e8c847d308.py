"""MQDMPR-3.1.7.1.9.available is broken.

A message sent outside any transaction is available at once to readers of its queue.

1. create queue q1 -> ok
2. open q1 for send as s -> ok
3. open q1 for receive as r -> ok
4. create queue q5 (with journaling) -> ok
5. open q5 for send as s5 -> ok
6. open q5 for receive as r5 -> ok
7. send 'a' to q5 -> ok
8. receive from q5 -> fails with MQ_ERROR
9. a look into q5, by receiving all there is -> it is empty

A repro of mqconform: `MQCONFORM_ADAPTER='stdio:./my-driver' pytest test_993a62e8c847d308.py` fails while the deviation is there.
Without the variable the embedded implementation is judged.
"""

import json
import os

from conformance.repro import FIXED, again

REPRO = json.loads(r'''{
 "format": 1,
 "suite": "journals",
 "test": "journals/test_mqdmpr_3_1_1_12_source_journal.py::test_a_queue_made_again_has_a_new_journal",
 "profile": "msmq-4.0",
 "level": "must",
 "reading_set": "windows",
 "chosen": {},
 "seed": 0,
 "verdict": {
  "requirement": "MQDMPR-3.1.7.1.9.available",
  "outcome": "fail",
  "subject": "messages.receive",
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
  "create queue q5 (with journaling) -> ok",
  "open q5 for send as s5 -> ok",
  "open q5 for receive as r5 -> ok",
  "send 'a' to q5 -> ok",
  "receive from q5 -> fails with MQ_ERROR",
  "a look into q5, by receiving all there is -> it is empty"
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
    "queue": "q5",
    "journaling": true
   },
   {
    "method": "queues.open",
    "name": "s5",
    "queue": "q5",
    "access": "send"
   },
   {
    "method": "queues.open",
    "name": "r5",
    "queue": "q5",
    "access": "receive"
   },
   {
    "method": "messages.send",
    "handle": "s5",
    "message": "a"
   },
   {
    "method": "messages.receive",
    "handle": "r5"
   }
  ]
 }
}''')


def test_mqdmpr_3_1_7_1_9_available():
    answer = again(REPRO, adapter=os.environ.get("MQCONFORM_ADAPTER", "embedded"))
    assert answer.answer == FIXED, answer.text
