// The options of a driver that can listen, and a driver's life on standard input or on a port.
using System;
using System.IO;
using System.Text;

// Takes --listen, --connections and --token-file from a command line; the driver's own options are the others.
sealed class Listening
{
    public string Place; // null: standard input
    int connections = 1;
    string tokenFile;

    // Whether the option is one of these. Throws ArgumentException for a value that is none.
    public bool Takes(string option, string value)
    {
        switch (option)
        {
            case "--listen": Place = value; break;
            case "--token-file": tokenFile = value; break;
            case "--connections":
                if (!int.TryParse(value, out connections)) throw new ArgumentException("--connections takes a number");
                break;
            default: return false;
        }
        if (value == "") throw new ArgumentException(option + " needs a value");
        return true;
    }

    // Serves one session on standard input, or sessions until the process ends. Throws ArgumentException.
    public void Serve(TextWriter ready, Session session)
    {
        if (Place != null)
        {
            new Listener(Place, connections, tokenFile).Serve(ready, session);
            return;
        }
        var input = new StreamReader(Console.OpenStandardInput(), new UTF8Encoding(false), false, 1 << 16);
        session(Console.OpenStandardOutput(), input, null);
    }
}
