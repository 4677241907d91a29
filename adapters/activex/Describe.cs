// Type information of an object as its library has it: interfaces with their members, and constants.
using System;
using System.Collections.Generic;
using System.Runtime.InteropServices;
using System.Runtime.InteropServices.ComTypes;
using ELEMDESC = System.Runtime.InteropServices.ComTypes.ELEMDESC;
using FUNCDESC = System.Runtime.InteropServices.ComTypes.FUNCDESC;
using INVOKEKIND = System.Runtime.InteropServices.ComTypes.INVOKEKIND;
using PARAMFLAG = System.Runtime.InteropServices.ComTypes.PARAMFLAG;
using TYPEATTR = System.Runtime.InteropServices.ComTypes.TYPEATTR;
using TYPEDESC = System.Runtime.InteropServices.ComTypes.TYPEDESC;
using TYPEFLAGS = System.Runtime.InteropServices.ComTypes.TYPEFLAGS;
using TYPEKIND = System.Runtime.InteropServices.ComTypes.TYPEKIND;
using VARDESC = System.Runtime.InteropServices.ComTypes.VARDESC;
using Members = System.Collections.Generic.Dictionary<string, object>;

// The part of IDispatch that tells of types. A class of the --library may have it too.
[ComImport, Guid("00020400-0000-0000-c000-000000000046"), InterfaceType(ComInterfaceType.InterfaceIsIUnknown)]
public interface ITyped
{
    void GetTypeInfoCount(out uint count);
    void GetTypeInfo(uint index, uint lcid, out ITypeInfo info);
}

sealed class Describe
{
    const int Both = -1; // the interface of a dual dispinterface
    static readonly string[] Types =
    {
        "EMPTY", "NULL", "I2", "I4", "R4", "R8", "CY", "DATE", "BSTR", "DISPATCH", "ERROR", "BOOL", "VARIANT", "UNKNOWN",
        "DECIMAL", null, "I1", "UI1", "UI2", "UI4", "I8", "UI8", "INT", "UINT", "", "ERROR",
    };
    readonly Library library;
    readonly Dictionary<string, string> answers = new Dictionary<string, string>(); // declared, by class and member

    public Describe(Library library) { this.library = library; }

    // name: of the class, null where it is not known.
    public Members All(object target, string name)
    {
        ITypeInfo own = InfoOf(target);
        if (own == null) throw new NotExpressible("see the type information of this object");
        ITypeLib lib;
        int index;
        own.GetContainingTypeLib(out lib, out index);
        string first = NameOf(own);
        var interfaces = new List<object> { Interface(own) };
        var constants = new Members();
        for (int i = 0; i < lib.GetTypeInfoCount(); i++)
        {
            ITypeInfo each;
            lib.GetTypeInfo(i, out each);
            TYPEATTR attributes = AttributesOf(each);
            string other = NameOf(each);
            if (attributes.typekind == TYPEKIND.TKIND_ENUM) constants[other] = Enumeration(each, attributes);
            else if (attributes.typekind != TYPEKIND.TKIND_INTERFACE && attributes.typekind != TYPEKIND.TKIND_DISPATCH) continue;
            else if (other != first && (library.Has(target, attributes.guid) || Sinks.HasPoint(target, attributes.guid)))
                interfaces.Add(Interface(each));
        }
        var told = new Members { { "interfaces", interfaces }, { "constants", constants } };
        string clsid = name == null ? null : library.ClassId(name);
        if (clsid != null) told["clsid"] = clsid;
        return told;
    }

    // The type that a member is declared to answer, for the answer null; null where nothing tells it.
    public string Declared(object target, string member, string kind)
    {
        string key = target.GetType().FullName + (Marshal.IsComObject(target) ? NameOf(InfoOf(target)) : "") + "." + member + "." + kind;
        lock (answers)
        {
            string found;
            if (!answers.TryGetValue(key, out found)) answers[key] = found = Look(target, member, kind);
            return found;
        }
    }

    static string Look(object target, string member, string kind)
    {
        if (!Marshal.IsComObject(target))
        {
            var method = kind == "method" ? target.GetType().GetMethod(member) : null;
            var property = target.GetType().GetProperty(member);
            Type type = method != null ? method.ReturnType : property != null && kind == "get" ? property.PropertyType : typeof(void);
            return Variants.Name(type);
        }
        foreach (Members each in (List<object>)Interface(InfoOf(target))["members"])
        {
            if (!string.Equals((string)each["name"], member, StringComparison.OrdinalIgnoreCase) || (string)each["kind"] != kind) continue;
            foreach (Members argument in (List<object>)each["arguments"])
                if (((List<object>)argument["flags"]).Contains("retval")) return (string)argument["vt"];
            return "";
        }
        return null;
    }

    static ITypeInfo InfoOf(object target)
    {
        var typed = target as ITyped;
        if (typed == null) return null;
        ITypeInfo info;
        typed.GetTypeInfo(0, 0, out info);
        return info;
    }

