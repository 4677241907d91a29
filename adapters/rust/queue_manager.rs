//! A queue manager in memory, to be replaced by yours. It does not depend on mqconform; driver.rs drives it.
//! Its reads block: a thread that finds no message waits in QueueManager::wait until another thread ends its read.
//! It keeps its durable state, the names of the queues, in a file. Messages are lost when it ends.

use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use crate::json::Text;

pub type Code = u32; // an HRESULT of MS-MQMQ 2.4: an operation failed

pub const QUEUE_NOT_FOUND: Code = 0xC00E0003;
pub const QUEUE_EXISTS: Code = 0xC00E0005;
pub const INVALID_HANDLE: Code = 0xC00E0007;
pub const CANCELLED: Code = 0xC00E0008;
pub const PATH_NAME: Code = 0xC00E0014;
pub const PROPERTY_VALUE: Code = 0xC00E0018;
pub const IO_TIMEOUT: Code = 0xC00E001B;
pub const ILLEGAL_CURSOR_ACTION: Code = 0xC00E001C;
pub const ALREADY_RECEIVED: Code = 0xC00E001D;
pub const FORMAT_NAME: Code = 0xC00E001E;
pub const ACCESS_DENIED: Code = 0xC00E0025;
pub const QUEUE_DELETED: Code = 0xC00E005A;
pub const LABEL_TOO_LONG: Code = 0xC00E005D;
pub const MESSAGE_NOT_FOUND: Code = 0xC00E0088;
pub const NOT_FOUND: Code = 0xC0000225;

const INFINITE: u32 = u32::MAX; // a time-out that never ends
const START: i64 = -1; // a place in front of every message
const END: i64 = i64::MAX; // a place behind every message
const DIRECT: &str = "DIRECT=OS:";

/// A message. place: in its queue; a smaller number is nearer to the front.
#[derive(Clone)]
pub struct Message {
    pub body: String,
    pub label: Text,
    pub priority: u32,
    place: i64,
}

#[derive(Clone, Copy, PartialEq)]
pub enum Kind {
    Receive,
    Peek,
    PeekNext,
}

/// A read that waits. Whoever ends it takes it out of the line, leaves the result and wakes its thread.
struct Read {
    call: u64, // the caller's name for it
    handle: u64,
    cursor: Option<u64>,
    takes: bool,
    wake_up: Arc<Condvar>,
}

/// Messages in the order of receipt, and the line of reads that wait for one, oldest first.
struct Queue {
    path_name: String,
    messages: Vec<Message>,
    line: Vec<Read>,
    deleted: bool,
}

impl Queue {
    /// Returns the index of the first message behind a place.
    fn behind(&self, place: i64) -> Option<usize> {
        self.messages.iter().position(|each| each.place > place)
    }
}

/// A queue opened for an access: send, receive or peek.
struct Handle {
    queue: u64,
    access: String,
}

#[derive(PartialEq)]
enum CursorState {
    Unread,  // its next read looks behind its place
    Read,    // it stands at a message that it has peeked
    Waiting, // a read waits with it
}

/// A place in a queue.
struct Cursor {
    handle: u64,
    state: CursorState,
    place: i64,
}

impl Cursor {
    fn stand_at(&mut self, place: i64, takes: bool) {
        self.place = place;
        self.state = if takes {
            CursorState::Unread
        } else {
            CursorState::Read
        };
    }

    fn stand_at_end(&mut self) {
        self.place = END;
        self.state = CursorState::Unread;
    }
}

/// What the lock guards. Queues, handles and cursors have numbers; a closed handle or cursor is not there.
#[derive(Default)]
struct State {
    queues: HashMap<u64, Queue>,
    handles: HashMap<u64, Handle>,
    cursors: HashMap<u64, Cursor>,
    results: HashMap<u64, Result<Message, Code>>, // of reads that have ended, by call, until their threads take them
    numbers: u64,
    sent: i64,
}

impl State {
    fn number(&mut self) -> u64 {
        self.numbers += 1;
        self.numbers
    }

