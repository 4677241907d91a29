// Which method is done by which part, and what is said in hello.
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.IO;
using System.Messaging;
using System.Reflection;
using System.Threading;
using Members = System.Collections.Generic.Dictionary<string, object>;

sealed class Driver
{
    const int ClosingMs = 2000; // for what a reset closes
    readonly Protocol protocol;
    readonly Options options;
    readonly Facets facets = new Facets();
    readonly Queues queues;
    readonly Cursors cursors;
    readonly Transactions transactions = new Transactions();
    readonly Reads reads;
    string stateFolder;
    string space; // the namespace we are attached to

    public Driver(Protocol protocol, Options options)
    {
        this.protocol = protocol;
        queues = new Queues(facets);
        cursors = new Cursors(facets, queues);
        reads = new Reads(facets, queues, cursors, transactions, new Messages(facets, options, () => queues.Names), options);
        this.options = options;
        protocol.On("hello", Hello);
    }

    public void Serve(TextReader input) { protocol.Serve(input); }

    // A process that another became has said hello; the reset it was made for is still to be answered.
    public void Resume(string[] handed)
    {
        Begin(handed[0], handed[1]);
        new Request(protocol, long.Parse(handed[2]), "reset", new Members()).Answer(new Members());
    }

    void Begin(string folder, string name)
    {
        stateFolder = folder;
        space = name;
        queues.Names = new Names(folder, name, facets.FormatNames);
        Listen(facets.Declared());
    }

    Members Hello(Request request)
    {
        string version = protocol.Chosen(request);
        Begin(options.StateFolder ?? request.Get<string>("state_dir"), "");
        var hello = new Members
        {
            { "protocol", version },
            { "name", Name() },
            { "version", Version() },
            { "profile", Profile() },
            { "computer", queues.Names.Computer },
            { "facets", facets.Declared() },
            { "clock", "real" },
            { "settle_ms", Reads.BlockedAfterMs },
            { "slack_ms", 500 },
        };
        if (version != "1.0") hello["accepts"] = facets.Accepted();
        return hello;
    }

    // What is declared is known, and nothing else.
    void Listen(Members declared)
    {
        Dictionary<string, Handler> all = Handlers();
        foreach (KeyValuePair<string, object> facet in declared)
            foreach (string name in (IEnumerable<string>)facet.Value)
            {
                string method = facet.Key == "manager" ? name : facet.Key + "." + name;
                if (method != "hello") protocol.On(method, all[method]);
            }
    }

    Dictionary<string, Handler> Handlers()
    {
        return new Dictionary<string, Handler>
        {
            { "attach", Attach },
            { "reset", Reset },
            { "stop", request => new Members() },
            { "queues.create", queues.Create },
            { "queues.delete", queues.Delete },
            { "queues.open", queues.Open },
            { "queues.close", reads.Close },
            { "queues.purge", queues.Purge },
            { "queues.get", queues.Get },
            { "queues.set", queues.Set },
            { "queues.counts", queues.Counts },
            { "messages.send", reads.Send },
            { "messages.receive", reads.Receive },
            { "messages.peek", reads.Peek },
            { "messages.peek_next", reads.PeekNext },
            { "messages.peek_by_lookup_id", reads.PeekByLookup },
            { "messages.receive_by_lookup_id", reads.ReceiveByLookup },
            { "messages.cancel", reads.Cancel },
            { "cursors.open", cursors.Open },
            { "cursors.close", cursors.Close },
            { "transactions.begin", transactions.Begin },
            { "transactions.commit", transactions.Commit },
            { "transactions.abort", transactions.Abort },
        };
    }

    Members Attach(Request request)
    {
        Begin(stateFolder, request.Get<string>("namespace"));
        return new Members();
    }

    Members Reset(Request request)
    {
        reads.Reset();
        // A read that waits holds what it reads with: closing that would wait for the read.
        var closing = new Thread(delegate() { cursors.Reset(); transactions.Reset(); });
        closing.IsBackground = true;
        closing.Start();
        if (!closing.Join(Renewal.Due ? 0 : ClosingMs)) Renewal.Want();
        queues.Reset(options.DeadLettersMayBeLost);
        Renewal.Become(stateFolder, space, request.Id.ToString());
        return new Members();
    }

    string Name()
    {
        string name = (Runtime() == null ? "msmq" : "mono") + "-system-messaging";
        return name + options.Told;
    }

    // "6.8.0.105 (Debian ...)" on Mono, null elsewhere.
    static string Runtime()
    {
        Type runtime = Type.GetType("Mono.Runtime");
        MethodInfo name = runtime == null
            ? null
            : runtime.GetMethod("GetDisplayName", BindingFlags.NonPublic | BindingFlags.Static);
        return runtime == null ? null : name == null ? "Mono" : (string)name.Invoke(null, null);
    }

    static string Version()
    {
        string file = FileVersionInfo.GetVersionInfo(typeof(MessageQueue).Assembly.Location).FileVersion;
        return Runtime() == null
            ? "MSMQ of " + Environment.OSVersion.VersionString + ", System.Messaging " + file
            : "Mono " + Runtime().Split(' ')[0];
    }

    // MSMQ's version goes with that of Windows (MS-MQMQ's appendix of product behavior). Mono's library says nothing of
    // the kind, and has what System.Messaging had when MSMQ was at 2.0: no lookup identifiers, no subqueues.
    static string Profile()
    {
        if (Runtime() != null) return "msmq-2.0";
        Version windows = Environment.OSVersion.Version;
        if (windows.Major < 6) return windows.Minor == 0 ? "msmq-2.0" : "msmq-3.0";
        if (windows.Major > 6 || windows.Minor > 1) return "msmq-6.0";
        return windows.Minor == 0 ? "msmq-4.0" : "msmq-5.0";
    }
}
