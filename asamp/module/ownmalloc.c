/* SPDX-License-Identifier: MIT */
/* Counts the memory that the profiler itself allocates (own.h), by usable size. In the object files
   of profiler.core, the linker replaces malloc, free and so on by the functions of this file
   (--wrap). These object files must free only blocks that they have allocated, or the count would
   be wrong. Thread-safe. */
#define _GNU_SOURCE
#include <malloc.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "own.h"

void *__real_malloc (size_t n);
void *__real_calloc (size_t n, size_t size);
void *__real_realloc (void *p, size_t n);
void __real_free (void *p);
char *__real_strdup (const char *s);
char *__real_strndup (const char *s, size_t n);
void *__wrap_malloc (size_t n);
void *__wrap_calloc (size_t n, size_t size);
void *__wrap_realloc (void *p, size_t n);
void __wrap_free (void *p);
char *__wrap_strdup (const char *s);
char *__wrap_strndup (const char *s, size_t n);
int __wrap_asprintf (char **to, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Returns the usable size of a block in bytes; 0 for NULL. */
static int64_t size (void *p) {
  return p == NULL ? 0 : (int64_t)malloc_usable_size(p);
}

/* Adds n, which may be negative, to the count of bytes. */
static void ownmalloc_count (int64_t n) {
  if (n != 0) __atomic_add_fetch(&own_count, n, __ATOMIC_RELAXED);
}

/* Counts a new block and returns it. 'p' may be NULL. */
static void *counted (void *p) {
  ownmalloc_count(size(p));
  return p;
}

void *__wrap_malloc (size_t n) {
  return counted(__real_malloc(n));
}

void *__wrap_calloc (size_t n, size_t each) {
  return counted(__real_calloc(n, each));
}

void *__wrap_realloc (void *p, size_t n) {
  int64_t before = size(p);
  void *to = __real_realloc(p, n);
  if (to != NULL) ownmalloc_count(size(to) - before);
  return to;
}

void __wrap_free (void *p) {
  ownmalloc_count(-size(p));
  __real_free(p);
}

char *__wrap_strdup (const char *s) {
  return counted(__real_strdup(s));
}

char *__wrap_strndup (const char *s, size_t n) {
  return counted(__real_strndup(s, n));
}

int __wrap_asprintf (char **to, const char *format, ...) {
  va_list args;
  int n;
  va_start(args, format);
  n = vasprintf(to, format, args);
  va_end(args);
  if (n >= 0) ownmalloc_count(size(*to));
  return n;
}
