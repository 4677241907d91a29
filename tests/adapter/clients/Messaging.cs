// What programs do with MSMQ.Messaging, by its public members alone.
using System;
using System.IO;
using System.Linq;
using System.Threading;
using MSMQ.Messaging;
using static Smoke;

static class Program
{
    static readonly TimeSpan now = TimeSpan.Zero, soon = TimeSpan.FromSeconds(20);

    static long Code(Exception error)
    {
        var found = error as MessageQueueException;
        if (found == null) throw new Exception("another exception", error);
        return (int)found.MessageQueueErrorCode;
    }

    static MessageQueue Made(string name, bool transactional = false)
    {
        var queue = MessageQueue.Create(Path(name), transactional);
        queue.Formatter = new XmlMessageFormatter(new[] { typeof(string) });
        queue.MessageReadPropertyFilter.SetAll();
        return queue;
    }

    static MessageQueueTransaction Begun()
    {
        var within = new MessageQueueTransaction();
        within.Begin();
        return within;
    }

    static void CreatesAndDeletes()
    {
        var path = Path("made");
        Same(false, MessageQueue.Exists(path));
        using (var queue = MessageQueue.Create(path, true))
        {
            Same(true, MessageQueue.Exists(path));
            Same(true, queue.Transactional);
            Throws(0xC00E0005, Code, () => MessageQueue.Create(path));
        }
        MessageQueue.Delete(path);
        Same(false, MessageQueue.Exists(path));
    }

    static void QueueProperties()
    {
        using (var queue = Made("properties"))
        {
            queue.Label = "a label";
            queue.MaximumQueueSize = 4096;
            queue.UseJournalQueue = true;
            queue.Category = new Guid("11111111-2222-3333-4444-555555555555");
            queue.Refresh();
            Same("a label", queue.Label);
            Same(4096L, queue.MaximumQueueSize);
            Same(true, queue.UseJournalQueue);
            Same(new Guid("11111111-2222-3333-4444-555555555555"), queue.Category);
            Same(EncryptionRequired.Optional, queue.EncryptionRequired);
        }
    }

    static void SendsAndReceives()
    {
        using (var queue = Made("plain"))
        {
            queue.Send("one", "first");
            queue.Send(new Message("two") { Label = "second", Priority = MessagePriority.Highest, AppSpecific = 42 });
            Same("second", queue.Peek(soon).Label);
            var two = queue.Receive(soon);
            Same("two", (string)two.Body);
            Same(42, two.AppSpecific);
            Same(MessagePriority.Highest, two.Priority);
            Same(MessageType.Normal, two.MessageType);
            Same("one", (string)queue.Receive(soon).Body);
            Throws(0xC00E001B, Code, () => queue.Receive(now));
        }
    }

    static void Properties()
    {
        using (var queue = Made("whole"))
        using (var answers = Made("answers"))
        {
            var sent = new Message("x")
            {
                CorrelationId = "11111111-2222-3333-4444-555555555555\\7", Extension = new byte[] { 1, 2, 3 },
                Recoverable = true, ResponseQueue = answers, TimeToBeReceived = TimeSpan.FromMinutes(5),
                UseTracing = false, UseDeadLetterQueue = true, AcknowledgeType = AcknowledgeTypes.None,
            };
            queue.Send(sent);
            var got = queue.Receive(soon);
            Same(sent.Id, got.Id);
            Same(sent.CorrelationId, got.CorrelationId);
            Same("1,2,3", string.Join(",", got.Extension));
            Same("True True", got.Recoverable + " " + got.UseDeadLetterQueue);
            Same(TimeSpan.FromMinutes(5), got.TimeToBeReceived);
            Same(answers.FormatName, got.ResponseQueue.FormatName);
            Same(0, (int)(DateTime.Now - got.ArrivedTime).TotalMinutes / 5);
        }
    }

    static void LargeBody()
    {
        using (var queue = Made("large"))
        {
            var bytes = Enumerable.Range(0, 300000).Select(one => (byte)one).ToArray();
            queue.Send(new Message { BodyStream = new MemoryStream(bytes), Label = new string('l', 200) });
            Same(300000L, queue.Peek(soon).BodyStream.Length);
            var got = queue.Receive(soon);
            Same(true, new BinaryReader(got.BodyStream).ReadBytes(400000).SequenceEqual(bytes));
            Same(200, got.Label.Length);
        }
    }

