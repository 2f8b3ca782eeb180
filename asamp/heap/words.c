/* SPDX-License-Identifier: MIT */
/* Descriptions of references (words.h). */
#include "words.h"
#include "bytes.h"
#include "heapformat.h"
#include "printable.h"

#include <stdio.h>
#include <string.h>

/* Returns the length in bytes of the UTF-8 character at s; 0 if it is invalid or not printable. */
static size_t character (const unsigned char *s, size_t n) {
  size_t length = bytes_sequence(s, n);
  return length > 0 && printable_isobeyed(s, length) ? 0 : length;
}

size_t words_quoted (char *to, size_t size, const char *s, size_t n) {
  size_t i = 0, m = 0;
  while (i < n && m + 8 < size) {
    size_t length = character((const unsigned char *)s + i, n - i);
    if (length == 0) {
      m += (size_t)sprintf(to + m, "\\%03u", (unsigned char)s[i]);
      i++;
    }
    else {
      if (s[i] == '"' || s[i] == '\\')
        to[m++] = '\\';
      memcpy(to + m, s + i, length);
      m += length;
      i += length;
    }
  }
  if (i < n && m + 4 <= size) {
    memcpy(to + m, "…", 3);
    m += 3;
  }
  to[m] = '\0';
  return m;
}

/* Writes the text of string object v, escaped, to 'to'. */
static void quoted (const Graph *g, uint32_t v, char *to, size_t size) {
  size_t n;
  const char *s = graph_text(g, v, &n);
  words_quoted(to, size, s, n);
}

/* Describes a C function. 'code' is its index in Graph.codes, or GRAPH_NONE if its name is
   unknown. */
static void cfunction (const Graph *g, uint32_t code, char to[WORDS_MOST]) {
  char name[2 * HEAP_TEXT];
  if (code >= g->ncodes) {
    snprintf(to, WORDS_MOST, "a C function");
    return;
  }
  words_quoted(name, sizeof(name), g->codes[code], strlen(g->codes[code]));
  snprintf(to, WORDS_MOST, "C function %s", name);
}

void words_function (const Graph *g, uint32_t v, char to[WORDS_MOST]) {
  char name[128], source[256];
  const struct Proto *p;
  if (v != GRAPH_NONE && g->kind[v] == HEAP_FUNCTION)
    v = g->info[v];
  if (v == GRAPH_NONE || g->kind[v] != HEAP_PROTO) {
    cfunction(g, v != GRAPH_NONE && g->kind[v] == HEAP_CFUNCTION ? g->info[v] : GRAPH_NONE, to);
    return;
  }
  p = &g->protos[g->info[v]];
  quoted(g, p->source, source, sizeof(source));
  if ((source[0] == '@' || source[0] == '=') && source[1] == '\0')
    ;  /* keeps a source that is only "@" or "=": without its first character it would be "" */
  else if (source[0] == '@' || source[0] == '=')
    memmove(source, source + 1, strlen(source));
  else if (source[0] != '\0')
    snprintf(source, sizeof(source), "a string");
  else
    snprintf(source, sizeof(source), "?");
  if (p->line == 0)
    snprintf(to, WORDS_MOST, "main chunk (%s)", source);
  else if (p->name == GRAPH_NONE)
    snprintf(to, WORDS_MOST, "%s:%u", source, p->line);
  else {
    quoted(g, p->name, name, sizeof(name));
    snprintf(to, WORDS_MOST, "%s (%s:%u)", name, source, p->line);
  }
}

int words_isregistry (const Graph *g, uint32_t v) {
  return v != 0 && g->parent[v] == 0 && g->way[v] == way_of(HEAP_EROOT, 0);
}

