// A first look outside: Mono's System.Messaging (RabbitMQ behind it) as a driver. See README.md beside this file.
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.IO;
using System.Linq;
using System.Messaging;
using System.Text;
using System.Threading;
using Obj = System.Collections.Generic.Dictionary<string, object>;

sealed class Refused : Exception
{
    public readonly MessageQueueErrorCode Code;

    public Refused(MessageQueueErrorCode code) { Code = code; }
}

static class Driver
{
    static readonly object writing = new object();
    static readonly Stream output = Console.OpenStandardOutput();
    static readonly Dictionary<string, string> queues = new Dictionary<string, string>(); // format name -> path
    static readonly Dictionary<string, string> handles = new Dictionary<string, string>(); // handle -> path
    static string memory; // the file in the state folder that remembers the queues over a restart
    static readonly string run = Guid.NewGuid().ToString("N").Substring(0, 8); // the broker is shared: names are our own

    static void Main()
    {
        var input = new StreamReader(Console.OpenStandardInput(), new UTF8Encoding(false));
        Console.SetOut(TextWriter.Null); // the library prints debug lines
        for (string line; (line = input.ReadLine()) != null;)
        {
            var request = (Obj)Json.Parse(line);
            long id = (long)request["id"];
            try
            {
                Handle(id, (string)request["method"], (Obj)request["params"]);
            }
            catch (Exception e) { Fail(id, e); }
            if ((string)request["method"] == "stop") break;
        }
        Process.GetCurrentProcess().Kill(); // the library's threads never end
    }

    static void Handle(long id, string method, Obj p)
    {
        switch (method)
        {
            case "hello":
                memory = Path.Combine((string)p["state_dir"], "queues");
                if (File.Exists(memory))
                    foreach (string entry in File.ReadAllLines(memory)) queues[entry.Split('\t')[0]] = entry.Split('\t')[1];
                Write("{\"jsonrpc\":\"2.0\",\"id\":" + id + ",\"result\":{\"status\":0,\"protocol\":\"1.0\",\"name\":\"mono-system-messaging\"," +
                    "\"version\":\"6.8\",\"profile\":\"msmq-3.0\",\"computer\":\"HOST\",\"clock\":\"real\",\"settle_ms\":100,\"slack_ms\":500," +
                    "\"facets\":{\"manager\":[\"hello\",\"reset\",\"stop\"],\"queues\":[\"create\",\"open\",\"close\",\"delete\",\"purge\"]," +
                    "\"messages\":[\"send\",\"receive\",\"peek\"]}}}");
                return;
            case "reset":
                foreach (string path in queues.Values) MessageQueue.Delete(path);
                queues.Clear();
                handles.Clear();
                Remember();
                break;
            case "stop": break;
            case "queues.create":
                string name = (string)p["path_name"], format = "DIRECT=OS:" + name;
                string own = ".\\private$\\" + run + name.Substring(name.LastIndexOf('\\') + 1);
                MessageQueue.Create(own).Dispose();
                queues[format] = own;
                Remember();
                Answer(id, ",\"format_name\":" + Json.Text(format));
                return;
            case "queues.delete":
                MessageQueue.Delete(Known(queues, p["format_name"], MessageQueueErrorCode.QueueNotFound));
                queues.Remove((string)p["format_name"]);
                Remember();
                break;
            case "queues.open":
                handles["h" + id] = Known(queues, p["format_name"], MessageQueueErrorCode.QueueNotFound);
                Answer(id, ",\"queue\":\"h" + id + "\"");
                return;
            case "queues.close":
                Known(handles, p["queue"], MessageQueueErrorCode.InvalidHandle);
                handles.Remove((string)p["queue"]);
                break;
            case "queues.purge":
                using (var queue = new MessageQueue(Known(handles, p["queue"], MessageQueueErrorCode.InvalidHandle))) queue.Purge();
                break;
            case "messages.send":
                var m = (Obj)p["message"];
                var message = new Message { Label = Get(m, "label", ""), Priority = (MessagePriority)Get(m, "priority", 3L) };
                message.Recoverable = Get(m, "delivery", "express") == "recoverable";
                message.BodyStream = new MemoryStream(Convert.FromBase64String(Get(m, "body", "")));
                using (var queue = new MessageQueue(Known(handles, p["queue"], MessageQueueErrorCode.InvalidHandle))) queue.Send(message);
                break;
            case "messages.receive":
            case "messages.peek":
                Read(id, method, Known(handles, p["queue"], MessageQueueErrorCode.InvalidHandle), (long)p["timeout_ms"]);
                return;
            default:
                Write("{\"jsonrpc\":\"2.0\",\"id\":" + id + ",\"error\":{\"code\":-32601,\"message\":\"no such method\"}}");
                return;
        }
        Answer(id, "");
    }

