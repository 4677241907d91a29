"use strict";
// A driver for mqconform over the queue manager in memory_queue.js: one JSON object a line on stdin and stdout.

const path = require("path");
const { Manager, QueueError, INVALID_HANDLE, CANCELLED, IO_TIMEOUT, NOT_FOUND } = require("./memory_queue.js");

const facets = {}; // declared by hello: facet -> its methods
const methods = Object.create(null); // "queues.create" -> its function
let manager = null;
const ACCEPTS = { // the values that methods accept; a missing list means all values
  message: ["body", "label", "priority", "delivery"],
  properties: [],
  access: ["send", "receive", "peek"],
  share: ["deny_none"],
  format_names: [],
};

// Register a function under a name, so that hello declares only methods that exist.
function method(name, does) {
  const dot = name.indexOf(".");
  const facet = dot < 0 ? "manager" : name.slice(0, dot);
  (facets[facet] = facets[facet] || []).push(name.slice(dot + 1));
  methods[name] = does;
}

const write = (line, then) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...line }) + "\n", then);
const answer = (number, members, status = 0) => write({ id: number, result: { status, ...members } });

method("hello", (number, params) => {
  manager = new Manager(path.join(params.state_dir, "queues.json"));
  const about = { name: "memory", version: "1", profile: "msmq-4.0", computer: "HOST" };
  const newest = params.versions.includes("1.1");
  const more = newest ? { protocol: "1.1", accepts: ACCEPTS } : { protocol: "1.0" };
  answer(number, { ...more, facets, clock: "real", slack_ms: 500, ...about });
});

method("stop", (number) => write({ id: number, result: { status: 0 } }, () => process.exit()));

function handle(line) {
  const { id: number, method: name, params } = JSON.parse(line);
  if (!(name in methods)) return write({ id: number, error: { code: -32601, message: `no method ${name}` } });
  try {
    methods[name](number, params);
  } catch (error) {
    if (!(error instanceof QueueError)) throw error;
    answer(number, {}, error.code);
  }
}

function serve() {
  let rest = "";
  process.stdin.setEncoding("utf8");
  process.stdin.on("data", (chunk) => {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop();
    lines.forEach(handle);
  });
  process.stdin.on("end", () => process.exit());
}

const handles = new Map();

function opened(number) {
  if (!handles.has(number)) throw new QueueError(INVALID_HANDLE);
  return handles.get(number);
}

method("reset", (number) => {
  manager.reset();
  handles.clear();
  answer(number);
});

method("queues.create", (number, params) => answer(number, { format_name: manager.create(params.path_name) }));

method("queues.delete", (number, params) => {
  manager.delete(params.format_name);
  answer(number);
});

method("queues.open", (number, params) => {
  handles.set(number, manager.open(params.format_name, params.access));
  answer(number, { queue: number });
});

method("queues.close", (number, params) => {
  opened(params.queue).close();
  handles.delete(params.queue);
  answer(number);
});

method("messages.send", (number, params) => {
  const message = params.message;
  opened(params.queue).send(message.body, message.label, message.priority, message.delivery === "recoverable");
  answer(number);
});

function read(number, params, takes) {
  const done = (code, message) => {
    settle(number);
    if (code) answer(number, {}, code);
    else answer(number, { message: shown(message) });
  };
  const waits = opened(params.queue).read(takes, done);
  if (waits !== null) wait(number, waits, params.timeout_ms);
}

function shown({ body, label, priority, recoverable }) {
  return { body, label, priority, delivery: recoverable ? "recoverable" : "express" };
}

const waiting = new Map(); // request -> the waiting read, and the timer that ends it

function settle(number) {
  if (waiting.has(number)) clearTimeout(waiting.get(number).timer);
  waiting.delete(number);
}

function wait(number, read, timeoutMs) {
  if (timeoutMs === 0) return read.end(IO_TIMEOUT);
  const due = Math.min(timeoutMs, 0x7fffffff); // the longest time of a timer
  const timer = timeoutMs === 0xffffffff ? undefined : setTimeout(() => read.end(IO_TIMEOUT), due);
  waiting.set(number, { read, timer });
  write({ method: "pending", params: { id: number } });
}

method("messages.receive", (number, params) => read(number, params, true));
method("messages.peek", (number, params) => read(number, params, false));

method("messages.cancel", (number, params) => {
  if (!waiting.has(params.request)) throw new QueueError(NOT_FOUND);
  waiting.get(params.request).read.end(CANCELLED);
  answer(number);
});

serve();
