// Sinks for the events of an object, which are passed on as they come.
using System;
using System.Collections.Generic;
using System.Runtime.InteropServices;
using System.Runtime.InteropServices.ComTypes;

// The events of MSMQEvent, by their DISPIDs (MC-MQAC 3.16.4.3).
[ComVisible(true), Guid("d7d6e078-dccd-11d0-aa4b-0060970debae"), InterfaceType(ComInterfaceType.InterfaceIsIDispatch)]
public interface IArrivals
{
    [DispId(0)] void Arrived(object queue, int cursor);
    [DispId(1)] void ArrivedError(object queue, int error, int cursor);
}

[ComVisible(true), ClassInterface(ClassInterfaceType.None)]
public sealed class Sink : IArrivals
{
    readonly Action<string, object[]> told;

    public Sink(Action<string, object[]> told) { this.told = told; }

    public void Arrived(object queue, int cursor) { told("Arrived", new[] { queue, cursor }); }

    public void ArrivedError(object queue, int error, int cursor) { told("ArrivedError", new[] { queue, error, cursor }); }
}

// A sink that takes no events.
[ComVisible(true), ClassInterface(ClassInterfaceType.None)]
public sealed class OtherSink { }

static class Sinks
{
    // Throws COMException, E_NOINTERFACE where the object has no events.
    public static int Advise(object target, Guid iid, object sink)
    {
        int cookie;
        Point(target, iid).Advise(sink, out cookie);
        return cookie;
    }

    public static void Unadvise(object target, Guid iid, int cookie) { Point(target, iid).Unadvise(cookie); }

    public static bool HasPoint(object target, Guid iid)
    {
        try
        {
            return Point(target, iid) != null;
        }
        catch (COMException)
        {
            return false;
        }
    }

    static IConnectionPoint Point(object target, Guid iid)
    {
        var container = target as IConnectionPointContainer;
        if (container == null) throw new COMException("the object has no events", Library.NoInterface);
        IConnectionPoint point;
        container.FindConnectionPoint(ref iid, out point);
        return point;
    }
}
