// How a call ended, as the protocol tells it: by the HRESULT of the function.
using System;
using System.Threading;
using Members = System.Collections.Generic.Dictionary<string, object>;

// A function answered with a failing HRESULT.
sealed class Failed : Exception
{
    public readonly uint Status;

    public Failed(int status) : base("0x" + status.ToString("X8")) { Status = unchecked((uint)status); }

    // Throws for an HRESULT with the highest bit. A success is answered as it is: some say more than MQ_OK.
    public static Members If(int status, Members result = null)
    {
        if (status < 0) throw new Failed(status);
        result = result ?? new Members();
        if (status > 0) result["status"] = (long)status;
        return result;
    }
}

sealed class MqrtManners : Manners
{
    readonly Action close; // of a connection; null on standard input

    public MqrtManners(Action close) { this.close = close; }

    public override Members Told(Exception failed)
    {
        var status = failed as Failed;
        if (status != null) return new Members { { "status", (long)status.Status } };
        var refused = failed as Refused;
        return new Members
        {
            { "status", null },
            { "failure", new Members
                {
                    { "kind", refused != null ? refused.Kind : failed.GetType().Name },
                    { "text", failed.Message ?? "" },
                } },
        };
    }

    // A function that does not come back may do what was asked at any time: the process ends, and what it had open with it.
    public override void End()
    {
        if (close != null)
        {
            close();
            return;
        }
        System.Diagnostics.Process.GetCurrentProcess().Kill();
        Thread.Sleep(Timeout.Infinite);
    }
}
