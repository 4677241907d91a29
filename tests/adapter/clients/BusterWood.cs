// What programs do with BusterWood.Msmq, by its public members alone.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Text;
using BusterWood.Msmq;
using static Smoke;

static class Program
{
    static readonly TimeSpan now = TimeSpan.Zero, soon = TimeSpan.FromSeconds(20);

    static long Code(Exception error)
    {
        var found = error as QueueException;
        if (found == null) throw new Exception("another exception", error);
        return (int)found.ErrorCode;
    }

    static string Made(string name, bool transactional = false)
    {
        return Queues.TryCreate(Path(name), transactional ? QueueTransactional.Transactional : QueueTransactional.None);
    }

    static Message Text(string text)
    {
        return new Message { Body = Encoding.UTF8.GetBytes(text), Label = text };
    }

    static void CreatesAndDeletes()
    {
        Same(false, Queues.Exists(Path("made")));
        var name = Made("made", true);
        Same(true, Queues.Exists(Path("made")));
        Same(QueueTransactional.Transactional, Queues.IsTransactional(name));
        Same(Queues.PathToFormatName(Path("made")), Made("made", true).TrimEnd('\0'));
        Same(true, Queues.TryDelete(name));
        Same(false, Queues.TryDelete(name));
        Throws(0xC00E0003, Code, () => new QueueReader(name));
    }

    static void SendsAndReceives()
    {
        var name = Made("plain");
        using (var to = new QueueWriter(name))
        using (var of = new QueueReader(name))
        {
            to.Write(Text("one"));
            var sent = Text("two");
            sent.Priority = Priority.Highest;
            sent.AppSpecific = 42;
            sent.Extension = new byte[] { 1, 2, 3 };
            sent.TimeToBeReceived = TimeSpan.FromMinutes(5);
            sent.ResponseQueue = name.TrimEnd('\0');
            to.Write(sent);
            Same("two", of.Peek(timeout: soon).Label);
            var got = of.Read(timeout: soon);
            Same("two", Encoding.UTF8.GetString(got.Body));
            Same(42, got.AppSpecific);
            Same("1,2,3", string.Join(",", got.Extension));
            Same(sent.Id, got.Id);
            sent.Delivery = Delivery.Recoverable;  // It sends a 2, which is no value of this property.
            Throws(0xC00E0002, Code, () => to.Write(sent));
            Same(MessageClass.Normal, got.Class);
            Same(name.TrimEnd('\0'), got.ResponseQueue);
            Same(true, got.ArrivedTime >= got.SentTime);
            Same("one", of.Read(timeout: soon).Label);
            Same(null, of.Read(timeout: now));
        }
    }

    static void LargeBody()
    {
        var name = Made("large");
        using (var to = new QueueWriter(name))
        using (var of = new QueueReader(name))
        {
            var bytes = Enumerable.Range(0, 300000).Select(one => (byte)one).ToArray();
            to.Write(new Message { Body = bytes });
            Same(true, of.Read(timeout: soon).Body.SequenceEqual(bytes));
        }
    }

    static void CursorsAndLookups()
    {
        var name = Made("cursors");
        using (var to = new QueueWriter(name))
        using (var of = new QueueReader(name))
        {
            foreach (var text in new[] { "a", "b", "c" }) to.Write(Text(text));
            Same("a b c", string.Join(" ", of.Select(one => one.Label)));
            using (var at = new QueueCursor(of))
            {
                Same("a", at.Peek(timeout: soon).Label);
                Same("b", at.PeekNext(timeout: soon).Label);
                Same("b", at.Read(timeout: soon).Label);
            }
            var first = of.Peek(timeout: soon).LookupId;
            Same("c", of.Lookup(Properties.All, first, LookupAction.PeekNext).Label);
            Same("a", of.Lookup(Properties.All, first).Label);
            Same(null, of.Lookup(Properties.All, first));
            Same("c", of.Lookup(Properties.All, 0, LookupAction.ReceiveLast).Label);
            to.Write(Text("d"));
            of.Purge();
            Same(null, of.Read(timeout: now));
        }
    }

