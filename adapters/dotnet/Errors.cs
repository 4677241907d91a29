// How a call failed, as the protocol tells it: by the HRESULT where the API gave one, and else in the API's own words.
using System;
using System.Messaging;
using System.Reflection;
using Members = System.Collections.Generic.Dictionary<string, object>;

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
