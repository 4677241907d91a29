// A driver for mqconform over the queue manager in MemoryQueue.cs: one JSON object a line on stdin and stdout.
using System;
using System.Collections.Concurrent;
using System.Collections.Generic;
using System.Diagnostics;
using System.IO;
using System.Linq;
using System.Text;
using System.Threading;
using Members = System.Collections.Generic.Dictionary<string, object>;

static class Driver
{
    delegate void Does(long number, Members parameters);

    sealed class Waiting
    {
        public Read Read;
        public long Due; // clock time in milliseconds; long.MaxValue for never
    }

    static readonly TextWriter Output = new StreamWriter(Console.OpenStandardOutput(), new UTF8Encoding(false));
    static readonly Stopwatch Clock = Stopwatch.StartNew();
    static readonly Members Facets = new Members(); // declared by hello: facet -> its methods
    static readonly Dictionary<string, Does> Methods = new Dictionary<string, Does>();
    static readonly Dictionary<long, Handle> Handles = new Dictionary<long, Handle>();
    static readonly Dictionary<long, Waiting> Reads = new Dictionary<long, Waiting>(); // by request
    static readonly Members Accepts = new Members // the values that methods accept; a missing list means all values
    {
        { "message", new[] { "body", "label", "priority", "delivery" } },
        { "properties", new string[0] },
        { "access", new[] { "send", "receive", "peek" } },
        { "share", new[] { "deny_none" } },
        { "format_names", new string[0] },
    };
    static Manager manager;

    // Register a function under a name, so that hello declares only methods that exist.
    static void Method(string name, Does does)
    {
        string[] parts = name.Split('.');
        string facet = parts.Length == 1 ? "manager" : parts[0];
        if (!Facets.ContainsKey(facet)) Facets[facet] = new List<object>();
        ((List<object>)Facets[facet]).Add(parts[parts.Length - 1]);
        Methods[name] = does;
    }

    static void Write(Members line)
    {
        line["jsonrpc"] = "2.0";
        Output.Write(Json.Write(line) + "\n");
        Output.Flush();
    }

    static void Answer(long number, Members members = null, uint status = 0)
    {
        var result = members ?? new Members();
        result["status"] = status;
        Write(new Members { { "id", number }, { "result", result } });
    }

    static void Hello(long number, Members parameters)
    {
        manager = new Manager(Path.Combine((string)parameters["state_dir"], "queues.json"));
        var about = new Members
        {
            { "protocol", "1.0" }, { "name", "memory" }, { "version", "1" }, { "profile", "msmq-4.0" },
            { "computer", "HOST" }, { "facets", Facets }, { "clock", "real" }, { "slack_ms", 500 },
        };
        if (((List<object>)parameters["versions"]).Contains("1.1"))
        {
            about["protocol"] = "1.1";
            about["accepts"] = Accepts;
        }
        Answer(number, about);
    }

    static Handle Opened(Members parameters)
    {
        // A harness may send any text or number as a handle: refuse unknown ones instead of crashing.
        if (!(parameters["queue"] is long) || !Handles.ContainsKey((long)parameters["queue"]))
            throw new QueueError(Codes.InvalidHandle);
        return Handles[(long)parameters["queue"]];
    }

    static void Send(long number, Members parameters)
    {
        var given = (Members)parameters["message"];
        var message = new Message();
        if (given.ContainsKey("body")) message.Body = (string)given["body"];
        if (given.ContainsKey("label")) message.Label = (string)given["label"];
        if (given.ContainsKey("priority")) message.Priority = (long)given["priority"];
        message.Recoverable = given.ContainsKey("delivery") && (string)given["delivery"] == "recoverable";
        Opened(parameters).Send(message);
        Answer(number);
    }

