// The facets of queues, cursors, transactions, management and security.
using System;
using System.Collections.Generic;
using System.Text;
using Members = System.Collections.Generic.Dictionary<string, object>;

// What the API gave for a queue, a cursor or a transaction.
sealed class ApiHandle
{
    public readonly IntPtr Handle;

    public ApiHandle(IntPtr handle) { Handle = handle; }
}

// A property of queues, MS-MQMQ 2.3.1.
sealed class QueueProperty
{
    public readonly uint Identifier;
    public readonly ushort Vt;

    public QueueProperty(uint identifier, ushort vt)
    {
        Identifier = identifier;
        Vt = vt;
    }
}

sealed class Queues
{
    const uint Nobody = 199; // an identifier that no property of queues has: asked for by a name that no property has
    const int FormatNameRoom = 1024;
    const int NotActive = unchecked((int)0xC00E0004); // MQ_ERROR_QUEUE_NOT_ACTIVE
    const string QueueTarget = "QUEUE=", MachineTarget = "MACHINE", SessionTarget = "SESSION=";
    static readonly uint[] countIdentifiers = { 7, 8, 9, 10 }; // MS-MQMQ 2.3.12.7 to 2.3.12.10
    static readonly string[] countNames = { "messages", "bytes", "journal_messages", "journal_bytes" };
    static readonly string[] deadLetters = { @"\SYSTEM$;JOURNAL", @"\SYSTEM$;DEADLETTER", @"\SYSTEM$;DEADXACT" };

    public static readonly Dictionary<string, uint> Access = new Dictionary<string, uint>
    {
        { "receive", 1 }, { "send", 2 }, { "move", 4 }, { "peek", 0x20 }, { "receive_admin", 0x81 }, { "peek_admin", 0xA0 },
    };

    public static readonly Dictionary<string, QueueProperty> Table = new Dictionary<string, QueueProperty>
    {
        { "PROPID_Q_INSTANCE", new QueueProperty(101, Vt.CLSID) },
        { "PROPID_Q_TYPE", new QueueProperty(102, Vt.CLSID) },
        { "PROPID_Q_PATHNAME", new QueueProperty(103, Vt.LPWSTR) },
        { "PROPID_Q_JOURNAL", new QueueProperty(104, Vt.UI1) },
        { "PROPID_Q_QUOTA", new QueueProperty(105, Vt.UI4) },
        { "PROPID_Q_BASEPRIORITY", new QueueProperty(106, Vt.I2) },
        { "PROPID_Q_JOURNAL_QUOTA", new QueueProperty(107, Vt.UI4) },
        { "PROPID_Q_LABEL", new QueueProperty(108, Vt.LPWSTR) },
        { "PROPID_Q_CREATE_TIME", new QueueProperty(109, Vt.I4) },
        { "PROPID_Q_MODIFY_TIME", new QueueProperty(110, Vt.I4) },
        { "PROPID_Q_AUTHENTICATE", new QueueProperty(111, Vt.UI1) },
        { "PROPID_Q_PRIV_LEVEL", new QueueProperty(112, Vt.UI4) },
        { "PROPID_Q_TRANSACTION", new QueueProperty(113, Vt.UI1) },
        { "PROPID_Q_PATHNAME_DNS", new QueueProperty(124, Vt.LPWSTR) },
        { "PROPID_Q_MULTICAST_ADDRESS", new QueueProperty(125, Vt.LPWSTR) },
        { "PROPID_Q_ADS_PATH", new QueueProperty(126, Vt.LPWSTR) },
    };

    readonly Handles<ApiHandle> opened = new Handles<ApiHandle>("queue");
    readonly Handles<ApiHandle> cursors = new Handles<ApiHandle>("cursor");
    readonly Handles<ApiHandle> transactions = new Handles<ApiHandle>("transaction");
    readonly bool deadLettersMayBeLost;
    public Names Names;

    public Queues(bool deadLettersMayBeLost) { this.deadLettersMayBeLost = deadLettersMayBeLost; }

    public IntPtr Known(string handle) { return opened.Known(handle).Handle; }

    // The cursor or transaction of a request; null where it has none.
    public IntPtr Cursor(Request request) { return request.Has("cursor") ? cursors.Known(request.Handle("cursor")).Handle : IntPtr.Zero; }

