/* SPDX-License-Identifier: MIT */
/*
** Prints one line for the user, "profiler: ...", on stderr. The line is made safe for terminals
** (printable.h) and cut after 2,047 bytes. If stderr is closed or leads to /dev/null, as in a
** daemon, the line is sent to the system's log (/dev/log) as a warning instead. Thread-safe. Takes no
** lock and does not allocate, so that a signal handler can call it that has interrupted malloc
** (dying.h). Preserves errno.
*/
#ifndef asamp_complain_h
#define asamp_complain_h

void complain (const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
