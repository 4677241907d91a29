// A small object model in the place of MSMQ's, for the driver of adapters/activex. FAKE_MISTAKE names a planted mistake:
// label-cut or created-twice. FAKE_FILLED names a queue of the computer that has a message at the start, FAKE_EVENTS=posted
// has events delivered by window messages, as MSMQ's are.
using System;
using System.Collections.Generic;
using System.Runtime.InteropServices;
using System.Runtime.InteropServices.ComTypes;
using System.Threading;

static class World
{
    public const int NotFound = unchecked((int)0xC00E0003), Exists = unchecked((int)0xC00E0005);
    public const int StaleHandle = unchecked((int)0xC00E0056), Timeout = unchecked((int)0xC00E001B);
    public static readonly Dictionary<string, Stored> Queues = new Dictionary<string, Stored>(StringComparer.OrdinalIgnoreCase);
    public const string Computer = @"DIRECT=OS:.\SYSTEM$;"; // its queues, which no program makes
    static readonly string mistake = Environment.GetEnvironmentVariable("FAKE_MISTAKE");

    static World()
    {
        foreach (string name in new[] { "JOURNAL", "DEADLETTER", "DEADXACT" }) Queues[Computer + name] = new Stored();
        string filled = Environment.GetEnvironmentVariable("FAKE_FILLED");
        if (filled != null) Queues[Computer + filled].Put(new MSMQMessage());
    }

    public static bool Planted(string name) { return mistake == name; }

    public static Exception Code(int code) { return new COMException("0x" + code.ToString("x8"), code); }
}

sealed class Stored
{
    public string Label = "";
    public readonly List<MSMQMessage> Messages = new List<MSMQMessage>();
    public event Action<MSMQQueue> Arrived;

    public void Put(MSMQMessage message)
    {
        lock (Messages)
        {
            Messages.Add(message);
            Monitor.PulseAll(Messages);
        }
        Action<MSMQQueue> told = Arrived;
        if (told != null) told(null);
    }
}

[Guid("d7d6e07b-dccd-11d0-aa4b-0060970debae")]
public interface IMSMQQueueInfo
{
    string PathName { get; set; }
    void Delete();
}

[Guid("fd174a80-89cf-11d2-b0f2-00e02c074f6b")]
public interface IMSMQQueueInfo2
{
    string PathName { get; set; }
    void Delete();
}

[Guid("eba96b21-2168-11d3-898c-00e02c074f6b")]
public interface IMSMQQueueInfo4
{
    string PathName { get; set; }
    string Label { get; set; }
    void Create([Optional] object IsTransactional, [Optional] object IsWorldReadable);
    void Delete();
    MSMQQueue Open(int Access, int ShareMode);
    void Refresh();
}

[Guid("d7d6e07c-dccd-11d0-aa4b-0060970debae")]
public class MSMQQueueInfo : IMSMQQueueInfo4, IMSMQQueueInfo2, IMSMQQueueInfo, ITyped
{
    string label = "";

    public string PathName { get; set; }
    public string FormatName { get; set; }

    public string Label
    {
        get { return label; }
        set { label = World.Planted("label-cut") && !string.IsNullOrEmpty(value) ? value.Substring(1) : value; }
    }

    public void Create([Optional] object IsTransactional, [Optional] object IsWorldReadable)
    {
        if (string.IsNullOrEmpty(PathName)) throw World.Code(unchecked((int)0xC00E0014));
        lock (World.Queues)
        {
            if (World.Queues.ContainsKey(PathName))
            {
                if (World.Planted("created-twice")) return;
                throw World.Code(World.Exists);
            }
            World.Queues[PathName] = new Stored { Label = label };
        }
    }

    public void Delete()
    {
        lock (World.Queues)
            if (!World.Queues.Remove(PathName ?? "")) throw World.Code(World.NotFound);
    }

    internal Stored Found()
    {
        Stored found;
        lock (World.Queues)
            if (!World.Queues.TryGetValue(PathName ?? FormatName ?? "", out found)) throw World.Code(World.NotFound);
        return found;
    }

    public MSMQQueue Open(int Access, int ShareMode) { return new MSMQQueue(this, Found(), Access); }

    public void Refresh()
    {
        string kept = Found().Label;
        label = kept;
    }

    public void GetTypeInfoCount(out uint count) { count = 1; }

    public void GetTypeInfo(uint index, uint lcid, out ITypeInfo info)
    {
        info = new FakeLibrary(typeof(IMSMQQueueInfo4), typeof(MQACCESS), typeof(IMSMQQueueInfo2), typeof(IMSMQQueueInfo)).Info(0);
    }
}

public enum MQACCESS { MQ_RECEIVE_ACCESS = 1, MQ_SEND_ACCESS = 2, MQ_PEEK_ACCESS = 32 }

public class MSMQQueue
{
    readonly MSMQQueueInfo info;
    internal readonly Stored Stored;
    bool open = true;

    internal MSMQQueue(MSMQQueueInfo info, Stored stored, int access)
    {
        this.info = info;
        Stored = stored;
        Access = access;
    }

    public int Access { get; private set; }
    public MSMQQueueInfo QueueInfo { get { return info; } }
    public bool IsOpen2 { get { return open; } }

