/* SPDX-License-Identifier: MIT */
/*
** One line for people: "profiler: ..." on stderr. Where that is closed, or leads to
** /dev/null, as in a daemon, the line goes to the system's log (syslog(3), as a warning).
** Any thread may call it, and the end of a process; no other signal handler.
*/
#ifndef asamp_complain_h
#define asamp_complain_h

void complain (const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