    /// Returns the number of the queue of a handle, if the handle allows this.
    fn check(&self, handle: u64, allowed: &[&str]) -> Result<u64, Code> {
        let handle = self.handles.get(&handle).ok_or(INVALID_HANDLE)?;
        if self.queues[&handle.queue].deleted {
            return Err(QUEUE_DELETED);
        }
        if !allowed.contains(&handle.access.as_str()) {
            return Err(ACCESS_DENIED);
        }
        Ok(handle.queue)
    }

    fn queue(&mut self, number: u64) -> &mut Queue {
        self.queues
            .get_mut(&number)
            .expect("a queue is never taken out, only marked as deleted")
    }

    /// Returns the index of the message that a cursor's read gives; None if the read has to wait.
    fn find_with_cursor(
        &self,
        queue: u64,
        cursor: &Cursor,
        kind: Kind,
    ) -> Result<Option<usize>, Code> {
        let queue = &self.queues[&queue];
        match cursor.state {
            CursorState::Waiting => Err(ILLEGAL_CURSOR_ACTION),
            CursorState::Unread if kind == Kind::PeekNext => Err(ILLEGAL_CURSOR_ACTION),
            CursorState::Read if kind != Kind::PeekNext => {
                let found = queue
                    .messages
                    .iter()
                    .position(|each| each.place == cursor.place);
                found.map(Some).ok_or(ALREADY_RECEIVED)
            }
            _ => Ok(queue.behind(cursor.place)),
        }
    }

    /// Gives the message at an index, and takes it out of its queue if the read takes it.
    fn give(&mut self, queue: u64, index: usize, cursor: Option<u64>, takes: bool) -> Message {
        let messages = &mut self.queue(queue).messages;
        let message = if takes {
            messages.remove(index)
        } else {
            messages[index].clone()
        };
        if let Some(cursor) = cursor.and_then(|number| self.cursors.get_mut(&number)) {
            cursor.stand_at(message.place, takes);
        }
        message
    }

    /// The new message goes to the reads in line, in their order, until one takes it.
    fn put(&mut self, number: u64, message: Message) {
        let queue = self.queue(number);
        let index = queue.behind(message.place).unwrap_or(queue.messages.len());
        queue.messages.insert(index, message);
        while !self.queue(number).line.is_empty() {
            let read = self.queue(number).line.remove(0);
            let given = self.give(number, index, read.cursor, read.takes);
            self.results.insert(read.call, Ok(given));
            read.wake_up.notify_one();
            if read.takes {
                return;
            }
        }
    }

    /// Ends the reads of a queue that are meant.
    fn end_reads(&mut self, queue: u64, code: Code, meant: impl Fn(&Read) -> bool) -> bool {
        let line = std::mem::take(&mut self.queue(queue).line);
        let (ended, left): (Vec<Read>, Vec<Read>) = line.into_iter().partition(meant);
        self.queue(queue).line = left;
        for read in &ended {
            if let Some(cursor) = read.cursor.and_then(|number| self.cursors.get_mut(&number)) {
                cursor.stand_at_end();
            }
            self.results.insert(read.call, Err(code));
            read.wake_up.notify_one();
        }
        !ended.is_empty()
    }

    /// Returns the number of a queue. Names are case-insensitive.
    fn named(&self, path_name: &str) -> Option<u64> {
        let mut all = self.queues.iter();
        all.find(|(_, each)| !each.deleted && each.path_name.eq_ignore_ascii_case(path_name))
            .map(|(number, _)| *number)
    }

    fn find(&self, format_name: &str) -> Result<u64, Code> {
        let start = format_name.get(..DIRECT.len()).ok_or(FORMAT_NAME)?;
        let path_name = &format_name[DIRECT.len()..];
        if !start.eq_ignore_ascii_case(DIRECT) || !is_private_queue(path_name) {
            return Err(FORMAT_NAME);
        }
        self.named(path_name).ok_or(QUEUE_NOT_FOUND)
    }

    fn add(&mut self, path_name: &str) {
        let number = self.number();
        let path_name = path_name.to_string();
        self.queues.insert(
            number,
            Queue {
                path_name,
                messages: vec![],
                line: vec![],
                deleted: false,
            },
        );
    }

