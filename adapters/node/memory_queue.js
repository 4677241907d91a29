"use strict";
// A queue manager in memory, to be replaced by yours. It does not depend on mqconform; driver.js drives it.
// It keeps its durable state (queues and recoverable messages) in a file.

const fs = require("fs");

const [QUEUE_NOT_FOUND, QUEUE_EXISTS, INVALID_HANDLE, CANCELLED] = [0xc00e0003, 0xc00e0005, 0xc00e0007, 0xc00e0008];
const [PATH_NAME, PROPERTY_VALUE, IO_TIMEOUT, FORMAT_NAME] = [0xc00e0014, 0xc00e0018, 0xc00e001b, 0xc00e001e];
const [ACCESS_DENIED, QUEUE_DELETED, LABEL_TOO_LONG, NOT_FOUND] = [0xc00e0025, 0xc00e005a, 0xc00e005d, 0xc0000225];
const PRIVATE_QUEUE = /^[!-~]+\\private\$\\[!#-*\--:<-\[\]-\x7f]{1,124}$/i;

// An operation failed; `code` is an HRESULT of MS-MQMQ 2.4.
class QueueError extends Error {
  constructor(code) {
    super(code.toString(16));
    this.code = code;
  }
}

// Messages in the order of receipt, and the reads that wait for one, oldest first.
class Queue {
  constructor(name, changed, messages = []) {
    Object.assign(this, { name, changed, messages, reads: [], deleted: false });
  }

  put(message) {
    const place = this.messages.findIndex((each) => each.priority < message.priority);
    this.messages.splice(place < 0 ? this.messages.length : place, 0, message);
    if (message.recoverable) this.changed();
    for (const read of [...this.reads]) if (this.messages.length) read.end(0, this.take(read.takes));
  }

  take(takes) {
    const message = this.messages[0];
    if (takes) {
      this.messages.shift();
      if (message.recoverable) this.changed();
    }
    return message;
  }
}

// A waiting read. It calls `done(code, message)` once.
class Read {
  constructor(queue, takes, done) {
    Object.assign(this, { queue, takes, done });
    queue.reads.push(this);
  }

  end(code, message) {
    const place = this.queue.reads.indexOf(this);
    if (place < 0) return;
    this.queue.reads.splice(place, 1);
    this.done(code, message);
  }
}

// A queue opened for `access`: send, receive or peek.
class Handle {
  constructor(queue, access) {
    Object.assign(this, { queue, access, reads: [] });
  }

  check(...accesses) {
    if (this.queue.deleted) throw new QueueError(QUEUE_DELETED);
    if (!accesses.includes(this.access)) throw new QueueError(ACCESS_DENIED);
  }

  send(body = "", label = "", priority = 3, recoverable = false) {
    this.check("send");
    if (label.length > 249) throw new QueueError(LABEL_TOO_LONG);
    if (label.includes("\0")) throw new QueueError(PROPERTY_VALUE);
    this.queue.put({ body, label, priority, recoverable });
  }

  // Read the first message: now, or later through the waiting read that it returns.
  read(takes, done) {
    this.check("receive", ...(takes ? [] : ["peek"]));
    if (this.queue.messages.length) {
      done(0, this.queue.take(takes));
      return null;
    }
    const read = new Read(this.queue, takes, done);
    this.reads.push(read);
    return read;
  }

  close() {
    for (const read of this.reads) read.end(CANCELLED);
  }
}

// All queues, by format name in lower case: names are case-insensitive.
class Manager {
  constructor(file) {
    Object.assign(this, { file, queues: new Map() });
    const kept = fs.existsSync(file) ? JSON.parse(fs.readFileSync(file, "utf8")) : [];
    for (const [name, messages] of kept) this.add(name, messages);
  }

  add(name, messages) {
    this.queues.set(name.toLowerCase(), new Queue(name, () => this.save(), messages));
  }

  save() {
    const kept = [...this.queues.values()].map((each) => [each.name, each.messages.filter((one) => one.recoverable)]);
    fs.writeFileSync(this.file + ".new", JSON.stringify(kept));
    fs.renameSync(this.file + ".new", this.file);
  }

  create(pathName) {
    const name = "DIRECT=OS:" + pathName;
    if (!PRIVATE_QUEUE.test(pathName)) throw new QueueError(PATH_NAME);
    if (this.queues.has(name.toLowerCase())) throw new QueueError(QUEUE_EXISTS);
    this.add(name);
    this.save();
    return name;
  }

  find(name) {
    const direct = name.slice(0, 10).toUpperCase() === "DIRECT=OS:";
    if (!direct || !PRIVATE_QUEUE.test(name.slice(10))) throw new QueueError(FORMAT_NAME);
    if (!this.queues.has(name.toLowerCase())) throw new QueueError(QUEUE_NOT_FOUND);
    return this.queues.get(name.toLowerCase());
  }

  open(name, access) {
    return new Handle(this.find(name), access);
  }

  delete(name) {
    this.forget(this.find(name));
    this.save();
  }

  reset() {
    for (const queue of [...this.queues.values()]) this.forget(queue);
    this.save();
  }

  forget(queue) {
    this.queues.delete(queue.name.toLowerCase());
    queue.deleted = true;
    for (const read of [...queue.reads]) read.end(QUEUE_DELETED);
  }
}

module.exports = { Manager, QueueError, INVALID_HANDLE, CANCELLED, IO_TIMEOUT, NOT_FOUND };
