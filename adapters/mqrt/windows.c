// The functions of kernel32.dll that .NET clients of Message Queuing call beside it: map that library to this one too.
#include "internal.h"

// The computer's name without its NUL counts; a buffer that is too small gets the length with it.
EXPORT int32_t GetComputerNameW(WCHAR *name, DWORD *length) {
    struct session about;
    if (!length || FAILED(session_ready(&about))) return 0;
    if (name_give(about.computer, about.computer_units, name, length, MQ_ERROR_USER_BUFFER_TOO_SMALL)) return 0;
    *length -= 1;
    return 1;
}

// 0: the handle is no file, so that clients ask for a callback and not for a completion port.
EXPORT int32_t GetHandleInformation(HANDLE handle, DWORD *flags) {
    (void)handle; (void)flags;
    return 0;
}

// 0: there is no text for the code.
EXPORT DWORD FormatMessageW(DWORD flags, const void *source, DWORD code, DWORD language, WCHAR *into, DWORD room, void *arguments) {
    (void)flags; (void)source; (void)code; (void)language; (void)arguments;
    if (into && room) *into = 0;
    return 0;
}
