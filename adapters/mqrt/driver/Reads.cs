// Calls that send, move and read: at once, by cursor or by lookup identifier, waiting or not.
using System;
using System.Collections.Generic;
using System.Runtime.InteropServices;
using Members = System.Collections.Generic.Dictionary<string, object>;

sealed class Reads
{
    const uint ReceiveAction = 0, PeekCurrent = 0x80000000, PeekNextAction = 0x80000001;
    const uint LookupPeek = 0x40000010, LookupReceive = 0x40000020;
    const int OverlappedBytes = 40; // of 64 bits; of 32 bits they are 20
    const long NotFound = 0xC0000225; // STATUS_NOT_FOUND
    static readonly Dictionary<string, uint> steps = new Dictionary<string, uint>
    {
        { "current", 0 }, { "next", 1 }, { "previous", 2 }, { "first", 4 }, { "last", 8 },
    };
    readonly Queues queues;
    readonly Messages messages;
    readonly Dictionary<long, Waiting> waiting = new Dictionary<long, Waiting>();
    readonly HashSet<long> transactional = new HashSet<long>(); // reads that hold their threads

    // A read that waits: its queue and its OVERLAPPED, both the API's.
    sealed class Waiting
    {
        public IntPtr Queue, Overlapped;
    }

    public Reads(Queues queues)
    {
        this.queues = queues;
        messages = new Messages(() => queues.Names);
    }

    public Members Send(Request request)
    {
        IntPtr queue = queues.Known(request.Handle("queue")), transaction = queues.Transaction(request);
        using (Properties properties = messages.ToSend(request.Get<Members>("message")))
        {
            int status = properties.Cause(Native.MQSendMessage(queue, properties.Structure, transaction));
            return Failed.If(status, status < 0 ? null : messages.Sent(properties));
        }
    }

    public Members Move(Request request)
    {
        IntPtr from = queues.Known(request.Handle("queue")), to = queues.Known(request.Handle("destination"));
        return Failed.If(Native.MQMoveMessage(from, to, Number(request), queues.Transaction(request)));
    }

    static ulong Number(Request request) { return ulong.Parse(request.Get<string>("lookup_identifier")); }

    public Members Receive(Request request) { return Read(request, ReceiveAction); }

    public Members Peek(Request request) { return Read(request, PeekCurrent); }

    public Members PeekNext(Request request) { return Read(request, PeekNextAction); }

    // A read in a transaction holds its thread while it waits, as the API has no other for it: nobody is told that it waits.
    Members Read(Request request, uint action)
    {
        IntPtr queue = queues.Known(request.Handle("queue")), cursor = queues.Cursor(request);
        IntPtr transaction = queues.Transaction(request);
        uint timeout = unchecked((uint)request.Get<long>("timeout_ms"));
        return Tried(action == PeekNextAction ? PeekCurrent : action, action, delegate(uint step, Properties properties)
        {
            if (timeout > 0 && transaction == IntPtr.Zero) return Wait(request, queue, timeout, step, properties, cursor);
            lock (waiting) transactional.Add(request.Id);
            try
            {
                return Native.MQReceiveMessage(queue, timeout, step, properties.Structure, IntPtr.Zero, IntPtr.Zero, cursor,
                    transaction);
            }
            finally
            {
                lock (waiting) transactional.Remove(request.Id);
            }
        });
    }

    public Members PeekByLookup(Request request) { return ByLookup(request, LookupPeek, IntPtr.Zero); }

    public Members ReceiveByLookup(Request request) { return ByLookup(request, LookupReceive, queues.Transaction(request)); }

    Members ByLookup(Request request, uint action, IntPtr transaction)
    {
        IntPtr queue = queues.Known(request.Handle("queue"));
        string step = request.Get<string>("action");
        ulong number = step == "first" || step == "last" ? 0 : Number(request);
        action |= steps[step];
        return Tried(action, action, (again, properties) => Native.MQReceiveMessageByLookupId(
            queue, number, again, properties.Structure, IntPtr.Zero, IntPtr.Zero, transaction));
    }

    // A message that does not fit stays where it is, and the call is made again with more room. again: the action then, as
    // a cursor has gone on already.
    Members Tried(uint again, uint action, Func<uint, Properties, int> call)
    {
        var rooms = new Rooms();
        for (;;)
        {
            using (Properties properties = messages.ToReceive(rooms))
            {
                int status = properties.Cause(call(action, properties));
                if (status >= 0) return Failed.If(status, new Members { { "message", messages.Received(properties) } });
                if (!messages.Enlarge(rooms, properties)) throw new Failed(status);
                action = again;
            }
        }
    }

    // `pending` is told as soon as the API says that the read stands in line.
    int Wait(Request request, IntPtr queue, uint timeout, uint action, Properties properties, IntPtr cursor)
    {
        using (var signal = new Signal())
        {
            IntPtr overlapped = properties.Memory(OverlappedBytes);
            Marshal.Copy(new byte[OverlappedBytes], 0, overlapped, OverlappedBytes);
            Marshal.WriteIntPtr(overlapped, 2 * IntPtr.Size + 8, signal.Handle);
            lock (waiting) waiting[request.Id] = new Waiting { Queue = queue, Overlapped = overlapped };
            try
            {
                int status = Native.MQReceiveMessage(queue, timeout, action, properties.Structure, overlapped, IntPtr.Zero, cursor,
                    IntPtr.Zero);
                if (status != Native.Pending) return status;
                request.Pending();
                signal.Wait();
                return Native.MQGetOverlappedResult(overlapped);
            }
            finally
            {
                lock (waiting) waiting.Remove(request.Id);
            }
        }
    }

    public Members Cancel(Request request)
    {
        long id = request.Get<long>("request");
        lock (waiting)
        {
            Waiting read;
            if (waiting.TryGetValue(id, out read))
            {
                if (Native.CancelIoEx(read.Queue, read.Overlapped) != 0) return new Members();
            }
            else if (transactional.Contains(id)) throw Refused.NotExpressible("cancel a read in a transaction");
        }
        return new Members { { "status", NotFound } };
    }

    // Reads that wait end: before their queues go.
    public void Reset()
    {
        lock (waiting)
            foreach (Waiting read in waiting.Values) Native.CancelIoEx(read.Queue, read.Overlapped);
    }
}
