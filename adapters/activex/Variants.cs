// VARIANTs of the protocol to the CLR's form of them and back. Nothing is converted: each keeps its type.
using System;
using System.Collections;
using System.Collections.Generic;
using System.Globalization;
using System.Reflection;
using System.Runtime.InteropServices;
using Members = System.Collections.Generic.Dictionary<string, object>;

sealed class Variants
{
    const long LeftOut = 0x80020004; // DISP_E_PARAMNOTFOUND
    static readonly CultureInfo Plain = CultureInfo.InvariantCulture;
    readonly Func<string, object> objectOf; // a handle's object
    readonly Func<object, string> handleOf;

    public Variants(Func<string, object> objectOf, Func<object, string> handleOf)
    {
        this.objectOf = objectOf;
        this.handleOf = handleOf;
    }

    // Throws NotExpressible for what the CLR cannot pass on as it is.
    public object Argument(Members typed)
    {
        var vt = (string)typed["vt"];
        object value;
        typed.TryGetValue("value", out value);
        if (vt == "ARRAY") return Elements((string)typed["of"], value);
        return Scalar(vt, value);
    }

    object Scalar(string vt, object value)
    {
        try
        {
            switch (vt)
            {
                case "EMPTY": return null;
                case "NULL": return DBNull.Value;
                case "I1": return (sbyte)(long)value;
                case "I2": return (short)(long)value;
                case "I4": return (int)(long)value;
                case "I8": return long.Parse((string)value, NumberStyles.AllowLeadingSign, Plain);
                case "INT": return new IntPtr((int)(long)value);
                case "UI1": return (byte)(long)value;
                case "UI2": return (ushort)(long)value;
                case "UI4": return (uint)(long)value;
                case "UI8": return ulong.Parse((string)value, NumberStyles.None, Plain);
                case "UINT": return new UIntPtr((uint)(long)value);
                case "R4": return float.Parse((string)value, NumberStyles.Float, Plain);
                case "R8": return double.Parse((string)value, NumberStyles.Float, Plain);
                case "CY": return new CurrencyWrapper(decimal.Parse((string)value, NumberStyles.Float, Plain));
                case "DATE": return DateTime.FromOADate(double.Parse((string)value, NumberStyles.Float, Plain));
                case "DECIMAL": return decimal.Parse((string)value, NumberStyles.Float, Plain);
                case "BSTR": return value == null ? (object)new BStrWrapper((string)null) : (string)value;
                case "BOOL": return Flag(value);
                case "DISPATCH": return value == null ? new DispatchWrapper(null) : objectOf(Convert.ToString(value));
                case "UNKNOWN": return new UnknownWrapper(value == null ? null : objectOf(Convert.ToString(value)));
                case "ERROR":
                    if ((long)value == LeftOut) return Missing.Value;
                    return new ErrorWrapper(unchecked((int)(uint)(long)value));
            }
        }
        catch (ArgumentException wrong) // a date that the CLR does not know
        {
            throw new NotExpressible("pass the " + vt + " " + value + ": " + wrong.Message);
        }
        catch (OverflowException)
        {
            throw new NotExpressible("pass the " + vt + " " + value);
        }
        throw new NotExpressible("pass a value of type " + vt);
    }

    static object Flag(object value)
    {
        if (value is bool) return value;
        if ((long)value == 0 || (long)value == -1) return (long)value != 0;
        throw new NotExpressible("pass a BOOL of the number " + value);
    }

    object Elements(string of, object value)
    {
        if (of == "UI1") return Convert.FromBase64String((string)value);
        var given = (List<object>)value;
        var items = new ArrayList();
        foreach (object each in given) items.Add(Argument((Members)each));
        if (of == "CY" || of == "UNKNOWN" || of == "DISPATCH" || of == "ERROR")
            throw new NotExpressible("pass an array of " + of);
        return items.ToArray(of == "VARIANT" ? typeof(object) : Scalar(of, Sample(of)).GetType());
    }