/* Describes the field of table 'from' with the string object 'key' as its key. */
static void field (const Graph *g, uint32_t from, uint32_t key, char out[WORDS_MOST]) {
  char text[300];
  quoted(g, key, text, sizeof(text));
  if (words_isregistry(g, from) && strcmp(text, "_LOADED") == 0)
    snprintf(out, WORDS_MOST, "package.loaded");
  else
    snprintf(out, WORDS_MOST, "[\"%s\"]", text);
}

/* Describes an array element of table 'from'; with 'merged' 1, several elements: "[1..n]". */
static void element (const Graph *g, uint32_t from, uint32_t index, int merged,
                     char out[WORDS_MOST]) {
  if (words_isregistry(g, from) && index == 2)
    snprintf(out, WORDS_MOST, "_G");
  else if (words_isregistry(g, from) && index == 1)
    snprintf(out, WORDS_MOST, "main thread");
  else if (words_isregistry(g, from))
    snprintf(out, WORDS_MOST, "reference of luaL_ref");
  else if (merged)
    snprintf(out, WORDS_MOST, "[1..n]");
  else if (index == WAY_MOST)
    snprintf(out, WORDS_MOST, "[an integer]");
  else
    snprintf(out, WORDS_MOST, "[%u]", index);
}

/* Describes a coroutine by the outermost function on its stack. Writes "" if that function is
   unknown. Also writes "" if the function's prototype is 'in': the caller describes a local
   variable of the function 'in', so its text contains the function already. */
static void bodyof (const Graph *g, uint32_t thread, uint32_t in, char out[WORDS_MOST]) {
  size_t i = 0;
  uint32_t to;
  Way way;
  out[0] = '\0';
  while (graph_edge(g, thread, &i, &to, &way)) {
    const Slot *s = way_argument(way) < g->nslots ? &g->slots[way_argument(way)] : NULL;
    if ((way_kind(way) != HEAP_ESTACK && way_kind(way) != HEAP_ECODE) || s == NULL ||
        s->index == 0)  /* skips extra arguments of a vararg function: their slots are not numbered,
                           and have the index 0 */
      continue;
    if (s->index == 1 && way_kind(way) == HEAP_ECODE) cfunction(g, s->in, out);
    else if (s->index == 1 && s->in != in) words_function(g, s->in, out);
    /* Slot 1 of a call is the called function. If the outermost call has none, the function is a
       light C function, which is not an object. */
    return;
  }
}

/* Cuts a text in place to at most 'most' bytes, between characters, and appends "…". Returns the
   text. */
static const char *clip (char text[WORDS_MOST], size_t most) {
  size_t n = most;
  if (strlen(text) <= most + 3) return text;
  while (n > 0 && ((unsigned char)text[n] & 0xc0) == 0x80) n--;
  memcpy(text + n, "\xe2\x80\xa6", 4);
  return text;
}

/* Describes a stack slot that is not a local variable. 'kind' is HEAP_ESTACK (slot of a Lua
   function) or HEAP_ECODE (slot of a C function). With 'merged' 1, describes several slots. */
static void stackslot (const Graph *g, int kind, const Slot *s, int merged, char out[WORDS_MOST]) {
  char function[WORDS_MOST];
  if (s != NULL && s->index == 1) {
    snprintf(out, WORDS_MOST, "running function");
    return;
  }
  if (kind == HEAP_ECODE) cfunction(g, s != NULL ? s->in : GRAPH_NONE, function);
  else words_function(g, s != NULL ? s->in : GRAPH_NONE, function);
  if (kind != HEAP_ECODE || merged || s == NULL || s->index == 0)
    snprintf(out, WORDS_MOST, "stack of %.450s", clip(function, 440));
  else snprintf(out, WORDS_MOST, "stack of %.450s, slot %u", clip(function, 440), s->index - 1);
}

/* Describes a local variable of the thread 'from' ('kind' is HEAP_ELOCAL) or an upvalue of the
   function 'from' (HEAP_EUPVALUE). s: the variable; NULL: unknown. */
