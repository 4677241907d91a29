// What the smoke programs share: cases by name, each told in a line.
using System;
using System.Runtime.InteropServices;

static class Smoke
{
    static int failed;
    static readonly string run = Guid.NewGuid().ToString("N").Substring(0, 8);

    [DllImport("libc")]
    static extern void _exit(int code);

    public static void Case(string name, Action body)
    {
        try
        {
            body();
            Console.WriteLine("ok " + name);
        }
        catch (Exception error)
        {
            failed++;
            Console.WriteLine("FAIL " + name + ": " + error.ToString().Replace("\n", " | "));
        }
    }

    public static string Path(string name)
    {
        return ".\\private$\\" + name + "-" + run;
    }

    public static void Same<T>(T expected, T actual)
    {
        if (!Equals(expected, actual)) throw new Exception("expected " + expected + ", got " + actual);
    }

    public static void Throws(long code, Func<Exception, long> codeOf, Action body)
    {
        try
        {
            body();
        }
        catch (Exception error)
        {
            Same(code.ToString("X"), (codeOf(error) & 0xFFFFFFFF).ToString("X"));
            return;
        }
        throw new Exception("no error, expected " + code.ToString("X"));
    }

    public static int End()
    {
        Console.Out.Flush();
        _exit(failed == 0 ? 0 : 1);  // Mono waits for ever for a thread of the library that has called back.
        return 0;
    }
}
