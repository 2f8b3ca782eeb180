/* SPDX-License-Identifier: MIT */
/* The clients of the control socket. Silent clients are disconnected (CN3 of control.h), unless
   they wait for a snapshot (CN6). Used only by the control thread. */
#ifndef asamp_clients_h
#define asamp_clients_h

#include <limits.h>
#include <stdint.h>

/* Empties the list of clients. Called at the start of the control thread: in a forked child, the
   list still has the parent's clients. */
void clients_start (void);

/* Waits for a request or a connection, at most 'ms' milliseconds (negative: no limit). After that,
   answers requests, accepts one connection, and disconnects silent clients. 'server': descriptor of
   the listening socket; -1: none. */
void clients_serve (int server, int ms);

/* Returns the smaller of 'ms' (negative: no limit) and the milliseconds from 'now' to 'due'
   (clock_now), rounded up. */
static inline int clients_earlier (uint64_t due, uint64_t now, int ms) {
  uint64_t left = (due > now) ? (due - now + 999999) / 1000000 : 0;
  return (ms < 0 || left < (uint64_t)ms) ? (int)(left < INT_MAX ? left : INT_MAX) : ms;
}

#endif
