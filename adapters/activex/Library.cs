// Where the objects come from: COM, or an assembly whose classes are named like the coclasses, which needs no Windows.
using System;
using System.Collections.Generic;
using System.Reflection;
using System.Runtime.InteropServices;
using System.Threading;

// A call that the CLR has no words for: a skip for the harness, and no deviation.
sealed class NotExpressible : Exception
{
    public NotExpressible(string what) : base("a late-bound client has no way to " + what) { }
}

abstract class Library
{
    public const int ClassNotRegistered = unchecked((int)0x80040154);
    public const int NoInterface = unchecked((int)0x80004002);
    readonly Apartment apartment = new Apartment();

    // Throws COMException with REGDB_E_CLASSNOTREG where there is no such class.
    public abstract object Create(string name);
    // The identifier of a class; null where nothing tells it.
    public abstract string ClassId(string name);
    public abstract bool Has(object target, Guid iid);
    public abstract void Release(object target);
    public abstract BindingFlags Binding(string kind);

    // An argument as its members take it.
    public virtual object Passed(object argument) { return argument; }

    // Events come to the thread that made their object and registered the sink, which therefore goes on to live.
    public T Staying<T>(Func<T> work) { return apartment.Do(work); }

    // What the CLR says of a member that an object lacks, or of too many arguments, as IDispatch says it.
    public static int Code(Exception failed)
    {
        while (failed is TargetInvocationException && failed.InnerException != null) failed = failed.InnerException;
        if (failed is MissingMemberException) return unchecked((int)0x80020006); // DISP_E_UNKNOWNNAME
        if (failed is TargetParameterCountException) return unchecked((int)0x8002000E); // DISP_E_BADPARAMCOUNT
        return Marshal.GetHRForException(failed);
    }
}

sealed class ComLibrary : Library
{
    public override object Create(string name)
    {
        Type type = Type.GetTypeFromProgID("MSMQ." + name);
        if (type == null) throw new COMException("there is no class " + name, ClassNotRegistered);
        return name == "MSMQEvent" ? Staying(() => Activator.CreateInstance(type)) : Activator.CreateInstance(type);
    }

    public override string ClassId(string name)
    {
        Type type = Type.GetTypeFromProgID("MSMQ." + name);
        return type == null ? null : type.GUID.ToString();
    }

    public override bool Has(object target, Guid iid)
    {
        IntPtr unknown = Marshal.GetIUnknownForObject(target), asked;
        try
        {
            if (Marshal.QueryInterface(unknown, ref iid, out asked) != 0) return false;
            Marshal.Release(asked);
            return true;
        }
        finally
        {
            Marshal.Release(unknown);
        }
    }

    public override void Release(object target)
    {
        if (Marshal.IsComObject(target)) Marshal.FinalReleaseComObject(target);
    }

    public override BindingFlags Binding(string kind)
    {
        switch (kind)
        {
            case "get": return BindingFlags.GetProperty;
            case "put": return BindingFlags.PutDispProperty;
            case "putref": return BindingFlags.PutRefDispProperty;
            default: return BindingFlags.InvokeMethod;
        }
    }
}

sealed class PlainLibrary : Library
{
    readonly Assembly assembly;

    public PlainLibrary(string file) { assembly = Assembly.LoadFrom(file); }

    public override object Create(string name)
    {
        Type type = assembly.GetType(name);
        if (type == null || !type.IsPublic) throw new COMException("there is no class " + name, ClassNotRegistered);
        return name == "MSMQEvent" ? Staying(() => Activator.CreateInstance(type)) : Activator.CreateInstance(type);
    }

    // The CLR makes up a GUID for a class that tells none.
    public override string ClassId(string name)
    {
        Type type = assembly.GetType(name);
        return type != null && type.IsDefined(typeof(GuidAttribute), false) ? type.GUID.ToString() : null;
    }

    public override bool Has(object target, Guid iid)
    {
        return Array.Exists(target.GetType().GetInterfaces(), each => each.GUID == iid);
    }

    public override void Release(object target) { }

    // A class of the CLR has no use for a wrapper that tells COM the type of null.
    public override object Passed(object argument)
    {
        return argument is BStrWrapper || argument is DispatchWrapper ? null : argument;
    }

    public override BindingFlags Binding(string kind)
    {
        BindingFlags common = BindingFlags.OptionalParamBinding | BindingFlags.Public | BindingFlags.Instance;
        return common | (kind == "get" ? BindingFlags.GetProperty
            : kind == "method" ? BindingFlags.InvokeMethod : BindingFlags.SetProperty);
    }
}

// A thread of its own that does one thing after another and dispatches window messages in between: events of an object in
// a single-threaded apartment come as such, and WaitOne dispatches none that are not COM's own.
sealed class Apartment
{
    readonly Queue<Action> waiting = new Queue<Action>();
    readonly AutoResetEvent more = new AutoResetEvent(false);

    public Apartment()
    {
        var thread = new Thread(Run);
        thread.IsBackground = true;
        thread.SetApartmentState(ApartmentState.STA);
        thread.Start();
    }

    void Run()
    {
        while (true)
        {
            Wait();
            while (true)
            {
                Action next;
                lock (waiting)
                {
                    if (waiting.Count == 0) break;
                    next = waiting.Dequeue();
                }
                next();
            }
        }
    }

    // Returns when there may be work, or a message was dispatched.
    void Wait()
    {
        const uint forever = 0xFFFFFFFF, failed = 0xFFFFFFFF, allInput = 0x4FF, inputAvailable = 4, remove = 1;
        try
        {
            var handles = new[] { more.SafeWaitHandle.DangerousGetHandle() };
            if (MsgWaitForMultipleObjectsEx(1, handles, forever, allInput, inputAvailable) == failed) more.WaitOne();
            WindowMessage message;
            while (PeekMessageW(out message, IntPtr.Zero, 0, 0, remove))
            {
                TranslateMessage(ref message);
                DispatchMessageW(ref message);
            }
        }
        catch (TypeLoadException) // no Windows: nothing is delivered by messages there
        {
            more.WaitOne();
        }
    }

    [StructLayout(LayoutKind.Sequential)]
    struct WindowMessage
    {
        public IntPtr Window;
        public uint Number;
        public IntPtr First, Second;
        public uint Time;
        public int X, Y;
    }

    [DllImport("user32.dll")]
    static extern uint MsgWaitForMultipleObjectsEx(uint count, IntPtr[] handles, uint ms, uint kinds, uint flags);

    [DllImport("user32.dll")]
    static extern bool PeekMessageW(out WindowMessage message, IntPtr window, uint first, uint last, uint flags);

    [DllImport("user32.dll")]
    static extern bool TranslateMessage(ref WindowMessage message);

    [DllImport("user32.dll")]
    static extern IntPtr DispatchMessageW(ref WindowMessage message);

    public T Do<T>(Func<T> work)
    {
        T result = default(T);
        Exception failed = null;
        using (var done = new ManualResetEvent(false))
        {
            lock (waiting)
                waiting.Enqueue(delegate()
                {
                    try
                    {
                        result = work();
                    }
                    catch (Exception e)
                    {
                        failed = e;
                    }
                    done.Set();
                });
            more.Set();
            done.WaitOne();
        }
        if (failed != null) throw new TargetInvocationException(failed);
        return result;
    }
}
