// A driver for the flat API of Message Queuing, mqrt.dll. See README.md beside this file.
using System;
using System.Collections.Generic;
using System.IO;
using System.Text;
using Members = System.Collections.Generic.Dictionary<string, object>;

static class Program
{
    const int BadArgument = 2, CannotBeUsed = 3;
    const string Usage = "usage: driver.exe [--dead-letters-may-be-lost] " + Listener.Usage
        + ", with the adapter protocol on standard input or on a port";

    static int Main(string[] arguments)
    {
        Refused.Api = "mqrt.dll";
        TextWriter output = Console.Out;
        Console.SetOut(TextWriter.Null); // standard output is the protocol's
        var listening = new Listening();
        bool deadLetters = false;
        try
        {
            for (int i = 0; i < arguments.Length; i++)
            {
                if (arguments[i] == "--dead-letters-may-be-lost") deadLetters = true;
                else if (listening.Takes(arguments[i], i + 1 < arguments.Length ? arguments[i + 1] : "")) i++;
                else throw new ArgumentException(Usage);
            }
            string computer = Computer();
            listening.Serve(output, delegate(Stream stream, TextReader input, Action close)
            {
                new Driver(new Protocol(stream, new MqrtManners(close), "1.3", "1.2", "1.1", "1.0"), computer, deadLetters,
                    listening.Place == null ? null : Path.Combine(Path.GetTempPath(), "mqconform-mqrt")).Serve(input);
            });
        }
        catch (ArgumentException wrong)
        {
            Console.Error.WriteLine(wrong.Message);
            return BadArgument;
        }
        catch (TypeLoadException missing) // no library, or one without the function
        {
            Console.Error.WriteLine(missing.Message + " is not there: on Windows switch on the feature Microsoft Message Queue "
                + "Server, on Linux name libmqrt.so in driver.exe.config");
            return CannotBeUsed;
        }
        new MqrtManners(null).End(); // threads of the library outlive Main
        return 0;
    }

    static string Computer()
    {
        const uint room = 256;
        var name = new StringBuilder((int)room);
        uint length = room;
        return Native.GetComputerNameW(name, ref length) != 0 ? name.ToString() : Environment.MachineName;
    }
}

// Which method is done by which part, and what is said in hello.
sealed class Driver
{
    const uint MachineId = 202, PrivateVersion = 5801; // PROPID_QM_MACHINE_ID, PROPID_PC_VERSION
    readonly Protocol protocol;
    readonly string computer, ownFolder;
    readonly Queues queues;
    readonly Reads reads;
    string stateFolder;

    // ownFolder: where state is kept that the harness, on another computer, cannot name a folder for; null where it can.
    public Driver(Protocol protocol, string computer, bool deadLettersMayBeLost, string ownFolder)
    {
        this.protocol = protocol;
        this.computer = computer;
        this.ownFolder = ownFolder;
        queues = new Queues(deadLettersMayBeLost);
        reads = new Reads(queues);
        protocol.On("hello", Hello);
    }

    public void Serve(TextReader input) { protocol.Serve(input); }

    Dictionary<string, Handler> Handlers()
    {
        return new Dictionary<string, Handler>
        {
            { "manager.attach", Attach },
            { "manager.reset", Reset },
            { "manager.stop", request => new Members() },
            { "queues.create", queues.Create },
            { "queues.delete", queues.Delete },
            { "queues.open", queues.Open },
            { "queues.close", queues.Close },
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
            { "messages.move", reads.Move },
            { "messages.cancel", reads.Cancel },
            { "cursors.open", queues.OpenCursor },
            { "cursors.close", queues.CloseCursor },
            { "transactions.begin", queues.Begin },
            { "transactions.commit", queues.Commit },
            { "transactions.abort", queues.Abort },
            { "management.get", queues.GetManagement },
            { "management.act", queues.Act },
            { "security.get", queues.GetSecurity },
            { "security.set", queues.SetSecurity },
        };
    }

    Members Hello(Request request)
    {
        string version = protocol.Chosen(request);
        stateFolder = ownFolder ?? request.Get<string>("state_dir");
        queues.Names = new Names(stateFolder, "", computer);
        string self = version == "1.3" ? queues.Self() : null;
        var facets = new Members { { "manager", new List<object> { "hello" } } };
        foreach (KeyValuePair<string, Handler> each in Handlers())
        {
            int dot = each.Key.IndexOf('.');
            string facet = each.Key.Substring(0, dot), method = each.Key.Substring(dot + 1);
            if (facet == "management" && string.CompareOrdinal(version, "1.2") < 0) continue;
            if (facet == "security" && self == null) continue;
            if (!facets.ContainsKey(facet)) facets[facet] = new List<object>();
            ((List<object>)facets[facet]).Add(method);
            protocol.On(facet == "manager" ? method : each.Key, each.Value);
        }
        var hello = new Members
        {
            { "protocol", version },
            { "name", "mqrt" },
            { "version", Environment.OSVersion.VersionString },
            { "profile", Profile() },
            { "computer", computer },
            { "facets", facets },
            { "clock", "real" },
            { "settle_ms", 0L },
            { "slack_ms", 500L },
        };
        string manager = Manager();
        if (manager != null) hello["queue_manager"] = manager;
        if (self != null) hello["security"] = new Members { { "self", self }, { "callers", new List<object>() } };
        if (version != "1.0")
            hello["accepts"] = new Members
            {
                { "message", new List<object>(Messages.Sendable) },
                { "properties", new List<object>(Queues.Table.Keys) },
            };
        return hello;
    }

    // The version that the queue manager tells is MSMQ's, in the highest byte.
    static string Profile()
    {
        const long least = 1, most = 6, usual = 4;
        using (var properties = new Properties())
        {
            properties.Asked(PrivateVersion);
            if (Native.MQGetPrivateComputerInformation(null, properties.Structure) < 0) return "msmq-" + usual + ".0";
            long major = properties.Number(PrivateVersion) >> 24;
            return "msmq-" + (major < least ? usual : Math.Min(major, most)) + ".0";
        }
    }

    // null where only a directory could tell.
    static string Manager()
    {
        using (var properties = new Properties())
        {
            properties.Asked(MachineId);
            if (Native.MQGetMachineProperties(null, IntPtr.Zero, properties.Structure) < 0) return null;
            IntPtr at = properties.At(MachineId);
            var told = Variants.Value(at, text => text) as string;
            Variants.Free(at);
            return told;
        }
    }

    Members Attach(Request request)
    {
        queues.Names = new Names(stateFolder, request.Get<string>("namespace"), computer);
        return new Members();
    }

    Members Reset(Request request)
    {
        reads.Reset();
        queues.Reset();
        return new Members();
    }
}
