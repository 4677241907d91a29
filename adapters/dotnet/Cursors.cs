// Cursors, as far as enumerators are such: MoveNext goes on, Current shows, RemoveCurrent takes. Only one that has not
// begun is begun here; where it stands afterwards is the library's doing.
using System;
using System.Messaging;
using Members = System.Collections.Generic.Dictionary<string, object>;

// One enumerator. Its calls come one after the other: the API promises nothing else.
sealed class Cursor
{
    readonly MessageEnumerator enumerator;
    readonly bool endsAtEnd; // .NET's enumerator begins again after MoveNext found nothing, as no cursor does
    readonly bool takesTransactions;
    readonly object using_ = new object();
    bool begun; // MoveNext has succeeded: until then there is no current message to ask for
    bool ended;

    public Cursor(MessageEnumerator enumerator, Facets facets)
    {
        this.enumerator = enumerator;
        endsAtEnd = facets.Handles;
        takesTransactions = facets.Handles; // Mono's RemoveCurrent throws NotSupportedException then
    }

    public Message Peek(TimeSpan wait)
    {
        lock (using_)
        {
            if (!begun) Move(wait);
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
            // Nothing may have been done where the call turns out not to be there: so it is looked at before.
            if (transaction != null && !takesTransactions)
                throw Refused.NotExpressible("remove at a cursor within a transaction");
            if (!begun) Move(wait);
            return transaction == null
                ? enumerator.RemoveCurrent(wait)
                : enumerator.RemoveCurrent(wait, transaction);
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
        begun = true;
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
        string handle = opened.Add(new Cursor(enumerator, facets));
        lock (open.Cursors) open.Cursors.Add(handle);
        return new Members { { "cursor", handle } };
    }

    public Members Close(Request request)
    {
        opened.Take(request.Handle("cursor")).Close();
        return new Members();
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