    fn delete(&mut self, number: u64) {
        self.queue(number).deleted = true;
        self.queue(number).messages.clear();
        self.end_reads(number, QUEUE_DELETED, |_| true);
    }
}

/// COMPUTER\private$\NAME
fn is_private_queue(path_name: &str) -> bool {
    let middle = "\\private$";
    let (head, name) = match path_name.rsplit_once('\\') {
        Some(parts) => parts,
        None => return false,
    };
    let named = !name.is_empty() && name.len() <= 124;
    if !named
        || !name
            .bytes()
            .all(|c| (b'!'..=0x7F).contains(&c) && !b"\"+,;".contains(&c))
    {
        return false;
    }
    let printable = head.bytes().all(|c| c.is_ascii_graphic());
    printable
        && head.len() > middle.len()
        && head[head.len() - middle.len()..].eq_ignore_ascii_case(middle)
}

/// All queues. Any thread may call it.
pub struct QueueManager {
    state: Mutex<State>,
    file: PathBuf,
}

impl QueueManager {
    /// Reads the queues of a folder.
    pub fn new(folder: &str) -> QueueManager {
        let file = PathBuf::from(folder).join("queues.txt");
        let mut state = State::default();
        for path_name in fs::read_to_string(&file).unwrap_or_default().lines() {
            state.add(path_name);
        }
        QueueManager {
            state: Mutex::new(state),
            file,
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state
            .lock()
            .expect("no thread ends while it holds the lock")
    }

    fn save(&self, state: &State) {
        let there = state.queues.values().filter(|queue| !queue.deleted);
        let text: String = there
            .map(|queue| format!("{}\n", queue.path_name))
            .collect();
        let fresh = self.file.with_extension("new");
        fs::write(&fresh, text)
            .and_then(|()| fs::rename(&fresh, &self.file))
            .expect("the folder can be written");
    }

    /// Deletes every queue.
    pub fn reset(&self) {
        let mut state = self.lock();
        let numbers: Vec<u64> = state.queues.keys().copied().collect();
        for number in numbers {
            state.delete(number);
        }
        state.handles.clear();
        state.cursors.clear();
        state.queues.clear();
        self.save(&state);
    }

    /// Makes a queue and returns its format name.
    pub fn create(&self, path_name: &str) -> Result<String, Code> {
        let mut state = self.lock();
        if !is_private_queue(path_name) {
            return Err(PATH_NAME);
        }
        if state.named(path_name).is_some() {
            return Err(QUEUE_EXISTS);
        }
        state.add(path_name);
        self.save(&state);
        Ok(format!("{DIRECT}{path_name}"))
    }

    pub fn delete(&self, format_name: &str) -> Result<(), Code> {
        let mut state = self.lock();
        let number = state.find(format_name)?;
        state.delete(number);
        self.save(&state);
        Ok(())
    }

    /// Opens a queue and returns the handle.
    pub fn open(&self, format_name: &str, access: &str) -> Result<u64, Code> {
        let mut state = self.lock();
        let queue = state.find(format_name)?;
        let handle = state.number();
        state.handles.insert(
            handle,
            Handle {
                queue,
                access: access.to_string(),
            },
        );
        Ok(handle)
    }

    /// Closes a handle and its cursors, and ends the reads that wait with it.
    pub fn close(&self, handle: u64) -> Result<(), Code> {
        let mut state = self.lock();
        let closed = state.handles.remove(&handle).ok_or(INVALID_HANDLE)?;
        state.cursors.retain(|_, cursor| cursor.handle != handle);
        state.end_reads(closed.queue, CANCELLED, |read| read.handle == handle);
        Ok(())
    }

    pub fn send(&self, handle: u64, body: String, label: Text, priority: u32) -> Result<(), Code> {
        let mut state = self.lock();
        let queue = state.check(handle, &["send"])?;
        if label.len() > 249 {
            return Err(LABEL_TOO_LONG);
        }
        if label.contains(&0) {
            return Err(PROPERTY_VALUE);
        }
        // Higher priorities are nearer to the front; of one priority, the first that was sent.
        let place = (7 - i64::from(priority) << 48) + state.sent;
        state.sent += 1;
        state.put(
            queue,
            Message {
                body,
                label,
                priority,
                place,
            },
        );
        Ok(())
    }

    /// Blocks until there is a message, until the time is over, or until somebody cancels the call, closes the handle or
    /// the cursor, or deletes the queue. call: the caller's name for it. in_line: called if the read has to wait, once it
    /// is in line.
    pub fn read(
        &self,
        kind: Kind,
        handle: u64,
        cursor: Option<u64>,
        timeout_ms: u32,
        call: u64,
        in_line: impl Fn(),
    ) -> Result<Message, Code> {
        let takes = kind == Kind::Receive;
        let mut state = self.lock();
        let queue = state.check(
            handle,
            if takes {
                &["receive"]
            } else {
                &["receive", "peek"]
            },
        )?;
        let found = match cursor {
            None => state.queues[&queue].behind(START),
            Some(number) => {
                let cursor = state
                    .cursors
                    .get(&number)
                    .filter(|cursor| cursor.handle == handle)
                    .ok_or(INVALID_HANDLE)?;
                state.find_with_cursor(queue, cursor, kind)?
            }
        };
        if let Some(index) = found {
            return Ok(state.give(queue, index, cursor, takes));
        }
        if timeout_ms == 0 && takes && cursor.is_some() {
            return Err(MESSAGE_NOT_FOUND);
        }
        let wake_up = Arc::new(Condvar::new());
        state.queue(queue).line.push(Read {
            call,
            handle,
            cursor,
            takes,
            wake_up: Arc::clone(&wake_up),
        });
        if let Some(cursor) = cursor.and_then(|number| state.cursors.get_mut(&number)) {
            cursor.state = CursorState::Waiting;
        }
        if timeout_ms > 0 {
            in_line();
        }
        QueueManager::wait(state, queue, timeout_ms, call, &wake_up)
    }

    /// The calling thread waits here. `wait` lets go of the lock meanwhile, and has it again when it returns.
    fn wait(
        mut state: MutexGuard<'_, State>,
        queue: u64,
        timeout_ms: u32,
        call: u64,
        wake_up: &Condvar,
    ) -> Result<Message, Code> {
        let due = Instant::now() + Duration::from_millis(u64::from(timeout_ms));
        loop {
            if let Some(result) = state.results.remove(&call) {
                return result;
            }
            let left = due.saturating_duration_since(Instant::now()); // a thread may also wake for no reason
            if timeout_ms == INFINITE {
                state = wake_up
                    .wait(state)
                    .expect("no thread ends while it holds the lock");
            } else if left.is_zero() {
                state.end_reads(queue, IO_TIMEOUT, |read| read.call == call);
            } else {
                state = wake_up
                    .wait_timeout(state, left)
                    .expect("no thread ends while it holds the lock")
                    .0;
            }
        }
    }

    /// Ends the read that waits for this call.
    pub fn cancel(&self, call: u64) -> Result<(), Code> {
        let mut state = self.lock();
        let numbers: Vec<u64> = state.queues.keys().copied().collect();
        let mut all = numbers.into_iter();
        let ended = all.any(|queue| state.end_reads(queue, CANCELLED, |read| read.call == call));
        ended.then_some(()).ok_or(NOT_FOUND)
    }

    pub fn open_cursor(&self, handle: u64) -> Result<u64, Code> {
        let mut state = self.lock();
        state.check(handle, &["receive", "peek"])?;
        let number = state.number();
        state.cursors.insert(
            number,
            Cursor {
                handle,
                state: CursorState::Unread,
                place: START,
            },
        );
        Ok(number)
    }

    /// Closes a cursor, and ends the reads that wait with it.
    pub fn close_cursor(&self, number: u64) -> Result<(), Code> {
        let mut state = self.lock();
        let cursor = state.cursors.remove(&number).ok_or(INVALID_HANDLE)?;
        let queue = state.handles[&cursor.handle].queue;
        state.end_reads(queue, CANCELLED, |read| read.cursor == Some(number));
        Ok(())
    }
}
