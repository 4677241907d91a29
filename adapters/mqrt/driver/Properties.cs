// An array of properties as all functions take it: identifiers, values of a type each, and what is said of each.
using System;
using System.Collections.Generic;
using System.Runtime.InteropServices;

// Variant types of MS-MQMQ 2.2.12.
static class Vt
{
    public const ushort Empty = 0, Null = 1, I2 = 2, I4 = 3, Bool = 11, Variant = 12, I1 = 16, UI1 = 17, UI2 = 18, UI4 = 19, I8 = 20,
        UI8 = 21, LPWSTR = 31, Blob = 65, CLSID = 72, Vector = 0x1000;
}

// Used by one thread at a time. What it points to lives until Dispose.
sealed class Properties : IDisposable
{
    const int Head = 8; // bytes of a variant before its value
    public static readonly int Width = Head + 2 * IntPtr.Size;
    const uint Failed = 0x80000000;
    const int PropertyError = unchecked((int)0xC00E0002); // MQ_ERROR_PROPERTY
    readonly List<uint> identifiers = new List<uint>();
    readonly List<Action<IntPtr>> values = new List<Action<IntPtr>>();
    readonly List<IntPtr> memory = new List<IntPtr>();
    IntPtr structure, variants, statuses;

    public void Number(uint identifier, ushort vt, long value)
    {
        Add(identifier, delegate(IntPtr at)
        {
            Marshal.WriteInt16(at, unchecked((short)vt));
            Marshal.WriteInt64(at, Head, value);
        });
    }

    public void Text(uint identifier, string value)
    {
        byte[] bytes = System.Text.Encoding.Unicode.GetBytes(value + "\0");
        Add(identifier, at => Point(at, Vt.LPWSTR, Copy(bytes)));
    }

    public void Identifier(uint identifier, Guid value)
    {
        Add(identifier, at => Point(at, Vt.CLSID, Copy(value.ToByteArray())));
    }

    public void Bytes(uint identifier, byte[] value)
    {
        Add(identifier, at => Elements(at, value.Length, Copy(value)));
    }

    // Room for bytes, or for a text of so many characters with its end.
    public void Room(uint identifier, int bytes) { Add(identifier, at => Elements(at, bytes, Memory(bytes))); }

    public void TextRoom(uint identifier, int characters)
    {
        Add(identifier, at => Point(at, Vt.LPWSTR, Memory(2 * characters)));
    }

    // A value that the function makes memory for.
    public void Asked(uint identifier) { Add(identifier, at => Marshal.WriteInt16(at, unchecked((short)Vt.Null))); }

    void Add(uint identifier, Action<IntPtr> value)
    {
        identifiers.Add(identifier);
        values.Add(value);
    }

    static void Point(IntPtr at, ushort vt, IntPtr value)
    {
        Marshal.WriteInt16(at, unchecked((short)vt));
        Marshal.WriteIntPtr(at, Head, value);
    }

    static void Elements(IntPtr at, int count, IntPtr elements)
    {
        Marshal.WriteInt16(at, unchecked((short)(Vt.Vector | Vt.UI1)));
        Marshal.WriteInt32(at, Head, count);
        Marshal.WriteIntPtr(at, Head + IntPtr.Size, elements);
    }

    // Memory of so many bytes, not cleared. A request for none gets a byte.
    public IntPtr Memory(int bytes)
    {
        IntPtr made = Marshal.AllocHGlobal(Math.Max(bytes, 1));
        memory.Add(made);
        return made;
    }

    IntPtr Copy(byte[] bytes)
    {
        IntPtr made = Memory(bytes.Length);
        Marshal.Copy(bytes, 0, made, bytes.Length);
        return made;
    }

    IntPtr Cleared(int bytes) { return Copy(new byte[bytes]); }

    // The structure that a function takes. Nothing can be added afterwards.
    public IntPtr Structure
    {
        get
        {
            if (structure != IntPtr.Zero) return structure;
            int count = identifiers.Count;
            IntPtr numbers = Cleared(4 * count);
            variants = Cleared(Width * count);
            statuses = Cleared(4 * count);
            for (int i = 0; i < count; i++)
            {
                Marshal.WriteInt32(numbers, 4 * i, unchecked((int)identifiers[i]));
                values[i](At(i));
            }
            structure = Cleared(4 * IntPtr.Size);
            Marshal.WriteInt32(structure, count);
            Marshal.WriteIntPtr(structure, IntPtr.Size, numbers);
            Marshal.WriteIntPtr(structure, 2 * IntPtr.Size, variants);
            Marshal.WriteIntPtr(structure, 3 * IntPtr.Size, statuses);
            return structure;
        }
    }

    IntPtr At(int place) { return new IntPtr(variants.ToInt64() + (long)Width * place); }

    public IntPtr At(uint identifier) { return At(identifiers.IndexOf(identifier)); }

    // What a call failed with: where it says that a property is wrong, what is said of the first such.
    public int Cause(int status)
    {
        if (status != PropertyError) return status;
        for (int i = 0; i < identifiers.Count; i++)
        {
            int own = Marshal.ReadInt32(statuses, 4 * i);
            if (unchecked((uint)own) >= Failed) return own;
        }
        return status;
    }

    public long Number(uint identifier) { return Variants.Number(At(identifier)); }

