// Cursors, as far as enumerators are such: MoveNext goes on, Current shows, RemoveCurrent takes.
using System;
using System.Messaging;
using Members = System.Collections.Generic.Dictionary<string, object>;

// One enumerator. Its calls come one after the other: the API promises nothing else.
sealed class Cursor
{
    readonly MessageEnumerator enumerator;
    readonly bool endsAtEnd; // .NET's enumerator begins again after MoveNext found nothing, as no cursor does
    readonly object using_ = new object();
    bool onMessage; // MoveNext has succeeded, and nothing was removed since
    bool begun; // whoever asked has seen a message
    bool ended;

    public Cursor(MessageEnumerator enumerator, bool endsAtEnd)
    {
        this.enumerator = enumerator;
        this.endsAtEnd = endsAtEnd;
    }

    public Message Peek(TimeSpan wait)
    {
        lock (using_)
        {
            if (!onMessage) Move(wait);
            begun = true;
            return enumerator.Current;
        }
    }

    public Message PeekNext(TimeSpan wait)
    {
        lock (using_)
        {
            // MoveNext of a new enumerator shows the first message; there is no call that asks for the one after none.
            if (!begun) throw Refused.NotExpressible("ask for the next message of a cursor that is nowhere");
            Move(wait);
            return enumerator.Current;
        }
    }

    public Message Remove(TimeSpan wait, MessageQueueTransaction transaction)
    {
        lock (using_)
        {
            bool had = begun;
            if (!onMessage) Move(wait);
            try
            {
                Message removed = transaction == null
                    ? enumerator.RemoveCurrent(wait)
                    : enumerator.RemoveCurrent(wait, transaction);
                onMessage = false;
                return removed;
            }
            catch (NotSupportedException)
            {
                begun = had; // whoever asked has seen nothing
                throw;
            }
        }
    }

    void Move(TimeSpan wait)
    {
        if (ended) throw Refused.NotExpressible("go on with a cursor after it found nothing");
        if (!enumerator.MoveNext(wait))
        {
            ended = endsAtEnd;
            throw Refused.Denied("NoMessage", "MoveNext answered false");
        }
        begun = onMessage = true;
    }

    // Not waiting for a call that is under way: closing is what would end it.
    public void Close() { enumerator.Close(); }
}

sealed class Cursors
{
    readonly Facets facets;
    readonly Queues queues;
    readonly Handles<Cursor> opened = new Handles<Cursor>("cursor");

    public Cursors(Facets facets, Queues queues)
    {
        this.facets = facets;
        this.queues = queues;
    }

    public Cursor Known(string handle) { return opened.Known(handle); }

    public Members Open(Request request)
    {
        OpenQueue open = queues.Known(request.Handle("queue"));
#pragma warning disable 612, 618 // the older call, where the newer one is not implemented
        MessageEnumerator enumerator =
            facets.CorrectEnumerator ? open.Queue.GetMessageEnumerator2() : open.Queue.GetMessageEnumerator();
#pragma warning restore 612, 618
        string handle = opened.Add(new Cursor(enumerator, facets.Handles));
        lock (open.Cursors) open.Cursors.Add(handle);
        return new Members { { "cursor", handle } };
    }

    public Members Close(Request request)
    {
        opened.Take(request.Handle("cursor")).Close();
        return new Members();
    }

    // With its queue; it may have been closed before.
    public void Forget(string handle)
    {
        try
        {
            opened.Take(handle).Close();
        }
        catch (Refused) { }
    }

    public void Reset()
    {
        foreach (Cursor cursor in opened.TakeAll())
        {
            try
            {
                cursor.Close();
            }
            catch (Exception e) // whatever the library threw: the queue goes anyway
            {
                Protocol.Log("reset: a cursor is not closed: " + e.Message);
            }
        }
    }
}
