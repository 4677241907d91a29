// Internal transactions. The API has no prepare.
using System;
using System.Messaging;
using Members = System.Collections.Generic.Dictionary<string, object>;

sealed class Transactions
{
    readonly Handles<MessageQueueTransaction> begun = new Handles<MessageQueueTransaction>("transaction");

    // null: the call is in none.
    public MessageQueueTransaction Of(Request request)
    {
        return request.Has("transaction") ? begun.Known(request.Handle("transaction")) : null;
    }

    public Members Begin(Request request)
    {
        var transaction = new MessageQueueTransaction();
        transaction.Begin();
        return new Members { { "transaction", begun.Add(transaction) } };
    }

    public Members Commit(Request request) { return End(request, transaction => transaction.Commit()); }

    public Members Abort(Request request) { return End(request, transaction => transaction.Abort()); }

    // An ended transaction stays known, and is not disposed of before the reset: a commit has to do what a commit does,
    // and the library has to refuse a second one.
    Members End(Request request, Action<MessageQueueTransaction> end)
    {
        end(begun.Known(request.Handle("transaction")));
        return new Members();
    }

    public void Reset()
    {
        foreach (MessageQueueTransaction transaction in begun.TakeAll())
        {
            try
            {
                if (transaction.Status == MessageQueueTransactionStatus.Pending) transaction.Abort();
                transaction.Dispose();
            }
            catch (Exception e) // whatever the library threw: an open transaction ends with its connection
            {
                Protocol.Log("reset: a transaction is not aborted: " + e.Message);
            }
        }
    }
}