    static object Sample(string of)
    {
        if (of == "BOOL") return false;
        if (of == "BSTR") return "";
        return "I8 UI8 R4 R8 DATE DECIMAL".IndexOf(of, StringComparison.Ordinal) >= 0 ? (object)"0" : 0L;
    }

    // What a member answered. declared: the type it is declared to answer, for a null, which has none of its own.
    public Members Answer(object value, string declared)
    {
        if (value == null)
        {
            if (declared == null || declared == "VARIANT" || declared == "EMPTY") return Typed("EMPTY");
            return Typed(declared == "BSTR" ? "BSTR" : "DISPATCH", null);
        }
        var array = value as Array;
        return array != null ? Items(array) : Item(value);
    }

    Members Items(Array array)
    {
        var bytes = array as byte[];
        if (bytes != null) return Typed("ARRAY", Convert.ToBase64String(bytes), "UI1");
        var items = new List<object>();
        Type element = array.GetType().GetElementType();
        string of = element == typeof(object) ? "VARIANT" : null;
        foreach (object each in array)
        {
            Members item = each == null ? Answer(null, element == typeof(string) ? "BSTR" : null) : Item(each);
            if (of == null) of = (string)item["vt"];
            items.Add(item);
        }
        return Typed("ARRAY", items, of ?? Name(element));
    }

    Members Item(object value)
    {
        string name = Name(value.GetType());
        switch (name)
        {
            case "NULL": return Typed(name);
            case "I8": case "UI8": case "DECIMAL": return Typed(name, Convert.ToString(value, Plain));
            case "CY": return Typed(name, ((CurrencyWrapper)value).WrappedObject.ToString(Plain));
            case "R4": return Typed(name, Number(((float)value).ToString("R", Plain)));
            case "R8": return Typed(name, Number(((double)value).ToString("R", Plain)));
            case "DATE": return Typed(name, Number(((DateTime)value).ToOADate().ToString("R", Plain)));
            case "INT": return Typed(name, ((IntPtr)value).ToInt64());
            case "UINT": return Typed(name, ((UIntPtr)value).ToUInt64());
            case "ERROR": return Typed(name, (long)unchecked((uint)((ErrorWrapper)value).ErrorCode));
            case "DISPATCH": return Typed(name, handleOf(value));
            case "UNKNOWN":
                object inner = ((UnknownWrapper)value).WrappedObject;
                return Typed(name, inner == null ? null : handleOf(inner));
            default: return Typed(name, value);
        }
    }

    static string Number(string text) { return text.Replace("\u221e", "Infinity").Replace("E", "e"); }

    static readonly Dictionary<Type, string> Names = new Dictionary<Type, string>
    {
        { typeof(DBNull), "NULL" }, { typeof(sbyte), "I1" }, { typeof(short), "I2" }, { typeof(int), "I4" },
        { typeof(long), "I8" }, { typeof(IntPtr), "INT" }, { typeof(byte), "UI1" }, { typeof(ushort), "UI2" },
        { typeof(uint), "UI4" }, { typeof(ulong), "UI8" }, { typeof(UIntPtr), "UINT" }, { typeof(float), "R4" },
        { typeof(double), "R8" }, { typeof(CurrencyWrapper), "CY" }, { typeof(DateTime), "DATE" },
        { typeof(decimal), "DECIMAL" }, { typeof(string), "BSTR" }, { typeof(bool), "BOOL" },
        { typeof(ErrorWrapper), "ERROR" }, { typeof(UnknownWrapper), "UNKNOWN" },
    };

    // The protocol's name of a CLR type; an object of any other class is a DISPATCH.
    public static string Name(Type type)
    {
        string name;
        if (type == typeof(void)) return "";
        if (type == typeof(object)) return "VARIANT";
        return Names.TryGetValue(type.IsEnum ? typeof(int) : type, out name) ? name : "DISPATCH";
    }

    static Members Typed(string vt) { return new Members { { "vt", vt } }; }

    static Members Typed(string vt, object value) { return new Members { { "vt", vt }, { "value", value } }; }

    static Members Typed(string vt, object value, string of)
    {
        return new Members { { "vt", vt }, { "of", of }, { "value", value } };
    }
}
