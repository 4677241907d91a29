// A broker that was started together with this process: `broker with` makes a file once it can be used.
using System;
using System.IO;
using System.Threading;

static class Broker
{
    const int Every = 50; // ms
    static readonly string ready = Environment.GetEnvironmentVariable("MQCONFORM_BROKER");
    static volatile bool seen = string.IsNullOrEmpty(ready);

    // Returns when calls can reach it, however long that takes: a request has its deadline.
    public static void Await()
    {
        while (!seen)
        {
            seen = File.Exists(ready);
            if (!seen) Thread.Sleep(Every);
        }
    }
}
