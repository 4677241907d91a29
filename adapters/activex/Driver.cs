// A session: which method is done by which part, what is said in hello, and how a failure is told.
using System;
using System.Collections.Generic;
using System.IO;
using Members = System.Collections.Generic.Dictionary<string, object>;

sealed class Driver
{
    const int SlackMs = 500;
    readonly Protocol protocol;
    readonly Options options;
    Objects objects;

    public Driver(Protocol protocol, Options options)
    {
        this.protocol = protocol;
        this.options = options;
        protocol.On("hello", Hello);
        protocol.On("stop", Stop);
    }

    Members Hello(Request request)
    {
        string version = protocol.Chosen(request);
        Library library = options.Fake == null ? (Library)new ComLibrary() : new PlainLibrary(options.Fake);
        objects = new Objects(library, protocol, new Owned(options.StateFolder ?? request.Get<string>("state_dir"), options.DeadLettersMayBeLost));
        if (!options.MayBeLost) Guard(library);
        var offered = new Dictionary<string, Handler>
        {
            { "create", objects.Create }, { "invoke", objects.Invoke }, { "get", objects.Get }, { "query", objects.Query },
            { "release", objects.Release }, { "advise", objects.Advise }, { "unadvise", objects.Unadvise },
            { "describe", objects.Description },
        };
        foreach (KeyValuePair<string, Handler> each in offered) protocol.On("objects." + each.Key, each.Value);
        protocol.On("reset", Reset);
        return new Members
        {
            { "protocol", version },
            { "name", options.Fake == null ? "msmq-activex" : "activex of " + Path.GetFileName(options.Fake) },
            { "version", options.Fake == null ? "MSMQ of " + Environment.OSVersion.VersionString : "0" },
            { "profile", Profile() },
            { "computer", Environment.MachineName },
            { "facets", new Members
                {
                    { "manager", new[] { "hello", "reset", "stop" } }, { "objects", new List<string>(offered.Keys) },
                } },
            { "clock", "real" },
            { "settle_ms", Objects.BlockedAfterMs },
            { "slack_ms", SlackMs },
        };
    }

    // Tests make, purge and delete private queues of any name. Where some are there that no run made, their owner is asked.
    void Guard(Library library)
    {
        var names = objects.Call(library.Create("MSMQApplication"), "PrivateQueues", "get") as Array;
        int found = names == null ? 0 : names.Length;
        if (found > 0)
            throw new ArgumentException("this computer has " + found + " private queue" + (found == 1 ? "" : "s")
                + ", and tests may empty or delete any: run on a computer without, or start the driver with --queues-may-be-lost");
    }

    Members Reset(Request request)
    {
        objects.Reset();
        return new Members();
    }

    Members Stop(Request request)
    {
        if (objects != null) objects.Reset();
        return new Members();
    }

    // A connection that ended without stop.
    public void Gone()
    {
        if (objects != null) objects.Reset();
    }

    // MSMQ's version goes with that of Windows (MS-MQMQ's appendix of product behavior).
    string Profile()
    {
        if (options.Fake != null) return "msmq-4.0";
        Version windows = Environment.OSVersion.Version;
        if (windows.Major < 6) return windows.Minor == 0 ? "msmq-2.0" : "msmq-3.0";
        if (windows.Major > 6 || windows.Minor > 1) return "msmq-6.0";
        return windows.Minor == 0 ? "msmq-4.0" : "msmq-5.0";
    }
}
