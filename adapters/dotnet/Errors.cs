// How a call failed, as the protocol tells it: by the HRESULT where the API gave one, and else in the API's own words.
using System;
using System.Messaging;
using System.Reflection;
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
        return new Refused("NotExpressible", "System.Messaging has no way to " + what);
    }

    // The API answered without an exception that there is nothing.
    public static Refused Denied(string kind, string text) { return new Refused(kind, text); }
}

static class Errors
{
    const uint Severity = 0x80000000; // of an HRESULT: below it everything is a success

    public static Members Result(Exception exception)
    {
        while (exception is TargetInvocationException && exception.InnerException != null)
            exception = exception.InnerException;
        var queueing = exception as MessageQueueException;
        if (queueing != null)
        {
            uint status = unchecked((uint)(int)queueing.MessageQueueErrorCode);
            if (status >= Severity) return new Members { { "status", status } };
        }
        var refused = exception as Refused;
        if (exception is NotImplementedException || exception is NotSupportedException)
            refused = Refused.NotExpressible("do this: " + exception.Message);
        return new Members
        {
            { "status", null },
            { "failure", new Members
                {
                    { "kind", refused != null ? refused.Kind : exception.GetType().Name },
                    { "text", (refused ?? exception).Message ?? "" },
                } },
        };
    }
}