    public IntPtr Transaction(Request request)
    {
        return request.Has("transaction") ? transactions.Known(request.Handle("transaction")).Handle : IntPtr.Zero;
    }

    public Members Create(Request request)
    {
        string own = Names.Own(request.Get<string>("path_name"));
        using (var properties = new Properties())
        {
            properties.Text(Table["PROPID_Q_PATHNAME"].Identifier, own);
            foreach (KeyValuePair<string, object> each in request.Get("properties", new Members()))
                Put(properties, each.Key, each.Value);
            var formatName = new StringBuilder(FormatNameRoom);
            uint length = FormatNameRoom;
            Members result = Failed.If(properties.Cause(
                Native.MQCreateQueue(IntPtr.Zero, properties.Structure, formatName, ref length)));
            Names.Made("DIRECT=OS:" + own);
            result["format_name"] = Names.Shown(formatName.ToString());
            return result;
        }
    }

    public Members Delete(Request request)
    {
        string own = Names.Own(request.Get<string>("format_name"));
        Members result = Failed.If(Native.MQDeleteQueue(own));
        Names.Deleted(own);
        return result;
    }

    public Members Open(Request request)
    {
        string own = Names.Own(request.Get<string>("format_name")), access = request.Get<string>("access");
        uint share = request.Get("share", "deny_none") == "deny_receive" ? 1u : 0;
        IntPtr handle;
        Failed.If(Native.MQOpenQueue(own, Access[access], share, out handle));
        if (access == "send" && !Names.IsHere(own)) Names.Sent(own);
        return new Members { { "queue", opened.Add(new ApiHandle(handle)) } };
    }

    public Members Close(Request request)
    {
        return Failed.If(Native.MQCloseQueue(opened.Take(request.Handle("queue")).Handle));
    }

    public Members Purge(Request request)
    {
        return Failed.If(Native.MQPurgeQueue(Known(request.Handle("queue"))));
    }

    public Members Get(Request request)
    {
        List<object> names = request.Get<List<object>>("properties");
        using (var properties = new Properties())
        {
            foreach (object name in names) properties.Asked(Identifier((string)name));
            string own = Names.Own(request.Get<string>("format_name"));
            Members result = Failed.If(properties.Cause(Native.MQGetQueueProperties(own, properties.Structure)));
            var values = new Members();
            foreach (object name in names)
            {
                IntPtr at = properties.At(Identifier((string)name));
                values[(string)name] = Variants.Value(at, Names.Shown);
                Variants.Free(at);
            }
            result["properties"] = values;
            return result;
        }
    }

    public Members Set(Request request)
    {
        using (var properties = new Properties())
        {
            foreach (KeyValuePair<string, object> each in request.Get<Members>("properties")) Put(properties, each.Key, each.Value);
            string own = Names.Own(request.Get<string>("format_name"));
            return Failed.If(properties.Cause(Native.MQSetQueueProperties(own, properties.Structure)));
        }
    }

    static uint Identifier(string name)
    {
        QueueProperty property;
        return Table.TryGetValue(name, out property) ? property.Identifier : Nobody;
    }

    // The API has a type for each property: a value of another kind cannot be asked for.
    static void Put(Properties properties, string name, object value)
    {
        QueueProperty property;
        if (!Table.TryGetValue(name, out property)) property = new QueueProperty(Nobody, Vt.UI4);
        Guid guid;
        var text = value as string;
        if (value == null) properties.Number(property.Identifier, Vt.Empty, 0);
        else if (text != null && property.Vt == Vt.LPWSTR) properties.Text(property.Identifier, text);
        else if (property.Vt == Vt.CLSID && Guid.TryParse(text, out guid)) properties.Identifier(property.Identifier, guid);
        else if (value is long && Fits(property.Vt, (long)value)) properties.Number(property.Identifier, property.Vt, (long)value);
        else throw Refused.NotExpressible("set " + name + " to such a value");
    }

    static bool Fits(ushort vt, long value)
    {
        switch (vt)
        {
            case Vt.UI1: return value >= 0 && value <= byte.MaxValue;
            case Vt.I2: return value >= short.MinValue && value <= short.MaxValue;
            case Vt.UI4: return value >= 0 && value <= uint.MaxValue;
            case Vt.I4: return value >= int.MinValue && value <= int.MaxValue;
            default: return false;
        }
    }