    public byte[] Bytes(uint identifier, int count)
    {
        return Variants.Bytes(Marshal.ReadIntPtr(At(identifier), Head + IntPtr.Size), count);
    }

    public string Text(uint identifier) { return Marshal.PtrToStringUni(Marshal.ReadIntPtr(At(identifier), Head)); }

    public void Dispose()
    {
        foreach (IntPtr each in memory) Marshal.FreeHGlobal(each);
        memory.Clear();
    }
}

// Values that a function returned, as the protocol writes them.
static class Variants
{
    const int Head = 8;

    public static ushort Type(IntPtr at) { return unchecked((ushort)Marshal.ReadInt16(at)); }

    public static long Number(IntPtr at)
    {
        return Element(new IntPtr(at.ToInt64() + Head), Type(at));
    }

    // A number in memory. Of 64 bits without a sign: the same bits.
    static long Element(IntPtr at, ushort vt)
    {
        switch (vt)
        {
            case Vt.UI1: return Marshal.ReadByte(at);
            case Vt.I1: return unchecked((sbyte)Marshal.ReadByte(at));
            case Vt.I2:
            case Vt.Bool: return Marshal.ReadInt16(at);
            case Vt.UI2: return unchecked((ushort)Marshal.ReadInt16(at));
            case Vt.I4: return Marshal.ReadInt32(at);
            case Vt.UI4: return unchecked((uint)Marshal.ReadInt32(at));
            default: return Marshal.ReadInt64(at);
        }
    }

    static int Size(ushort vt)
    {
        switch (vt)
        {
            case Vt.UI1:
            case Vt.I1: return 1;
            case Vt.I2:
            case Vt.UI2:
            case Vt.Bool: return 2;
            case Vt.I4:
            case Vt.UI4: return 4;
            case Vt.LPWSTR: return IntPtr.Size;
            case Vt.CLSID: return 16;
            case Vt.Variant: return Properties.Width;
            default: return 8;
        }
    }

    public static byte[] Bytes(IntPtr from, int count)
    {
        var bytes = new byte[count];
        if (count > 0) Marshal.Copy(from, bytes, 0, count);
        return bytes;
    }

    static Guid Identifier(IntPtr at) { return new Guid(Bytes(at, 16)); }

    // A number, a text, base64, or a list of these; null for a type without a value.
    public static object Value(IntPtr at, Func<string, string> shown)
    {
        ushort vt = Type(at);
        IntPtr inside = new IntPtr(at.ToInt64() + Head);
        if ((vt & Vt.Vector) == 0) return Scalar(inside, vt, shown);
        int count = Marshal.ReadInt32(inside);
        IntPtr first = Marshal.ReadIntPtr(inside, IntPtr.Size);
        ushort of = (ushort)(vt & ~Vt.Vector);
        var values = new List<object>();
        for (int i = 0; i < count; i++)
        {
            IntPtr element = new IntPtr(first.ToInt64() + (long)i * Size(of));
            if (of == Vt.Variant) values.Add(Typed(element, shown));
            else if (of == Vt.CLSID) values.Add(Identifier(element).ToString("D"));
            else values.Add(Scalar(element, of, shown));
        }
        return values;
    }

    static object Scalar(IntPtr at, ushort vt, Func<string, string> shown)
    {
        switch (vt)
        {
            case Vt.Empty:
            case Vt.Null: return null;
            case Vt.LPWSTR: return shown(Marshal.PtrToStringUni(Marshal.ReadIntPtr(at)) ?? "");
            case Vt.CLSID: return Identifier(Marshal.ReadIntPtr(at)).ToString("D");
            case Vt.Blob: return Convert.ToBase64String(Bytes(Marshal.ReadIntPtr(at, IntPtr.Size), Marshal.ReadInt32(at)));
            case Vt.Bool: return Element(at, vt) != 0;
            case Vt.I8: return Element(at, vt).ToString();
            case Vt.UI8: return unchecked((ulong)Element(at, vt)).ToString();
            default: return Element(at, vt);
        }
    }

    // With its type.
    public static Dictionary<string, object> Typed(IntPtr at, Func<string, string> shown)
    {
        var told = new Dictionary<string, object> { { "vt", (long)Type(at) } };
        object value = Value(at, shown);
        if (value != null) told["value"] = value;
        return told;
    }

    // Frees what a function has made for a value that was asked for.
    public static void Free(IntPtr at)
    {
        ushort vt = Type(at);
        if (vt == Vt.LPWSTR || vt == Vt.CLSID) Native.MQFreeMemory(Marshal.ReadIntPtr(at, Head));
        if ((vt & Vt.Vector) == 0 && vt != Vt.Blob) return;
        IntPtr first = Marshal.ReadIntPtr(at, Head + IntPtr.Size);
        ushort of = (ushort)(vt & ~Vt.Vector);
        for (int i = 0; vt != Vt.Blob && i < Marshal.ReadInt32(at, Head); i++)
        {
            IntPtr element = new IntPtr(first.ToInt64() + (long)i * Size(of));
            if (of == Vt.LPWSTR) Native.MQFreeMemory(Marshal.ReadIntPtr(element));
            if (of == Vt.Variant) Free(element);
        }
        Native.MQFreeMemory(first);
    }
}
