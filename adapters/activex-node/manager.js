"use strict";
// A queue manager in memory, of its own: queues by name, open queues, transactions, journals and dead letters. It has no
// network and an empty directory. Written from MS-MQDMPR 3.1.7.

const crypto = require("crypto");

const { Clock } = require("./clock.js");
const { E, refuse } = require("./errors.js");
const names = require("./names.js");
const { Queue, INFINITE } = require("./queue_store.js");

const SYSTEM = ["JOURNAL", "DEADLETTER", "DEADXACT"];
const ACCESS = { RECEIVE: 1, SEND: 2, PEEK: 0x20, ADMIN: 0x80 };
const ACCESSES = [1, 2, 0x20, 0x81, 0xa0];
// The class of the acknowledgment that tells what became of a message, and the bit of Ack that asks for it.
const REPORTS = { arrived: [0x02, 0x01], received: [0x4000, 0x02], expired: [0xc002, 0x08], purged: [0xc001, 0x08],
  deleted: [0xc000, 0x08] };

const defaults = () => ({ label: "", type: names.NULL_GUID, journaling: false, quota: INFINITE, journalQuota: INFINITE,
  authentication: false, privacy: 1, transactional: false, multicast: null, basePriority: 0, worldReadable: false });

class Manager {
  constructor(computer) {
    Object.assign(this, { computer, clock: new Clock(), number: 0, messages: 0, handles: 0, sequence: 0, connected: true });
    this.guid = crypto.createHash("md5").update(computer).digest("hex").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
    this.reset();
  }

  reset() {
    this.queues = new Map(); // path in small letters -> queue
    this.outgoing = new Map(); // format name in small letters -> queue
    this.transactions = new Set();
    this.system = Object.fromEntries(SYSTEM.map((each) => [each, this.make({ path: `${this.computer}\\SYSTEM$;${each}`, kind: "system" })]));
    this.clock.timers = [];
    this.connected = true;
  }

  nextNumber() {
    return ++this.number;
  }

  make(properties) {
    const now = this.clock.seconds();
    return new Queue(this, { ...defaults(), created: now, modified: now, guid: crypto.randomUUID(), number: this.nextNumber(), ...properties });
  }

  isLocal(computer) {
    return [".", "localhost", "127.0.0.1", this.computer.toLowerCase()].includes(computer.toLowerCase());
  }

  create(pathName, properties) {
    const parsed = names.path(pathName);
    if (!parsed || !this.isLocal(parsed.computer)) refuse(E.ILLEGAL_QUEUE_PATHNAME);
    if (!parsed.isPrivate) refuse(E.NO_DS);
    const path = `${this.computer}\\private$\\${parsed.name}`;
    if (this.queues.has(path.toLowerCase())) refuse(E.QUEUE_EXISTS);
    const queue = this.make({ ...properties, path, kind: "private" });
    queue.journal = this.make({ path: `${path};JOURNAL`, kind: "system" });
    this.queues.set(path.toLowerCase(), queue);
    return queue;
  }

  delete(queue) {
    for (const position of [...queue.positions]) queue.remove(position, "deleted");
    queue.deleted = true;
    this.queues.delete(queue.path.toLowerCase());
    for (const descriptor of queue.descriptors) for (const reader of [...descriptor.readers]) reader.end(E.QUEUE_NOT_AVAILABLE);
  }

  // The local queue of one element of a format name; null where there is none.
  find(element) {
    if (element.kind === "machine") return element.parts[0].toLowerCase() === this.guid && element.special ? this.system[element.special] : null;
    if (element.kind === "private") {
      const number = parseInt(element.parts[1], 16);
      const queue = [...this.queues.values()].find((each) => each.number === number);
      if (!queue || element.parts[0].toLowerCase() !== this.guid) return null;
      return element.parts[2] ? queue.journal : queue;
    }
    if (element.kind !== "direct" || !this.isLocal(element.address)) return null;
    if (element.system) return this.system[element.special];
    const queue = this.queues.get(`${this.computer}\\${element.isPrivate ? "private$\\" : ""}${element.name}`.toLowerCase());
    if (!queue || !element.suffix) return queue || null;
    return /^journal$/i.test(element.suffix) ? queue.journal : null;
  }

