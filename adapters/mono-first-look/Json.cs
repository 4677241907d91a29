// As much JSON as a driver reads: objects, arrays, strings, whole numbers, true, false, null.
using System;
using System.Collections.Generic;
using System.Globalization;
using System.Text;

static class Json
{
    public static object Parse(string text) { int at = 0; return Value(text, ref at); }

    public static string Text(string value)
    {
        var text = new StringBuilder("\"");
        foreach (char c in value ?? "")
            if (c >= ' ' && c < 127 && c != '"' && c != '\\') text.Append(c);
            else text.Append("\\u" + ((int)c).ToString("x4"));
        return text.Append('"').ToString();
    }

    static object Value(string s, ref int at)
    {
        Blank(s, ref at);
        switch (s[at])
        {
            case '{':
                var members = new Dictionary<string, object>();
                for (at++; Next(s, ref at) != '}'; Comma(s, ref at, '}'))
                {
                    string name = String(s, ref at);
                    Blank(s, ref at);
                    at++; // the colon
                    members[name] = Value(s, ref at);
                }
                at++;
                return members;
            case '[':
                var items = new List<object>();
                for (at++; Next(s, ref at) != ']'; Comma(s, ref at, ']')) items.Add(Value(s, ref at));
                at++;
                return items;
            case '"': return String(s, ref at);
            case 't': at += 4; return true;
            case 'f': at += 5; return false;
            case 'n': at += 4; return null;
            default:
                int start = at;
                while (at < s.Length && "+-.eE0123456789".IndexOf(s[at]) >= 0) at++;
                return long.Parse(s.Substring(start, at - start), CultureInfo.InvariantCulture);
        }
    }

    static string String(string s, ref int at)
    {
        var text = new StringBuilder();
        for (at++; s[at] != '"'; at++)
            if (s[at] != '\\') text.Append(s[at]);
            else if (s[++at] == 'u')
            {
                text.Append((char)int.Parse(s.Substring(at + 1, 4), NumberStyles.HexNumber));
                at += 4;
            }
            else
            {
                int plain = "bfnrt".IndexOf(s[at]);
                text.Append(plain >= 0 ? "\b\f\n\r\t"[plain] : s[at]);
            }
        at++;
        return text.ToString();
    }

    static void Blank(string s, ref int at) { while (s[at] == ' ' || s[at] == '\t') at++; }

    static char Next(string s, ref int at) { Blank(s, ref at); return s[at]; }

    static void Comma(string s, ref int at, char end)
    {
        if (Next(s, ref at) == ',') at++;
        else if (s[at] != end) throw new FormatException("not JSON at " + at);
    }
}
