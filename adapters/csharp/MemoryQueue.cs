// A queue manager in memory, to be replaced by yours. It does not depend on mqconform; Driver.cs drives it.
// It keeps its durable state (queues and recoverable messages) in a file.
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Text.RegularExpressions;

static class Codes // HRESULTs of MS-MQMQ 2.4
{
    public const uint QueueNotFound = 0xC00E0003, QueueExists = 0xC00E0005, InvalidHandle = 0xC00E0007,
        Cancelled = 0xC00E0008, PathName = 0xC00E0014, PropertyValue = 0xC00E0018, IoTimeout = 0xC00E001B,
        FormatName = 0xC00E001E, AccessDenied = 0xC00E0025, QueueDeleted = 0xC00E005A, LabelTooLong = 0xC00E005D,
        NotFound = 0xC0000225;
}

// An operation failed.
sealed class QueueError : Exception
{
    public readonly uint Code;

    public QueueError(uint code) : base(code.ToString("X8")) { Code = code; }
}

sealed class Message
{
    public string Body = "", Label = "";
    public long Priority = 3;
    public bool Recoverable;
}

// Messages in the order of receipt, and the reads that wait for one, oldest first.
sealed class Queue
{
    public readonly string Name;
    public readonly List<Message> Messages = new List<Message>();
    public readonly List<Read> Reads = new List<Read>();
    public bool Deleted;
    readonly Action changed;

    public Queue(string name, Action changed)
    {
        Name = name;
        this.changed = changed;
    }

    public void Put(Message message)
    {
        int place = Messages.FindIndex(each => each.Priority < message.Priority);
        Messages.Insert(place < 0 ? Messages.Count : place, message);
        if (message.Recoverable) changed();
        foreach (Read read in Reads.ToArray())
            if (Messages.Count > 0) read.End(0, Take(read.Takes));
    }

    public Message Take(bool takes)
    {
        Message message = Messages[0];
        if (!takes) return message;
        Messages.RemoveAt(0);
        if (message.Recoverable) changed();
        return message;
    }
}

// A waiting read. It calls `done` once, with an error code or a message.
sealed class Read
{
    public readonly bool Takes;
    readonly Queue queue;
    readonly Action<uint, Message> done;

    public Read(Queue queue, bool takes, Action<uint, Message> done)
    {
        this.queue = queue;
        this.done = done;
        Takes = takes;
        queue.Reads.Add(this);
    }

    public void End(uint code, Message message)
    {
        if (queue.Reads.Remove(this)) done(code, message);
    }
}

// A queue opened for `access`: send, receive or peek.
sealed class Handle
{
    readonly Queue queue;
    readonly string access;
    readonly List<Read> reads = new List<Read>();

    public Handle(Queue queue, string access)
    {
        this.queue = queue;
        this.access = access;
    }

    void Check(params string[] accesses)
    {
        if (queue.Deleted) throw new QueueError(Codes.QueueDeleted);
        if (!accesses.Contains(access)) throw new QueueError(Codes.AccessDenied);
    }

    public void Send(Message message)
    {
        Check("send");
        if (message.Label.Length > 249) throw new QueueError(Codes.LabelTooLong);
        if (message.Label.Contains("\0")) throw new QueueError(Codes.PropertyValue);
        queue.Put(message);
    }

    // Read the first message: now, or later through the waiting read that it returns.
    public Read Read(bool takes, Action<uint, Message> done)
    {
        Check("receive", takes ? "receive" : "peek");
        if (queue.Messages.Count > 0)
        {
            done(0, queue.Take(takes));
            return null;
        }
        var read = new Read(queue, takes, done);
        reads.Add(read);
        return read;
    }

    public void Close()
    {
        foreach (Read read in reads) read.End(Codes.Cancelled, null);
    }
}

// All queues by format name: names are case-insensitive.
sealed class Manager
{
    static readonly Regex PrivateQueue = new Regex(@"^[!-~]+\\private\$\\[!#-*\x2d-:<-\x5b\x5d-\x7f]{1,124}\z",
        RegexOptions.IgnoreCase | RegexOptions.CultureInvariant);
    readonly Dictionary<string, Queue> queues = new Dictionary<string, Queue>(StringComparer.OrdinalIgnoreCase);
    readonly string file;

    public Manager(string file)
    {
        this.file = file;
        if (!File.Exists(file)) return;
        foreach (List<object> kept in ((List<object>)Json.Parse(File.ReadAllText(file))).Cast<List<object>>())
        {
            var queue = Add((string)kept[0]);
            foreach (List<object> one in kept.Skip(1).Cast<List<object>>())
                queue.Messages.Add(new Message
                {
                    Body = (string)one[0], Label = (string)one[1], Priority = (long)one[2], Recoverable = true,
                });
        }
    }

    void Save()
    {
        var kept = new List<object>();
        foreach (Queue queue in queues.Values)
        {
            var one = new List<object> { queue.Name };
            foreach (Message each in queue.Messages.Where(each => each.Recoverable))
                one.Add(new List<object> { each.Body, each.Label, each.Priority });
            kept.Add(one);
        }
        File.WriteAllText(file + ".new", Json.Write(kept));
        if (File.Exists(file)) File.Replace(file + ".new", file, null);
        else File.Move(file + ".new", file);
    }

    Queue Add(string name)
    {
        return queues[name] = new Queue(name, Save);
    }

    public string Create(string pathName)
    {
        string name = "DIRECT=OS:" + pathName;
        if (!PrivateQueue.IsMatch(pathName)) throw new QueueError(Codes.PathName);
        if (queues.ContainsKey(name)) throw new QueueError(Codes.QueueExists);
        Add(name);
        Save();
        return name;
    }

    Queue Find(string name)
    {
        bool direct = name.StartsWith("DIRECT=OS:", StringComparison.OrdinalIgnoreCase);
        if (!direct || !PrivateQueue.IsMatch(name.Substring(10))) throw new QueueError(Codes.FormatName);
        if (!queues.ContainsKey(name)) throw new QueueError(Codes.QueueNotFound);
        return queues[name];
    }

    public Handle Open(string name, string access)
    {
        return new Handle(Find(name), access);
    }

    public void Delete(string name)
    {
        Forget(Find(name));
        Save();
    }

    public void Reset()
    {
        foreach (Queue queue in queues.Values.ToArray()) Forget(queue);
        Save();
    }

    void Forget(Queue queue)
    {
        queues.Remove(queue.Name);
        queue.Deleted = true;
        foreach (Read read in queue.Reads.ToArray()) read.End(Codes.QueueDeleted, null);
    }
}
