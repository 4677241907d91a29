// The functions of mqrt.dll, and what they need of kernel32.dll, as the product documentation declares them.
using System;
using System.Runtime.InteropServices;
using System.Text;

static class Native
{
    const string Api = "mqrt.dll", Kernel = "kernel32.dll";
    public const uint Infinite = 0xFFFFFFFF;
    public const int Pending = 0x400E0006; // MQ_INFORMATION_OPERATION_PENDING

    [DllImport(Api, CharSet = CharSet.Unicode)]
    public static extern int MQOpenQueue(string formatName, uint access, uint share, out IntPtr queue);

    [DllImport(Api)]
    public static extern int MQCloseQueue(IntPtr queue);

    [DllImport(Api, CharSet = CharSet.Unicode)]
    public static extern int MQCreateQueue(IntPtr descriptor, IntPtr properties, StringBuilder formatName, ref uint length);

    [DllImport(Api, CharSet = CharSet.Unicode)]
    public static extern int MQDeleteQueue(string formatName);

    [DllImport(Api, CharSet = CharSet.Unicode)]
    public static extern int MQGetQueueProperties(string formatName, IntPtr properties);

    [DllImport(Api, CharSet = CharSet.Unicode)]
    public static extern int MQSetQueueProperties(string formatName, IntPtr properties);

    [DllImport(Api)]
    public static extern int MQPurgeQueue(IntPtr queue);

    [DllImport(Api)]
    public static extern int MQCreateCursor(IntPtr queue, out IntPtr cursor);

    [DllImport(Api)]
    public static extern int MQCloseCursor(IntPtr cursor);

    [DllImport(Api)]
    public static extern int MQSendMessage(IntPtr queue, IntPtr properties, IntPtr transaction);

    [DllImport(Api)]
    public static extern int MQReceiveMessage(IntPtr queue, uint timeout, uint action, IntPtr properties, IntPtr overlapped,
        IntPtr callback, IntPtr cursor, IntPtr transaction);

    [DllImport(Api)]
    public static extern int MQReceiveMessageByLookupId(IntPtr queue, ulong number, uint action, IntPtr properties,
        IntPtr overlapped, IntPtr callback, IntPtr transaction);

    [DllImport(Api)]
    public static extern int MQMoveMessage(IntPtr source, IntPtr destination, ulong number, IntPtr transaction);

    [DllImport(Api)]
    public static extern int MQGetOverlappedResult(IntPtr overlapped);

    [DllImport(Api)]
    public static extern int MQBeginTransaction(out IntPtr transaction);

    [DllImport(Api, CharSet = CharSet.Unicode)]
    public static extern int MQMgmtGetInfo(string computer, string target, IntPtr properties);

    [DllImport(Api, CharSet = CharSet.Unicode)]
    public static extern int MQMgmtAction(string computer, string target, string action);

    [DllImport(Api, CharSet = CharSet.Unicode)]
    public static extern int MQGetMachineProperties(string computer, IntPtr identifier, IntPtr properties);

    [DllImport(Api, CharSet = CharSet.Unicode)]
    public static extern int MQGetPrivateComputerInformation(string computer, IntPtr properties);

    [DllImport(Api, CharSet = CharSet.Unicode)]
    public static extern int MQGetQueueSecurity(string formatName, uint information, byte[] descriptor, uint length,
        out uint needed);

    [DllImport(Api, CharSet = CharSet.Unicode)]
    public static extern int MQSetQueueSecurity(string formatName, uint information, byte[] descriptor);

    [DllImport(Api)]
    public static extern void MQFreeMemory(IntPtr memory);

    [DllImport(Kernel, SetLastError = true)]
    public static extern int CancelIoEx(IntPtr queue, IntPtr overlapped);

    [DllImport(Kernel, CharSet = CharSet.Unicode, ExactSpelling = true)]
    public static extern int GetComputerNameW(StringBuilder name, ref uint length);
}

// The part of a transaction's COM object (ITransaction) that is called here: methods by their places in its table.
static class TransactionObject
{
    const int ReleasePlace = 2, CommitPlace = 3, AbortPlace = 4;

    delegate uint ReleaseMethod(IntPtr self);

    delegate int CommitMethod(IntPtr self, int retaining, uint coordinator, uint managers);

    delegate int AbortMethod(IntPtr self, IntPtr reason, int retaining, int later);

    static T Method<T>(IntPtr self, int place) where T : class
    {
        IntPtr table = Marshal.ReadIntPtr(self);
        IntPtr method = Marshal.ReadIntPtr(table, place * IntPtr.Size);
        return (T)(object)Marshal.GetDelegateForFunctionPointer(method, typeof(T));
    }

    public static int Commit(IntPtr self) { return Method<CommitMethod>(self, CommitPlace)(self, 0, 0, 0); }

    public static int Abort(IntPtr self) { return Method<AbortMethod>(self, AbortPlace)(self, IntPtr.Zero, 0, 0); }

    public static void Release(IntPtr self) { Method<ReleaseMethod>(self, ReleasePlace)(self); }
}

// An event for OVERLAPPED.hEvent. Windows has its own; elsewhere the library that stands for mqrt.dll makes them.
sealed class Signal : IDisposable
{
    static readonly bool windows = Environment.OSVersion.Platform == PlatformID.Win32NT;
    readonly System.Threading.ManualResetEvent own;
    readonly IntPtr handle;

    [DllImport("mqrt.dll")]
    static extern IntPtr mqrt_event_create(int manual, int set);

    [DllImport("mqrt.dll")]
    static extern int mqrt_event_wait(IntPtr signal, uint milliseconds);

    [DllImport("mqrt.dll")]
    static extern int mqrt_event_close(IntPtr signal);

    public Signal()
    {
        if (windows) own = new System.Threading.ManualResetEvent(false);
        else handle = mqrt_event_create(1, 0);
    }

    public IntPtr Handle { get { return windows ? own.SafeWaitHandle.DangerousGetHandle() : handle; } }

    public void Wait()
    {
        if (windows) own.WaitOne();
        else mqrt_event_wait(handle, Native.Infinite);
    }

    public void Dispose()
    {
        if (windows) own.Close();
        else mqrt_event_close(handle);
    }
}
