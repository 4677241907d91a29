// What this System.Messaging can do, found by looking: only that is declared. Nothing here needs a broker.
using System;
using System.Collections.Generic;
using System.Messaging;
using System.Reflection;
using System.Reflection.Emit;
using Members = System.Collections.Generic.Dictionary<string, object>;

sealed class Facets
{
    // Whether a handle can be had: then opening is the queue manager's doing, closing ends reads, and there is MSMQ.
    public readonly bool Handles;
    public readonly bool FormatNames; // else a queue is named by its path only
    public readonly bool CorrectEnumerator; // GetMessageEnumerator2, else the older GetMessageEnumerator
    public readonly bool ReadFilter; // which properties a read asks for can be told
    public readonly LookupIds Lookups = new LookupIds();
    public readonly HashSet<string> QueueProperties = new HashSet<string>();
    readonly bool counts;
    readonly bool transactions;
    readonly bool cursors;

    public Facets()
    {
        // The path is looked up by the first call that needs the queue; MSMQ then says that there is none.
        using (var probe = new MessageQueue(@".\private$\mqconform-probe"))
        {
            Handles = Has(delegate { GC.KeepAlive(probe.ReadHandle); });
            FormatNames = Has(delegate { GC.KeepAlive(probe.FormatName); });
            foreach (QueueProperty property in QueuePropertyTable.All)
            {
                QueueProperty each = property;
                if (Has(delegate { each.Get(probe); })) QueueProperties.Add(each.Name);
            }
        }
        Type queue = typeof(MessageQueue);
        counts = !IsStub(queue.GetMethod("GetAllMessages"));
        CorrectEnumerator = !IsStub(queue.GetMethod("GetMessageEnumerator2", Type.EmptyTypes));
        cursors = CorrectEnumerator || !IsStub(queue.GetMethod("GetMessageEnumerator", Type.EmptyTypes));
        transactions = !IsStub(typeof(MessageQueueTransaction).GetMethod("Begin"))
            && !IsStub(queue.GetMethod("Send", new[] { typeof(object), typeof(MessageQueueTransaction) }));
        ReadFilter = !IsStub(typeof(MessagePropertyFilter).GetMethod("SetAll"));
    }

    public Members Declared()
    {
        var queues = new List<string> { "create", "open", "close", "delete", "purge" };
        if (QueueProperties.Count > 0) queues.AddRange(new[] { "get", "set" });
        if (counts) queues.Add("counts");
        var messages = new List<string> { "send", "receive", "peek" };
        if (cursors) messages.Add("peek_next");
        if (Lookups.Present) messages.AddRange(new[] { "receive_by_lookup_id", "peek_by_lookup_id" });
        if (Handles) messages.Add("cancel"); // by closing the handle that is read from
        var declared = new Members
        {
            { "manager", new[] { "hello", "attach", "reset", "stop" } },
            { "queues", queues },
            { "messages", messages },
        };
        if (cursors) declared["cursors"] = new[] { "open", "close" };
        if (transactions) declared["transactions"] = new[] { "begin", "commit", "abort" };
        return declared;
    }

    // What its methods can be given; of a kind that is left out, everything.
    public Members Accepted()
    {
        return new Members
        {
            { "message", Messages.Sendable },
            { "properties", new List<string>(QueueProperties) },
            { "access", new List<string>(Queues.Modes.Keys) },
            { "format_names", FormatNames
                ? new[] { "journal", "dead_letter", "remote", "private", "machine", "multiple_element", "multicast", "http" }
                : new[] { "journal", "dead_letter", "remote" } }, // these have paths
        };
    }

    // Anything else that goes wrong shows that something is there.
    static bool Has(Action call)
    {
        try
        {
            call();
        }
        catch (NotImplementedException)
        {
            return false;
        }
        catch (MissingMemberException)
        {
            return false;
        }
        catch (Exception e)
        {
            return !(e.InnerException is NotImplementedException || e.InnerException is MissingMemberException);
        }
        return true;
    }

    // Whether a method is absent, or does nothing but throw NotImplementedException: what has effects is not tried out.
    static bool IsStub(MethodInfo method)
    {
        if (method == null) return true;
        MethodBody body = method.GetMethodBody();
        byte[] code = body == null ? null : body.GetILAsByteArray();
        if (code == null) return false;
        int at = 0;
        while (at < code.Length && code[at] == OpCodes.Nop.Value) at++;
        if (at + 6 > code.Length || code[at] != OpCodes.Newobj.Value || code[at + 5] != OpCodes.Throw.Value) return false;
        Type thrown = method.Module.ResolveMethod(BitConverter.ToInt32(code, at + 1)).DeclaringType;
        return thrown == typeof(NotImplementedException);
    }
}

// Reads by lookup identifier came with .NET Framework 2.0 on Windows XP; Mono has none. Found by name, to compile on both.
sealed class LookupIds
{
    readonly MethodInfo receive;
    readonly MethodInfo receiveInTransaction;
    readonly MethodInfo peek;
    readonly PropertyInfo shown = typeof(Message).GetProperty("LookupId");
    readonly Type action = typeof(MessageQueue).Assembly.GetType("System.Messaging.MessageLookupAction");

    public LookupIds()
    {
        if (action == null) return;
        Type queue = typeof(MessageQueue);
        receive = queue.GetMethod("ReceiveByLookupId", new[] { action, typeof(long), typeof(MessageQueueTransactionType) });
        peek = queue.GetMethod("PeekByLookupId", new[] { action, typeof(long) });
        receiveInTransaction = queue.GetMethod("ReceiveByLookupId",
            new[] { action, typeof(long), typeof(MessageQueueTransaction) });
    }

    public bool Present
    {
        get { return shown != null && receive != null && peek != null && receiveInTransaction != null; }
    }

    // null where the API has none.
    public string Of(Message message)
    {
        return shown == null ? null : unchecked((ulong)(long)shown.GetValue(message, null)).ToString();
    }

    public Message Peek(MessageQueue queue, string step, ulong number)
    {
        return (Message)peek.Invoke(queue, new[] { Action(step), unchecked((long)number) });
    }

    public Message Receive(MessageQueue queue, string step, ulong number, MessageQueueTransaction transaction)
    {
        object[] parameters = { Action(step), unchecked((long)number), transaction };
        if (transaction == null) parameters[2] = MessageQueueTransactionType.None;
        return (Message)(transaction == null ? receive : receiveInTransaction).Invoke(queue, parameters);
    }

    object Action(string step) { return Enum.Parse(action, step, true); }
}
