/* SPDX-License-Identifier: MIT */
/*
** Those who have connected: CN3 and CN6 of control.h. Used by the control's thread alone.
*/
#ifndef asamp_clients_h
#define asamp_clients_h

#include <limits.h>
#include <stdint.h>

/* Before the first wait. 0: not enough memory. */
int clients_begin (void);

/* Waits 'ms' milliseconds at most (below 0: for ever), or for requests at the socket 'server'
   (-1: there is none), which it answers. */
void clients_serve (int server, int ms);

/* The lesser of ms, as poll takes it, and the time until 'due' (clock_now). */
static inline int clients_earlier (uint64_t due, uint64_t now, int ms) {
  uint64_t left = (due > now) ? (due - now + 999999) / 1000000 : 0;
  return (ms < 0 || left < (uint64_t)ms) ? (int)(left < INT_MAX ? left : INT_MAX) : ms;
}

#endif
