//! A driver for mqconform over the queue manager in queue_manager.rs: one JSON object a line on stdin and stdout.
//! Calls of this queue manager block, so each read that may wait has a thread of its own.

mod json;
mod queue_manager;

use std::io::{self, BufRead, Write};
use std::process;
use std::sync::Arc;
use std::thread;

use json::{object, texts, Json};
use queue_manager::{Code, Kind, Message, QueueManager, INVALID_HANDLE};

/// The methods that this driver offers, by facet.
const FACETS: [(&str, &[&str]); 4] = [
    ("manager", &["hello", "reset", "stop"]),
    ("queues", &["create", "delete", "open", "close"]),
    ("cursors", &["open", "close"]),
    (
        "messages",
        &["send", "receive", "peek", "peek_next", "cancel"],
    ),
];

/// Threads answer at the same time: the lock of stdout keeps their lines apart.
fn write(line: &Json) {
    let mut output = io::stdout().lock();
    let done = writeln!(output, "{line}").and_then(|()| output.flush());
    if done.is_err() {
        process::exit(1); // mqconform does not listen any more
    }
}

fn answer(id: &Json, status: Code, mut result: Json) {
    if let Json::Object(members) = &mut result {
        members.push(("status".to_string(), Json::from(status)));
    }
    write(&object([
        ("jsonrpc", "2.0".into()),
        ("id", id.clone()),
        ("result", result),
    ]));
}

/// What a method answers: members beside the status, or the code of a failure.
type Answer = Result<Json, Code>;

fn answer_with(id: &Json, result: Answer) {
    match result {
        Ok(members) => answer(id, 0, members),
        Err(code) => answer(id, code, object([])),
    }
}

fn hello() -> Answer {
    let facets = FACETS
        .iter()
        .map(|(facet, methods)| (facet.to_string(), texts(methods)))
        .collect();
    let accepts = object([
        // the values that methods accept; a missing list means all values
        ("message", texts(&["body", "label", "priority"])),
        ("properties", texts(&[])),
        ("access", texts(&["send", "receive", "peek"])),
        ("share", texts(&["deny_none"])),
        ("format_names", texts(&[])),
    ]);
    Ok(object([
        ("protocol", "1.1".into()),
        ("name", "memory".into()),
        ("version", "1".into()),
        ("profile", "msmq-4.0".into()),
        ("computer", "HOST".into()),
        ("facets", Json::Object(facets)),
        ("accepts", accepts),
        ("clock", "real".into()),
        ("slack_ms", 500.into()),
    ]))
}

/// A harness may send any text or number as a handle: what cannot be one is refused.
fn handle(value: &Json) -> Result<u64, Code> {
    value
        .number()
        .filter(|number| number.fract() == 0.0)
        .map(|number| number as u64)
        .ok_or(INVALID_HANDLE)
}

fn send(manager: &QueueManager, params: &Json) -> Answer {
    let message = params.member("message");
    let priority = message.member("priority").number().unwrap_or(3.0) as u32;
    let (body, label) = (
        message.member("body").string(),
        message.member("label").text(),
    );
    manager.send(handle(params.member("queue"))?, body, label, priority)?;
    Ok(object([]))
}

fn shown(message: Message) -> Json {
    let label = Json::Text(message.label);
    let body = Json::from(message.body.as_str());
    object([(
        "message",
        object([
            ("body", body),
            ("label", label),
            ("priority", message.priority.into()),
        ]),
    )])
}

/// The call blocks if there is no message, and the driver must go on reading requests: a later send may bring the
/// message. So the call has a thread, which answers when the call returns. Without a time-out it cannot block.
fn read(manager: &Arc<QueueManager>, kind: Kind, id: &Json, params: &Json) -> Result<(), Code> {
    let queue = handle(params.member("queue"))?;
    let cursor = match params.member("cursor") {
        Json::Null => None,
        value => Some(handle(value)?),
    };
    let timeout_ms = params.member("timeout_ms").number().unwrap_or(0.0) as u32;
    let (manager, id) = (Arc::clone(manager), id.clone());
    let call = move || {
        let number = id.number().unwrap_or(0.0) as u64;
        let result = manager.read(kind, queue, cursor, timeout_ms, number, || pending(&id));
        answer_with(&id, result.map(shown));
    };
    if timeout_ms == 0 {
        call();
    } else {
        thread::spawn(call);
    }
    Ok(())
}

/// The queue manager says that a read is in line. If your API has no such sign, leave this out: a timer would guess.
fn pending(id: &Json) {
    let params = object([("id", id.clone())]);
    write(&object([
        ("jsonrpc", "2.0".into()),
        ("method", "pending".into()),
        ("params", params),
    ]));
}

/// Does what a request says. Returns None for a read, which answers itself.
fn perform(
    manager: &Arc<QueueManager>,
    method: &str,
    id: &Json,
    params: &Json,
) -> Result<Option<Json>, Code> {
    let format_name = params.member("format_name").string();
    let queue = handle(params.member("queue"));
    match method {
        "reset" => manager.reset(),
        "queues.create" => {
            let made = manager.create(&params.member("path_name").string())?;
            return Ok(Some(object([("format_name", made.as_str().into())])));
        }
        "queues.delete" => manager.delete(&format_name)?,
        "queues.open" => {
            let opened = manager.open(&format_name, &params.member("access").string())?;
            return Ok(Some(object([("queue", Json::Number(opened as f64))])));
        }
        "queues.close" => manager.close(queue?)?,
        "cursors.open" => {
            let opened = manager.open_cursor(queue?)?;
            return Ok(Some(object([("cursor", Json::Number(opened as f64))])));
        }
        "cursors.close" => manager.close_cursor(handle(params.member("cursor"))?)?,
        "messages.send" => return send(manager, params).map(Some),
        "messages.receive" => return read(manager, Kind::Receive, id, params).map(|()| None),
        "messages.peek" => return read(manager, Kind::Peek, id, params).map(|()| None),
        "messages.peek_next" => return read(manager, Kind::PeekNext, id, params).map(|()| None),
        "messages.cancel" => {
            manager.cancel(params.member("request").number().unwrap_or(0.0) as u64)?
        }
        _ => unreachable!("offered, but not performed: {method}"),
    }
    Ok(Some(object([])))
}

fn offers(method: &str) -> bool {
    let (facet, name) = method.split_once('.').unwrap_or(("manager", method));
    FACETS
        .iter()
        .any(|(each, methods)| *each == facet && methods.contains(&name))
}

fn main() {
    let mut manager = None;
    for line in io::stdin().lock().lines() {
        let request = line
            .ok()
            .and_then(|line| Json::parse(&line))
            .expect("each line is a request");
        let (id, method, params) = (
            request.member("id"),
            request.member("method").string(),
            request.member("params"),
        );
        match method.as_str() {
            "hello" => {
                manager = Some(Arc::new(QueueManager::new(
                    &params.member("state_dir").string(),
                )));
                answer_with(id, hello());
            }
            "stop" => {
                answer(id, 0, object([]));
                return;
            }
            _ if offers(&method) => {
                let manager = manager.as_ref().expect("hello is the first request");
                match perform(manager, &method, id, params) {
                    Ok(None) => {}
                    Ok(Some(members)) => answer(id, 0, members),
                    Err(code) => answer(id, code, object([])),
                }
            }
            _ => {
                let error = object([
                    ("code", Json::Number(-32601.0)),
                    ("message", "no such method".into()),
                ]);
                write(&object([
                    ("jsonrpc", "2.0".into()),
                    ("id", id.clone()),
                    ("error", error),
                ]));
            }
        }
    }
}
