// Queue names: the harness's spelling outside, names of our own inside, because a queue manager is shared.
using System;
using System.Collections.Generic;
using System.IO;
using System.Text;
using System.Text.RegularExpressions;

// Which names were used is kept in the state folder, so that a new process finds the queues of the one before.
sealed class Names
{
    const int MostCharacters = 124; // of a queue's name (MS-MQMQ 2.1.1)
    public readonly string Computer;
    readonly Regex queueHere;
    readonly object changing = new object();
    readonly string file, run;
    int generation; // counts resets: a queue of before must not be met again, however slowly it goes away
    readonly HashSet<string> made = new HashSet<string>(), outgoing = new HashSet<string>();

    public Names(string folder, string space, string computer)
    {
        Computer = computer;
        string here = @"(?:\.|" + Regex.Escape(computer) + ")";
        queueHere = new Regex(@"^((?:DIRECT=OS:)?" + here + @"\\(?:private\$\\)?)((?!SYSTEM\$)[^\\;].*)$",
            RegexOptions.IgnoreCase | RegexOptions.Singleline);
        Directory.CreateDirectory(folder);
        file = Path.Combine(folder, "mqrt-queues-" + Convert.ToBase64String(Encoding.UTF8.GetBytes(space)).Replace('/', '_'));
        run = Guid.NewGuid().ToString("N").Substring(0, 8);
        if (!File.Exists(file)) return;
        string[] lines = File.ReadAllLines(file, Encoding.UTF8);
        run = lines[0];
        generation = int.Parse(lines[1]);
        for (int i = 2; i < lines.Length; i++)
            (lines[i][0] == '+' ? made : outgoing).Add(Encoding.Unicode.GetString(Convert.FromBase64String(lines[i].Substring(1))));
    }

    string Prefix { get { return "mqc-" + run + "-" + generation + "-"; } }

    // A path name or format name with names of our own for the queues of this computer; all others stay as they are.
    public string Own(string name)
    {
        if (name.IndexOf('\0') >= 0) throw Refused.NotExpressible("name a queue by a text with a null in it");
        if (name.StartsWith("MQ:", StringComparison.OrdinalIgnoreCase) || name.StartsWith("DL=")) return name;
        string[] elements = name.Split(',');
        for (int i = 0; i < elements.Length; i++)
            elements[i] = queueHere.Replace(elements[i], Prefixed);
        return string.Join(",", elements);
    }

    // A name that is too long by itself is left as it is, to be refused.
    string Prefixed(Match match)
    {
        string name = match.Groups[2].Value, place = match.Groups[1].Value;
        int length = name.Split(';')[0].Length;
        if (length > MostCharacters) return match.Value;
        if (length + Prefix.Length <= MostCharacters) return place + Prefix + name;
        throw Refused.NotExpressible("tell queues of so long names from those of others");
    }

    // A name as the API tells it, without what we put into it.
    public string Shown(string told) { return told.Replace(Prefix, "").Replace(Prefix.ToUpperInvariant(), ""); }

    public bool IsHere(string own) { return own.IndexOf(Prefix, StringComparison.OrdinalIgnoreCase) >= 0; }

    public void Made(string own) { lock (changing) if (made.Add(own)) Save(); }

    public void Deleted(string own) { lock (changing) if (made.Remove(own)) Save(); }

    // A queue of another computer, or of this one by an address, that was opened for sending.
    public void Sent(string own) { lock (changing) if (outgoing.Add(own)) Save(); }

    // Every name of ours, all of which are free afterwards: what was made, and what was sent to.
    public void Forget(List<string> queues, List<string> destinations)
    {
        lock (changing)
        {
            queues.AddRange(made);
            destinations.AddRange(outgoing);
            made.Clear();
            outgoing.Clear();
            generation++;
            Save();
        }
    }

    // Written beside and moved: a kill leaves the old file or the new one.
    void Save()
    {
        var lines = new List<string> { run, generation.ToString() };
        foreach (string own in made) lines.Add("+" + Convert.ToBase64String(Encoding.Unicode.GetBytes(own)));
        foreach (string own in outgoing) lines.Add("-" + Convert.ToBase64String(Encoding.Unicode.GetBytes(own)));
        File.WriteAllLines(file + ".new", lines.ToArray(), new UTF8Encoding(false));
        if (File.Exists(file)) File.Replace(file + ".new", file, null);
        else File.Move(file + ".new", file);
    }
}
