"""MQDMPR-3.1.1.17.receive-access is broken.

A handle opened for receive can peek, receive and purge.

1. create queue q1 -> ok
2. open q1 for send as s -> ok
3. open q1 for receive as r -> ok
4. create queue q2 -> ok
5. open q2 for receive as r2 -> ok
6. send 'a' to q1 -> ok
7. peek from q1 -> message 'a'
8. peek from q1 -> message 'a'
9. purge q2 -> fails (OperationInterruptedException: The AMQP operation was interrupted: AMQP close-reason, initiated by Peer, code=404, text="NOT_FOUND - no queue 'private$\\mqc-19b3efc0-852-mqconform-q2' in vhost '/'", classId=50, methodId=30, cause=)

A repro of mqconform: `MQCONFORM_ADAPTER='stdio:./my-driver' pytest test_17442a5ab4927afd.py` fails while the deviation is there.
Without the variable the embedded implementation is judged.
"""

import json
import os

from conformance.repro import FIXED, again

REPRO = json.loads(r'''{
 "format": 1,
 "suite": "cursors",
 "test": "cursors/test_mqdmpr_3_1_7_1_5_names.py::test_a_purge_leaves_other_queues_alone",
 "profile": "msmq-4.0",
 "level": "must",
 "reading_set": "windows",
 "chosen": {},
 "seed": 0,
 "verdict": {
  "requirement": "MQDMPR-3.1.1.17.receive-access",
  "outcome": "fail",
  "subject": "queues.purge",
  "expected": "success",
  "actual": {
   "status": null,
   "failure": "OperationInterruptedException: The AMQP operation was interrupted: AMQP close-reason, initiated by Peer, code=404, text=\"NOT_FOUND - no queue 'private$\\mqc-19b3efc0-852-mqconform-q2' in vhost '/'\", classId=50, methodId=30, cause="
  }
 },
 "story": [
  "create queue q1 -> ok",
  "open q1 for send as s -> ok",
  "open q1 for receive as r -> ok",
  "create queue q2 -> ok",
  "open q2 for receive as r2 -> ok",
  "send 'a' to q1 -> ok",
  "peek from q1 -> message 'a'",
  "peek from q1 -> message 'a'",
  "purge q2 -> fails (OperationInterruptedException: The AMQP operation was interrupted: AMQP close-reason, initiated by Peer, code=404, text=\"NOT_FOUND - no queue 'private$\\mqc-19b3efc0-852-mqconform-q2' in vhost '/'\", classId=50, methodId=30, cause=)"
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
   },
   {
    "method": "queues.purge",
    "handle": "r2"
   }
  ]
 }
}''')


def test_mqdmpr_3_1_1_17_receive_access():
    answer = again(REPRO, adapter=os.environ.get("MQCONFORM_ADAPTER", "embedded"))
    assert answer.answer == FIXED, answer.text
