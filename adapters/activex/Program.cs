// A driver for the ActiveX objects of MSMQ (MC-MQAC), late bound. See README.md beside this file.
using System;
using System.Diagnostics;
using System.IO;
using System.Threading;
using Members = System.Collections.Generic.Dictionary<string, object>;

sealed class Options
{
    public const string Usage = "usage: driver.exe [--library FILE.dll] [--queues-may-be-lost] [--dead-letters-may-be-lost] "
        + Listener.Usage
        + ", with the adapter protocol on standard input or on a port";
    public readonly Listening Listening = new Listening();
    public readonly string Fake; // an assembly in place of COM
    public readonly bool MayBeLost; // the private queues of this computer
    public readonly bool DeadLettersMayBeLost; // and its journal

    // Throws ArgumentException for anything else than Usage says.
    public Options(string[] arguments)
    {
        for (int i = 0; i < arguments.Length; i++)
        {
            string value = i + 1 < arguments.Length ? arguments[i + 1] : "";
            if (arguments[i] == "--queues-may-be-lost")
            {
                MayBeLost = true;
                continue;
            }
            if (arguments[i] == "--dead-letters-may-be-lost")
            {
                DeadLettersMayBeLost = true;
                continue;
            }
            if (arguments[i] == "--library") Fake = Path.GetFullPath(value == "" ? "." : value);
            else if (!Listening.Takes(arguments[i], value)) throw new ArgumentException(Usage);
            i++;
        }
        if (Fake == null) return;
        if (!File.Exists(Fake)) throw new ArgumentException("there is no assembly " + Fake + "\n" + Usage);
        MayBeLost = true; // there are no queues but its own
    }

    // Where state is kept that the harness, on another computer, cannot name a folder for; null where it can.
    public string StateFolder
    {
        get { return Listening.Place == null ? null : Path.Combine(Path.GetTempPath(), "mqconform-activex"); }
    }
}

sealed class ActiveXManners : Manners
{
    readonly Action close; // of a connection; null on standard input

    public ActiveXManners(Action close) { this.close = close; }

    public override Members Told(Exception failed)
    {
        string kind = failed is NotExpressible || failed is UnknownHandle || failed is ArgumentException ? failed.GetType().Name : null;
        if (failed is UnknownHandle) kind = "NoSuchHandle";
        if (kind == null) return new Members { { "status", (long)unchecked((uint)Library.Code(failed)) } };
        return new Members
        {
            { "status", null }, { "failure", new Members { { "kind", kind }, { "text", failed.Message } } },
        };
    }

    // A thread that hangs in COM outlives Main.
    public override void End()
    {
        if (close != null)
        {
            close();
            return;
        }
        Process.GetCurrentProcess().Kill();
        Thread.Sleep(Timeout.Infinite);
    }
}

static class Program
{
    const int BadArgument = 2;

    static int Main(string[] arguments)
    {
        TextWriter output = Console.Out;
        Console.SetOut(TextWriter.Null); // standard output is the protocol's
        try
        {
            var options = new Options(arguments);
            options.Listening.Serve(output, delegate(Stream stream, TextReader input, Action close)
            {
                var protocol = new Protocol(stream, new ActiveXManners(close), "1.2");
                var driver = new Driver(protocol, options);
                try
                {
                    protocol.Serve(input);
                }
                finally
                {
                    driver.Gone();
                }
            });
        }
        catch (ArgumentException wrong)
        {
            Console.Error.WriteLine(wrong.Message);
            return BadArgument;
        }
        new ActiveXManners(null).End();
        return 0;
    }
}
