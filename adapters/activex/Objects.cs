// The facet `objects`: each object has one handle, and a call is passed on as it is.
using System;
using System.Collections.Generic;
using System.Globalization;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;
using Members = System.Collections.Generic.Dictionary<string, object>;

sealed class Objects
{
    public const int BlockedAfterMs = 100; // the API does not say that it waits
    readonly Library library;
    readonly Describe describe;
    readonly Variants variants;
    readonly Protocol protocol;
    readonly Owned owned;
    readonly Dictionary<string, object> objects = new Dictionary<string, object>();
    readonly Dictionary<object, string> handles = new Dictionary<object, string>(new Identity());
    long last;

    sealed class Identity : IEqualityComparer<object>
    {
        bool IEqualityComparer<object>.Equals(object one, object other) { return ReferenceEquals(one, other); }

        int IEqualityComparer<object>.GetHashCode(object one) { return RuntimeHelpers.GetHashCode(one); }
    }

    public Objects(Library library, Protocol protocol, Owned owned)
    {
        this.library = library;
        this.protocol = protocol;
        this.owned = owned;
        describe = new Describe(library);
        variants = new Variants(ObjectOf, HandleOf);
    }

    public Members Create(Request request)
    {
        string name = request.Get<string>("class");
        return new Members { { "object", HandleOf(library.Create(name)) } };
    }

    public Members Invoke(Request request)
    {
        if (request.Has("interface")) throw new NotExpressible("call another interface than the default one");
        object target = ObjectOf(request.Handle("object"));
        string member = request.Get<string>("member"), kind = request.Get<string>("kind");
        object[] arguments = request.Get<List<object>>("arguments").ConvertAll(each => library.Passed(variants.Argument((Members)each))).ToArray();
        object value;
        using (new Timer(delegate { request.Pending(); }, null, BlockedAfterMs, Timeout.Infinite))
            value = Call(target, member, kind, arguments);
        owned.Note(this, target, member, kind, value);
        var result = new Members();
        string declared = value == null ? describe.Declared(target, member, kind) : null;
        if (kind != "put" && kind != "putref" && !(value == null && declared == "")) result["value"] = variants.Answer(value, declared);
        return result;
    }

    // Throws TargetInvocationException for whatever the object answers with.
    public object Call(object target, string member, string kind, params object[] arguments)
    {
        try
        {
            return target.GetType().InvokeMember(member, library.Binding(kind), null, target, arguments, CultureInfo.InvariantCulture);
        }
        catch (TargetInvocationException)
        {
            throw;
        }
        catch (Exception failed)
        {
            throw new TargetInvocationException(failed);
        }
    }

    public Members Get(Request request)
    {
        object target = ObjectOf(request.Handle("object"));
        var values = new List<object>();
        foreach (object each in request.Get<List<object>>("members"))
        {
            var member = (string)each;
            try
            {
                object value = Call(target, member, "get");
                string declared = value == null ? describe.Declared(target, member, "get") : null;
                values.Add(new Members { { "status", 0 }, { "value", variants.Answer(value, declared) } });
            }
            catch (Exception failed)
            {
                values.Add(new Members { { "status", (long)unchecked((uint)Library.Code(failed)) } });
            }
        }
        return new Members { { "values", values } };
    }

    public Members Query(Request request)
    {
        string handle = request.Handle("object");
        if (!library.Has(ObjectOf(handle), new Guid(request.Get<string>("iid"))))
            throw new COMException("the object has no such interface", Library.NoInterface);
        return new Members { { "object", handle } };
    }

    public Members Release(Request request)
    {
        foreach (object each in request.Get<List<object>>("objects"))
        {
            string handle = Convert.ToString(each);
            object target = ObjectOf(handle);
            lock (objects)
            {
                objects.Remove(handle);
                handles.Remove(target);
            }
            owned.Forget(target);
            library.Release(target);
        }
        return new Members();
    }

    public Members Advise(Request request)
    {
        string handle = request.Handle("object");
        object target = ObjectOf(handle), sink = null;
        string kind = request.Get<string>("sink");
        if (kind == "events") sink = new Sink((name, arguments) => Told(handle, name, arguments));
        else if (kind == "other") sink = new OtherSink();
        var iid = new Guid(request.Get<string>("iid"));
        int cookie = library.Staying(() => Sinks.Advise(target, iid, sink));
        return new Members { { "cookie", (long)unchecked((uint)cookie) } };
    }

    public Members Unadvise(Request request)
    {
        object target = ObjectOf(request.Handle("object"));
        var iid = new Guid(request.Get<string>("iid"));
        int cookie = unchecked((int)(uint)request.Get<long>("cookie"));
        library.Staying<object>(() => { Sinks.Unadvise(target, iid, cookie); return null; });
        return new Members();
    }

    void Told(string handle, string name, object[] arguments)
    {
        var typed = new List<object>();
        for (int i = 0; i < arguments.Length; i++) typed.Add(variants.Answer(arguments[i], i == 0 ? "DISPATCH" : null));
        protocol.Notify("event", new Members { { "object", handle }, { "name", name }, { "arguments", typed } });
    }

    public Members Description(Request request)
    {
        if (request.Has("object")) return describe.All(ObjectOf(request.Handle("object")), null);
        string name = request.Get<string>("class");
        object made = library.Create(name);
        try
        {
            return describe.All(made, name);
        }
        finally
        {
            library.Release(made);
        }
    }

    // Whatever is known is let go of; queues are closed first, so that nothing goes on waiting.
    public void Reset()
    {
        object[] all;
        lock (objects)
        {
            all = new List<object>(objects.Values).ToArray();
            objects.Clear();
            handles.Clear();
        }
        owned.Reset(this, library);
        foreach (object each in all) library.Release(each);
    }

    object ObjectOf(string handle)
    {
        object found;
        lock (objects)
            if (handle != null && objects.TryGetValue(handle, out found)) return found;
        throw new UnknownHandle(handle);
    }

    string HandleOf(object target)
    {
        string handle;
        lock (objects)
        {
            if (handles.TryGetValue(target, out handle)) return handle;
            handle = "o" + ++last;
            handles[target] = handle;
            objects[handle] = target;
        }
        return handle;
    }
}

sealed class UnknownHandle : Exception
{
    public UnknownHandle(string handle) : base("there is no object " + handle) { }
}
