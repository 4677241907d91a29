// Calls that send, and calls that read: at once, by cursor or by lookup identifier, waiting or not.
using System;
using System.Collections.Generic;
using System.Messaging;
using System.Threading;
using Members = System.Collections.Generic.Dictionary<string, object>;

sealed class Reads
{
    const long Infinite = 0xFFFFFFFF; // timeout_ms that waits without end
    public const int BlockedAfterMs = 100; // a read that has not come back by then waits; the API does not say
    readonly Options options;
    readonly Facets facets;
    readonly Queues queues;
    readonly Cursors cursors;
    readonly Transactions transactions;
    readonly Messages messages;
    readonly Dictionary<long, Waiting> waiting = new Dictionary<long, Waiting>();

    public Reads(Facets facets, Queues queues, Cursors cursors, Transactions transactions, Messages messages,
        Options options)
    {
        this.options = options;
        this.facets = facets;
        this.queues = queues;
        this.cursors = cursors;
        this.transactions = transactions;
        this.messages = messages;
    }

    // A read under way. Reader: the object to close so that it ends, null where there is none.
    sealed class Waiting
    {
        public Request Request;
        public string Queue;
        public MessageQueue Reader;
    }

    public Members Send(Request request)
    {
        OpenQueue open = queues.Known(request.Handle("queue"));
        MessageQueueTransaction transaction = transactions.Of(request);
        Message message = messages.Build(request.Get<Members>("message"));
        lock (open.Sending)
        {
            if (transaction == null) open.Queue.Send(message);
            else open.Queue.Send(message, transaction);
        }
        return messages.Sent(message);
    }

    public Members Receive(Request request)
    {
        if (request.Has("cursor")) return ByCursor(request, (cursor, wait) => cursor.Remove(wait, transactions.Of(request)));
        MessageQueueTransaction transaction = transactions.Of(request);
        return Read(request, (queue, wait) => transaction == null ? queue.Receive(wait) : queue.Receive(wait, transaction));
    }

    public Members Peek(Request request)
    {
        if (request.Has("cursor")) return ByCursor(request, (cursor, wait) => cursor.Peek(wait));
        return Read(request, (queue, wait) => queue.Peek(wait));
    }

    public Members PeekNext(Request request) { return ByCursor(request, (cursor, wait) => cursor.PeekNext(wait)); }

    public Members PeekByLookup(Request request)
    {
        MessageQueue queue = queues.Known(request.Handle("queue")).Queue;
        return Told(facets.Lookups.Peek(queue, request.Get<string>("action"), Number(request)));
    }

    public Members ReceiveByLookup(Request request)
    {
        MessageQueue queue = queues.Known(request.Handle("queue")).Queue;
        MessageQueueTransaction transaction = transactions.Of(request);
        return Told(facets.Lookups.Receive(queue, request.Get<string>("action"), Number(request), transaction));
    }

    static ulong Number(Request request) { return ulong.Parse(request.Get<string>("lookup_identifier")); }

    Members ByCursor(Request request, Func<Cursor, TimeSpan, Message> take)
    {
        OpenQueue open = queues.Known(request.Handle("queue"));
        string handle = request.Handle("cursor");
        Cursor cursor = cursors.Known(handle);
        if (!open.Cursors.Contains(handle)) throw Refused.NoHandle("cursor of this queue", handle);
        return Wait(request, null, wait => take(cursor, wait));
    }

    Members Read(Request request, Func<MessageQueue, TimeSpan, Message> take)
    {
        OpenQueue open = queues.Known(request.Handle("queue"));
        // A read that can be cancelled alone has an object of its own: closing it ends this read and no other.
        bool own = facets.Handles && !open.Alone && request.Get<long>("timeout_ms") > 0;
        MessageQueue reader = own ? queues.Again(open) : open.Queue;
        try
        {
            return Wait(request, own ? reader : null, wait => take(reader, wait));
        }
        finally
        {
            if (own) reader.Dispose();
        }
    }

    Members Wait(Request request, MessageQueue reader, Func<TimeSpan, Message> take)
    {
        long timeout = request.Get<long>("timeout_ms");
        TimeSpan span = timeout == Infinite ? MessageQueue.InfiniteTimeout : TimeSpan.FromMilliseconds(timeout);
        if (timeout == 0) return Told(take(TimeSpan.FromMilliseconds(options.NoWaitMs)));
        lock (waiting)
            waiting[request.Id] = new Waiting { Request = request, Queue = request.Handle("queue"), Reader = reader };
        try
        {
            using (new Timer(delegate { request.Pending(); }, null, BlockedAfterMs, Timeout.Infinite))
                return Told(take(span));
        }
        finally
        {
            lock (waiting) waiting.Remove(request.Id);
        }
    }

    Members Told(Message message)
    {
        // The documentation has no null; Mono's code has.
        if (message == null) throw Refused.Denied("NoMessage", "the call came back without a message");
        return new Members { { "message", messages.Show(message) } };
    }

    public Members Cancel(Request request)
    {
        long id = request.Get<long>("request");
        Waiting read;
        lock (waiting)
            if (!waiting.TryGetValue(id, out read)) throw Refused.NoHandle("waiting read", id);
        if (read.Reader == null) throw Refused.NotExpressible("cancel a read by cursor, or of a queue nobody else may read");
        read.Reader.Close();
        return new Members();
    }

    public Members Close(Request request)
    {
        string handle = request.Handle("queue");
        queues.Close(handle); // its cursors too, if the library does so
        lock (waiting)
            foreach (Waiting read in waiting.Values)
                if (read.Queue == handle && read.Reader != null) read.Reader.Close();
        return new Members();
    }

    // Reads that wait on queues which are to go are answered: nobody knows when the library would let go of them.
    public void Reset()
    {
        lock (waiting)
        {
            foreach (Waiting read in waiting.Values)
            {
                if (read.Reader != null) read.Reader.Close();
                else Renewal.Want(); // it goes on waiting, and would take a message
                lock (read.Request) read.Request.Answer(Errors.Result(Refused.Denied("Reset", "the namespace was reset")));
            }
            waiting.Clear();
        }
    }
}