static void words_slot (const Graph *g, uint32_t from, int kind, const Slot *s,
                        char out[WORDS_MOST]) {
  char function[WORDS_MOST], body[WORDS_MOST] = "", name[128] = "";
  const char *variable = kind == HEAP_ELOCAL ? "local" : "upvalue";
  int thread = kind == HEAP_ELOCAL && g->kind[from] == HEAP_THREAD && g->info[from] == 0;
  uint32_t in = s != NULL && kind == HEAP_ELOCAL ? s->in : from;
  words_function(g, in, function);
  if (s != NULL && s->name != GRAPH_NONE)
    quoted(g, s->name, name, sizeof(name));
  if (thread) bodyof(g, from, in, body);
  if (name[0] != '\0' && body[0] != '\0')
    snprintf(out, WORDS_MOST, "%s \"%s\" of %.153s, coroutine of %.153s", variable, name,
             clip(function, 150), clip(body, 150));
  else if (name[0] != '\0')
    snprintf(out, WORDS_MOST, "%s \"%s\" of %.333s%s", variable, name, clip(function, 330),
             thread ? ", coroutine" : "");
  else
    snprintf(out, WORDS_MOST, "%s %u of %.450s", variable, s != NULL ? s->index : 0,
             clip(function, 440));
}

void words_step (const Graph *g, uint32_t from, uint32_t to, Way way, int merged,
                 char out[WORDS_MOST]) {
  uint32_t a = way_argument(way);
  const Slot *s = a < g->nslots ? &g->slots[a] : NULL;
  if (to == 0) {
    snprintf(out, WORDS_MOST, "%s", words_kind(HEAP_KINDS));
    return;
  }
  switch (way_kind(way)) {
    case HEAP_EROOT: heapformat_root(a, out, WORDS_MOST); break;
    case HEAP_EMETATABLE: snprintf(out, WORDS_MOST, "metatable"); break;
    case HEAP_EINDEX: element(g, from, a, merged, out); break;
    case HEAP_EFIELD: field(g, from, a, out); break;
    case HEAP_EENTRY: {
      if (merged || a == WAY_MOST || a >= g->n)
        snprintf(out, WORDS_MOST, "[*]");
      else
        snprintf(out, WORDS_MOST, "[%s 0x%llx]", words_kind(g->kind[a]),
                 (unsigned long long)g->address[a]);
      break;
    }
    case HEAP_EKEY: snprintf(out, WORDS_MOST, "key"); break;
    case HEAP_EWEAKKEY:
      if (merged || a >= g->n)
        snprintf(out, WORDS_MOST, "[*] (weak key)");
      else
        snprintf(out, WORDS_MOST, "[%s 0x%llx] (weak key)", words_kind(g->kind[a]),
                 (unsigned long long)g->address[a]);
      break;
    case HEAP_EUPVALUE: case HEAP_ELOCAL: words_slot(g, from, (int)way_kind(way), s, out); break;
    case HEAP_ESTACK: case HEAP_ECODE:
      stackslot(g, (int)way_kind(way), s, merged, out);
      break;
    case HEAP_EVALUE: out[0] = '\0'; break;
    case HEAP_EUSERVALUE:
      snprintf(out, WORDS_MOST, "user value %u", a == WAY_MOST ? 0 : a);
      break;
    case HEAP_EOPEN: snprintf(out, WORDS_MOST, "open upvalue"); break;
    case HEAP_EPROTO: snprintf(out, WORDS_MOST, "code"); break;
    case HEAP_ECONSTANT: snprintf(out, WORDS_MOST, "constant"); break;
    default: snprintf(out, WORDS_MOST, "name"); break;
  }
}

const char *words_kind (int kind) {
  static const char *const names[] = {
    "table", "string", "function", "C function", "upvalue", "userdata", "coroutine",
    "function code", "(state and string table)"
  };
  return names[kind >= 0 && kind <= HEAP_KINDS ? kind : HEAP_KINDS];
}