    static void Formatters()
    {
        using (var queue = Made("formatters"))
        {
            queue.Formatter = new BinaryMessageFormatter();
            queue.Send(new[] { 1, 2, 3 });
            Same(3, ((int[])queue.Receive(soon).Body).Length);
            // Another object: this one would send the body of before, which it keeps (on Windows too).
            var other = new MessageQueue(queue.Path) { Formatter = new ActiveXMessageFormatter() };
            other.Send("a text");
            Same("a text", (string)other.Receive(soon).Body);
            other.Close();
        }
    }

    static void ByIdentifiers()
    {
        using (var queue = Made("identifiers"))
        {
            var one = new Message("one");
            queue.Send(one);
            queue.Send(new Message("two") { CorrelationId = one.Id });
            queue.Send("three");
            Same("two", (string)queue.PeekByCorrelationId(one.Id).Body);
            Same("two", (string)queue.ReceiveByCorrelationId(one.Id).Body);
            Same("one", (string)queue.ReceiveById(one.Id).Body);
            try
            {
                queue.ReceiveById(one.Id);
                throw new Exception("received twice");
            }
            catch (InvalidOperationException)
            {
            }
        }
    }

    static void ByLookups()
    {
        using (var queue = Made("lookups"))
        {
            foreach (var text in new[] { "a", "b", "c" }) queue.Send(text);
            var first = queue.Peek(soon).LookupId;
            Same("b", (string)queue.PeekByLookupId(MessageLookupAction.Next, first).Body);
            Same("c", (string)queue.ReceiveByLookupId(MessageLookupAction.Last, 0, null).Body);
            Same("a", (string)queue.ReceiveByLookupId(first).Body);
            Same("b", (string)queue.Receive(soon).Body);
        }
    }

    static void Cursors()
    {
        using (var queue = Made("cursors"))
        {
            foreach (var text in new[] { "a", "b", "c" }) queue.Send(text);
            var at = queue.CreateCursor();
            Same("a", (string)queue.Peek(soon, at, PeekAction.Current).Body);
            Same("b", (string)queue.Peek(soon, at, PeekAction.Next).Body);
            Same("b", (string)queue.Receive(soon, at).Body);
            Same("c", (string)queue.Peek(soon, at, PeekAction.Current).Body);
            Same(2, queue.GetAllMessages().Length);
            var each = queue.GetMessageEnumerator2();
            Same(true, each.MoveNext());
            Same("a", (string)each.RemoveCurrent().Body);
            each.Close();
            at.Close();
            Same(1, queue.GetAllMessages().Length);
            queue.Purge();
            Same(0, queue.GetAllMessages().Length);
        }
    }

    static void Transactions()
    {
        using (var queue = Made("transactions", true))
        {
            using (var within = Begun())
            {
                queue.Send("gone", within);
                within.Abort();
                Same(MessageQueueTransactionStatus.Aborted, within.Status);
            }
            using (var within = Begun())
            {
                queue.Send("one", within);
                queue.Send("two", within);
                Throws(0xC00E001B, Code, () => queue.Receive(now));
                within.Commit();
            }
            using (var within = Begun())
            {
                Same("one", (string)queue.Receive(soon, within).Body);
                within.Abort();
            }
            using (var within = Begun())
            {
                var one = queue.Receive(soon, within);
                Same("one", (string)one.Body);
                Same(true, one.IsFirstInTransaction && !one.IsLastInTransaction);
                Same("two", (string)queue.Receive(soon, within).Body);
                within.Commit();
            }
            queue.Send("alone", MessageQueueTransactionType.Single);
            Same("alone", (string)queue.Receive(soon, MessageQueueTransactionType.Single).Body);
        }
    }

    static void Subqueues()
    {
        using (var queue = Made("parent"))
        {
            queue.Send("poison");
            using (var aside = new MessageQueue("FormatName:DIRECT=OS:" + Path("parent") + ";aside"))
            {
                aside.Formatter = queue.Formatter;
                Throws(0xC00E001B, Code, () => aside.Receive(now));
                Throws(0xC00E0045, Code, () => aside.Send("not here"));
            }
        }
    }