    static void Read(long number, Members parameters, bool takes)
    {
        Read read = Opened(parameters).Read(takes, (code, message) =>
        {
            Reads.Remove(number);
            if (code != 0) Answer(number, null, code);
            else Answer(number, new Members { { "message", Shown(message) } });
        });
        if (read == null) return;
        var timeout = (long)parameters["timeout_ms"];
        if (timeout == 0)
        {
            read.End(Codes.IoTimeout, null);
            return;
        }
        long due = timeout == uint.MaxValue ? long.MaxValue : Clock.ElapsedMilliseconds + timeout + 1;
        Reads[number] = new Waiting { Read = read, Due = due };
        Write(new Members { { "method", "pending" }, { "params", new Members { { "id", number } } } });
    }

    static Members Shown(Message message)
    {
        return new Members
        {
            { "body", message.Body }, { "label", message.Label }, { "priority", message.Priority },
            { "delivery", message.Recoverable ? "recoverable" : "express" },
        };
    }

    static void Offer()
    {
        Method("hello", Hello);
        Method("stop", (number, parameters) =>
        {
            Answer(number);
            Environment.Exit(0);
        });
        Method("reset", (number, parameters) =>
        {
            manager.Reset();
            Handles.Clear();
            Answer(number);
        });
        Method("queues.create", (number, parameters) =>
            Answer(number, new Members { { "format_name", manager.Create((string)parameters["path_name"]) } }));
        Method("queues.delete", (number, parameters) =>
        {
            manager.Delete((string)parameters["format_name"]);
            Answer(number);
        });
        Method("queues.open", (number, parameters) =>
        {
            Handles[number] = manager.Open((string)parameters["format_name"], (string)parameters["access"]);
            Answer(number, new Members { { "queue", number } });
        });
        Method("queues.close", (number, parameters) =>
        {
            Opened(parameters).Close();
            Handles.Remove((long)parameters["queue"]);
            Answer(number);
        });
        Method("messages.send", Send);
        Method("messages.receive", (number, parameters) => Read(number, parameters, true));
        Method("messages.peek", (number, parameters) => Read(number, parameters, false));
        Method("messages.cancel", (number, parameters) =>
        {
            var request = (long)parameters["request"];
            if (!Reads.ContainsKey(request)) throw new QueueError(Codes.NotFound);
            Reads[request].Read.End(Codes.Cancelled, null);
            Answer(number);
        });
    }

    static void Handle(string line)
    {
        var request = (Members)Json.Parse(line);
        var number = (long)request["id"];
        var name = (string)request["method"];
        if (!Methods.ContainsKey(name))
        {
            var error = new Members { { "code", -32601 }, { "message", "no method " + name } };
            Write(new Members { { "id", number }, { "error", error } });
            return;
        }
        try
        {
            Methods[name](number, (Members)request["params"]);
        }
        catch (QueueError error)
        {
            Answer(number, null, error.Code);
        }
    }

    // Answer requests, and end reads whose time-out has passed, until the input ends.
    static void Main()
    {
        Offer();
        var lines = new BlockingCollection<string>();
        var listener = new Thread(() => Listen(lines)) { IsBackground = true };
        listener.Start();
        while (true)
        {
            long due = Reads.Count == 0 ? long.MaxValue : Reads.Values.Min(each => each.Due);
            long left = due == long.MaxValue ? Timeout.Infinite : Math.Max(0, due - Clock.ElapsedMilliseconds);
            string line;
            if (lines.TryTake(out line, (int)Math.Min(left, int.MaxValue)))
            {
                if (line == null) return;
                Handle(line);
                continue;
            }
            foreach (Waiting each in Reads.Values.Where(each => each.Due <= Clock.ElapsedMilliseconds).ToArray())
                each.Read.End(Codes.IoTimeout, null);
        }
    }

    // Reads stdin in a separate thread, so that the loop can also wake at the end of a time-out.
    static void Listen(BlockingCollection<string> lines)
    {
        var input = new StreamReader(Console.OpenStandardInput(), new UTF8Encoding(false));
        string line;
        while ((line = input.ReadLine()) != null) lines.Add(line);
        lines.Add(null);
    }
}
