/* SPDX-License-Identifier: MIT */
/*
** Prints one line for the user, "profiler: ...", on stderr. The line is made safe for terminals
** (printable.h) and cut after 2,047 bytes. If stderr is closed or leads to /dev/null, as in a
** daemon, the line is written to the system's log (syslog(3)) as a warning instead. Thread-safe,
** but not async-signal-safe: a signal handler calls it only if the signal ends the process
** (dying.h).
*/
#ifndef asamp_complain_h
#define asamp_complain_h

void complain (const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
