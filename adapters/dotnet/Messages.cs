// Messages as the protocol writes them, to and from System.Messaging's.
using System;
using System.Collections.Generic;
using System.IO;
using System.Messaging;
using Members = System.Collections.Generic.Dictionary<string, object>;

sealed class Messages
{
    const uint Never = 0xFFFFFFFF; // seconds of a message that does not expire
    const int ReportClass = 1; // MS-MQMQ 2.2.18.1.6
    public static readonly string[] Sendable =
    {
        "body", "body_type", "label", "priority", "delivery", "application_tag", "correlation_identifier",
        "positive_journaling", "negative_journaling", "acknowledgements", "administration_queue", "response_queue",
        "time_to_reach_queue", "time_to_be_received", "trace", "extension",
    };
    static readonly string[] acknowledgements =
    {
        "positive_arrival", "positive_receive", "negative_arrival", "negative_receive",
    };
    static readonly AcknowledgeTypes[] types =
    {
        AcknowledgeTypes.PositiveArrival, AcknowledgeTypes.PositiveReceive, AcknowledgeTypes.NotAcknowledgeReachQueue,
        AcknowledgeTypes.NegativeReceive,
    };
    readonly Facets facets;
    readonly HashSet<string> hidden;
    readonly Func<Names> names;

    public Messages(Facets facets, Options options, Func<Names> names)
    {
        hidden = options.Hidden;
        this.facets = facets;
        this.names = names;
    }

    // What is left out keeps the API's own default.
    public Message Build(Members told)
    {
        var message = new Message();
        foreach (KeyValuePair<string, object> member in told) Put(message, member.Key, member.Value);
        return message;
    }

    void Put(Message message, string name, object value)
    {
        switch (name)
        {
            case "body": message.BodyStream = new MemoryStream(Bytes(value)); break;
            case "body_type": message.BodyType = unchecked((int)(long)value); break;
            case "label": message.Label = (string)value; break;
            case "priority": message.Priority = (MessagePriority)checked((int)(long)value); break;
            case "delivery": message.Recoverable = (string)value == "recoverable"; break;
            case "application_tag": message.AppSpecific = unchecked((int)(long)value); break;
            case "correlation_identifier": message.CorrelationId = IdentifierText(Bytes(value)); break;
            case "positive_journaling": message.UseJournalQueue = (bool)value; break;
            case "negative_journaling": message.UseDeadLetterQueue = (bool)value; break;
            case "trace": message.UseTracing = (bool)value; break;
            case "extension": message.Extension = Bytes(value); break;
            case "time_to_reach_queue": message.TimeToReachQueue = Span((long)value); break;
            case "time_to_be_received": message.TimeToBeReceived = Span((long)value); break;
            case "administration_queue": message.AdministrationQueue = Named((string)value); break;
            case "response_queue": message.ResponseQueue = Named((string)value); break;
            case "acknowledgements":
                message.AcknowledgeType = AcknowledgeTypes.None;
                foreach (object each in (List<object>)value)
                    message.AcknowledgeType |= types[Array.IndexOf(acknowledgements, (string)each)];
                break;
            case "class":
                if ((long)value != 0) throw Refused.NotExpressible("send a message of class " + value);
                break;
            default: throw Refused.NotExpressible("send " + name);
        }
    }

    // Every member the API shows; one that it lacks, or has nothing in, is left out.
    public Members Show(Message message)
    {
        var shown = new Members();
        Add(shown, "body", () => Body(message.BodyStream));
        Add(shown, "body_type", () => unchecked((uint)message.BodyType));
        Add(shown, "label", () => message.Label);
        Add(shown, "priority", () => (int)message.Priority);
        Add(shown, "delivery", () => message.Recoverable ? "recoverable" : "express");
        Add(shown, "class", () => Class(message));
        Add(shown, "application_tag", () => unchecked((uint)message.AppSpecific));
        Add(shown, "correlation_identifier", () => Identifier20(message.CorrelationId));
        Add(shown, "positive_journaling", () => message.UseJournalQueue);
        Add(shown, "negative_journaling", () => message.UseDeadLetterQueue);
        Add(shown, "acknowledgements", () => Acknowledgements(message.AcknowledgeType));
        Add(shown, "administration_queue", () => FormatName(message.AdministrationQueue));
        Add(shown, "response_queue", () => FormatName(message.ResponseQueue));
        Add(shown, "time_to_reach_queue", () => Seconds(message.TimeToReachQueue));
        Add(shown, "time_to_be_received", () => Seconds(message.TimeToBeReceived));
        Add(shown, "trace", () => message.UseTracing);
        Add(shown, "extension", () => message.Extension == null ? null : Convert.ToBase64String(message.Extension));
        Add(shown, "lookup_identifier", () => facets.Lookups.Of(message));
        Add(shown, "identifier", () => Identifier(message.Id));
        Add(shown, "sent_time", () => QueuePropertyTable.Seconds(message.SentTime));
        Add(shown, "arrival_time", () => QueuePropertyTable.Seconds(message.ArrivedTime));
        Add(shown, "first_in_transaction", () => message.IsFirstInTransaction);
        Add(shown, "last_in_transaction", () => message.IsLastInTransaction);
        if (hidden.Count > 0 && OfTransaction(message))
            foreach (string name in hidden) shown.Remove(name);
        return shown;
    }

