// Messages as the protocol writes them, to and from the properties of MS-MQMQ 2.3 as the API has them.
using System;
using System.Collections.Generic;
using Members = System.Collections.Generic.Dictionary<string, object>;

// How much room a read gives to what has no fixed size: bytes, and characters of texts with their ends. At first it is
// that of the longest message, so that one call does: memory that nobody writes to costs nothing.
sealed class Rooms
{
    public int Body = 4 << 20, Extension = 4 << 20, Label = 250, Response = 32768, Administration = 1024;
}

sealed class Messages
{
    const uint Class = 1, MessageId = 2, CorrelationId = 3, Priority = 4, Delivery = 5, Acknowledge = 6, Journal = 7,
        AppSpecific = 8, Body = 9, BodySize = 10, Label = 11, LabelLength = 12, TimeToReachQueue = 13, TimeToBeReceived = 14,
        ResponseQueue = 15, AdministrationQueue = 17, AdministrationQueueLength = 18, SentTime = 31, ArrivedTime = 32,
        Extension = 35, ExtensionLength = 36, Trace = 41, BodyType = 42, FirstInTransaction = 50, LastInTransaction = 51,
        ResponseFormatName = 54, ResponseFormatNameLength = 55, LookupId = 60;
    const int IdentifierBytes = 20;
    const int DeadLetterBit = 1, JournalBit = 2; // of PROPID_M_JOURNAL
    static readonly string[] acknowledgements = { "positive_arrival", "positive_receive", "negative_arrival", "negative_receive" };
    public static readonly string[] Sendable =
    {
        "body", "body_type", "label", "priority", "delivery", "application_tag", "correlation_identifier",
        "positive_journaling", "negative_journaling", "acknowledgements", "administration_queue", "response_queue",
        "time_to_reach_queue", "time_to_be_received", "trace", "extension",
    };
    readonly Func<Names> names;

    public Messages(Func<Names> names) { this.names = names; }

    // What is not told has the API's default.
    public Properties ToSend(Members told)
    {
        var properties = new Properties();
        int journal = 0;
        foreach (KeyValuePair<string, object> member in told)
        {
            object value = member.Value;
            switch (member.Key)
            {
                case "body": properties.Bytes(Body, Convert.FromBase64String((string)value)); break;
                case "body_type": properties.Number(BodyType, Vt.UI4, (long)value); break;
                case "label": properties.Text(Label, (string)value); break;
                case "priority": properties.Number(Priority, Vt.UI1, Byte((long)value)); break;
                case "delivery": properties.Number(Delivery, Vt.UI1, (string)value == "recoverable" ? 1 : 0); break;
                case "application_tag": properties.Number(AppSpecific, Vt.UI4, (long)value); break;
                case "correlation_identifier": properties.Bytes(CorrelationId, Identifier((string)value)); break;
                case "positive_journaling": journal |= (bool)value ? JournalBit : 0; break;
                case "negative_journaling": journal |= (bool)value ? DeadLetterBit : 0; break;
                case "acknowledgements": properties.Number(Acknowledge, Vt.UI1, Bits((List<object>)value)); break;
                case "administration_queue": properties.Text(AdministrationQueue, names().Own((string)value)); break;
                case "response_queue": properties.Text(Response((string)value), names().Own((string)value)); break;
                case "time_to_reach_queue": properties.Number(TimeToReachQueue, Vt.UI4, (long)value); break;
                case "time_to_be_received": properties.Number(TimeToBeReceived, Vt.UI4, (long)value); break;
                case "trace": properties.Number(Trace, Vt.UI1, (bool)value ? 1 : 0); break;
                case "extension": properties.Bytes(Extension, Convert.FromBase64String((string)value)); break;
                case "class":
                    if ((long)value != 0) throw Refused.NotExpressible("send a message of class " + value + " without a connector");
                    break;
                default: throw Refused.NotExpressible("send " + member.Key);
            }
        }
        if (told.ContainsKey("positive_journaling") || told.ContainsKey("negative_journaling"))
            properties.Number(Journal, Vt.UI1, journal);
        properties.Room(MessageId, IdentifierBytes);
        return properties;
    }

    // Several queues have a property of their own.
    static uint Response(string name)
    {
        return name.IndexOf(',') < 0 && !name.StartsWith("DL=") ? ResponseQueue : ResponseFormatName;
    }

    static long Byte(long value)
    {
        if (value < 0 || value > byte.MaxValue) throw Refused.NotExpressible("send a priority of " + value);
        return value;
    }

    static byte[] Identifier(string text)
    {
        byte[] bytes = Convert.FromBase64String(text);
        if (bytes.Length != IdentifierBytes) throw Refused.NotExpressible("send a correlation identifier of other than 20 bytes");
        return bytes;
    }

    static long Bits(List<object> asked)
    {
        long bits = 0;
        foreach (object each in asked) bits |= 1L << Array.IndexOf(acknowledgements, (string)each);
        return bits;
    }

