/* SPDX-License-Identifier: MIT */
/*
** Memory functions that fail when a spec wants it. The linker replaces malloc, calloc and realloc
** of the tested module by these functions (--wrap). For each request they call 'starving', a
** function of the including file, which returns whether the request fails.
*/
#ifndef spec_wrapped_h
#define spec_wrapped_h

#include <stddef.h>

static int starving (void);

void *__real_malloc (size_t n);
void *__real_calloc (size_t n, size_t size);
void *__real_realloc (void *p, size_t n);
void *__wrap_malloc (size_t n);
void *__wrap_calloc (size_t n, size_t size);
void *__wrap_realloc (void *p, size_t n);

void *__wrap_malloc (size_t n) {
  return starving() ? NULL : __real_malloc(n);
}

void *__wrap_calloc (size_t n, size_t size) {
  return starving() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc (void *p, size_t n) {
  return starving() ? NULL : __real_realloc(p, n);
}

#endif