    static bool OfTransaction(Message message)
    {
        try
        {
            return !string.IsNullOrEmpty(message.TransactionId);
        }
        catch (InvalidOperationException) // the API's word for a property that was not read
        {
            return false;
        }
    }

    // What sending tells of the message, where the API does.
    public Members Sent(Message message)
    {
        var told = new Members();
        Add(told, "identifier", () => Identifier(message.Id));
        return told;
    }

    static void Add(Members shown, string name, Func<object> read)
    {
        try
        {
            object value = read();
            if (value != null) shown[name] = value;
        }
        catch (NotImplementedException) { }
        catch (MissingMemberException) { }
        catch (InvalidOperationException) { } // the API's word for a property that was not read
    }

    static object Class(Message message)
    {
        if (message.MessageType == MessageType.Acknowledgment) return (int)message.Acknowledgment;
        return message.MessageType == MessageType.Report ? ReportClass : 0;
    }

    static object Acknowledgements(AcknowledgeTypes asked)
    {
        var told = new List<object>();
        for (int i = 0; i < types.Length; i++)
            if ((asked & types[i]) == types[i]) told.Add(acknowledgements[i]);
        return told;
    }

    static byte[] Bytes(object text) { return Convert.FromBase64String((string)text); }

    // From the beginning of the stream, wherever the library left it: Mono's stands at its end.
    static object Body(Stream stream)
    {
        if (stream == null) return null;
        var all = new MemoryStream();
        stream.Position = 0;
        stream.CopyTo(all);
        return Convert.ToBase64String(all.ToArray());
    }

    // 20 bytes, as "guid\number": the only form the API takes.
    static string IdentifierText(byte[] bytes)
    {
        if (bytes.Length != 20) throw Refused.NotExpressible("send a correlation identifier of other than 20 bytes");
        var guid = new byte[16];
        Array.Copy(bytes, guid, 16);
        uint ordinal = bytes[16] | (uint)bytes[17] << 8 | (uint)bytes[18] << 16 | (uint)bytes[19] << 24;
        return new Guid(guid).ToString("D") + @"\" + ordinal;
    }

    // null for a text that is no identifier: the API shows none then.
    static bool Split(string text, out Guid source, out uint ordinal)
    {
        source = Guid.Empty;
        ordinal = 0;
        if (string.IsNullOrEmpty(text)) return false;
        string[] parts = text.Split(new[] { '\\' }, StringSplitOptions.RemoveEmptyEntries);
        return parts.Length == 2 && Guid.TryParse(parts[0], out source) && uint.TryParse(parts[1], out ordinal);
    }

    static object Identifier(string text)
    {
        Guid source;
        uint ordinal;
        if (!Split(text, out source, out ordinal)) return null;
        return new Members { { "source", source.ToString("D") }, { "ordinal", ordinal } };
    }

    static object Identifier20(string text)
    {
        Guid source;
        uint ordinal;
        if (!Split(text, out source, out ordinal)) return null;
        var bytes = new List<byte>(source.ToByteArray());
        for (int shift = 0; shift < 32; shift += 8) bytes.Add((byte)(ordinal >> shift));
        return Convert.ToBase64String(bytes.ToArray());
    }

    // The API writes "never" as a time span of its own.
    static TimeSpan Span(long seconds) { return seconds == Never ? Message.InfiniteTimeout : TimeSpan.FromSeconds(seconds); }

    static object Seconds(TimeSpan span)
    {
        return span == Message.InfiniteTimeout ? Never : (long)Math.Floor(span.TotalSeconds);
    }

    MessageQueue Named(string formatName) { return new MessageQueue(names().OwnFormat(formatName)); }

    object FormatName(MessageQueue queue)
    {
        if (queue == null) return null;
        try
        {
            return names().Shown(queue.FormatName);
        }
        catch (NotImplementedException)
        {
            return "DIRECT=OS:" + names().Shown(queue.Path); // a path is what has the library's spelling of the computer
        }
    }
}