    static void Asynchronous()
    {
        using (var queue = Made("asynchronous"))
        {
            var begun = queue.BeginReceive(soon);
            queue.Send("now");
            Same(true, begun.AsyncWaitHandle.WaitOne(soon));
            Same("now", (string)queue.EndReceive(begun).Body);
            var came = new ManualResetEvent(false);
            string peeked = null;
            queue.PeekCompleted += (_, told) =>
            {
                peeked = (string)queue.EndPeek(told.AsyncResult).Body;
                came.Set();
            };
            queue.BeginPeek(soon);
            queue.Send("event");
            Same(true, came.WaitOne(soon));
            Same("event", peeked);
            queue.Receive(soon);
            begun = queue.BeginReceive(TimeSpan.FromMilliseconds(50));
            Same(true, begun.AsyncWaitHandle.WaitOne(soon));
            Throws(0xC00E001B, Code, () => queue.EndReceive(begun));
        }
    }

    static void JournalsAndAcknowledgments()
    {
        using (var queue = Made("journaled"))
        using (var told = Made("acknowledgments"))
        {
            queue.UseJournalQueue = true;
            var sent = new Message("x")
            {
                AdministrationQueue = told,
                AcknowledgeType = AcknowledgeTypes.FullReachQueue | AcknowledgeTypes.FullReceive,
            };
            queue.Send(sent);
            Same(Acknowledgment.ReachQueue, told.Receive(soon).Acknowledgment);
            queue.Receive(soon);
            var received = told.Receive(soon);
            Same(Acknowledgment.Receive, received.Acknowledgment);
            Same(sent.Id, received.CorrelationId);
            using (var journal = new MessageQueue(Path("journaled") + "\\Journal$"))
            {
                journal.Formatter = queue.Formatter;
                Same("x", (string)journal.Receive(soon).Body);
            }
        }
    }

    static void Management()
    {
        using (Made("listed"))
        {
            var names = MessageQueue.GetPrivateQueuesByMachine(".").Select(one => one.QueueName.ToLowerInvariant());
            Same(true, names.Contains(Path("listed").Substring(2).ToLowerInvariant()));
        }
    }

    static void Access()
    {
        using (var queue = Made("closed"))
        {
            queue.Send("x");
            var other = new MessageQueue(queue.Path, QueueAccessMode.Send);
            Same(true, other.CanWrite);
            Throws(0xC00E0025, Code, () => other.Receive(now));
            MessageQueue.Delete(queue.Path);
            MessageQueue.ClearConnectionCache();
            Throws(0xC00E0003, Code, () => new MessageQueue(queue.Path).Receive(now));
        }
        Throws(0xC00E0014, Code, () => MessageQueue.Create(".\\private$\\a;b"));
    }

    static void Threads()
    {
        using (var queue = Made("threads"))
        {
            var got = 0;
            var readers = Enumerable.Range(0, 8).Select(_ => new Thread(() =>
            {
                using (var own = new MessageQueue(queue.Path))
                    for (var n = 0; n < 5; n++)
                        if (own.Receive(soon) != null) Interlocked.Increment(ref got);
            })).ToArray();
            foreach (var one in readers) one.Start();
            for (var n = 0; n < 40; n++) queue.Send("m" + n);
            foreach (var one in readers) one.Join();
            Same(40, got);
        }
    }

    static int Main()
    {
        Case("creates and deletes", CreatesAndDeletes);
        Case("properties of queues", QueueProperties);
        Case("sends and receives", SendsAndReceives);
        Case("properties of messages", Properties);
        Case("large body", LargeBody);
        Case("formatters", Formatters);
        Case("by identifiers", ByIdentifiers);
        Case("by lookups", ByLookups);
        Case("cursors", Cursors);
        Case("transactions", Transactions);
        Case("subqueues", Subqueues);
        Case("asynchronous", Asynchronous);
        Case("journals and acknowledgments", JournalsAndAcknowledgments);
        Case("management", Management);
        Case("access", Access);
        Case("threads", Threads);
        return End();
    }
}
