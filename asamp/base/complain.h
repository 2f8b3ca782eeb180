/* SPDX-License-Identifier: MIT */
/*
** Prints a line "profiler: MESSAGE" on stderr. The message is cut after 2,047 bytes and made safe
** for terminals (printable.h). If stderr is closed or /dev/null, as in a daemon, sends the line to
** the system's log. Thread-safe; takes no lock, does not allocate and preserves errno, so
** that a signal handler can call it.
*/
#ifndef asamp_complain_h
#define asamp_complain_h

void complain (const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