  // True if the queue of this element would be on this computer.
  belongsHere(element) {
    if (element.kind === "private" || element.kind === "machine") return element.parts[0].toLowerCase() === this.guid;
    return element.kind === "direct" && this.isLocal(element.address);
  }

  // The only queue of a format name: refuses many, and those that cannot be looked up.
  single(formatName) {
    const elements = names.format(formatName);
    if (!elements) refuse(E.ILLEGAL_FORMATNAME);
    if (elements.length > 1 || ["http", "multicast", "list"].includes(elements[0].kind)) refuse(E.UNSUPPORTED_FORMATNAME_OPERATION);
    if (elements[0].kind === "public") refuse(E.NO_DS);
    if (!this.belongsHere(elements[0])) refuse(E.UNSUPPORTED_FORMATNAME_OPERATION);
    return { element: elements[0], queue: this.find(elements[0]) || refuse(E.QUEUE_NOT_FOUND) };
  }

  outgoingOf(formatName) {
    const key = formatName.toLowerCase();
    if (!this.outgoing.has(key)) this.outgoing.set(key, this.make({ path: null, format: formatName, kind: "outgoing", outgoing: true, state: "INACTIVE" }));
    return this.outgoing.get(key);
  }

  open(formatName, access, share) {
    const elements = names.format(formatName);
    if (!elements) refuse(E.ILLEGAL_FORMATNAME);
    if (!ACCESSES.includes(access) || share < 0 || share > 1) refuse(E.UNSUPPORTED_ACCESS_MODE);
    const sends = access === ACCESS.SEND;
    if (sends && share !== 0) refuse(E.UNSUPPORTED_ACCESS_MODE);
    const many = elements.length > 1;
    if (!sends && (many || ["http", "multicast", "list"].includes(elements[0].kind))) refuse(E.UNSUPPORTED_FORMATNAME_OPERATION);
    const targets = elements.map((each, place) => this.target(each, formatName.split(",")[place].trim(), access));
    if (!many) this.checkSharing(targets[0], access, share);
    const descriptor = { handle: ++this.handles, access, share, format: formatName, queue: targets[0], targets, many, readers: [] };
    for (const queue of new Set(targets)) queue.descriptors.push(descriptor);
    return descriptor;
  }

  target(element, formatName, access) {
    if (access & ACCESS.ADMIN) return this.outgoing.get(formatName.toLowerCase()) || refuse(E.QUEUE_NOT_FOUND);
    const readOnly = element.special || /^journal$/i.test(element.suffix || "") || (element.kind === "private" && element.parts[2]);
    if (readOnly && access === ACCESS.SEND) refuse(E.UNSUPPORTED_FORMATNAME_OPERATION);
    const queue = this.find(element);
    if (queue) return queue;
    if (access !== ACCESS.SEND || this.belongsHere(element)) refuse(E.QUEUE_NOT_FOUND);
    if (element.kind === "public" || element.kind === "list") refuse(E.UNSUPPORTED_FORMATNAME_OPERATION);
    return this.outgoingOf(formatName);
  }

  // MS-MQDMPR 3.1.7.1.5.
  checkSharing(queue, access, share) {
    const has = (shares, accesses) => queue.descriptors.some((each) => each.share === shares && accesses.includes(each.access));
    const receives = access === ACCESS.RECEIVE || access === 0x81;
    if (has(1, [1, 0x81])) {
      if (share === 1 || receives) refuse(E.SHARING_VIOLATION);
    } else if (has(1, [0x20, 0xa0])) {
      if (receives) refuse(E.SHARING_VIOLATION);
    } else if (has(0, [1, 0x81]) && share === 1) {
      refuse(E.SHARING_VIOLATION);
    }
  }

  close(descriptor) {
    for (const reader of [...descriptor.readers]) reader.end(E.OPERATION_CANCELLED);
    for (const queue of descriptor.targets) queue.descriptors = queue.descriptors.filter((each) => each !== descriptor);
  }

  // All open queues of this handle; there is one or none.
  opened(handle) {
    const all = [...this.queues.values(), ...this.outgoing.values()].flatMap((each) => each.descriptors);
    return all.find((each) => each.handle === handle) || null;
  }

