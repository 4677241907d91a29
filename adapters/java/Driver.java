// A driver for mqconform over the queue manager in QueueManager.java: one JSON object a line on stdin and stdout.
// Calls of this queue manager block, so each read that may wait has a thread of its own.
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

public final class Driver {
    private interface Does {
        void call(long number, Map<String, Object> params) throws IOException, InterruptedException;
    }

    private static final PrintStream OUTPUT = new PrintStream(System.out, false);
    private static final Map<String, List<String>> FACETS = new HashMap<>(); // declared by hello: facet -> its methods
    private static final Map<String, Does> METHODS = new HashMap<>(); // "queues.create" -> what it does
    private static final Map<String, Object> ACCEPTS = Map.of( // values that methods accept; a missing list means all
        "message", List.of("body", "label", "priority"), "properties", List.of(),
        "access", List.of("send", "receive", "peek"), "share", List.of("deny_none"), "format_names", List.of());
    private static final Map<Object, Handle> HANDLES = new HashMap<>(); // by the number of the request that opened it
    private static final Map<Object, Cursor> CURSORS = new HashMap<>();
    private static QueueManager manager;

    // Registers a method under a name, so that hello declares only methods that exist.
    private static void method(String name, Does does) {
        int dot = name.indexOf('.');
        String facet = dot < 0 ? "manager" : name.substring(0, dot);
        FACETS.computeIfAbsent(facet, key -> new ArrayList<>()).add(name.substring(dot + 1));
        METHODS.put(name, does);
    }

    // Threads answer at the same time: the lock keeps their lines apart.
    private static void write(Map<String, Object> line) {
        Map<String, Object> whole = new HashMap<>(line);
        whole.put("jsonrpc", "2.0");
        synchronized (OUTPUT) {
            OUTPUT.print(Json.write(whole) + "\n");
            OUTPUT.flush();
        }
    }

    private static void answer(long number, long status, Map<String, Object> members) {
        Map<String, Object> result = new HashMap<>(members);
        result.put("status", status);
        write(Map.of("id", number, "result", result));
    }

    private static void answer(long number) {
        answer(number, 0, Map.of());
    }

    private static void hello(long number, Map<String, Object> params) throws IOException {
        manager = new QueueManager(Path.of((String) params.get("state_dir"), "queues.txt"));
        answer(number, 0, Map.of("protocol", "1.1", "name", "memory", "version", "1", "profile", "msmq-4.0",
            "computer", "HOST", "facets", FACETS, "accepts", ACCEPTS, "clock", "real", "slack_ms", 500));
    }

    // A harness may send any text or number as a handle: unknown ones are refused.
    private static <T> T opened(Map<Object, T> all, Object handle) {
        T found = all.get(handle);
        if (found == null) throw new QueueError(Codes.INVALID_HANDLE);
        return found;
    }

    private static Handle queue(Map<String, Object> params) {
        return opened(HANDLES, params.get("queue"));
    }

    private static void send(long number, Map<String, Object> params) {
        Map<?, ?> given = (Map<?, ?>) params.get("message");
        Object body = given.get("body"), label = given.get("label"), priority = given.get("priority");
        queue(params).send(new Message(body == null ? "" : (String) body, label == null ? "" : (String) label,
            priority == null ? 3 : ((Long) priority).intValue()));
        answer(number);
    }

    // The call blocks if there is no message, and the driver must go on reading requests: a later send may bring the
    // message. So the call has a thread, which answers when the call returns. Without a time-out it cannot block.
    private static void read(Kind kind, long number, Map<String, Object> params) {
        Handle queue = queue(params);
        Cursor cursor = params.get("cursor") == null ? null : opened(CURSORS, params.get("cursor"));
        long timeoutMs = (Long) params.get("timeout_ms");
        Runnable call = () -> {
            try {
                Message message = queue.read(kind, cursor, timeoutMs, number, () -> pending(number));
                answer(number, 0, Map.of("message",
                    Map.of("body", message.body, "label", message.label, "priority", message.priority)));
            } catch (QueueError error) {
                answer(number, error.code, Map.of());
            } catch (InterruptedException error) {
                throw new IllegalStateException(error);
            }
        };
        if (timeoutMs == 0) {
            call.run();
            return;
        }
        Thread thread = new Thread(call);
        thread.setDaemon(true); // a read that waits does not keep the driver alive
        thread.start();
    }

    // The queue manager says that a read is in line. If your API has no such sign, leave `pending` out: a timer would guess.
    private static void pending(long number) {
        write(Map.of("method", "pending", "params", Map.of("id", number)));
    }

    private static void offer() {
        method("hello", Driver::hello);
        method("stop", (number, params) -> {
            answer(number);
            System.exit(0);
        });
        method("reset", (number, params) -> {
            manager.reset();
            HANDLES.clear();
            CURSORS.clear();
            answer(number);
        });
        method("queues.create", (number, params) ->
            answer(number, 0, Map.of("format_name", manager.create((String) params.get("path_name")))));
        method("queues.delete", (number, params) -> {
            manager.delete((String) params.get("format_name"));
            answer(number);
        });
        method("queues.open", (number, params) -> {
            HANDLES.put(number, manager.open((String) params.get("format_name"), (String) params.get("access")));
            answer(number, 0, Map.of("queue", number));
        });
        method("queues.close", (number, params) -> {
            queue(params).close();
            answer(number);
        });
        method("cursors.open", (number, params) -> {
            CURSORS.put(number, queue(params).openCursor());
            answer(number, 0, Map.of("cursor", number));
        });
        method("cursors.close", (number, params) -> {
            Cursor cursor = opened(CURSORS, params.get("cursor"));
            cursor.handle.closeCursor(cursor);
            answer(number);
        });
        method("messages.send", Driver::send);
        method("messages.receive", (number, params) -> read(Kind.RECEIVE, number, params));
        method("messages.peek", (number, params) -> read(Kind.PEEK, number, params));
        method("messages.peek_next", (number, params) -> read(Kind.PEEK_NEXT, number, params));
        method("messages.cancel", (number, params) -> {
            manager.cancel((Long) params.get("request"));
            answer(number);
        });
    }

    @SuppressWarnings("unchecked")
    public static void main(String[] arguments) throws IOException, InterruptedException {
        offer();
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        String line;
        while ((line = input.readLine()) != null) {
            Map<String, Object> request = (Map<String, Object>) Json.parse(line);
            long number = (Long) request.get("id");
            Does does = METHODS.get((String) request.get("method"));
            if (does == null) {
                write(Map.of("id", number, "error", Map.of("code", -32601, "message", "no such method")));
                continue;
            }
            try {
                does.call(number, (Map<String, Object>) request.get("params"));
            } catch (QueueError error) {
                answer(number, error.code, Map.of());
            }
        }
    }
}
