/* SPDX-License-Identifier: MIT */
/*
** The clients that are connected to the control socket. A client that is silent for too long is
** disconnected (rule CN3 of control.h), unless it waits for a snapshot (CN6). Only the control
** thread calls these functions.
*/
#ifndef asamp_clients_h
#define asamp_clients_h

#include <limits.h>
#include <stdint.h>

/*
** Makes empty tables of clients. Each control thread calls it once, before its first
** clients_serve. Returns 0 if there is not enough memory.
*/
int clients_start (void);

/*
** Waits until clients send requests, a client connects to the socket 'server' (-1: there is no
** socket), or 'ms' milliseconds have passed (negative: no limit). Then answers the requests,
** accepts one connection, and disconnects clients that are silent or exceed the limit (CN3).
*/
void clients_serve (int server, int ms);

/*
** Limits a timeout of poll to a deadline: returns the smaller of 'ms' (negative: no limit) and the
** milliseconds, rounded up, from 'now' until 'due'. Both times are values of clock_now.
*/
static inline int clients_earlier (uint64_t due, uint64_t now, int ms) {
  uint64_t left = (due > now) ? (due - now + 999999) / 1000000 : 0;
  return (ms < 0 || left < (uint64_t)ms) ? (int)(left < INT_MAX ? left : INT_MAX) : ms;
}

#endif
