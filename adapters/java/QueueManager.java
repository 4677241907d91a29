// A queue manager in memory, to be replaced by yours. It does not depend on mqconform; Driver.java drives it.
// Its reads block: a thread that finds no message waits in Handle.await until another thread ends its read.
// It keeps its durable state, the names of the queues, in a file. Messages are lost when it ends.
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.regex.Pattern;

final class Codes { // HRESULTs of MS-MQMQ 2.4
    static final long QUEUE_NOT_FOUND = 0xC00E0003L, QUEUE_EXISTS = 0xC00E0005L, INVALID_HANDLE = 0xC00E0007L,
        CANCELLED = 0xC00E0008L, PATH_NAME = 0xC00E0014L, PROPERTY_VALUE = 0xC00E0018L, IO_TIMEOUT = 0xC00E001BL,
        ILLEGAL_CURSOR_ACTION = 0xC00E001CL, ALREADY_RECEIVED = 0xC00E001DL, FORMAT_NAME = 0xC00E001EL,
        ACCESS_DENIED = 0xC00E0025L, QUEUE_DELETED = 0xC00E005AL, LABEL_TOO_LONG = 0xC00E005DL,
        MESSAGE_NOT_FOUND = 0xC00E0088L, NOT_FOUND = 0xC0000225L;
}

// An operation failed.
final class QueueError extends RuntimeException {
    final long code;

    QueueError(long code) {
        super(Long.toHexString(code));
        this.code = code;
    }
}

final class Message {
    final String body, label;
    final int priority;
    long place; // in its queue: a smaller number is nearer to the front

    Message(String body, String label, int priority) {
        this.body = body;
        this.label = label;
        this.priority = priority;
    }
}

enum Kind { RECEIVE, PEEK, PEEK_NEXT }

// A read that waits. Whoever ends it gives it a code, or a message, and wakes its thread.
final class Read {
    final long call; // the caller's name for it
    final Queue queue;
    final Handle handle;
    final Cursor cursor;
    final boolean takes;
    final Condition wakeUp;
    boolean ended;
    long code;
    Message message;

    Read(long call, Handle handle, Cursor cursor, boolean takes, Condition wakeUp) {
        this.call = call;
        this.queue = handle.queue;
        this.handle = handle;
        this.cursor = cursor;
        this.takes = takes;
        this.wakeUp = wakeUp;
        queue.line.add(this);
        if (cursor != null) cursor.state = Cursor.State.WAITING;
    }

    void end(long code, Message message) {
        queue.line.remove(this);
        ended = true;
        this.code = code;
        this.message = message;
        if (cursor != null && code == 0) cursor.standAt(message, takes);
        if (cursor != null && code != 0) cursor.standAtEnd();
        wakeUp.signal();
    }
}

// Messages in the order of receipt, and the line of reads that wait for one, oldest first.
final class Queue {
    final String pathName;
    final List<Message> messages = new ArrayList<>();
    final List<Read> line = new ArrayList<>();
    boolean deleted;

    Queue(String pathName) {
        this.pathName = pathName;
    }

    // The new message goes to the reads in line, in their order, until one takes it.
    void put(Message message) {
        int index = 0;
        while (index < messages.size() && messages.get(index).place < message.place) index++;
        messages.add(index, message);
        for (Read read : new ArrayList<>(line)) {
            read.end(0, message);
            if (!read.takes) continue;
            messages.remove(message);
            return;
        }
    }

    // The first message behind a place, or null.
    Message behind(long place) {
        for (Message message : messages) if (message.place > place) return message;
        return null;
    }

    void endReads(long code) {
        for (Read read : new ArrayList<>(line)) read.end(code, null);
    }
}

// A place in a queue. UNREAD: its next read looks behind the place. READ: it stands at a message that it has peeked.
final class Cursor {
    enum State { UNREAD, READ, WAITING }

    static final long START = -1, END = Long.MAX_VALUE;
    final Handle handle;
    State state = State.UNREAD;
    boolean closed;
    private long place = START;
    private Message message;

    Cursor(Handle handle) {
        this.handle = handle;
    }

