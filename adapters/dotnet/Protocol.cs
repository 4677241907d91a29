// JSON-RPC lines in and out, one thread a request, and an end for every request before its deadline.
using System;
using System.Collections.Generic;
using System.Diagnostics;
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
            protocol.Write(new Members
            {
                { "jsonrpc", "2.0" }, { "method", "pending" }, { "params", new Members { { "id", Id } } },
            });
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

sealed class Protocol
{
    public static readonly string[] Versions = { "1.1", "1.0" }; // spoken, best first
    const int Stack = 256 << 10; // bytes a request's thread: hundreds of reads may wait
    readonly Stream output = Console.OpenStandardOutput();
    readonly Dictionary<string, Handler> handlers = new Dictionary<string, Handler>();

    public void On(string method, Handler handler) { handlers[method] = handler; }

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

    Request Parse(string line)
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
            if (request.Method != "hello" && request.Method != "stop") Broker.Await();
            Members result = handler(request);
            lock (request) request.Answer(result);
        }
        catch (Exception failed) // whatever the API throws is what it answered
        {
            Log(request.Method + ": " + failed);
            Renewal.Judge(failed);
            lock (request) request.Answer(Errors.Result(failed));
        }
        finally
        {
            if (watch != null) watch.Dispose();
        }
    }

    // The call may still do what was asked, at any time: so it is answered, and ends with this process, which the next
    // reset makes a new one, or which ends now.
    static void GiveUp(Request request, long after)
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
        if (Renewal.Possible && request.Method != "reset")
        {
            Renewal.Want();
            return;
        }
        Log("this driver ends");
        End();
    }

    void Error(object id, int code, string message)
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
                End(); // nobody listens any more
            }
        }
    }

    public static void Log(string text) { Console.Error.WriteLine(text); }

    // Threads of the library outlive Main, and Environment.Exit waits for finalizers that wait for the broker.
    public static void End()
    {
        Process.GetCurrentProcess().Kill();
        Thread.Sleep(Timeout.Infinite);
    }
}
