// Queue names: the harness's spelling outside, names of our own inside, because a queue manager is shared.
using System;
using System.Collections.Generic;
using System.IO;
using System.Text;
using System.Text.RegularExpressions;

// Which names were used is kept in the state folder, so that a new process finds the queues of the one before.
sealed class Names
{
    const string Direct = "DIRECT=OS:";
    const string Private = @"private$\";
    const string JournalSuffix = ";JOURNAL", JournalPath = @"\Journal$";
    static readonly string[] systemNames = { @"SYSTEM$;JOURNAL", @"SYSTEM$;DEADLETTER", @"SYSTEM$;DEADXACT" };
    public static readonly string[] SystemPaths = { @".\Journal$", @".\DeadLetter$", @".\XactDeadLetter$" };
    public readonly string Computer = Environment.MachineName;
    readonly object changing = new object();
    readonly bool hasFormatNames;
    readonly string file;
    readonly string run; // tells this state folder's queues from anybody else's
    int generation; // counts resets: a queue of before must not be met again, however slowly it goes away
    readonly HashSet<string> made = new HashSet<string>(StringComparer.Ordinal);
    readonly HashSet<string> used = new HashSet<string>(StringComparer.Ordinal);

    public Names(string folder, string space, bool hasFormatNames)
    {
        this.hasFormatNames = hasFormatNames;
        file = Path.Combine(folder, "dotnet-queues-" + Tag(space));
        Directory.CreateDirectory(folder);
        if (File.Exists(file))
        {
            string[] lines = File.ReadAllLines(file);
            run = lines[0];
            generation = int.Parse(lines[1]);
            for (int i = 2; i < lines.Length; i++)
            {
                string path = Encoding.Unicode.GetString(Convert.FromBase64String(lines[i].Substring(1)));
                (lines[i][0] == '+' ? made : used).Add(path);
            }
        }
        else run = Guid.NewGuid().ToString("N").Substring(0, 8);
    }

    string Prefix { get { return "mqc-" + run + "-" + generation + "-"; } }

    // The path of our own for a path name; anything that is not one on this computer goes to the API as it is.
    public string OwnPath(string pathName)
    {
        int slash = pathName.IndexOf('\\');
        if (slash < 0) return pathName;
        string computer = pathName.Substring(0, slash), rest = pathName.Substring(slash + 1);
        if (computer != "." && !computer.Equals(Computer, StringComparison.OrdinalIgnoreCase)) return pathName;
        bool isPrivate = rest.StartsWith(Private, StringComparison.OrdinalIgnoreCase);
        string name = isPrivate ? rest.Substring(Private.Length) : rest;
        // What has no name gets none from us; a further backslash starts something that the API has to make sense of.
        if (name == "" || name.StartsWith(@"\")) return pathName;
        return @".\" + (isPrivate ? rest.Substring(0, Private.Length) : "") + Prefix + name;
    }

    // For a format name: a path where it is a plain queue of this computer, and else what the API takes format names by.
    // An API without format names has paths for plain direct names only.
    public string OwnFormat(string formatName)
    {
        bool direct = formatName.StartsWith(Direct, StringComparison.OrdinalIgnoreCase);
        string path = direct ? formatName.Substring(Direct.Length) : formatName, own = direct ? OwnPath(path) : path;
        if (direct && !hasFormatNames)
        {
            string kept = KeptPath(path);
            if (kept != null) return kept;
        }
        bool plain = direct && !Regex.IsMatch(path, @";|,\w+=");
        if (plain && own != path) return own;
        if (!hasFormatNames && plain && Regex.IsMatch(path, @"^[^\\]+(\\private\$)?\\[^\\]+$", RegexOptions.IgnoreCase))
            return path; // of another computer
        if (!hasFormatNames) throw Refused.NotExpressible("name a queue by " + formatName);
        return "FormatName:" + (direct ? Direct : "") + own;
    }

    // The documented path of a queue that keeps copies: a journal, or one of the computer's. null for any other queue.
    string KeptPath(string path)
    {
        int slash = path.IndexOf('\\');
        string computer = slash < 0 ? "" : path.Substring(0, slash), rest = path.Substring(slash + 1);
        bool here = computer == "." || computer.Equals(Computer, StringComparison.OrdinalIgnoreCase);
        int system = Array.FindIndex(systemNames, each => each.Equals(rest, StringComparison.OrdinalIgnoreCase));
        if (here && system >= 0) return SystemPaths[system];
        if (!path.EndsWith(JournalSuffix, StringComparison.OrdinalIgnoreCase)) return null;
        string queue = path.Substring(0, path.Length - JournalSuffix.Length), own = OwnPath(queue);
        return own == queue || queue.Contains(";") ? null : own + JournalPath;
    }

    // Whether a path leads to a system queue of this computer, which all share. Only Mono's are named by paths here, and
    // there a broker is had for a run alone.
    public bool IsSystem(string own) { return Array.IndexOf(SystemPaths, own) >= 0; }

    public string FormatOf(string pathName) { return Direct + pathName; }

    // A path or format name as the API tells it, without what we put into it.
    public string Shown(string told)
    {
        if (told.StartsWith("FormatName:", StringComparison.OrdinalIgnoreCase)) told = told.Substring(11);
        foreach (string here in new[] { @".\", @"localhost\" }) // Mono writes the second for the first
            if (told.StartsWith(here)) told = Computer + told.Substring(here.Length - 1);
        return told.Replace(Prefix, "");
    }

    // A queue that creating answered for.
    public void Made(string own) { lock (changing) if (made.Add(own)) Save(); }

    public void Deleted(string own) { lock (changing) if (made.Remove(own) | used.Add(own)) Save(); }

    // A queue that was opened may come to be by being used.
    public void Used(string own) { lock (changing) if (!made.Contains(own) && used.Add(own)) Save(); }

    // Every name of ours, all of which are free afterwards.
    public List<string> Forget()
    {
        lock (changing)
        {
            var all = new List<string>();
            foreach (HashSet<string> set in new[] { made, used })
            {
                foreach (string own in set)
                    if (IsSystem(own) || own.IndexOf(Prefix, StringComparison.Ordinal) >= 0) all.Add(own);
                set.Clear();
            }
            generation++;
            Save();
            return all;
        }
    }

    // Written beside and moved: a kill leaves the old file or the new one.
    void Save()
    {
        var lines = new List<string> { run, generation.ToString() };
        foreach (string own in made) lines.Add("+" + Encoded(own));
        foreach (string own in used) lines.Add("-" + Encoded(own));
        File.WriteAllLines(file + ".new", lines.ToArray());
        if (File.Exists(file)) File.Replace(file + ".new", file, null);
        else File.Move(file + ".new", file);
    }

    static string Encoded(string text) { return Convert.ToBase64String(Encoding.Unicode.GetBytes(text)); }

    // A file name for any namespace (FNV-1a, 32 bits).
    static string Tag(string space)
    {
        uint hash = 2166136261;
        foreach (char c in space) hash = unchecked((hash ^ c) * 16777619);
        return hash.ToString("x8");
    }
}
