// Type information as COM would have it, made from interfaces and enumerations of the CLR, for objects that are none of COM's.
using System;
using System.Collections.Generic;
using System.Reflection;
using System.Runtime.InteropServices;
using System.Runtime.InteropServices.ComTypes;
using DISPPARAMS = System.Runtime.InteropServices.ComTypes.DISPPARAMS;
using ELEMDESC = System.Runtime.InteropServices.ComTypes.ELEMDESC;
using FUNCDESC = System.Runtime.InteropServices.ComTypes.FUNCDESC;
using IMPLTYPEFLAGS = System.Runtime.InteropServices.ComTypes.IMPLTYPEFLAGS;
using INVOKEKIND = System.Runtime.InteropServices.ComTypes.INVOKEKIND;
using PARAMFLAG = System.Runtime.InteropServices.ComTypes.PARAMFLAG;
using TYPEATTR = System.Runtime.InteropServices.ComTypes.TYPEATTR;
using TYPEKIND = System.Runtime.InteropServices.ComTypes.TYPEKIND;
using VARDESC = System.Runtime.InteropServices.ComTypes.VARDESC;

sealed class FakeLibrary : ITypeLib
{
    readonly List<FakeInfo> infos = new List<FakeInfo>();

    public FakeLibrary(params Type[] types)
    {
        foreach (Type type in types) infos.Add(new FakeInfo(type, this, infos.Count));
    }

    public FakeInfo Info(int index) { return infos[index]; }
    public int GetTypeInfoCount() { return infos.Count; }
    public void GetTypeInfo(int index, out ITypeInfo info) { info = infos[index]; }
    public void GetTypeInfoType(int index, out TYPEKIND kind) { throw new NotImplementedException(); }
    public void GetTypeInfoOfGuid(ref Guid guid, out ITypeInfo info) { throw new NotImplementedException(); }
    public void GetLibAttr(out IntPtr place) { throw new NotImplementedException(); }
    public void GetTypeComp(out ITypeComp comp) { throw new NotImplementedException(); }
    public void GetDocumentation(int index, out string name, out string text, out int help, out string file) { throw new NotImplementedException(); }
    public bool IsName(string name, int hash) { throw new NotImplementedException(); }
    public void FindName(string name, int hash, ITypeInfo[] infos, int[] ids, ref short found) { throw new NotImplementedException(); }
    public void ReleaseTLibAttr(IntPtr place) { throw new NotImplementedException(); }
}

sealed class FakeInfo : ITypeInfo
{
    const int OwnSlots = 7; // those of IDispatch before them
    static readonly Dictionary<Type, VarEnum> Types = new Dictionary<Type, VarEnum>
    {
        { typeof(int), VarEnum.VT_I4 }, { typeof(string), VarEnum.VT_BSTR }, { typeof(object), VarEnum.VT_VARIANT },
        { typeof(bool), VarEnum.VT_BOOL },
    };
    readonly Type type;
    readonly FakeLibrary library;
    readonly int index;
    readonly List<MethodInfo> methods = new List<MethodInfo>();

    public FakeInfo(Type type, FakeLibrary library, int index)
    {
        this.type = type;
        this.library = library;
        this.index = index;
        if (!type.IsInterface) return;
        methods.AddRange(type.GetMethods());
        methods.Sort((one, other) => one.MetadataToken.CompareTo(other.MetadataToken));
    }

    public void GetTypeAttr(out IntPtr place)
    {
        var attributes = new TYPEATTR
        {
            guid = type.GUID, cFuncs = (short)methods.Count, cVars = (short)(type.IsEnum ? Enum.GetValues(type).Length : 0),
            cImplTypes = 0, typekind = type.IsEnum ? TYPEKIND.TKIND_ENUM : TYPEKIND.TKIND_INTERFACE,
        };
        place = Placed(attributes);
    }

    static IntPtr Placed(object value)
    {
        IntPtr place = Marshal.AllocHGlobal(Marshal.SizeOf(value));
        Marshal.StructureToPtr(value, place, false);
        return place;
    }

