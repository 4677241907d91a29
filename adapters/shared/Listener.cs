// A driver on a TCP port: some connections at a time, a session each, and a word that a stranger does not know.
using System;
using System.Collections.Generic;
using System.IO;
using System.Net;
using System.Net.Sockets;
using System.Text;
using System.Threading;
using Members = System.Collections.Generic.Dictionary<string, object>;

delegate void Session(Stream output, TextReader input, Action close);

sealed class Listener
{
    public const string Usage = "[--listen [HOST:]PORT [--connections 1..64] [--token-file FILE]]";
    public const string Variable = "MQCONFORM_TOKEN";
    const int Refused = -32001; // JSON-RPC error of a connection that is not served
    const int MostConnections = 64;
    const int MostGreetings = 64; // connections that have not said hello
    const int FirstLineMs = 10000;
    const int FirstLineBytes = 64 << 10; // hello is short, and a stranger may send any
    readonly IPEndPoint place;
    readonly int connections;
    readonly string token; // null: none is asked for
    int served, greeting;

    // Throws ArgumentException with a sentence for the user.
    public Listener(string listen, int connections, string tokenFile)
    {
        int colon = listen.LastIndexOf(':');
        int port;
        if (!int.TryParse(listen.Substring(colon + 1), out port) || port < 0 || port > 65535)
            throw new ArgumentException("--listen takes HOST:PORT or PORT, with a port up to 65535");
        if (connections < 1 || connections > MostConnections)
            throw new ArgumentException("--connections takes a number from 1 to " + MostConnections);
        IPAddress address = colon < 0 ? IPAddress.Loopback : Address(listen.Substring(0, colon).Trim('[', ']'));
        place = new IPEndPoint(address, port);
        this.connections = connections;
        token = Token(tokenFile);
        if (token == null && !IPAddress.IsLoopback(address))
            throw new ArgumentException("whoever reaches this port could change the queues of this computer: to listen on "
                + address + ", give a token in " + Variable + " or in a file with --token-file");
    }

    static IPAddress Address(string host)
    {
        IPAddress address;
        if (IPAddress.TryParse(host, out address)) return address;
        if (host == "localhost") return IPAddress.Loopback;
        throw new ArgumentException("--listen takes the address of an interface of this computer, such as 127.0.0.1, not " + host);
    }

    static string Token(string file)
    {
        string text = Environment.GetEnvironmentVariable(Variable);
        try
        {
            if (file != null) text = File.ReadAllText(file);
        }
        catch (Exception wrong)
        {
            if (wrong is IOException || wrong is UnauthorizedAccessException)
                throw new ArgumentException("the token file can't be read: " + wrong.Message);
            throw;
        }
        text = text == null ? null : text.Trim();
        if (text == "") throw new ArgumentException("the token is empty");
        return text;
    }

    // Does not return. The ready line on standard output tells the port. Throws ArgumentException if it is taken.
    public void Serve(TextWriter ready, Session session)
    {
        var listener = new TcpListener(place);
        try
        {
            listener.Start();
        }
        catch (SocketException wrong)
        {
            throw new ArgumentException("nothing can listen on " + place + ": " + wrong.Message);
        }
        ready.WriteLine("listening on " + listener.LocalEndpoint);
        ready.Flush();
        while (true)
        {
            TcpClient client = listener.AcceptTcpClient();
            if (Interlocked.Increment(ref greeting) > MostGreetings)
            {
                Interlocked.Decrement(ref greeting);
                client.Close();
                continue;
            }
            var thread = new Thread(delegate() { Connected(client, session); });
            thread.IsBackground = true;
            thread.Start();
        }
    }

    // A stranger takes no place from those who know the token.
    void Connected(TcpClient client, Session session)
    {
        try
        {
            client.NoDelay = true;
            Stream stream = client.GetStream();
            string hello;
            try
            {
                hello = FirstLine(client, stream);
            }
            finally
            {
                Interlocked.Decrement(ref greeting);
            }
            if (hello == null) return;
            if (!Knows(hello)) Refuse(stream, hello, "the token in hello is missing or not the driver's: give it in " + Variable);
            else Serve(client, stream, hello, session);
        }
        catch (IOException) { } // it went away
        catch (ObjectDisposedException) { }
        catch (SocketException) { }
        finally
        {
            client.Close();
        }
    }

    void Serve(TcpClient client, Stream stream, string hello, Session session)
    {
        bool place = Interlocked.Increment(ref served) <= connections;
        if (!place)
        {
            Interlocked.Decrement(ref served); // who is refused takes no place, not even while the refusal is written
            Refuse(stream, hello, "this driver serves " + connections + " connection" + (connections == 1 ? "" : "s")
                + " at a time (--connections): try again later");
            return;
        }
        try
        {
            session(stream, new Begun(hello, new StreamReader(stream, new UTF8Encoding(false), false, 1 << 16)), client.Close);
        }
        finally
        {
            Interlocked.Decrement(ref served); // before the other end sees that the connection ends: it may return
        }
    }

    // The first line; null where none comes in time or it is longer than any hello.
    static string FirstLine(TcpClient client, Stream stream)
    {
        DateTime until = DateTime.UtcNow.AddMilliseconds(FirstLineMs);
        var line = new List<byte>();
        while (line.Count < FirstLineBytes)
        {
            int left = (int)(until - DateTime.UtcNow).TotalMilliseconds;
            if (left <= 0) return null;
            client.ReceiveTimeout = left;
            int next = stream.ReadByte();
            if (next < 0) return null;
            if (next == '\n')
            {
                client.ReceiveTimeout = 0;
                return Encoding.UTF8.GetString(line.ToArray());
            }
            line.Add((byte)next);
        }
        return null;
    }

    bool Knows(string hello)
    {
        if (token == null) return true;
        object given = null;
        try
        {
            var request = Json.Parse(hello ?? "") as Members;
            object parameters = null;
            if (request != null) request.TryGetValue("params", out parameters);
            if (parameters is Members) ((Members)parameters).TryGetValue("token", out given);
        }
        catch (FormatException)
        {
            return false;
        }
        // Every character is looked at: how long it takes tells nothing of the token.
        string word = given as string ?? "";
        int differ = word.Length ^ token.Length;
        for (int i = 0; i < word.Length; i++) differ |= word[i] ^ token[i % token.Length];
        return differ == 0;
    }

    static void Refuse(Stream stream, string hello, string sentence)
    {
        object id = null;
        try
        {
            var request = Json.Parse(hello) as Members;
            if (request != null) request.TryGetValue("id", out id);
        }
        catch (FormatException) { }
        var error = new Members { { "code", Refused }, { "message", sentence } };
        var answer = new Members { { "jsonrpc", "2.0" }, { "id", id is long ? id : null }, { "error", error } };
        byte[] line = Encoding.ASCII.GetBytes(Json.Write(answer) + "\n");
        stream.Write(line, 0, line.Length);
    }

    // A reader that has its first line already.
    sealed class Begun : TextReader
    {
        string first;
        readonly TextReader rest;

        public Begun(string first, TextReader rest)
        {
            this.first = first;
            this.rest = rest;
        }

        public override string ReadLine()
        {
            string line = first ?? rest.ReadLine();
            first = null;
            return line;
        }
    }
}