    // The message to read, or null if the read has to wait.
    Message find(Kind kind) {
        if (state == State.WAITING) throw new QueueError(Codes.ILLEGAL_CURSOR_ACTION);
        if (state == State.UNREAD && kind == Kind.PEEK_NEXT) throw new QueueError(Codes.ILLEGAL_CURSOR_ACTION);
        if (state == State.UNREAD || kind == Kind.PEEK_NEXT) return handle.queue.behind(place);
        if (!handle.queue.messages.contains(message)) throw new QueueError(Codes.ALREADY_RECEIVED);
        return message;
    }

    void standAt(Message message, boolean takes) {
        this.message = message;
        place = message.place;
        state = takes ? State.UNREAD : State.READ;
    }

    void standAtEnd() {
        place = END;
        state = State.UNREAD;
    }
}

// A queue opened for `access`: send, receive or peek. Any thread may use it.
final class Handle {
    final Queue queue;
    private final QueueManager manager;
    private final String access;
    private boolean closed;

    Handle(QueueManager manager, Queue queue, String access) {
        this.manager = manager;
        this.queue = queue;
        this.access = access;
    }

    private void check(String... allowed) {
        if (closed) throw new QueueError(Codes.INVALID_HANDLE);
        if (queue.deleted) throw new QueueError(Codes.QUEUE_DELETED);
        if (!List.of(allowed).contains(access)) throw new QueueError(Codes.ACCESS_DENIED);
    }

    private void check(Cursor cursor) {
        if (cursor.closed || cursor.handle != this) throw new QueueError(Codes.INVALID_HANDLE);
    }

    void send(Message message) {
        manager.lock.lock();
        try {
            check("send");
            if (message.label.length() > 249) throw new QueueError(Codes.LABEL_TOO_LONG);
            if (message.label.indexOf('\0') >= 0) throw new QueueError(Codes.PROPERTY_VALUE);
            message.place = manager.nextPlace(message.priority);
            queue.put(message);
        } finally {
            manager.lock.unlock();
        }
    }

    // Blocks until there is a message, until the time is over, or until somebody cancels the call, closes the handle or
    // the cursor, or deletes the queue. cursor: null for none. waits: called if the read has to wait, once it is in line.
    Message read(Kind kind, Cursor cursor, long timeoutMs, long call, Runnable waits) throws InterruptedException {
        boolean takes = kind == Kind.RECEIVE;
        manager.lock.lock();
        try {
            check("receive", takes ? "receive" : "peek");
            if (cursor != null) check(cursor);
            Message found = cursor == null ? queue.behind(Cursor.START) : cursor.find(kind);
            if (found == null && timeoutMs == 0 && takes && cursor != null) throw new QueueError(Codes.MESSAGE_NOT_FOUND);
            if (found == null) return await(new Read(call, this, cursor, takes, manager.lock.newCondition()), timeoutMs, waits);
            if (cursor != null) cursor.standAt(found, takes);
            if (takes) queue.messages.remove(found);
            return found;
        } finally {
            manager.lock.unlock();
        }
    }

    // The calling thread waits here. `await` lets go of the lock meanwhile, and has it again when it returns.
    private Message await(Read read, long timeoutMs, Runnable waits) throws InterruptedException {
        long due = System.nanoTime() + timeoutMs * 1_000_000;
        if (timeoutMs > 0) waits.run();
        while (!read.ended) { // a thread may also wake for no reason: it looks again
            long left = due - System.nanoTime();
            if (timeoutMs == QueueManager.INFINITE) read.wakeUp.await();
            else if (left > 0) read.wakeUp.awaitNanos(left);
            else read.end(Codes.IO_TIMEOUT, null);
        }
        if (read.code != 0) throw new QueueError(read.code);
        return read.message;
    }

    Cursor openCursor() {
        manager.lock.lock();
        try {
            check("receive", "peek");
            return new Cursor(this);
        } finally {
            manager.lock.unlock();
        }
    }