    public void Close()
    {
        lock (Stored.Messages)
        {
            open = false;
            Monitor.PulseAll(Stored.Messages);
        }
    }

    public void Purge()
    {
        lock (Stored.Messages) Stored.Messages.Clear();
    }

    public MSMQMessage Peek([Optional] object WantDestinationQueue, [Optional] object WantBody, [Optional] object ReceiveTimeout)
    {
        lock (Stored.Messages) return Stored.Messages.Count > 0 ? Stored.Messages[0] : null;
    }

    public MSMQMessage Receive([Optional] object Transaction, [Optional] object WantDestinationQueue,
        [Optional] object WantBody, [Optional] object ReceiveTimeout, [Optional] object WantConnectorType)
    {
        var until = DateTime.MaxValue;
        if (ReceiveTimeout is int) until = DateTime.UtcNow.AddMilliseconds((int)ReceiveTimeout);
        lock (Stored.Messages)
            while (true)
            {
                if (!open) throw World.Code(StaleOr());
                if (Stored.Messages.Count > 0)
                {
                    MSMQMessage first = Stored.Messages[0];
                    Stored.Messages.RemoveAt(0);
                    return first;
                }
                TimeSpan left = until - DateTime.UtcNow;
                if (left <= TimeSpan.Zero) return null;
                Monitor.Wait(Stored.Messages, left < TimeSpan.FromHours(1) ? left : TimeSpan.FromHours(1));
            }
    }

    static int StaleOr() { return unchecked((int)0xC00E0008); }

    public void EnableNotification(MSMQEvent Event, [Optional] object Cursor, [Optional] object ReceiveTimeout)
    {
        Action<MSMQQueue> once = null;
        once = delegate
        {
            Stored.Arrived -= once;
            Event.Raise(this);
        };
        Stored.Arrived += once;
    }
}

public class MSMQMessage
{
    public MSMQMessage()
    {
        Label = "";
        Body = "";
        Priority = 3;
    }

    public string Label { get; set; }
    public object Body { get; set; }
    public int Priority { get; set; }

    public void Send(object DestinationQueue, [Optional] object Transaction)
    {
        ((MSMQQueue)DestinationQueue).Stored.Put(new MSMQMessage { Label = Label, Body = Body, Priority = Priority });
    }
}

public class MSMQEvent : IConnectionPointContainer, IConnectionPoint
{
    static readonly Guid Events = new Guid("d7d6e078-dccd-11d0-aa4b-0060970debae");
    readonly Dictionary<int, object> sinks = new Dictionary<int, object>();
    int last;

    delegate void Delivery();
    static readonly List<Delivery> posted = new List<Delivery>(); // kept: native code has them

    [DllImport("user32.dll")]
    static extern void PostDelivery(Delivery delivery);

    internal void Raise(MSMQQueue queue)
    {
        if (Environment.GetEnvironmentVariable("FAKE_EVENTS") != "posted")
        {
            Deliver(queue);
            return;
        }
        posted.Add(() => Deliver(queue));
        PostDelivery(posted[posted.Count - 1]);
    }

    void Deliver(MSMQQueue queue)
    {
        object[] all;
        lock (sinks) all = new List<object>(sinks.Values).ToArray();
        foreach (object sink in all) ((IArrivals)sink).Arrived(queue, 0);
    }

    public void FindConnectionPoint(ref Guid iid, out IConnectionPoint point)
    {
        if (iid != Events) throw World.Code(unchecked((int)0x80040200)); // CONNECT_E_NOCONNECTION
        point = this;
    }

    public void Advise(object sink, out int cookie)
    {
        if (sink == null) throw World.Code(unchecked((int)0x80004003)); // E_POINTER
        if (!(sink is IArrivals)) throw World.Code(unchecked((int)0x80040202)); // CONNECT_E_CANNOTCONNECT
        lock (sinks) sinks[cookie = ++last] = sink;
    }

    public void Unadvise(int cookie)
    {
        lock (sinks)
            if (!sinks.Remove(cookie)) throw World.Code(unchecked((int)0x80040200));
    }

    public void EnumConnectionPoints(out IEnumConnectionPoints all) { throw new NotImplementedException(); }
    public void GetConnectionInterface(out Guid iid) { iid = Events; }
    public void GetConnectionPointContainer(out IConnectionPointContainer container) { container = this; }
    public void EnumConnections(out IEnumConnections all) { throw new NotImplementedException(); }
}

// Not of MSMQ: what goes through the driver, and comes back.
public class Echo
{
    public object Value { get; set; }
    public object Same(object value) { return value; }
    public object Anything() { return null; }
    public string Text() { return null; }
    public MSMQQueue Queue() { return null; }
    public void Nothing() { }
    public object Missed([Optional] object value) { return value is System.Reflection.Missing ? "left out" : "given"; }
    public void Fail(int code) { throw World.Code(code); }
    public void NotThere() { throw new NotImplementedException(); }
    public void Refuse() { throw new ArgumentException(); }
    public void Hang() { Thread.Sleep(Timeout.Infinite); }
    public int[] Numbers() { return new[] { 1, 2 }; }
    public object[] Mixed() { return new object[] { 1, "two", null }; }
    public string[] Texts() { return new[] { "a", null }; }
}
