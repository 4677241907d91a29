// The queues facet.
using System;
using System.Collections.Generic;
using System.Messaging;
using Members = System.Collections.Generic.Dictionary<string, object>;

// A queue that was opened, with what ends when it is closed.
sealed class OpenQueue
{
    public readonly MessageQueue Queue;
    public readonly string Own;
    public readonly bool Alone; // opened so that nobody else may read: not even a second object of ours
    public readonly HashSet<string> Cursors = new HashSet<string>();
    public readonly object Sending = new object(); // Send may not be called by two threads at once

    public OpenQueue(MessageQueue queue, string own, bool alone)
    {
        Queue = queue;
        Own = own;
        Alone = alone;
    }
}

sealed class Queues
{
    public static readonly Dictionary<string, QueueAccessMode> Modes = new Dictionary<string, QueueAccessMode>
    {
        { "receive", QueueAccessMode.Receive },
        { "send", QueueAccessMode.Send },
        { "peek", QueueAccessMode.Peek },
        { "receive_admin", QueueAccessMode.ReceiveAndAdmin },
        { "peek_admin", QueueAccessMode.PeekAndAdmin },
    };
    readonly Facets facets;
    readonly Handles<OpenQueue> opened = new Handles<OpenQueue>("queue");
    public Names Names;

    public Queues(Facets facets) { this.facets = facets; }

    public OpenQueue Known(string handle) { return opened.Known(handle); }

    public Members Create(Request request)
    {
        string pathName = request.Get<string>("path_name"), own = Names.OwnPath(pathName);
        var properties = request.Get("properties", new Members());
        bool transactional = false;
        foreach (KeyValuePair<string, object> property in properties)
        {
            if (property.Key == "PROPID_Q_TRANSACTION") transactional = QueuePropertyTable.Flag(property.Value);
            else
            {
                MustHave(property.Key);
                QueuePropertyTable.Express(property.Key, property.Value);
            }
        }
        using (MessageQueue queue = MessageQueue.Create(own, transactional))
        {
            Names.Made(own);
            try
            {
                foreach (KeyValuePair<string, object> property in properties)
                    if (property.Key != "PROPID_Q_TRANSACTION") QueuePropertyTable.Set(queue, property.Key, property.Value);
            }
            catch (Exception refused)
            {
                Remove(own); // the API has no creation with properties that could have been refused as a whole
                throw Refused.NotExpressible("create a queue with properties that it then does not take: " + refused.Message);
            }
        }
        return new Members { { "format_name", Names.FormatOf(pathName) } };
    }

    public Members Delete(Request request)
    {
        Remove(Names.OwnFormat(request.Get<string>("format_name")));
        return new Members();
    }

    void Remove(string own)
    {
        MessageQueue.Delete(own);
        Names.Deleted(own);
    }

    public Members Open(Request request)
    {
        string own = Names.OwnFormat(request.Get<string>("format_name"));
        string access = request.Get<string>("access");
        bool alone = request.Get("share", "deny_none") == "deny_receive";
        QueueAccessMode mode = Mode(access);
        MessageQueue queue = Construct(own, mode, alone);
        try
        {
            if (facets.Handles) GC.KeepAlive(mode == QueueAccessMode.Send ? queue.WriteHandle : queue.ReadHandle);
        }
        catch (Exception)
        {
            queue.Dispose();
            throw;
        }
        Names.Used(own);
        return new Members { { "queue", opened.Add(new OpenQueue(queue, own, alone)) } };
    }

    // A second object on the same queue, whose closing ends nothing but what is read through it.
    public MessageQueue Again(OpenQueue open) { return Construct(open.Own, QueueAccessMode.Receive, false); }

    MessageQueue Construct(string own, QueueAccessMode mode, bool alone)
    {
        var queue = new MessageQueue(own, mode);
        if (alone) queue.DenySharedReceive = true;
        if (facets.ReadFilter) queue.MessageReadPropertyFilter.SetAll();
        return queue;
    }

    static QueueAccessMode Mode(string access)
    {
        QueueAccessMode mode;
        if (Modes.TryGetValue(access, out mode)) return mode;
        throw Refused.NotExpressible("open a queue for " + access);
    }

    public OpenQueue Close(string handle)
    {
        OpenQueue open = opened.Take(handle);
        open.Queue.Close();
        return open;
    }

    public Members Purge(Request request)
    {
        Known(request.Handle("queue")).Queue.Purge();
        return new Members();
    }

    public Members Counts(Request request)
    {
        using (var queue = Construct(Names.OwnFormat(request.Get<string>("format_name")), QueueAccessMode.Peek, false))
            return new Members { { "messages", queue.GetAllMessages().Length } };
    }

    public Members Get(Request request)
    {
        var values = new Members();
        using (var queue = new MessageQueue(Names.OwnFormat(request.Get<string>("format_name"))))
            foreach (object name in request.Get<List<object>>("properties"))
            {
                MustHave((string)name);
                values[(string)name] = QueuePropertyTable.Get(queue, (string)name, Names);
            }
        return new Members { { "properties", values } };
    }

    public Members Set(Request request)
    {
        using (var queue = new MessageQueue(Names.OwnFormat(request.Get<string>("format_name"))))
            foreach (KeyValuePair<string, object> property in request.Get<Members>("properties"))
            {
                MustHave(property.Key);
                QueuePropertyTable.Set(queue, property.Key, property.Value);
            }
        return new Members();
    }

    void MustHave(string property)
    {
        if (!facets.QueueProperties.Contains(property)) throw Refused.NotExpressible("tell or take " + property);
    }

    // Handles and queues are gone. A queue that can't be deleted keeps a name that nobody uses again.
    // empties: the system queues too, though no test may have named them.
    public void Reset(bool empties)
    {
        foreach (OpenQueue open in opened.TakeAll()) open.Queue.Close();
        var all = new HashSet<string>(Names.Forget());
        if (empties) all.UnionWith(Names.SystemPaths);
        foreach (string own in all)
        {
            try
            {
                if (Names.IsSystem(own)) new MessageQueue(own).Purge();
                else MessageQueue.Delete(own);
            }
            catch (Exception e) // whatever the library threw: it may never have come to be
            {
                Protocol.Log("reset: " + own + " is not deleted: " + e.Message);
            }
        }
    }
}
