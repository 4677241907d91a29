/* As much of user32 as a message pump needs, for a driver under Mono: one message at a time, which is a call. */
#include <unistd.h>

static void (*volatile posted)(void);

void PostDelivery(void (*delivery)(void)) { posted = delivery; }

/* Always answers that there are messages: what it is asked to wait for is of Mono, and unknown here. */
unsigned MsgWaitForMultipleObjectsEx(unsigned count, void **handles, unsigned ms, unsigned kinds, unsigned flags)
{
    (void)handles, (void)ms, (void)kinds, (void)flags;
    usleep(2000);
    return count;
}

int PeekMessageW(void *message, void *window, unsigned first, unsigned last, unsigned flags)
{
    (void)message, (void)window, (void)first, (void)last, (void)flags;
    return posted != 0;
}

int TranslateMessage(void *message)
{
    (void)message;
    return 0;
}

void *DispatchMessageW(void *message)
{
    void (*delivery)(void) = posted;
    (void)message;
    posted = 0;
    delivery();
    return 0;
}
