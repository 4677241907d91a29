// A fresh library at reset. Mono's keeps its connections in a pool for the life of the process, and once one of them is
// broken (a commit of an empty transaction is enough) every later test would fail for an earlier one's sake. The process
// therefore becomes a new one in place, with the same input, output and process id.
using System;
using System.Collections.Generic;
using System.IO;
using System.Messaging;
using System.Runtime.InteropServices;
using System.Text;

static class Renewal
{
    const string Resumed = "MQCONFORM_DOTNET_RESUMED"; // state folder and namespace, for the process that follows
    const int SetFlags = 2; // F_SETFD
    const int CloseOnExec = 1; // FD_CLOEXEC
    public static bool Off; // a process that others are connected to stays
    static volatile bool wanted;

    // Something has been left in the library that a reset can't take out again.
    public static void Want() { wanted = true; }

    // Whether the next reset makes a new process.
    public static bool Due { get { return wanted && Possible; } }

    public static bool Possible
    {
        get { return !Off && Type.GetType("Mono.Runtime") != null && Directory.Exists("/proc/self/fd"); }
    }

    // Whether an exception tells of the library's inside, and not of the call.
    public static void Judge(Exception e)
    {
        if (e is MessageQueueException || e is Refused || e is NotImplementedException || e is NotSupportedException
            || e is ArgumentException || e is MissingMemberException) return;
        Want();
    }

    // The values given to Become, in a process that it made; else null.
    public static string[] Handed()
    {
        string text = Environment.GetEnvironmentVariable(Resumed);
        if (text == null) return null;
        string[] parts = text.Split(' ');
        return Array.ConvertAll(parts, part => Encoding.Unicode.GetString(Convert.FromBase64String(part)));
    }

    // Does not return where it can and has to be done. Nothing may be left to read but what follows the reset.
    public static void Become(params string[] handed)
    {
        if (!Due) return;
        string[] words = Array.ConvertAll(handed, each => Convert.ToBase64String(Encoding.Unicode.GetBytes(each)));
        setenv(Resumed, string.Join(" ", words), 1);
        foreach (string entry in Directory.GetFileSystemEntries("/proc/self/fd"))
        {
            int descriptor;
            if (int.TryParse(Path.GetFileName(entry), out descriptor) && descriptor > 2)
                fcntl(descriptor, SetFlags, CloseOnExec);
        }
        var arguments = new List<string>(File.ReadAllText("/proc/self/cmdline").TrimEnd('\0').Split('\0'));
        arguments.Add(null);
        execv("/proc/self/exe", arguments.ToArray());
        Protocol.Log("a fresh process cannot be had (" + Marshal.GetLastWin32Error() + "): this one goes on");
    }

    [DllImport("libc", SetLastError = true)]
    static extern int execv(string path, string[] arguments);

    [DllImport("libc")]
    static extern int setenv(string name, string value, int overwrite);

    [DllImport("libc")]
    static extern int fcntl(int descriptor, int command, int argument);
}
