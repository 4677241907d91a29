// JSON-RPC lines in and out, one thread a request, and an end for every request before its deadline.
using System;
using System.Collections.Generic;
using System.IO;
using System.Text;
using System.Threading;
using Members = System.Collections.Generic.Dictionary<string, object>;

delegate Members Handler(Request request);

// One request. It is answered once: what comes later is dropped.
sealed class Request
{
    public readonly long Id;
    public readonly string Method;
    public readonly Members Params;
    readonly Protocol protocol;
    int answered;
    int blocked;

    public Request(Protocol protocol, long id, string method, Members parameters)
    {
        this.protocol = protocol;
        Id = id;
        Method = method;
        Params = parameters;
    }

    public bool Answered { get { return Thread.VolatileRead(ref answered) != 0; } }

    public bool Answer(Members result)
    {
        if (!result.ContainsKey("status")) result["status"] = 0;
        if (Interlocked.Exchange(ref answered, 1) != 0) return false;
        protocol.Write(new Members { { "jsonrpc", "2.0" }, { "id", Id }, { "result", result } });
        return true;
    }

    public void Pending()
    {
        lock (this)
        {
            if (Answered || Interlocked.Exchange(ref blocked, 1) != 0) return;
            protocol.Notify("pending", new Members { { "id", Id } });
        }
    }

    public bool Has(string name) { return Params.ContainsKey(name) && Params[name] != null; }

    public T Get<T>(string name)
    {
        object value;
        if (!Params.TryGetValue(name, out value) || !(value is T))
            throw new ArgumentException(Method + " needs " + name + " as " + typeof(T).Name);
        return (T)value;
    }

    public T Get<T>(string name, T otherwise) { return Has(name) ? Get<T>(name) : otherwise; }

    // Handles are text here, but a harness may send any it likes.
    public string Handle(string name) { return Has(name) ? Convert.ToString(Params[name]) : null; }
}

// What a driver decides of a session. Each may be called on any thread.
abstract class Manners
{
    // Before a request other than hello and stop is handled.
    public virtual void Before() { }

    // How a failed request is answered. Whatever the API throws is what it answered.
    public abstract Members Told(Exception failed);

    // A call did not come back in time. True where the driver goes on without it, false where the session ends.
    public virtual bool GoesOn(Request request) { return false; }

    // Ends the session: nobody listens any more, or nothing more can be told.
    public abstract void End();
}

sealed class Protocol
{
    const int Stack = 256 << 10; // bytes a request's thread: hundreds of reads may wait
    public readonly string[] Versions; // spoken, best first
    readonly Stream output;
    readonly Manners manners;
    readonly Dictionary<string, Handler> handlers = new Dictionary<string, Handler>();

    public Protocol(Stream output, Manners manners, params string[] versions)
    {
        this.output = output;
        this.manners = manners;
        Versions = versions;
    }

    public void On(string method, Handler handler) { handlers[method] = handler; }

    // Throws ArgumentException where the harness speaks none of ours.
    public string Chosen(Request hello)
    {
        var offered = hello.Get<List<object>>("versions");
        string version = Array.Find(Versions, each => offered.Contains(each));
        if (version != null) return version;
        throw new ArgumentException("this driver speaks adapter protocol " + string.Join(", ", Versions));
    }

    // Reads requests until the input ends or `stop` was answered.
    public void Serve(TextReader input)
    {
        for (string line; (line = input.ReadLine()) != null;)
        {
            Request request = Parse(line);
            if (request == null) continue;
            Handler handler;
            if (!handlers.TryGetValue(request.Method, out handler))
            {
                Error(request.Id, -32601, "this driver does not know " + request.Method);
                continue;
            }
            if (request.Method == "hello" || request.Method == "stop")
            {
                Run(request, handler); // hello decides what follows; after stop there is nothing
                if (request.Method == "stop") return;
                continue;
            }
            var thread = new Thread(delegate() { Run(request, handler); }, Stack);
            thread.IsBackground = true;
            thread.Start();
        }
    }

    // The request in a line; null, and answered, where there is none.
    public Request Parse(string line)
    {
        Members members;
        try
        {
            members = Json.Parse(line) as Members;
        }
        catch (FormatException wrong)
        {
            Error(null, -32700, wrong.Message);
            return null;
        }
        object id = null, method = null, parameters = null;
        if (members != null)
        {
            members.TryGetValue("id", out id);
            members.TryGetValue("method", out method);
            members.TryGetValue("params", out parameters);
        }
        if (id is long && method is string && (parameters == null || parameters is Members))
            return new Request(this, (long)id, (string)method, parameters as Members ?? new Members());
        Error(id is long ? id : null, -32600, "a request has a whole number as id, a method and an object as params");
        return null;
    }

    void Run(Request request, Handler handler)
    {
        Timer watch = null;
        try
        {
            if (request.Params.ContainsKey("deadline_ms"))
            {
                long deadline = Math.Min(request.Get<long>("deadline_ms"), int.MaxValue);
                long early = deadline - Math.Min(deadline / 10, 1000);
                watch = new Timer(delegate { GiveUp(request, early); }, null, early, Timeout.Infinite);
            }
            if (request.Method != "hello" && request.Method != "stop") manners.Before();
            Members result = handler(request);
            lock (request) request.Answer(result);
        }
        catch (Exception failed)
        {
            Log(request.Method + ": " + failed);
            lock (request) request.Answer(manners.Told(failed));
        }
        finally
        {
            if (watch != null) watch.Dispose();
        }
    }

    // The call may still do what was asked, at any time: so it is answered, and the session ends with it, unless the
    // driver has a way to go on.
    void GiveUp(Request request, long after)
    {
        string text = "the message service did not come back from " + request.Method + " within " + after + " ms";
        bool said;
        lock (request)
            said = request.Answer(new Members
            {
                { "status", null },
                { "failure", new Members { { "kind", "NoAnswer" }, { "text", text } } },
            });
        if (!said) return;
        Log(text);
        if (manners.GoesOn(request)) return;
        Log("this session ends");
        manners.End();
    }

    public void Notify(string method, Members parameters)
    {
        Write(new Members { { "jsonrpc", "2.0" }, { "method", method }, { "params", parameters } });
    }

    public void Error(object id, int code, string message)
    {
        Write(new Members
        {
            { "jsonrpc", "2.0" }, { "id", id }, { "error", new Members { { "code", code }, { "message", message } } },
        });
    }

    public void Write(Members message)
    {
        byte[] line = Encoding.ASCII.GetBytes(Json.Write(message) + "\n");
        lock (output)
        {
            try
            {
                output.Write(line, 0, line.Length);
                output.Flush();
            }
            catch (IOException)
            {
                manners.End(); // nobody listens any more
            }
            catch (ObjectDisposedException)
            {
                manners.End();
            }
        }
    }

    public static void Log(string text) { Console.Error.WriteLine(text); }
}