    void closeCursor(Cursor cursor) {
        manager.lock.lock();
        try {
            if (closed) throw new QueueError(Codes.INVALID_HANDLE);
            check(cursor);
            cursor.closed = true;
            for (Read read : new ArrayList<>(queue.line)) if (read.cursor == cursor) read.end(Codes.CANCELLED, null);
        } finally {
            manager.lock.unlock();
        }
    }

    void close() {
        manager.lock.lock();
        try {
            if (closed) throw new QueueError(Codes.INVALID_HANDLE);
            closed = true;
            for (Read read : new ArrayList<>(queue.line)) if (read.handle == this) read.end(Codes.CANCELLED, null);
        } finally {
            manager.lock.unlock();
        }
    }
}

// All queues. One lock guards them and everything in them.
final class QueueManager {
    static final long INFINITE = 0xFFFFFFFFL; // a time-out that never ends
    private static final String DIRECT = "DIRECT=OS:";
    private static final Pattern PRIVATE_QUEUE =
        Pattern.compile("[!-~]+\\\\private\\$\\\\[!#-*\\x2d-:<-\\x5b\\x5d-\\x7f]{1,124}", Pattern.CASE_INSENSITIVE);
    final ReentrantLock lock = new ReentrantLock();
    private final Map<String, Queue> queues = new TreeMap<>(String.CASE_INSENSITIVE_ORDER); // by path name
    private final Path file;
    private long sent;

    QueueManager(Path file) throws IOException {
        this.file = file;
        if (!Files.exists(file)) return;
        for (String pathName : Files.readAllLines(file)) queues.put(pathName, new Queue(pathName));
    }

    private void save() throws IOException {
        List<String> names = new ArrayList<>();
        for (Queue queue : queues.values()) names.add(queue.pathName);
        Path fresh = file.resolveSibling("queues.new");
        Files.write(fresh, names);
        Files.move(fresh, file, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
    }

    // Higher priorities are nearer to the front; of one priority, the first that was sent.
    long nextPlace(int priority) {
        return (7L - priority << 48) + sent++;
    }

    String create(String pathName) throws IOException {
        lock.lock();
        try {
            if (!PRIVATE_QUEUE.matcher(pathName).matches()) throw new QueueError(Codes.PATH_NAME);
            if (queues.containsKey(pathName)) throw new QueueError(Codes.QUEUE_EXISTS);
            queues.put(pathName, new Queue(pathName));
            save();
            return DIRECT + pathName;
        } finally {
            lock.unlock();
        }
    }

    private Queue find(String formatName) {
        if (!formatName.regionMatches(true, 0, DIRECT, 0, DIRECT.length())) throw new QueueError(Codes.FORMAT_NAME);
        String pathName = formatName.substring(DIRECT.length());
        if (!PRIVATE_QUEUE.matcher(pathName).matches()) throw new QueueError(Codes.FORMAT_NAME);
        if (!queues.containsKey(pathName)) throw new QueueError(Codes.QUEUE_NOT_FOUND);
        return queues.get(pathName);
    }

    Handle open(String formatName, String access) {
        lock.lock();
        try {
            return new Handle(this, find(formatName), access);
        } finally {
            lock.unlock();
        }
    }

    void delete(String formatName) throws IOException {
        lock.lock();
        try {
            remove(find(formatName));
            save();
        } finally {
            lock.unlock();
        }
    }

    void reset() throws IOException {
        lock.lock();
        try {
            for (Queue queue : new ArrayList<>(queues.values())) remove(queue);
            save();
        } finally {
            lock.unlock();
        }
    }

    private void remove(Queue queue) {
        queues.remove(queue.pathName);
        queue.deleted = true;
        queue.endReads(Codes.QUEUE_DELETED);
    }

    // Ends the read that waits for this call.
    void cancel(long call) {
        lock.lock();
        try {
            for (Queue queue : queues.values())
                for (Read read : queue.line)
                    if (read.call == call) {
                        read.end(Codes.CANCELLED, null);
                        return;
                    }
            throw new QueueError(Codes.NOT_FOUND);
        } finally {
            lock.unlock();
        }
    }
}
