/* SPDX-License-Identifier: MIT */
/*
** Prints one line for the user, "profiler: ...", on stderr. If stderr is closed or leads to
** /dev/null, as in a daemon, the line goes to the system's log (syslog(3), as a warning).
** Thread-safe. Not async-signal-safe, except at the end of the process.
*/
#ifndef asamp_complain_h
#define asamp_complain_h

void complain (const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
