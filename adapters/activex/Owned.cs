// What a session made in the queue manager, to be taken out again at a reset: open queues, and queues by their path, and what
// the computer's own queues keep, where their owner lets it.
using System;
using System.Collections.Generic;
using System.IO;
using System.Reflection;
using System.Text;

sealed class Owned
{
    const int ReceiveAccess = 1, DenyNone = 0; // MQACCESS, MQSHARE
    readonly bool empties; // the computer's own queues, which all programs share
    readonly string file; // queues made and not deleted, a line each: a killed process finds them again
    readonly List<object> open = new List<object>();
    readonly List<string> made = new List<string>();

    public Owned(string folder, bool empties)
    {
        this.empties = empties;
        Directory.CreateDirectory(folder);
        file = Path.Combine(folder, "queues.txt");
        if (File.Exists(file)) made.AddRange(File.ReadAllLines(file, Encoding.UTF8));
    }

    // A call has succeeded.
    public void Note(Objects objects, object target, string member, string kind, object value)
    {
        if (kind != "method") return;
        lock (made)
        {
            if (string.Equals(member, "Open", StringComparison.OrdinalIgnoreCase) && value != null) open.Add(value);
            else if (string.Equals(member, "Create", StringComparison.OrdinalIgnoreCase)) Add(objects.Call(target, "PathName", "get") as string);
        }
    }

    void Add(string path)
    {
        if (string.IsNullOrEmpty(path) || made.Contains(path)) return;
        made.Add(path);
        Save();
    }

    void Save() { File.WriteAllLines(file, made.ToArray(), new UTF8Encoding(false)); }

    public void Forget(object target)
    {
        lock (made) open.RemoveAll(each => ReferenceEquals(each, target));
    }

    // What cannot be closed or deleted is told and left: it may be gone already.
    public void Reset(Objects objects, Library library)
    {
        object[] queues;
        string[] paths;
        lock (made)
        {
            queues = open.ToArray();
            paths = made.ToArray();
            open.Clear();
            made.Clear();
        }
        foreach (object queue in queues) Try("a queue is not closed", () => objects.Call(queue, "Close", "method"));
        foreach (string path in paths)
            Try(path + " is not deleted", delegate()
            {
                object info = library.Create("MSMQQueueInfo");
                objects.Call(info, "PathName", "put", path);
                objects.Call(info, "Delete", "method");
                library.Release(info);
            });
        if (paths.Length > 0) Save();
        if (!empties) return;
        foreach (string each in new[] { "JOURNAL", "DEADLETTER", "DEADXACT" })
        {
            string name = @"DIRECT=OS:.\SYSTEM$;" + each;
            Try(name + " is not emptied", () => Empty(objects, library, name));
        }
    }

    static void Empty(Objects objects, Library library, string formatName)
    {
        object info = library.Create("MSMQQueueInfo"), queue = null;
        try
        {
            objects.Call(info, "FormatName", "put", formatName);
            queue = objects.Call(info, "Open", "method", ReceiveAccess, DenyNone);
            objects.Call(queue, "Purge", "method");
        }
        finally
        {
            if (queue != null) objects.Call(queue, "Close", "method");
            if (queue != null) library.Release(queue);
            library.Release(info);
        }
    }

    static void Try(string what, Action work)
    {
        try
        {
            work();
        }
        catch (Exception failed)
        {
            Protocol.Log("reset: " + what + ": 0x" + Library.Code(failed).ToString("x8"));
        }
    }
}