    static void Transactions()
    {
        var name = Made("transactions", true);
        using (var to = new QueueWriter(name))
        using (var of = new QueueReader(name))
        {
            using (var within = new QueueTransaction())
            {
                to.Write(Text("gone"), within);
                within.Abort();
            }
            using (var within = new QueueTransaction())
            {
                to.Write(Text("one"), within);
                to.Write(Text("two"), within);
                Same(null, of.Read(timeout: now));
                within.Commit();
            }
            using (var within = new QueueTransaction())
                Same("one", of.Read(timeout: soon, transaction: within).Label);
            using (var within = new QueueTransaction())
            {
                Same("one", of.Read(timeout: soon, transaction: within).Label);
                Same("two", of.Read(timeout: soon, transaction: within).Label);
                within.Commit();
            }
            to.Write(Text("alone"), QueueTransaction.Single);
            Same("alone", of.Read(timeout: soon, transaction: QueueTransaction.Single).Label);
        }
    }

    static void Subqueues()
    {
        var name = Made("parent").TrimEnd('\0');
        using (var to = new QueueWriter(name))
        using (var of = new QueueReader(name))
        using (var aside = new SubQueue(name + ";aside"))
        {
            to.Write(Text("poison"));
            Queues.MoveMessage(of, aside, of.Peek(timeout: soon).LookupId);
            Same(null, of.Read(timeout: now));
            Same("poison", aside.Read(timeout: soon).Label);
        }
    }

    static void MovesInATransaction()
    {
        var name = Made("mover", true).TrimEnd('\0');
        using (var to = new QueueWriter(name))
        using (var of = new QueueReader(name))
        using (var aside = new SubQueue(name + ";aside"))
        {
            to.Write(Text("job"), QueueTransaction.Single);
            var lookup = of.Peek(timeout: soon).LookupId;
            using (var within = new QueueTransaction())
                Queues.MoveMessage(of, aside, lookup, within);
            using (var within = new QueueTransaction())
            {
                Queues.MoveMessage(of, aside, lookup, within);
                within.Commit();
            }
            Same("job", aside.Read(timeout: soon, transaction: QueueTransaction.Single).Label);
        }
    }

    static void Acknowledgments()
    {
        string name = Made("acked"), admin = Made("acknowledgments").TrimEnd('\0');
        using (var to = new QueueWriter(name))
        using (var of = new QueueReader(name))
        using (var told = new QueueReader(admin))
        {
            var sent = Text("x");
            sent.AdministrationQueue = admin;
            sent.AcknowledgmentTypes = AcknowledgmentTypes.FullReachQueue | AcknowledgmentTypes.FullReceive;
            to.Write(sent);
            Same(MessageClass.ReachQueue, told.Read(timeout: soon).Class);
            of.Read(timeout: soon);
            var received = told.Read(timeout: soon);
            Same(MessageClass.Received, received.Class);
            Same(sent.Id, received.CorrelationId);
        }
    }

    static void Management()
    {
        Made("listed");
        var wanted = Path("listed").Substring(2);
        Same(true, Queues.GetPrivateQueuePaths().Any(one => one.EndsWith(wanted, StringComparison.OrdinalIgnoreCase)));
    }

    static void Errors()
    {
        var name = Made("errors", true);
        using (var to = new QueueWriter(name))
        using (var exclusive = new QueueReader(name, share: QueueShareReceive.ExclusiveReceive))
        {
            Throws(0xC00E0009, Code, () => new QueueReader(name));
            Throws(0xC00E0050, Code, () => to.Write(Text("without a transaction")));
        }
        Throws(0xC00E0014, Code, () => Queues.TryCreate(".\\private$\\a+b", QueueTransactional.None));
        Throws(0xC00E001E, Code, () => new QueueReader("nonsense"));
    }

    static int Main()
    {
        Case("creates and deletes", CreatesAndDeletes);
        Case("sends and receives", SendsAndReceives);
        Case("large body", LargeBody);
        Case("cursors and lookups", CursorsAndLookups);
        Case("transactions", Transactions);
        Case("subqueues", Subqueues);
        Case("moves in a transaction", MovesInATransaction);
        Case("acknowledgments", Acknowledgments);
        Case("management", Management);
        Case("errors", Errors);
        return End();
    }
}