    static void Remember() { File.WriteAllLines(memory, queues.Select(queue => queue.Key + "\t" + queue.Value)); }

    static void Read(long id, string method, string path, long wait)
    {
        try
        {
            Show(id, Take(method, path, TimeSpan.Zero));
        }
        catch (MessageQueueException e) when (wait > 0 && (e.MessageQueueErrorCode == MessageQueueErrorCode.IOTimeout
            || e.MessageQueueErrorCode == MessageQueueErrorCode.Generic)) // an empty queue is "Generic: No Message Available"
        {
            Write("{\"jsonrpc\":\"2.0\",\"method\":\"pending\",\"params\":{\"id\":" + id + "}}");
            new Thread(() =>
            {
                try
                {
                    Show(id, Take(method, path, TimeSpan.FromMilliseconds(Math.Min(wait, int.MaxValue))));
                }
                catch (Exception late) { Fail(id, late); }
            }) { IsBackground = true }.Start();
        }
    }

    static Message Take(string method, string path, TimeSpan wait)
    {
        using (var queue = new MessageQueue(path)) return method == "messages.peek" ? queue.Peek(wait) : queue.Receive(wait);
    }

    static void Show(long id, Message m)
    {
        var body = new MemoryStream();
        m.BodyStream.Position = 0; // it arrives read to its end
        m.BodyStream.CopyTo(body);
        Answer(id, ",\"message\":{\"body\":\"" + Convert.ToBase64String(body.ToArray()) + "\",\"label\":" + Json.Text(m.Label) +
            ",\"priority\":" + (int)m.Priority + ",\"delivery\":\"" + (m.Recoverable ? "recoverable" : "express") + "\"}");
    }

    static void Fail(long id, Exception e)
    {
        Console.Error.WriteLine(e); // stderr is a log
        var code = (e as MessageQueueException)?.MessageQueueErrorCode ?? (e as Refused)?.Code;
        Write("{\"jsonrpc\":\"2.0\",\"id\":" + id + ",\"result\":" + (code != null
            ? "{\"status\":" + unchecked((uint)(int)code.Value) + "}}"
            : "{\"status\":null,\"failure\":{\"kind\":" + Json.Text(e.GetType().Name) + ",\"text\":" + Json.Text(e.Message) + "}}}"));
    }

    static T Get<T>(Obj from, string key, T otherwise) { return from.ContainsKey(key) ? (T)from[key] : otherwise; }

    static string Known(Dictionary<string, string> table, object key, MessageQueueErrorCode otherwise)
    {
        string path;
        if (table.TryGetValue(Convert.ToString(key), out path)) return path;
        throw new Refused(otherwise);
    }

    static void Answer(long id, string more) { Write("{\"jsonrpc\":\"2.0\",\"id\":" + id + ",\"result\":{\"status\":0" + more + "}}"); }

    static void Write(string line)
    {
        byte[] bytes = Encoding.UTF8.GetBytes(line + "\n");
        lock (writing) { output.Write(bytes, 0, bytes.Length); output.Flush(); }
    }
}
