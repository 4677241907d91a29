// As much JSON as a driver needs: objects are dictionaries, arrays lists, whole numbers longs, the rest as one expects.
using System;
using System.Collections;
using System.Collections.Generic;
using System.Globalization;
using System.Text;

static class Json
{
    const int Deepest = 64; // of objects and arrays in each other: a hostile line must not overflow the stack

    public static object Parse(string text)
    {
        int at = 0;
        object value = Value(text, ref at, 0);
        Blank(text, ref at);
        if (at < text.Length) throw Wrong(at);
        return value;
    }

    public static string Write(object value)
    {
        var text = new StringBuilder();
        Write(text, value);
        return text.ToString();
    }

    static void Write(StringBuilder text, object value)
    {
        var members = value as IDictionary<string, object>;
        if (value == null) text.Append("null");
        else if (value is string) Write(text, (string)value);
        else if (value is bool) text.Append((bool)value ? "true" : "false");
        else if (members != null)
        {
            char before = '{';
            foreach (KeyValuePair<string, object> member in members)
            {
                text.Append(before);
                Write(text, member.Key);
                text.Append(':');
                Write(text, member.Value);
                before = ',';
            }
            text.Append(before == '{' ? "{}" : "}");
        }
        else if (value is IEnumerable)
        {
            char before = '[';
            foreach (object item in (IEnumerable)value)
            {
                text.Append(before);
                Write(text, item);
                before = ',';
            }
            text.Append(before == '[' ? "[]" : "]");
        }
        else text.Append(Convert.ToString(value, CultureInfo.InvariantCulture));
    }

    // ASCII only: half of a surrogate pair, which is no UTF-8, goes through as well as any other character.
    static void Write(StringBuilder text, string value)
    {
        text.Append('"');
        foreach (char c in value)
        {
            if (c >= ' ' && c < 127 && c != '"' && c != '\\') text.Append(c);
            else text.Append("\\u").Append(((int)c).ToString("x4"));
        }
        text.Append('"');
    }

    static object Value(string s, ref int at, int depth)
    {
        if (depth > Deepest) throw new FormatException("JSON nested more than " + Deepest + " deep");
        switch (Next(s, ref at))
        {
            case '{':
                var members = new Dictionary<string, object>();
                for (at++; Next(s, ref at) != '}'; Comma(s, ref at, '}'))
                {
                    string name = Text(s, ref at);
                    Expect(s, ref at, ':');
                    members[name] = Value(s, ref at, depth + 1);
                }
                at++;
                return members;
            case '[':
                var items = new List<object>();
                for (at++; Next(s, ref at) != ']'; Comma(s, ref at, ']')) items.Add(Value(s, ref at, depth + 1));
                at++;
                return items;
            case '"': return Text(s, ref at);
            case 't': return Word(s, ref at, "true", true);
            case 'f': return Word(s, ref at, "false", false);
            case 'n': return Word(s, ref at, "null", null);
            default: return Number(s, ref at);
        }
    }

    static object Number(string s, ref int at)
    {
        int start = at;
        while (at < s.Length && "+-.eE0123456789".IndexOf(s[at]) >= 0) at++;
        string digits = s.Substring(start, at - start);
        long whole;
        double any;
        if (long.TryParse(digits, NumberStyles.AllowLeadingSign, CultureInfo.InvariantCulture, out whole)) return whole;
        if (double.TryParse(digits, NumberStyles.Float, CultureInfo.InvariantCulture, out any)) return any;
        throw Wrong(start);
    }

    static object Word(string s, ref int at, string word, object value)
    {
        if (string.CompareOrdinal(s, at, word, 0, word.Length) != 0) throw Wrong(at);
        at += word.Length;
        return value;
    }

    static string Text(string s, ref int at)
    {
        Expect(s, ref at, '"');
        var text = new StringBuilder();
        while (true)
        {
            int start = at;
            while (at < s.Length && s[at] != '"' && s[at] != '\\') at++;
            text.Append(s, start, at - start);
            if (at + 1 >= s.Length && (at >= s.Length || s[at] == '\\')) throw Wrong(at);
            if (s[at++] == '"') return text.ToString();
            char c = s[at++];
            int plain = "bfnrt".IndexOf(c);
            if (c != 'u') text.Append(plain >= 0 ? "\b\f\n\r\t"[plain] : c);
            else
            {
                int code;
                if (at + 4 > s.Length || !int.TryParse(s.Substring(at, 4), NumberStyles.AllowHexSpecifier,
                    CultureInfo.InvariantCulture, out code)) throw Wrong(at);
                text.Append((char)code);
                at += 4;
            }
        }
    }

    static void Blank(string s, ref int at)
    {
        while (at < s.Length && (s[at] == ' ' || s[at] == '\t' || s[at] == '\r')) at++;
    }

    static char Next(string s, ref int at)
    {
        Blank(s, ref at);
        if (at >= s.Length) throw Wrong(at);
        return s[at];
    }

    static void Expect(string s, ref int at, char wanted)
    {
        if (Next(s, ref at) != wanted) throw Wrong(at);
        at++;
    }

    static void Comma(string s, ref int at, char end)
    {
        if (Next(s, ref at) != ',')
        {
            if (s[at] != end) throw Wrong(at);
            return;
        }
        at++;
        if (Next(s, ref at) == end) throw Wrong(at);
    }

    static FormatException Wrong(int at) { return new FormatException("not JSON at character " + at); }
}
