// A driver for System.Messaging: .NET Framework's over MSMQ, or Mono's over RabbitMQ. See README.md beside this file.
using System;
using System.IO;
using System.Runtime.CompilerServices;

static class Program
{
    const int BadArgument = 2;
    const int CannotBeUsed = 3;

    static int Main(string[] arguments)
    {
        Refused.Api = "System.Messaging";
        TextWriter output = Console.Out;
        Console.SetOut(TextWriter.Null); // Mono's library prints there, and standard output is the protocol's
        Options options;
        try
        {
            options = new Options(arguments);
        }
        catch (ArgumentException wrong)
        {
            Console.Error.WriteLine(wrong.Message);
            return BadArgument;
        }
        try
        {
            Start(options, output);
        }
        catch (ArgumentException wrong)
        {
            if (options.Listening.Place == null) throw;
            Console.Error.WriteLine(wrong.Message);
            return BadArgument;
        }
        catch (Exception e)
        {
            string missing = MissingAssembly(e);
            if (missing == null) throw;
            Console.Error.WriteLine("the assembly " + missing + " is not installed: on Debian install "
                + "libmono-system-messaging4.0-cil and libmono-messaging-rabbitmq4.0-cil, on Windows .NET Framework "
                + "4 and the feature Microsoft Message Queue Server");
            return CannotBeUsed;
        }
        new DotnetManners(null).End();
        return 0;
    }

    // Apart from Main, which must be compiled before the assembly is looked for.
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Start(Options options, TextWriter output)
    {
        Renewal.Off = options.Listening.Place != null;
        options.Listening.Serve(output, delegate(Stream stream, TextReader input, Action close)
        {
            var driver = new Driver(new Protocol(stream, new DotnetManners(close), "1.1", "1.0"), options);
            string[] handed = Renewal.Handed();
            if (handed != null) driver.Resume(handed);
            driver.Serve(input);
        });
    }

    static string MissingAssembly(Exception e)
    {
        for (; e != null; e = e.InnerException)
        {
            var file = e as FileNotFoundException;
            var load = e as FileLoadException;
            if (file != null) return Short(file.FileName ?? file.Message);
            if (load != null) return Short(load.FileName ?? load.Message);
            if (e is TypeLoadException) return "System.Messaging"; // the only one this program was compiled against
        }
        return null;
    }

    static string Short(string name) { return name.Split(',')[0]; }
}
