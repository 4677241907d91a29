// What a driver answers by itself: that the API has no such call, or that it has given no such handle.
using System;
using System.Collections.Generic;
using System.Threading;

// The driver's own refusal: nothing was asked of the API.
sealed class Refused : Exception
{
    public static string Api = "the API"; // as users know it
    public readonly string Kind;

    Refused(string kind, string text) : base(text) { Kind = kind; }

    public static Refused NoHandle(string what, object handle)
    {
        return new Refused("NoSuchHandle", "there is no open " + what + " " + handle);
    }

    // The API has no call that means this. Whoever judges should not read more into it than that.
    public static Refused NotExpressible(string what) { return new Refused("NotExpressible", Api + " has no way to " + what); }

    // The API answered without an exception that there is nothing.
    public static Refused Denied(string kind, string text) { return new Refused(kind, text); }
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