    static Members Interface(ITypeInfo info)
    {
        if (AttributesOf(info).typekind == TYPEKIND.TKIND_DISPATCH) info = Dual(info) ?? info;
        TYPEATTR attributes = AttributesOf(info);
        var members = new List<object>();
        for (int i = 0; i < attributes.cFuncs; i++) members.Add(Member(info, i));
        var told = new Members
        {
            { "name", NameOf(info) }, { "iid", attributes.guid.ToString() }, { "members", members },
        };
        if (attributes.cImplTypes > 0)
        {
            int reference;
            ITypeInfo extended;
            info.GetRefTypeOfImplType(0, out reference);
            info.GetRefTypeInfo(reference, out extended);
            told["base"] = NameOf(extended);
        }
        return told;
    }

    static ITypeInfo Dual(ITypeInfo info)
    {
        if ((AttributesOf(info).wTypeFlags & TYPEFLAGS.TYPEFLAG_FDUAL) == 0) return null;
        int reference;
        ITypeInfo other;
        info.GetRefTypeOfImplType(Both, out reference);
        info.GetRefTypeInfo(reference, out other);
        return other;
    }

    static Members Member(ITypeInfo info, int index)
    {
        IntPtr place;
        info.GetFuncDesc(index, out place);
        try
        {
            var function = (FUNCDESC)Marshal.PtrToStructure(place, typeof(FUNCDESC));
            var names = new string[function.cParams + 1];
            int known;
            info.GetNames(function.memid, names, names.Length, out known);
            var arguments = new List<object>();
            for (int i = 0; i < function.cParams; i++)
            {
                var at = new IntPtr(function.lprgelemdescParam.ToInt64() + i * Marshal.SizeOf(typeof(ELEMDESC)));
                var element = (ELEMDESC)Marshal.PtrToStructure(at, typeof(ELEMDESC));
                arguments.Add(Argument(info, i + 1 < known ? names[i + 1] : "value", element));
            }
            return new Members
            {
                { "name", names[0] }, { "kind", Kind(function.invkind) }, { "slot", function.oVft / IntPtr.Size },
                { "dispid", function.memid }, { "arguments", arguments },
            };
        }
        finally
        {
            info.ReleaseFuncDesc(place);
        }
    }

    static Members Argument(ITypeInfo info, string name, ELEMDESC element)
    {
        PARAMFLAG given = element.desc.paramdesc.wParamFlags;
        var flags = new List<object>();
        if ((given & PARAMFLAG.PARAMFLAG_FIN) != 0) flags.Add("in");
        if ((given & PARAMFLAG.PARAMFLAG_FOUT) != 0) flags.Add("out");
        if ((given & PARAMFLAG.PARAMFLAG_FOPT) != 0) flags.Add("optional");
        if ((given & PARAMFLAG.PARAMFLAG_FRETVAL) != 0) flags.Add("retval");
        return new Members { { "name", name }, { "vt", TypeOf(info, element.tdesc) }, { "flags", flags } };
    }

    static string TypeOf(ITypeInfo info, TYPEDESC type)
    {
        var vt = (VarEnum)(type.vt & 0xfff);
        if (vt == VarEnum.VT_PTR) return TypeOf(info, (TYPEDESC)Marshal.PtrToStructure(type.lpValue, typeof(TYPEDESC)));
        if (vt == VarEnum.VT_USERDEFINED)
        {
            ITypeInfo named;
            info.GetRefTypeInfo(type.lpValue.ToInt32(), out named);
            return AttributesOf(named).typekind == TYPEKIND.TKIND_ENUM ? "I4" : "DISPATCH";
        }
        return (int)vt < Types.Length && Types[(int)vt] != null ? Types[(int)vt] : vt.ToString();
    }

    static string Kind(INVOKEKIND kind)
    {
        if ((kind & INVOKEKIND.INVOKE_PROPERTYGET) != 0) return "get";
        if ((kind & INVOKEKIND.INVOKE_PROPERTYPUTREF) != 0) return "putref";
        return (kind & INVOKEKIND.INVOKE_PROPERTYPUT) != 0 ? "put" : "method";
    }

    static Members Enumeration(ITypeInfo info, TYPEATTR attributes)
    {
        var values = new Members();
        for (int i = 0; i < attributes.cVars; i++)
        {
            IntPtr place;
            info.GetVarDesc(i, out place);
            try
            {
                var constant = (VARDESC)Marshal.PtrToStructure(place, typeof(VARDESC));
                var name = new string[1];
                int known;
                info.GetNames(constant.memid, name, 1, out known);
                // A VARIANT's value is behind its type and three reserved words; constants are I2 or I4.
                IntPtr variant = constant.desc.lpvarValue;
                values[name[0]] = Marshal.ReadInt16(variant) == (short)VarEnum.VT_I2
                    ? Marshal.ReadInt16(variant, 8) : Marshal.ReadInt32(variant, 8);
            }
            finally
            {
                info.ReleaseVarDesc(place);
            }
        }
        return values;
    }

    static TYPEATTR AttributesOf(ITypeInfo info)
    {
        IntPtr place;
        info.GetTypeAttr(out place);
        try
        {
            return (TYPEATTR)Marshal.PtrToStructure(place, typeof(TYPEATTR));
        }
        finally
        {
            info.ReleaseTypeAttr(place);
        }
    }

    static string NameOf(ITypeInfo info)
    {
        string name, text, file;
        int help;
        info.GetDocumentation(-1, out name, out text, out help, out file);
        return name;
    }
}