  begin() {
    const transaction = { operations: [], ended: false, guid: crypto.randomUUID() };
    this.transactions.add(transaction);
    return transaction;
  }

  commit(transaction) {
    this.end(transaction);
    const sent = transaction.operations.filter((each) => each.kind === "enqueue");
    sent.forEach(({ position }, place) => {
      position.message.firstInTransaction = place === 0;
      position.message.lastInTransaction = place === sent.length - 1;
    });
    for (const { kind, position } of transaction.operations) {
      if (kind === "dequeue") position.queue.remove(position, position.state === "purge" ? "purged" : "received");
      else this.arrive(position.queue, position.message, () => position.queue.unlock(position));
    }
  }

  abort(transaction) {
    this.end(transaction);
    for (const { kind, position } of transaction.operations) {
      if (kind === "dequeue") position.queue.unlock(position);
      else position.queue.remove(position, null);
    }
  }

  end(transaction) {
    transaction.ended = true;
    this.transactions.delete(transaction);
  }

  lookupOf(message, number) {
    // MS-MQDMPR 3.1.1.12: the identifier tells the relative position, whatever the priority.
    return (BigInt(7 - message.priority) << 56n) | BigInt(number);
  }

  // Enqueue to an open queue; refuses where a quota does not allow it.
  send(descriptor, message, transaction) {
    for (const queue of descriptor.targets) {
      if (queue.deleted) refuse(E.QUEUE_NOT_AVAILABLE);
      if (queue.quota !== INFINITE && queue.totalBytes + message.size > queue.quota * 1024) refuse(E.INSUFFICIENT_RESOURCES);
      if (!queue.outgoing && queue.transactional !== Boolean(message.transactional)) refuse(E.TRANSACTION_USAGE);
    }
    for (const queue of descriptor.targets) {
      const copy = { ...message, destination: descriptor.many ? descriptor.format : message.destination };
      if (message.transactional) copy.sequence = ++this.sequence;
      if (transaction) queue.put(copy, transaction);
      else this.arrive(queue, copy, () => queue.put(copy, null));
    }
  }

  arrive(queue, message, then) {
    if (!queue.outgoing && message.journal & 2) this.system.JOURNAL.put({ ...message, timeToBeReceived: INFINITE }, null);
    then();
    if (!queue.outgoing) this.report(message, "arrived");
  }

  // A message has left a queue: journals, dead letters and acknowledgments.
  left(queue, message, reason) {
    const kept = { ...message, timeToBeReceived: INFINITE };
    if (reason === "received" && queue.journaling && queue.journal) queue.journal.put(kept, null);
    const dies = reason === "expired" || reason === "purged" || reason === "deleted";
    if (dies && message.journal & 1) this.system[message.transactional ? "DEADXACT" : "DEADLETTER"].put(kept, null);
    this.report(message, reason);
  }

  report(message, reason) {
    const [messageClass, bit] = REPORTS[reason] || [];
    if (!message.adminQueue || !((message.acknowledge || 0) & bit)) return;
    const element = (names.format(message.adminQueue) || [])[0];
    const queue = element && this.find(element);
    if (!queue) return;
    queue.put({ ...message, class: messageClass, correlation: message.id, id: this.messageId(), body: { vt: "EMPTY" }, acknowledge: 0,
      journal: 0, adminQueue: null, timeToBeReceived: INFINITE, transactional: false, sequence: null, size: 0 }, null);
  }

  guidBytes() {
    const raw = Buffer.from(this.guid.replace(/-/g, ""), "hex");
    return Buffer.concat([raw.subarray(0, 4).reverse(), raw.subarray(4, 6).reverse(), raw.subarray(6, 8).reverse(), raw.subarray(8)]);
  }

  // An OBJECTID (MS-MQMQ 2.2.8): this computer, and a number.
  objectId(number) {
    const ordinal = Buffer.alloc(4);
    ordinal.writeUInt32LE(number);
    return Buffer.concat([this.guidBytes(), ordinal]);
  }

  messageId() {
    return this.objectId(++this.messages);
  }
}

module.exports = { Manager, ACCESS, INFINITE, defaults };