    public Members OpenCursor(Request request)
    {
        IntPtr cursor;
        Failed.If(Native.MQCreateCursor(Known(request.Handle("queue")), out cursor));
        return new Members { { "cursor", cursors.Add(new ApiHandle(cursor)) } };
    }

    public Members CloseCursor(Request request)
    {
        return Failed.If(Native.MQCloseCursor(cursors.Take(request.Handle("cursor")).Handle));
    }

    public Members Begin(Request request)
    {
        IntPtr transaction;
        Failed.If(Native.MQBeginTransaction(out transaction));
        return new Members { { "transaction", transactions.Add(new ApiHandle(transaction)) } };
    }

    // The handle stays: whether a second end is refused is the API's matter.
    public Members Commit(Request request)
    {
        return Failed.If(TransactionObject.Commit(transactions.Known(request.Handle("transaction")).Handle));
    }

    public Members Abort(Request request)
    {
        return Failed.If(TransactionObject.Abort(transactions.Known(request.Handle("transaction")).Handle));
    }

    public Members Counts(Request request)
    {
        using (var properties = new Properties())
        {
            foreach (uint each in countIdentifiers) properties.Asked(each);
            string target = QueueTarget + Names.Own(request.Get<string>("format_name"));
            int status = properties.Cause(Native.MQMgmtGetInfo(null, target, properties.Structure));
            var counts = new Members { { "messages", 0L } };
            if (status == NotActive) return counts; // nobody has it open, and it has no message
            Failed.If(status);
            for (int i = 0; i < countNames.Length; i++)
                if (Variants.Type(properties.At(countIdentifiers[i])) > Vt.Null)
                    counts[countNames[i]] = properties.Number(countIdentifiers[i]);
            return counts;
        }
    }

    string Target(Request request)
    {
        var target = request.Get<Members>("target");
        object name;
        target.TryGetValue("format_name", out name);
        string kind = (string)target["type"];
        if (kind == "machine") return MachineTarget;
        return (kind == "queue" ? QueueTarget : SessionTarget) + Names.Own((string)name ?? "");
    }

    public Members GetManagement(Request request)
    {
        List<object> numbers = request.Get<List<object>>("properties");
        using (var properties = new Properties())
        {
            foreach (object number in numbers) properties.Asked(unchecked((uint)(long)number));
            Members result = Failed.If(properties.Cause(Native.MQMgmtGetInfo(null, Target(request), properties.Structure)));
            var values = new List<object>();
            foreach (object number in numbers)
            {
                IntPtr at = properties.At(unchecked((uint)(long)number));
                values.Add(Variants.Typed(at, Names.Shown));
            }
            foreach (object number in new HashSet<object>(numbers)) Variants.Free(properties.At(unchecked((uint)(long)number)));
            result["values"] = values;
            return result;
        }
    }

    public Members Act(Request request)
    {
        return Failed.If(Native.MQMgmtAction(null, Target(request), request.Get<string>("action")));
    }

    string Secured(Request request)
    {
        var target = request.Get<Members>("target");
        if ((string)target["type"] != "queue") throw Refused.NotExpressible("name the security descriptor of the computer");
        return Names.Own((string)target["format_name"]);
    }

    public Members GetSecurity(Request request)
    {
        const int tooSmall = unchecked((int)0xC00E0023); // MQ_ERROR_SECURITY_DESCRIPTOR_TOO_SMALL
        string own = Secured(request);
        uint information = (uint)request.Get<long>("information"), needed;
        bool limited = request.Has("length");
        var descriptor = new byte[limited ? request.Get<long>("length") : 0];
        int status = Native.MQGetQueueSecurity(own, information, descriptor, (uint)descriptor.Length, out needed);
        if (status == tooSmall && !limited)
        {
            descriptor = new byte[needed];
            status = Native.MQGetQueueSecurity(own, information, descriptor, (uint)descriptor.Length, out needed);
        }
        if (status == tooSmall)
            return new Members { { "status", (long)unchecked((uint)status) }, { "length_needed", (long)needed } };
        Failed.If(status);
        Array.Resize(ref descriptor, (int)needed);
        return new Members { { "descriptor", Convert.ToBase64String(descriptor) }, { "length_needed", (long)needed } };
    }