    public void GetFuncDesc(int at, out IntPtr place)
    {
        MethodInfo method = methods[at];
        ParameterInfo[] parameters = method.GetParameters();
        bool answers = method.ReturnType != typeof(void);
        int count = parameters.Length + (answers ? 1 : 0), size = Marshal.SizeOf(typeof(ELEMDESC));
        IntPtr elements = Marshal.AllocHGlobal(Math.Max(1, count) * size);
        for (int i = 0; i < count; i++)
        {
            Type each = i < parameters.Length ? parameters[i].ParameterType : method.ReturnType;
            PARAMFLAG flags = i == parameters.Length ? PARAMFLAG.PARAMFLAG_FOUT | PARAMFLAG.PARAMFLAG_FRETVAL
                : parameters[i].IsOptional ? PARAMFLAG.PARAMFLAG_FIN | PARAMFLAG.PARAMFLAG_FOPT : PARAMFLAG.PARAMFLAG_FIN;
            var element = new ELEMDESC();
            element.tdesc.vt = (short)(Types.ContainsKey(each) ? Types[each] : VarEnum.VT_DISPATCH);
            element.desc.paramdesc.wParamFlags = flags;
            Marshal.StructureToPtr(element, new IntPtr(elements.ToInt64() + i * size), false);
        }
        place = Placed(new FUNCDESC
        {
            memid = at, cParams = (short)count, lprgelemdescParam = elements, oVft = (short)((OwnSlots + at) * IntPtr.Size),
            invkind = method.Name.StartsWith("get_") ? INVOKEKIND.INVOKE_PROPERTYGET
                : method.Name.StartsWith("set_") ? INVOKEKIND.INVOKE_PROPERTYPUT : INVOKEKIND.INVOKE_FUNC,
        });
    }

    public void GetVarDesc(int at, out IntPtr place)
    {
        IntPtr variant = Marshal.AllocHGlobal(24);
        Marshal.WriteInt16(variant, (short)VarEnum.VT_I4);
        Marshal.WriteInt32(variant, 8, (int)Enum.GetValues(type).GetValue(at));
        var constant = new VARDESC { memid = at };
        constant.desc.lpvarValue = variant;
        place = Placed(constant);
    }

    public void GetNames(int id, string[] names, int most, out int known)
    {
        if (type.IsEnum) names[0] = Enum.GetNames(type)[id];
        else
        {
            string name = methods[id].Name;
            names[0] = name.StartsWith("get_") || name.StartsWith("set_") ? name.Substring(4) : name;
        }
        known = 1;
        if (type.IsEnum || methods[id].Name.StartsWith("set_")) return;
        foreach (ParameterInfo each in methods[id].GetParameters()) names[known++] = each.Name;
    }

    public void GetContainingTypeLib(out ITypeLib lib, out int at)
    {
        lib = library;
        at = index;
    }

    public void GetDocumentation(int id, out string name, out string text, out int help, out string file)
    {
        name = type.Name;
        text = file = null;
        help = 0;
    }

    public void ReleaseTypeAttr(IntPtr place) { Marshal.FreeHGlobal(place); }

    public void ReleaseFuncDesc(IntPtr place)
    {
        Marshal.FreeHGlobal(((FUNCDESC)Marshal.PtrToStructure(place, typeof(FUNCDESC))).lprgelemdescParam);
        Marshal.FreeHGlobal(place);
    }

    public void ReleaseVarDesc(IntPtr place)
    {
        Marshal.FreeHGlobal(((VARDESC)Marshal.PtrToStructure(place, typeof(VARDESC))).desc.lpvarValue);
        Marshal.FreeHGlobal(place);
    }

    public void AddressOfMember(int id, INVOKEKIND kind, out IntPtr place) { throw new NotImplementedException(); }
    public void CreateInstance(object outer, ref Guid iid, out object made) { throw new NotImplementedException(); }
    public void GetDllEntry(int id, INVOKEKIND kind, IntPtr dll, IntPtr name, IntPtr ordinal) { throw new NotImplementedException(); }
    public void GetIDsOfNames(string[] names, int count, int[] ids) { throw new NotImplementedException(); }
    public void GetImplTypeFlags(int at, out IMPLTYPEFLAGS flags) { throw new NotImplementedException(); }
    public void GetMops(int id, out string mops) { throw new NotImplementedException(); }
    public void GetRefTypeInfo(int reference, out ITypeInfo info) { throw new NotImplementedException(); }
    public void GetRefTypeOfImplType(int at, out int reference) { throw new NotImplementedException(); }
    public void GetTypeComp(out ITypeComp comp) { throw new NotImplementedException(); }

    public void Invoke(object instance, int id, short flags, ref DISPPARAMS parameters, IntPtr result, IntPtr thrown, out int argument)
    {
        throw new NotImplementedException();
    }
}