    public Members Sent(Properties properties)
    {
        return new Members { { "identifier", ObjectIdentifier(properties.Bytes(MessageId, IdentifierBytes)) } };
    }

    public Properties ToReceive(Rooms rooms)
    {
        var properties = new Properties();
        foreach (uint each in new[] { Priority, Delivery, Acknowledge, Journal, Trace, FirstInTransaction, LastInTransaction })
            properties.Number(each, Vt.UI1, 0);
        foreach (uint each in new[] { AppSpecific, BodySize, TimeToReachQueue, TimeToBeReceived, SentTime, ArrivedTime, BodyType })
            properties.Number(each, Vt.UI4, 0);
        properties.Number(Class, Vt.UI2, 0);
        properties.Number(LookupId, Vt.UI8, 0);
        properties.Room(MessageId, IdentifierBytes);
        properties.Room(CorrelationId, IdentifierBytes);
        properties.Room(Body, rooms.Body);
        properties.Room(Extension, rooms.Extension);
        properties.Number(ExtensionLength, Vt.UI4, 0);
        Text(properties, Label, LabelLength, rooms.Label);
        Text(properties, ResponseFormatName, ResponseFormatNameLength, rooms.Response);
        Text(properties, AdministrationQueue, AdministrationQueueLength, rooms.Administration);
        return properties;
    }

    static void Text(Properties properties, uint text, uint length, int room)
    {
        properties.TextRoom(text, room);
        properties.Number(length, Vt.UI4, room);
    }

    // Whether something did not fit: the rooms are made as large as what was there needs.
    public bool Enlarge(Rooms rooms, Properties properties)
    {
        return Larger(ref rooms.Body, properties.Number(BodySize)) | Larger(ref rooms.Extension, properties.Number(ExtensionLength))
            | Larger(ref rooms.Label, properties.Number(LabelLength))
            | Larger(ref rooms.Response, properties.Number(ResponseFormatNameLength))
            | Larger(ref rooms.Administration, properties.Number(AdministrationQueueLength));
    }

    static bool Larger(ref int room, long needed)
    {
        if (needed <= room || needed > int.MaxValue) return false;
        room = (int)needed;
        return true;
    }

    public Members Received(Properties properties)
    {
        long journal = properties.Number(Journal), asked = properties.Number(Acknowledge);
        var list = new List<object>();
        for (int i = 0; i < acknowledgements.Length; i++)
            if ((asked & 1L << i) != 0) list.Add(acknowledgements[i]);
        var shown = new Members
        {
            { "body", Convert.ToBase64String(properties.Bytes(Body, (int)properties.Number(BodySize))) },
            { "body_type", properties.Number(BodyType) },
            { "label", properties.Number(LabelLength) == 0 ? "" : properties.Text(Label) },
            { "priority", properties.Number(Priority) },
            { "delivery", properties.Number(Delivery) == 0 ? "express" : "recoverable" },
            { "class", properties.Number(Class) },
            { "application_tag", properties.Number(AppSpecific) },
            { "correlation_identifier", Convert.ToBase64String(properties.Bytes(CorrelationId, IdentifierBytes)) },
            { "positive_journaling", (journal & JournalBit) != 0 },
            { "negative_journaling", (journal & DeadLetterBit) != 0 },
            { "acknowledgements", list },
            { "time_to_reach_queue", properties.Number(TimeToReachQueue) },
            { "time_to_be_received", properties.Number(TimeToBeReceived) },
            { "trace", properties.Number(Trace) != 0 },
            { "extension", Convert.ToBase64String(properties.Bytes(Extension, (int)properties.Number(ExtensionLength))) },
            { "lookup_identifier", unchecked((ulong)properties.Number(LookupId)).ToString() },
            { "identifier", ObjectIdentifier(properties.Bytes(MessageId, IdentifierBytes)) },
            { "sent_time", properties.Number(SentTime) },
            { "arrival_time", properties.Number(ArrivedTime) },
            { "first_in_transaction", properties.Number(FirstInTransaction) != 0 },
            { "last_in_transaction", properties.Number(LastInTransaction) != 0 },
        };
        Name(shown, "response_queue", properties, ResponseFormatName, ResponseFormatNameLength);
        Name(shown, "administration_queue", properties, AdministrationQueue, AdministrationQueueLength);
        return shown;
    }

    // A length of 0 or 1 is a message without such a queue: the end of a text counts.
    void Name(Members shown, string member, Properties properties, uint text, uint length)
    {
        if (properties.Number(length) > 1) shown[member] = names().Shown(properties.Text(text));
    }

    static Members ObjectIdentifier(byte[] bytes)
    {
        var source = new byte[16];
        Array.Copy(bytes, source, 16);
        uint ordinal = bytes[16] | (uint)bytes[17] << 8 | (uint)bytes[18] << 16 | (uint)bytes[19] << 24;
        return new Members { { "source", new Guid(source).ToString("D") }, { "ordinal", (long)ordinal } };
    }
}
