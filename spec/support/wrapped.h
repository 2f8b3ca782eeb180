/* SPDX-License-Identifier: MIT */
/*
** The memory functions of a module under test. The linker redirects the module's calls of malloc,
** calloc and realloc to them (--wrap). The function 'starving', which the including file defines,
** decides for each request whether it fails.
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
