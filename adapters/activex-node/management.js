"use strict";
// MSMQManagement and what it becomes for a queue of this computer or an outgoing one: MC-MQAC 3.3 to 3.5.

const { formatNameOf } = require("./destination.js");
const { E, refuse } = require("./errors.js");
const names = require("./names.js");
const V = require("./variants.js");

const TYPES = { public: 0, private: 1, system: 2, connector: 3, outgoing: 1 }; // QUEUE_TYPE
const MULTICAST = 4;
const STATES = ["LOCAL CONNECTION", "DISCONNECTED", "WAITING", "NEED VALIDATION", "ONHOLD", "INACTIVE", "CONNECTED", "DISCONNECTING", "LOCKED"];

function queueOf(self) {
  if (!self.isInitialized) refuse(E.UNINITIALIZED_OBJECT);
  if (!self.queue.active) refuse(E.QUEUE_NOT_ACTIVE);
  return self.queue;
}

// The active queue of a format name, here or outgoing.
function active(formatName, manager) {
  const elements = names.format(formatName);
  if (!elements) refuse(E.ILLEGAL_FORMATNAME);
  const queue = (elements.length === 1 && manager.find(elements[0])) || manager.outgoing.get(formatName.toLowerCase());
  return queue && queue.active ? queue : refuse(E.QUEUE_NOT_ACTIVE);
}

function init(self, [machine, pathName, formatName], { manager }) {
  if (V.isNull(pathName) === V.isNull(formatName)) refuse(E.INVALID_PARAMETER);
  const computer = V.isNull(machine) ? null : V.coerced(machine, "BSTR").value;
  const name = V.isNull(formatName) ? formatNameOf(V.coerced(pathName, "BSTR").value, manager) : V.coerced(formatName, "BSTR").value;
  if (computer !== null && !manager.isLocal(computer)) refuse(E.REMOTE_MACHINE_NOT_AVAILABLE);
  const queue = active(name, manager);
  Object.assign(self, { machine: computer, formatName: name, queue, isOutgoing: Boolean(queue.outgoing), isInitialized: true });
}

const of = (get) => (self, args, call) => get(queueOf(self), self, call);
const sequence = (call) => V.object(call.make("MSMQCollection", { items: { SeqID: V.ui8(0), SeqNo: V.i4(0), PrevNo: V.i4(0) } }));

function queueType(queue) {
  return queue.outgoing && /^MULTICAST=/i.test(queue.format) ? MULTICAST : TYPES[queue.kind];
}

function transactionalStatus(queue) {
  if (queue.outgoing) return 2;
  return queue.transactional ? 0 : 1;
}

const common = {
  "method Init": init,
  "get FormatName": (self) => (self.isInitialized ? V.text(self.formatName) : refuse(E.UNINITIALIZED_OBJECT)),
  "get Machine": (self, args, { manager }) => (self.isInitialized ? V.text(self.machine || manager.computer) : refuse(E.UNINITIALIZED_OBJECT)),
  "get MessageCount": of((queue) => V.i4(queue.positions.length)),
  "get ForeignStatus": of((queue) => V.i4(queue.outgoing ? 2 : 1)), // unknown, or not foreign
  "get QueueType": of((queue) => V.i4(queueType(queue))),
  "get IsLocal": of((queue) => V.bool(!queue.outgoing)),
  "get TransactionalStatus": of((queue) => V.i4(transactionalStatus(queue))),
  "get BytesInQueue": of((queue) => V.ui8(queue.totalBytes)),
};

const local = {
  "get JournalMessageCount": of((queue) => V.i4(queue.journal ? queue.journal.positions.length : 0)),
  "get BytesInJournal": of((queue) => V.ui8(queue.journal ? queue.journal.totalBytes : 0)),
  "method EodGetReceiveInfo": of(() => ({ vt: "ARRAY", of: "VARIANT", value: [] })), // nothing was ever transferred to it
};

const outgoing = {
  "get State": of((queue) => V.i4(STATES.indexOf(queue.state || "LOCAL CONNECTION"))),
  "get NextHops": of(() => V.texts([])),
  "method EodGetSendInfo": of((queue, self, call) => {
    const unacknowledged = queue.positions.filter((each) => each.message.transactional).length;
    const items = { EodLastAck: sequence(call), EodLastAckTime: V.i4(0), EodLastAckCount: V.ui4(0), EodFirstNonAck: sequence(call),
      EodLastNonAck: sequence(call), EodNextSeq: sequence(call), EodNoReadCount: V.ui4(0), EodNoAckCount: V.ui4(unacknowledged),
      EodResendTime: V.i4(0), EodResendInterval: V.ui4(0), EodResendCount: V.ui4(0) };
    return V.object(call.make("MSMQCollection", { items }));
  }),
  "method Pause": of((queue) => void (queue.state = "ONHOLD")),
  "method Resume": of((queue) => void (queue.state = queue.state === "ONHOLD" ? "INACTIVE" : queue.state)),
  "method EodResend": of(() => undefined),
};

const [LOCAL, OUTGOING] = ["IMSMQQueueManagement", "IMSMQOutgoingQueueManagement"];
const make = () => ({ machine: null, formatName: null, queue: null, isOutgoing: false, isInitialized: false });

module.exports = {
  // It also is the interface that suits its queue (3.4.3, 3.5.3); the members of both are there before Init, and refuse.
  MSMQManagement: {
    make,
    members: { ...common, ...local, ...outgoing },
    also: (self) => [self.isOutgoing ? OUTGOING : LOCAL],
    late: (self) => (self.isInitialized ? [] : [LOCAL, OUTGOING]),
  },
  MSMQQueueManagement: { make, members: { ...common, ...local } },
  MSMQOutgoingQueueManagement: { make, members: { ...common, ...outgoing } },
};
