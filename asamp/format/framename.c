/* SPDX-License-Identifier: MIT */
/* Names of frames (framename.h). */
#include "framename.h"
#include "bytes.h"
#include "frameids.h"
#include "sample.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Writes one part of a frame's name, at most 'room' bytes and a NUL. The result is valid UTF-8, has
   no colons and control characters, and is cut between characters. Returns its length. */
static size_t putfield (char *out, size_t room, const char *text) {
  const unsigned char *s = (const unsigned char *)text;
  size_t n = strlen(text);
  size_t used = 0;
  while (n > 0) {
    size_t len = bytes_sequence(s, n);
    size_t step = len == 0 ? 1 : len;
    const char *from = (const char *)s;
    if (len == 0) {
      from = BYTES_REPLACEMENT;
      len = 3;
    }
    else if (bytes_iscontrol(*s) || *s == ':')
      from = ";";
    if (used + len > room)
      break;
    memcpy(out + used, from, len);
    used += len;
    s += step;
    n -= step;
  }
  out[used] = '\0';
  return used;
}

/* Like putfield, for a path. If the path is too long, "..." replaces its start. Replaces invalid
   bytes before it cuts the path, because a replacement is longer than the byte. */
static size_t putpath (char *out, size_t room, const char *path) {
  char whole[3 * FRAMENAME_LIMIT + 1];
  size_t n = strlen(path);
  size_t used;
  const char *tail;
  if (n > FRAMENAME_LIMIT)
    n = FRAMENAME_LIMIT;
  used = putfield(whole, sizeof(whole) - 1, path + strlen(path) - n);
  if (used <= room && n == strlen(path)) {
    memcpy(out, whole, used + 1);
    return used;
  }
  tail = used > room - 3 ? whole + used - (room - 3) : whole;
  while (((unsigned char)*tail & 0xc0) == 0x80)
    tail++;  /* moves to the start of a character */
  memcpy(out, "...", 3);
  n = strlen(tail);
  memcpy(out + 3, tail, n + 1);
  return n + 3;
}

/* Maximum length of a function's name in the name of a frame, bytes. */
#define NAMEROOM	400

void framename_lua (char *out, const char *name, int line, const char *source) {
  size_t n;
  if ((*source == '@' || *source == '=') && source[1] != '\0')
    source++;
  memcpy(out, "py:", 3);
  n = 3 + putfield(out + 3, NAMEROOM, *name == '\0' ? "?" : name);
  n += (size_t)sprintf(out + n, ":%d:", line < 0 ? 0 : line);
  putpath(out + n, FRAMENAME_LIMIT - n, *source == '\0' ? "-" : source);
}

void framename_native (char *out, const char *symbol, const char *library) {
  size_t n;
  memcpy(out, "n:", 2);
  n = 2 + putfield(out + 2, NAMEROOM, *symbol == '\0' ? "?" : symbol);
  memcpy(out + n, ":0:", 3);
  n += 3;
  putpath(out + n, FRAMENAME_LIMIT - n, *library == '\0' ? "-" : library);
}

const char *framename_nobodys (uint64_t id) {
  switch (id) {
    case FRAME_TYPE + 2 * COPY_NEW: return "[copied]";
    case FRAME_TYPE + 2 * COPY_AGAIN: return "[copied again]";
    case FRAME_TYPE + 2 * COPY_GROWN: return "[moved by growth]";
    case FRAME_MINOR: return "[minor collection]";
    case FRAME_MAJOR: return "[major collection]";
    case FRAME_NONE: return "[no function]";
    case FRAME_CUT: return "[frames cut]";
    case FRAME_TAIL: return "(tail call)";
    default: return profile_kindname((int)(id - FRAME_TYPE) / 2);
  }
}

void framename_parse (FrameName *f, const char *text, uint64_t id) {
  const char *name = strchr(text, ':');
  const char *line = name != NULL ? strchr(name + 1, ':') : NULL;
  const char *file = line != NULL ? strchr(line + 1, ':') : NULL;
  if (file != NULL) {
    f->name = name + 1;
    f->length = (size_t)(line - f->name);
    f->line = strtoull(line + 1, NULL, 10);
    f->line = f->line > INT32_MAX ? 0 : f->line;
    f->file = file + 1;
    f->native = strncmp(text, "n:", 2) == 0;
  }
  else {
    f->name = text;
    f->length = strlen(text);
    f->line = 0;
    f->file = "-";
    f->native = (int)(id & 1);
  }
}

int framename_isours (const char *s, size_t n) {
  const char *end = s + n, *line, *p;
  int colons = 0;
  if (n < 3 || n > FRAMENAME_LIMIT || !(memcmp(s, "n:", 2) == 0 ||
                                         memcmp(s, "py:", 3) == 0))
    return 0;
  line = NULL;
  for (p = s; p < end; p++) {
    if (*p == ':' && ++colons == 2)
      line = p + 1;
    else if (colons == 2 && (*p < '0' || *p > '9'))
      return 0;
  }
  return colons == 3 && *line != ':';
}
