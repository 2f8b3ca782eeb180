/* SPDX-License-Identifier: MIT */
/* Detection of a file's type (filekind.h). */
#define _GNU_SOURCE
#include "filekind.h"
#include "vmprof.h"

#include <stdint.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>
#include <zlib.h>

static int startswith (const unsigned char *b, size_t n, const char *with) {
  size_t m = strlen(with);
  return n >= m && memcmp(b, with, m) == 0;
}

static int holds (const unsigned char *b, size_t n, const char *what) {
  return memmem(b, n, what, strlen(what)) != NULL;
}

/* Returns 1 if the bytes may start a VMProf log: five words of 8 bytes, the first three of them 0,
   3 and 0. */
static int islog (const unsigned char *b, size_t n) {
  static const unsigned char words[24] = {[8] = 3};
  return n >= 40 && memcmp(b, words, sizeof(words)) == 0;
}

/* Returns 1 if the header of a VMProf log has a version of at least 4 and the interpreter "lua". */
static int filekind_isours (const unsigned char *b, size_t n) {
  return n >= 48 && b[40] == VMPROF_HEADER && b[41] == 0 && b[42] >= 4 &&
         b[44] == 3 && memcmp(b + 45, "lua", 3) == 0;
}

/* Returns 1 if the bytes may start a pprof profile, a message of profile.proto: at least two
   complete fields, all with numbers 1 to 14 and of type integer or bytes. */
static int ispprof (const unsigned char *b, size_t n) {
  size_t i = 0;
  int fields = 0;
  while (i < n) {
    int field = b[i] >> 3, wire = b[i] & 7, shift = 0;
    uint64_t value = 0;
    if (field < 1 || field > 14 || (wire != 0 && wire != 2))
      return 0;
    i++;
    do {
      if (i == n)
        return fields >= 2;
      if (shift > 63)
        return 0;
      value |= (uint64_t)(b[i] & 0x7f) << shift;
      shift += 7;
    } while (b[i++] & 0x80);
    if (wire == 2 && value > n - i)
      return fields >= 2;
    if (wire == 2)
      i += (size_t)value;
    fields++;
  }
  return fields >= 2;
}

/* Returns 1 if the first line may be a collapsed stack: it has a ';' and ends with a space and a
   number. */
static int iscollapsed (const unsigned char *b, size_t n) {
  const unsigned char *end = memchr(b, '\n', n);
  const unsigned char *p = end;
  if (end == NULL)
    return 0;
  while (p > b && p[-1] >= '0' && p[-1] <= '9')
    p--;
  return p < end && p > b + 1 && p[-1] == ' ' &&
         memchr(b, ';', (size_t)(end - b)) != NULL;
}

/* Returns 1 if the n bytes contain no control characters except \t, \n, \v, \f and \r. */
static int istext (const unsigned char *b, size_t n) {
  size_t i;
  for (i = 0; i < n; i++) {
    if (b[i] == 0x7f || (b[i] < 0x20 && (b[i] < '\t' || b[i] > '\r')))
      return 0;
  }
  return 1;
}

/* Returns the type of a JSON file. Searches its first n bytes for names that files of a known type
   contain. */
static enum FileKind json (const unsigned char *b, size_t n) {
  if (holds(b, n, "speedscope.app/file-format"))
    return FILEKIND_SPEEDSCOPE;
  if (holds(b, n, "\"meta\"") &&
      (holds(b, n, "\"processType\"") || holds(b, n, "\"preprocessedProfileVersion\"") ||
       holds(b, n, "\"interval\"") || holds(b, n, "\"subcategories\"")))
    return FILEKIND_FIREFOX;
  return FILEKIND_JSON;
}

