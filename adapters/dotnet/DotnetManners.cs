// What this driver decides of a session: it waits for the broker, and a library that is broken becomes a new process.
using System;
using System.Diagnostics;
using System.Threading;
using Members = System.Collections.Generic.Dictionary<string, object>;

sealed class DotnetManners : Manners
{
    readonly Action close; // of a connection; null on standard input

    public DotnetManners(Action close) { this.close = close; }

    public override void Before() { Broker.Await(); }

    public override Members Told(Exception failed)
    {
        Renewal.Judge(failed);
        return Errors.Result(failed);
    }

    public override bool GoesOn(Request request)
    {
        if (!Renewal.Possible || request.Method == "reset") return false;
        Renewal.Want();
        return true;
    }

    // Threads of the library outlive Main, and Environment.Exit waits for finalizers that wait for the broker.
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
