// The queue properties of MS-MQMQ 2.3.1 that System.Messaging has, each with how it is read and written.
using System;
using System.Collections.Generic;
using System.Messaging;
using System.Reflection;

delegate object Reading(MessageQueue queue);

delegate void Writing(MessageQueue queue, object value);

sealed class QueueProperty
{
    public readonly string Name;
    public readonly Reading Get;
    public readonly Writing Set; // null: the API only reads it

    public QueueProperty(string name, Reading get, Writing set)
    {
        Name = name;
        Get = get;
        Set = set;
    }
}

static class QueuePropertyTable
{
    static readonly DateTime Epoch = new DateTime(1970, 1, 1, 0, 0, 0, DateTimeKind.Utc);
    static readonly PropertyInfo multicast = typeof(MessageQueue).GetProperty("MulticastAddress"); // absent in Mono

    public static readonly QueueProperty[] All =
    {
        new QueueProperty("PROPID_Q_INSTANCE", q => q.Id.ToString("D"), null),
        new QueueProperty("PROPID_Q_TYPE", q => q.Category.ToString("D"), (q, v) => q.Category = Identifier(v)),
        new QueueProperty("PROPID_Q_PATHNAME", q => q.Path, null),
        new QueueProperty("PROPID_Q_JOURNAL", q => q.UseJournalQueue ? 1 : 0, (q, v) => q.UseJournalQueue = Flag(v)),
        new QueueProperty("PROPID_Q_QUOTA", q => q.MaximumQueueSize, (q, v) => q.MaximumQueueSize = Number(v)),
        new QueueProperty("PROPID_Q_BASEPRIORITY", q => q.BasePriority,
            (q, v) => q.BasePriority = Short(v)),
        new QueueProperty("PROPID_Q_JOURNAL_QUOTA", q => q.MaximumJournalSize,
            (q, v) => q.MaximumJournalSize = Number(v)),
        new QueueProperty("PROPID_Q_LABEL", q => q.Label, (q, v) => q.Label = Text(v)),
        new QueueProperty("PROPID_Q_CREATE_TIME", q => Seconds(q.CreateTime), null),
        new QueueProperty("PROPID_Q_MODIFY_TIME", q => Seconds(q.LastModifyTime), null),
        new QueueProperty("PROPID_Q_AUTHENTICATE", q => q.Authenticate ? 1 : 0, (q, v) => q.Authenticate = Flag(v)),
        // MQ_PRIV_LEVEL_NONE, OPTIONAL and BODY are EncryptionRequired's numbers.
        new QueueProperty("PROPID_Q_PRIV_LEVEL", q => (int)q.EncryptionRequired,
            (q, v) => q.EncryptionRequired = (EncryptionRequired)Number(v)),
        new QueueProperty("PROPID_Q_TRANSACTION", q => q.Transactional ? 1 : 0, null),
        new QueueProperty("PROPID_Q_MULTICAST_ADDRESS", q => Multicast().GetValue(q, null),
            (q, v) => Multicast().SetValue(q, v, null)),
    };

    static readonly Dictionary<string, QueueProperty> byName = new Dictionary<string, QueueProperty>();

    static QueuePropertyTable() { foreach (QueueProperty each in All) byName[each.Name] = each; }

    public static object Get(MessageQueue queue, string name, Names names)
    {
        QueueProperty property;
        if (!byName.TryGetValue(name, out property)) throw Refused.NotExpressible("read " + name);
        object value = property.Get(queue);
        return name == "PROPID_Q_PATHNAME" ? names.Shown((string)value) : value;
    }

    public static void Set(MessageQueue queue, string name, object value)
    {
        QueueProperty property;
        if (!byName.TryGetValue(name, out property) || property.Set == null)
            throw Refused.NotExpressible("write " + name);
        property.Set(queue, value);
    }

    // Throws NotExpressible for a value that the API's type can't hold: tried on an object that is no queue.
    public static void Express(string name, object value)
    {
        try
        {
            Set(new MessageQueue(), name, value);
        }
        catch (Refused)
        {
            throw;
        }
        catch (Exception) { } // the library's word on that object, which nobody asked for
    }

    public static long Seconds(DateTime time) { return (long)Math.Floor((time.ToUniversalTime() - Epoch).TotalSeconds); }

    static PropertyInfo Multicast()
    {
        if (multicast == null) throw new MissingMemberException("MessageQueue", "MulticastAddress");
        return multicast;
    }

    // What the API's type can't hold was not asked of the API.
    static long Number(object value)
    {
        if (!(value is long)) throw Refused.NotExpressible("set a number to something else");
        return (long)value;
    }

    static string Text(object value)
    {
        if (!(value is string)) throw Refused.NotExpressible("set a text to something else");
        return (string)value;
    }

    static Guid Identifier(object value)
    {
        Guid type;
        if (!Guid.TryParse(Text(value), out type)) throw Refused.NotExpressible("set a GUID to something else");
        return type;
    }

    static short Short(object value)
    {
        long number = Number(value);
        if (number < short.MinValue || number > short.MaxValue)
            throw Refused.NotExpressible("set a number of 16 bits to " + number);
        return (short)number;
    }

    public static bool Flag(object value)
    {
        long number = Number(value);
        if (number != 0 && number != 1) throw Refused.NotExpressible("set a flag to " + number);
        return number == 1;
    }
}
