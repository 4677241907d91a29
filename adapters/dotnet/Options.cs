// What the command line asks for: to look past a deviation that every test would end with, and see what else there is.
using System;
using System.Collections.Generic;
using System.IO;

sealed class Options
{
    const int LongestNoWait = 10000;
    public const string Usage = "usage: driver.exe [--no-wait-ms 0..10000] [--hide MEMBER,MEMBER...] [--dead-letters-may-be-lost] "
        + Listener.Usage + ", with the adapter protocol on standard input or on a port";

    public readonly int NoWaitMs; // what a read that is not to wait is given instead of nothing
    public readonly HashSet<string> Hidden = new HashSet<string>(); // what reads do not show of a transaction's messages
    public readonly bool DeadLettersMayBeLost; // of this computer, and its journal
    public readonly Listening Listening = new Listening();
    readonly List<string> told = new List<string>();

    // Throws ArgumentException for anything else than Usage says.
    public Options(string[] arguments)
    {
        for (int i = 0; i < arguments.Length; i++)
        {
            string value = i + 1 < arguments.Length ? arguments[i + 1] : "";
            if (Listening.Takes(arguments[i], value))
            {
                i++;
                continue;
            }
            switch (arguments[i])
            {
                case "--no-wait-ms":
                    if (!int.TryParse(value, out NoWaitMs) || NoWaitMs < 0 || NoWaitMs > LongestNoWait)
                        throw new ArgumentException(Usage);
                    told.Add("reads that are not to wait are given " + NoWaitMs + " ms");
                    i++;
                    break;
                case "--hide":
                    if (value == "") throw new ArgumentException(Usage);
                    Hidden.UnionWith(value.Split(','));
                    told.Add(value.Replace(",", ", ") + " of a transaction's messages not shown");
                    i++;
                    break;
                case "--dead-letters-may-be-lost": DeadLettersMayBeLost = true; break;
                default: throw new ArgumentException(Usage);
            }
        }
    }

    // Where state is kept that the harness, on another computer, cannot name a folder for; null where it can.
    public string StateFolder
    {
        get { return Listening.Place == null ? null : Path.Combine(Path.GetTempPath(), "mqconform-dotnet"); }
    }

    // For the name in hello: a report must say what its run looked past.
    public string Told { get { return told.Count == 0 ? "" : " (" + string.Join("; ", told.ToArray()) + ")"; } }
}