enum FileKind filekind_of (const unsigned char *b, size_t n) {
  size_t i = 0;
  if (n == 0)
    return FILEKIND_NOTHING;
  if (islog(b, n))
    return filekind_isours(b, n) ? FILEKIND_PROFILE : FILEKIND_LOG;
  if (startswith(b, n, "ASAMPHEAP "))
    return FILEKIND_HEAP;
  if (startswith(b, n, "\177ELF"))
    return FILEKIND_ELF;
  if (startswith(b, n, "PERFILE2") || startswith(b, n, "PERFFILE"))
    return FILEKIND_PERF;
  if (startswith(b, n, "\x28\xb5\x2f\xfd") || startswith(b, n, "\xfd" "7zXZ") ||
      startswith(b, n, "BZh") || startswith(b, n, "PK\x03\x04"))
    return FILEKIND_PACKED;
  if (startswith(b, n, "#!") || startswith(b, n, "\033Lua"))
    return FILEKIND_SCRIPT;
  if (ispprof(b, n))
    return FILEKIND_PPROF;
  while (i < n && strchr(" \t\r\n", b[i]) != NULL && b[i] != '\0')
    i++;
  if (i < n && b[i] == '{')
    return json(b, n);
  if (n - i >= 14 && strncasecmp((const char *)b + i, "<!doctype html", 14) == 0)
    return holds(b, n, "<title>Asamp</title>") ? FILEKIND_PAGE : FILEKIND_HTML;
  if (!istext(b, n))
    return FILEKIND_UNKNOWN;
  return iscollapsed(b, n) ? FILEKIND_COLLAPSED : FILEKIND_TEXT;
}

/* Decompresses 'in', the first n bytes of a gzip file, to up to 'room' bytes at 'out'. Returns the
   number of bytes written; 0 on failure. */
static size_t unpack (unsigned char *in, size_t n, unsigned char *out, size_t room) {
  z_stream z;
  memset(&z, 0, sizeof(z));
  if (inflateInit2(&z, 15 + 16) != Z_OK)
    return 0;
  z.next_in = in;
  z.avail_in = (uInt)n;
  z.next_out = out;
  z.avail_out = (uInt)room;
  inflate(&z, Z_SYNC_FLUSH);
  inflateEnd(&z);
  return room - z.avail_out;
}

enum FileKind filekind_offile (int fd) {
  unsigned char packed[FILEKIND_HEAD], head[FILEKIND_HEAD];
  ssize_t n = pread(fd, packed, sizeof(packed), 0);
  size_t m;
  if (n < 2 || packed[0] != 0x1f || packed[1] != 0x8b)
    return n < 0 ? FILEKIND_UNKNOWN : filekind_of(packed, (size_t)n);
  m = unpack(packed, (size_t)n, head, sizeof(head));
  return m == 0 ? FILEKIND_UNKNOWN : filekind_of(head, m);
}

static const struct { const char *name, *remedy; } known[] = {
  [FILEKIND_NOTHING] = {"an empty file", NULL},
  [FILEKIND_PROFILE] = {"a profile", NULL},
  [FILEKIND_LOG] = {"a VMProf log of another profiler", NULL},
  [FILEKIND_HEAP] = {"a snapshot of a heap", "`asamp heap` reads it"},
  [FILEKIND_PPROF] = {"a pprof profile", "`go tool pprof` reads it"},
  [FILEKIND_FIREFOX] = {"a profile for the Firefox Profiler",
                    "profiler.firefox.com reads it"},
  [FILEKIND_SPEEDSCOPE] = {"a speedscope profile", "speedscope.app reads it"},
  [FILEKIND_COLLAPSED] = {"a file of collapsed stacks",
                      "flamegraph.pl and speedscope.app read it"},
  [FILEKIND_JSON] = {"a JSON file", NULL},
  [FILEKIND_PAGE] = {"a page of asamp view", "open it in a browser"},
  [FILEKIND_HTML] = {"an HTML file", "open it in a browser"},
  [FILEKIND_PERF] = {"a recording of perf", "`perf report` reads it"},
  [FILEKIND_ELF] = {"a program or library", NULL},
  [FILEKIND_PACKED] = {"a compressed file", "unpack it first: only gzip can be "
                   "read"},
  [FILEKIND_SCRIPT] = {"a script", "`asamp run` profiles it"},
  [FILEKIND_TEXT] = {"a text file", NULL}
};

const char *filekind_name (enum FileKind kind) {
  return known[kind].name;
}

const char *filekind_remedy (enum FileKind kind) {
  return known[kind].remedy;
}