    public Members SetSecurity(Request request)
    {
        byte[] descriptor = Convert.FromBase64String(request.Get<string>("descriptor"));
        if (!IsWhole(descriptor)) throw Refused.NotExpressible("say where the bytes of a descriptor end");
        return Failed.If(Native.MQSetQueueSecurity(Secured(request), (uint)request.Get<long>("information"), descriptor));
    }

    // Whether every part ends within the bytes (MS-DTYP 2.4.6): the API takes no length, and would read on.
    static bool IsWhole(byte[] bytes)
    {
        const int head = 20, firstList = 12; // where SACL and DACL are named, behind owner and group
        if (bytes.Length < head) return false;
        for (int named = 4; named < head; named += 4)
        {
            long at = BitConverter.ToUInt32(bytes, named);
            if (at == 0) continue;
            if (at + 8 > bytes.Length) return false;
            long length = named < firstList ? 8 + 4 * bytes[at + 1] : BitConverter.ToUInt16(bytes, (int)at + 2);
            if (at + length > bytes.Length) return false;
        }
        return true;
    }

    // Who makes these calls: the owner of what is made by them. null where descriptors are not told.
    public string Self()
    {
        const uint owner = 1; // OWNER_SECURITY_INFORMATION
        const int most = 1024;
        string own = Names.Own(@".\private$\self");
        using (var properties = new Properties())
        {
            properties.Text(Table["PROPID_Q_PATHNAME"].Identifier, own);
            var formatName = new StringBuilder(FormatNameRoom);
            uint length = FormatNameRoom, needed;
            if (Native.MQCreateQueue(IntPtr.Zero, properties.Structure, formatName, ref length) < 0) return null;
            own = "DIRECT=OS:" + own;
            Names.Made(own);
            var descriptor = new byte[most];
            int status = Native.MQGetQueueSecurity(own, owner, descriptor, most, out needed);
            if (Native.MQDeleteQueue(own) >= 0) Names.Deleted(own);
            return status < 0 ? null : Sid(descriptor, BitConverter.ToInt32(descriptor, 4));
        }
    }

    // The text of a SID in a descriptor (MS-DTYP 2.4.2.1), which has its authority with the highest byte first.
    static string Sid(byte[] descriptor, int at)
    {
        long authority = 0;
        for (int i = 2; i < 8; i++) authority = authority << 8 | descriptor[at + i];
        string text = "S-" + descriptor[at] + "-" + authority;
        for (int i = 0; i < descriptor[at + 1]; i++) text += "-" + BitConverter.ToUInt32(descriptor, at + 8 + 4 * i);
        return text;
    }

    // Everything that was opened, made or sent is gone. What the queue manager refuses is told and left.
    public void Reset()
    {
        foreach (ApiHandle transaction in transactions.TakeAll())
        {
            TransactionObject.Abort(transaction.Handle); // refused where it has ended
            TransactionObject.Release(transaction.Handle);
        }
        foreach (ApiHandle cursor in cursors.TakeAll()) Native.MQCloseCursor(cursor.Handle);
        foreach (ApiHandle queue in opened.TakeAll()) Native.MQCloseQueue(queue.Handle);
        var queues = new List<string>();
        var emptied = new List<string>();
        Names.Forget(queues, emptied);
        foreach (string own in queues) Log("delete", own, Native.MQDeleteQueue(own)); // with its journal and its subqueues
        if (deadLettersMayBeLost)
            foreach (string each in deadLetters) emptied.Add("DIRECT=OS:" + Names.Computer + each);
        foreach (string own in emptied)
        {
            IntPtr handle;
            Native.MQMgmtAction(null, QueueTarget + own, "RESUME"); // refused where it was not paused
            if (Native.MQOpenQueue(own, Access[Emptying(own)], 0, out handle) < 0) continue;
            Log("empty", own, Native.MQPurgeQueue(handle));
            Native.MQCloseQueue(handle);
        }
    }

    // How a queue is opened to be emptied: an outgoing one as an administrator does.
    static string Emptying(string own)
    {
        return own.IndexOf("SYSTEM$", StringComparison.OrdinalIgnoreCase) >= 0 ? "receive" : "receive_admin";
    }

    static void Log(string what, string own, int status)
    {
        if (status < 0) Protocol.Log("reset: " + what + " " + own + ": 0x" + status.ToString("X8"));
    }
}
