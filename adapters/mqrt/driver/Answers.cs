// How a call ended, as the protocol tells it, and the handles that calls are given.
using System;
using System.Collections.Generic;
using System.Threading;
using Members = System.Collections.Generic.Dictionary<string, object>;

// The driver's own refusal: nothing was asked of the API.
sealed class Refused : Exception
{
    public readonly string Kind;

    Refused(string kind, string text) : base(text) { Kind = kind; }

    public static Refused NoHandle(string what, object handle)
    {
        return new Refused("NoSuchHandle", "there is no open " + what + " " + handle);
    }

    // The API has no call that means this. Whoever judges should not read more into it than that.
    public static Refused NotExpressible(string what)
    {
        return new Refused("NotExpressible", "the functions of mqrt.dll have no way to " + what);
    }
}

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

// Names given to objects, by any thread. What was taken out is unknown, as is what never was.
sealed class Handles<T> where T : class
{
    static int counter;
    readonly string what;
    readonly Dictionary<string, T> table = new Dictionary<string, T>();

    public Handles(string what) { this.what = what; }

    public string Add(T value)
    {
        string handle = what[0] + Interlocked.Increment(ref counter).ToString();
        lock (table) table[handle] = value;
        return handle;
    }

    public T Known(string handle)
    {
        T value;
        lock (table)
            if (handle != null && table.TryGetValue(handle, out value)) return value;
        throw Refused.NoHandle(what, handle);
    }

    public T Take(string handle)
    {
        lock (table)
        {
            T value = Known(handle);
            table.Remove(handle);
            return value;
        }
    }

    public List<T> TakeAll()
    {
        lock (table)
        {
            var all = new List<T>(table.Values);
            table.Clear();
            return all;
        }
    }
}
