/* SPDX-License-Identifier: MIT */
/* Writes the messages of profile.proto (pprof.h). An inner message is composed first, because
   its length precedes it. */
#include "pprof.h"
#include "bytes.h"
#include "heldstack.h"
#include "list.h"
#include "strlist.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Field numbers of profile.proto. */
enum { PROFILE_TYPE = 1, PROFILE_SAMPLE, PROFILE_MAPPING, PROFILE_LOCATION,
       PROFILE_FUNCTION, PROFILE_STRING, PROFILE_NANOS = 9, PROFILE_DURATION,
       PROFILE_PERIODTYPE, PROFILE_PERIOD, PROFILE_COMMENT, PROFILE_DEFAULT };
enum { TYPE_TYPE = 1, TYPE_UNIT };
enum { SAMPLE_LOCATIONS = 1, SAMPLE_VALUES, SAMPLE_LABEL };
enum { LABEL_KEY = 1, LABEL_STRING };
enum { MAPPING_ID = 1, MAPPING_FILE = 5, MAPPING_HASFUNCTIONS = 7,
       MAPPING_HASFILES, MAPPING_HASLINES };
enum { LOCATION_ID = 1, LOCATION_MAPPING, LOCATION_ADDRESS, LOCATION_LINE };
enum { LINE_FUNCTION = 1, LINE_LINE };
enum { FUNCTION_ID = 1, FUNCTION_NAME, FUNCTION_SYSTEMNAME, FUNCTION_FILE,
       FUNCTION_LINE };

/* exactlabels() writes no comment for label sets with larger numbers. */
#define EXACT_COMMENTS	256
/* exactlabels() adds no further labels to a comment that has at least this number of bytes. */
#define EXACT_TEXT	1024

typedef struct Writer {
  const ReadProfile *r;
  const Fold *fold;
  const ReaderSum *sum;
  HeldStack held;
  Output *o;
  StrList strings;
  Bytes message, part;  /* the Protocol Buffers message being composed, and a message within it */
  IdMap bylocation;    /* maps a function and a line to the id of their location. The key is 1 +
                          (function << 32 | line) */
  uint32_t *location;  /* id of the location of each call tree node; ids start at 1 */
  uint64_t *key;       /* key[id - 1] is function << 32 | line of the location with this id */
  size_t keysize;
  uint32_t nlocations;
  int failed;
  /* 'heap' 1: the file has sample types of allocations; 'time' 1: of time samples. */
  int heap, time;
  const char *first;   /* name of the default sample type; NULL: not given */
} Writer;

static void varint (Bytes *b, uint64_t n) {
  unsigned char bytes[10];
  size_t i = 0;
  while (n >= 0x80) {
    bytes[i++] = (unsigned char)(n | 0x80);
    n >>= 7;
  }
  bytes[i++] = (unsigned char)n;
  bytes_add(b, bytes, i);
}

/* Appends to the message *b the field number 'field', whose value is the integer n. */
static void pprof_number (Bytes *b, int field, uint64_t n) {
  varint(b, (uint64_t)field << 3);
  varint(b, n);
}

/* Appends to the message *b the field number 'field', whose value is the bytes of *from. */
static void piece (Bytes *b, int field, const Bytes *from) {
  varint(b, (uint64_t)field << 3 | 2);
  varint(b, from->n);
  bytes_add(b, from->data, from->n);
}

/* Writes w->message as the field number 'field' of the profile, and empties w->message. */
static void emit (Writer *w, int field) {
  Bytes head = {0};
  varint(&head, (uint64_t)field << 3 | 2);
  varint(&head, w->message.n);
  w->failed |= head.failed | w->message.failed;
  output_bytes(w->o, head.data, head.n);
  output_bytes(w->o, w->message.data, w->message.n);
  w->message.n = 0;
  bytes_free(&head);
}

/* Writes the integer n as the field number 'field' of the profile. */
static void emitnumber (Writer *w, int field, uint64_t n) {
  Bytes b = {0};
  pprof_number(&b, field, n);
  w->failed |= b.failed;
  output_bytes(w->o, b.data, b.n);
  bytes_free(&b);
}

/* Returns the index in 'strings' of a string; adds the string if needed. */
static uint64_t string (Writer *w, const char *text) {
  return strlist_put(&w->strings, text, strlen(text));
}

/* -------------------------------------------------------------- types -- */

/* Writes a message of the type ValueType: a sample type, or the period type. 'field': number of its
   field in the profile. */
static void valuetype (Writer *w, int field, const char *type, const char *unit) {
  pprof_number(&w->message, TYPE_TYPE, string(w, type));
  pprof_number(&w->message, TYPE_UNIT, string(w, unit));
  emit(w, field);
}

/* Sets w->heap to 1 if the file has the sample types of allocations: the profile has allocation
   samples, or one of these types is requested as the default. Sets w->time to 1 if the file has the
   sample types of time: the profile has time samples, or "time" is requested. If neither is the
   case, sets w->heap to 1. */
static void decidetypes (Writer *w) {
  const ReadProfile *r = w->r;
  int wantstime = (w->first != NULL && strcmp(w->first, "time") == 0);
  int wantsheap = (w->first != NULL && !wantstime);
  w->time = r->timesamples > 0 || wantstime;
  w->heap = r->samples > 0 || wantsheap || !w->time;
}

/* Returns the length in us of the requested time range. A range without an end lasts to the end of
   the profile. So does a range that ends after the profile, unless the profile is still being
   written. */
static uint64_t duration (const Writer *w) {
  const ReadProfile *r = w->r;
  uint64_t since = w->sum->since, till = w->sum->till;
  if (till == READERSUM_EVER || (!r->live && r->duration < till))
    till = r->duration;
  return till > since ? till - since : 0;
}

/* Writes a comment for each limit that dropped data. */
static void limits (Writer *w) {
  char text[READERLEFT_TEXT];
  int what;
  for (what = 0; what < LEFT_N; what++) {
    uint64_t count = w->sum->left[what];
    if (count == 0 || what == LEFT_COLLECTIONS || what == LEFT_MARKS || what == LEFT_LIVES)
      continue;  /* a pprof file has no collections, marks or lifetimes anyway, so nothing is
                    missing there */
    readerleft_text((ReadLeft)what, count, text);
    emitnumber(w, PROFILE_COMMENT, string(w, text));
  }
}

/* Writes comments with the exact number of bytes that were allocated with each label set and
   without labels. The values of samples are only estimates. */
static void exactlabels (Writer *w) {
  const ReadProfile *r = w->r;
  Bytes text = {0};
  size_t i, k;
  for (i = 0; w->sum->exactlabels && i <= r->nlabelsets && i <= EXACT_COMMENTS; i++) {
    const ReadLabelSet *set = i > 0 ? &r->labelsets[i - 1] : NULL;
    uint64_t bytes = i < w->sum->nlabels ? w->sum->labels[i].exact : 0;
    if (bytes == 0)
      continue;
    text.n = 0;
    bytes_add(&text, "the run allocated exactly", 25);
    bytes_decimal(&text, ' ', bytes);
    bytes_add(&text, set != NULL ? " bytes with" : " bytes without labels", set != NULL ? 11 : 21);
    for (k = 0; set != NULL && k < set->n && text.n < EXACT_TEXT; k++) {
      const ReadLabel *l = &r->labels[set->first + k];
      bytes_char(&text, ' ');
      bytes_add(&text, r->text.text + l->name, strlen(r->text.text + l->name));
      bytes_char(&text, '=');
      bytes_add(&text, r->text.text + l->value, strlen(r->text.text + l->value));
    }
    bytes_char(&text, '\0');
    if (!text.failed)
      emitnumber(w, PROFILE_COMMENT, string(w, (const char *)text.data));
  }
  bytes_free(&text);
}

/* Writes the fields before the samples. The sample types are in the order in which writesite and
   writeheld write the values. */
static void pprof_head (Writer *w) {
  const ReadProfile *r = w->r;
  const char *clock = r->wall ? "wall" : "cpu";
  if (w->heap) {
    valuetype(w, PROFILE_TYPE, "alloc_objects", "count");
    valuetype(w, PROFILE_TYPE, "alloc_space", "bytes");
    valuetype(w, PROFILE_TYPE, "inuse_objects", "count");
    valuetype(w, PROFILE_TYPE, "inuse_space", "bytes");
  }
  if (w->time) {
    valuetype(w, PROFILE_TYPE, "samples", "count");
    valuetype(w, PROFILE_TYPE, clock, "nanoseconds");
  }
  if (w->held.nrows > 0)
    valuetype(w, PROFILE_TYPE, "held_space", "bytes");
  if (w->heap)
    valuetype(w, PROFILE_PERIODTYPE, "space", "bytes");
  else
    valuetype(w, PROFILE_PERIODTYPE, clock, "nanoseconds");
  emitnumber(w, PROFILE_PERIOD, w->heap ? r->period : r->timeperiod);
  limits(w);
  exactlabels(w);
  if (w->first != NULL && strcmp(w->first, "time") == 0)
    w->first = clock;
  emitnumber(w, PROFILE_DEFAULT, 
             string(w, w->first != NULL ? w->first : w->heap ? "alloc_space" : clock));
  if (r->started > 0)
    emitnumber(w, PROFILE_NANOS, (r->started + w->sum->since) * 1000);
  emitnumber(w, PROFILE_DURATION, duration(w) * 1000);
  if (r->command != 0)
    emitnumber(w, PROFILE_COMMENT, string(w, r->text.text + r->command));
  pprof_number(&w->message, MAPPING_ID, 1);
  pprof_number(&w->message, MAPPING_FILE, string(w, r->interpreter));
  pprof_number(&w->message, MAPPING_HASFUNCTIONS, 1);
  pprof_number(&w->message, MAPPING_HASFILES, 1);
  pprof_number(&w->message, MAPPING_HASLINES, 1);
  emit(w, PROFILE_MAPPING);
}

/* ---------------------------------------------------------- locations -- */

/* Returns the id of the location with this function and line; adds it if needed. 'function' has one
   of these meanings:
   - below 'nfunctions': index in the profile's functions
   - 'nfunctions': the empty stack
   - above 'nfunctions': a reference that keeps objects alive, because paths of references are
     written as stacks (heldstack.h) */
static uint32_t location (Writer *w, uint32_t function, uint32_t line) {
  uint64_t key = (uint64_t)function << 32 | line;
  uint32_t id = idmap_get(&w->bylocation, key + 1);
  if (id != IDMAP_NONE)
    return id;
  if (!list_grow(&w->key, w->nlocations, &w->keysize, sizeof(*w->key)) ||
      !idmap_set(&w->bylocation, key + 1, w->nlocations + 1)) {
    w->failed = 1;
    return 1;
  }
  w->key[w->nlocations] = key;
  return ++w->nlocations;
}

/* Adds the locations of all call tree nodes. Returns 0 if out of memory. */
static int locations (Writer *w) {
  const ReadProfile *r = w->r;
  uint32_t i;
  w->location = malloc(r->tree.n * sizeof(*w->location));
  if (w->location == NULL)
    return 0;
  w->location[0] = location(w, r->nfunctions, 0);
  for (i = 1; i < r->tree.n; i++)
    w->location[i] = location(w, r->fn[i], r->tree.nodes[i].line);
  return 1;
}

/* Writes all locations. Call it after all calls of writeheld, which adds locations. */
static void writelocations (Writer *w) {
  uint32_t i;
  for (i = 0; i < w->nlocations; i++) {
    w->part.n = 0;
    pprof_number(&w->part, LINE_FUNCTION, (w->key[i] >> 32) + 1);
    pprof_number(&w->part, LINE_LINE, (uint32_t)w->key[i]);
    pprof_number(&w->message, LOCATION_ID, i + (uint64_t)1);
    pprof_number(&w->message, LOCATION_MAPPING, 1);
    piece(&w->message, LOCATION_LINE, &w->part);
    emit(w, PROFILE_LOCATION);
  }
}

/* Counts how many native functions have each name. *natives maps 1 + the string index of a name to
   this count. */
static void countnatives (Writer *w, IdMap *natives) {
  const ReadProfile *r = w->r;
  uint32_t i;
  for (i = 0; i < r->nfunctions; i++) {
    const FrameName *f = &r->functions[i];
    uint64_t name;
    uint32_t n;
    if (!f->native)
      continue;
    name = strlist_put(&w->strings, f->name, f->length) + UINT64_C(1);
    n = idmap_get(natives, name);
    if (!idmap_set(natives, name, n == IDMAP_NONE ? 1 : n + 1))
      w->failed = 1;
  }
}

/* Returns the string index of a function's full name. 'name' is the string index of its plain name.
   Full names are distinct, because tools merge functions with equal names:
   - the full name of a script's function includes its file and line
   - the full name of a native function includes its library, if several native functions have the
     same plain name */
static uint64_t fullname (Writer *w, const FrameName *f, uint64_t name, const IdMap *natives) {
  char line[32] = "";
  if (strcmp(f->file, "-") == 0 || (f->native && idmap_get(natives, name + 1) < 2))
    return name;
  if (f->line > 0)
    sprintf(line, ":%llu", (unsigned long long)f->line);
  w->part.n = 0;
  bytes_add(&w->part, f->name, f->length);
  bytes_add(&w->part, " (", 2);
  bytes_add(&w->part, f->file, strlen(f->file));
  bytes_add(&w->part, line, strlen(line));
  bytes_char(&w->part, ')');
  return w->part.failed ? name : strlist_put(&w->strings, (char *)w->part.data, w->part.n);
}

/* Writes the table of functions: the profile's functions, one for the empty stack, and one for each
   reference that keeps objects alive, because paths of references are written as stacks
   (heldstack.h). */
static void writefunctions (Writer *w) {
  const ReadProfile *r = w->r;
  IdMap natives = {0};
  uint32_t i;
  countnatives(w, &natives);
  for (i = 0; i <= r->nfunctions; i++) {
    const FrameName *f = i < r->nfunctions ? &r->functions[i] : NULL;
    uint64_t name = f != NULL ? strlist_put(&w->strings, f->name, f->length)
                              : string(w, "[no stack]");
    pprof_number(&w->message, FUNCTION_ID, i + (uint64_t)1);
    pprof_number(&w->message, FUNCTION_NAME, f != NULL ? fullname(w, f, name, &natives) : name);
    pprof_number(&w->message, FUNCTION_SYSTEMNAME, name);
    if (f != NULL && strcmp(f->file, "-") != 0)
      pprof_number(&w->message, FUNCTION_FILE, string(w, f->file));
    if (f != NULL)
      pprof_number(&w->message, FUNCTION_LINE, f->line);
    emit(w, PROFILE_FUNCTION);
  }
  for (i = 0; i < w->held.nsteps; i++) {
    pprof_number(&w->message, FUNCTION_ID, r->nfunctions + i + UINT64_C(2));
    pprof_number(&w->message, FUNCTION_NAME, string(w, w->held.steps[i]));
    pprof_number(&w->message, FUNCTION_SYSTEMNAME, string(w, w->held.steps[i]));
    emit(w, PROFILE_FUNCTION);
  }
  idmap_free(&natives);
}

/* ------------------------------------------------------------ samples -- */

/* Appends a label to the sample in 'message'. */
static void pprof_label (Writer *w, const char *key, const char *value) {
  w->part.n = 0;
  pprof_number(&w->part, LABEL_KEY, string(w, key));
  pprof_number(&w->part, LABEL_STRING, string(w, value));
  piece(&w->message, SAMPLE_LABEL, &w->part);
}

/* Appends the labels of a label set to the sample in 'message'; set 0 has none. A label name that
   the converter uses itself becomes "label NAME". */
static void programlabels (Writer *w, uint32_t labels) {
  const ReadProfile *r = w->r;
  const ReadLabelSet *set = labels > 0 ? &r->labelsets[labels - 1] : NULL;
  uint32_t i;
  for (i = 0; set != NULL && i < set->n; i++) {
    const ReadLabel *l = &r->labels[set->first + i];
    const char *name = r->text.text + l->name;
    char own[16];
    if (strcmp(name, "type") == 0 || strcmp(name, "class") == 0 || strcmp(name, "state") == 0 ||
        strcmp(name, "thread") == 0) {
      sprintf(own, "label %s", name);
      name = own;
    }
    pprof_label(w, name, r->text.text + l->value);
  }
}

/* Appends the Lua state, OS thread and labels of a tag (tags.h) to the sample in 'message'. */
static void tags (Writer *w, uint32_t tag) {
  const Tags *t = w->sum->tags;
  char text[TAGS_TEXT];
  if (t->ngroups > 1) {
    tags_groupname(t, tags_group(t, tag), text);
    pprof_label(w, "state", text);
  }
  if (t->list[tag].thread != 0 && w->r->nthreads > 1) {
    sprintf(text, "%lu", (unsigned long)t->list[tag].thread);
    pprof_label(w, "thread", text);
  }
  programlabels(w, t->list[tag].labels);
}

static uint64_t rounded (double n) {
  return n < 9e18 ? (uint64_t)(n + 0.5) : (uint64_t)9e18;
}

/* Writes a sample with the totals of a site. A site has a stack, a kind of block, and a tag, the
   number of a combination of Lua state, thread and labels (tags.h). */
static void writesite (Writer *w, const Site *s) {
  const ReadProfile *r = w->r;
  uint32_t node = s->node;
  const uint64_t heap[] = {
    rounded(s->objects), s->bytes, rounded(s->kept),
    s->survivedbytes - s->laterbytes + s->undecidedbytes
  };
  int i;
  w->part.n = 0;
  do {
    varint(&w->part, w->location[node]);
    node = fold_parent(w->fold, r, node);
  } while (node != 0);
  piece(&w->message, SAMPLE_LOCATIONS, &w->part);
  w->part.n = 0;
  for (i = 0; i < 4 && w->heap; i++)
    varint(&w->part, heap[i]);
  if (w->time) {
    varint(&w->part, s->kind == READER_TIMESAMPLE ? s->samples : 0);
    varint(&w->part, s->ns);
  }
  if (w->held.nrows > 0)
    varint(&w->part, 0);
  piece(&w->message, SAMPLE_VALUES, &w->part);
  if (s->kind != READER_TIMESAMPLE) {
    char buffer[40];
    pprof_label(w, "type", readprofile_kindname(r, s->kind, buffer));
    if (r->kinds[s->kind].class != 0)
      pprof_label(w, "class", r->text.text + r->kinds[s->kind].class);
  }
  if (w->sum->tags != NULL)
    tags(w, s->tag);
  emit(w, PROFILE_SAMPLE);
}

/* Writes a sample with the bytes of a row (HeldRow), which a path of references keeps alive. */
static void writeheld (Writer *w, const HeldRow *row) {
  const ReadProfile *r = w->r;
  const HeldNode *nodes = w->held.nodes;
  uint32_t node;
  int i;
  w->part.n = 0;
  for (node = row->node; node != 0; node = nodes[node].parent)
    varint(&w->part, nodes[node].step != HELDSTACK_NONE
                     ? location(w, r->nfunctions + 1 + nodes[node].step, 0)
                     : location(w, nodes[node].function, nodes[node].line));
  piece(&w->message, SAMPLE_LOCATIONS, &w->part);
  w->part.n = 0;
  for (i = (w->heap ? 4 : 0) + (w->time ? 2 : 0); i > 0; i--)
    varint(&w->part, 0);
  varint(&w->part, row->bytes);
  piece(&w->message, SAMPLE_VALUES, &w->part);
  emit(w, PROFILE_SAMPLE);
}

/* Writes the strings. Call it last, because the other functions add strings. */
static void writestrings (Writer *w) {
  uint32_t i;
  for (i = 0; i < w->strings.n; i++) {
    const char *text = strlist_get(&w->strings, i);
    bytes_text(&w->message, text, strlen(text), 1);
    emit(w, PROFILE_STRING);
  }
}

int pprof_write (const ReadProfile *r, const Fold *fold, const ReaderSum *sum,
                 const char *first, Output *o) {
  Writer w;
  size_t i;
  memset(&w, 0, sizeof(w));
  w.first = first;
  w.r = r;
  w.fold = fold;
  w.sum = sum;
  w.o = o;
  decidetypes(&w);
  w.failed = !strlist_init(&w.strings, 3 * READER_MAXNAMES) || !locations(&w) ||
             !heldstack_init(&w.held, r, &sum->held);
  if (!w.failed) {
    strlist_put(&w.strings, "", 0);  /* index 0 */
    pprof_head(&w);
    for (i = 0; i < sum->table.nsites; i++)
      writesite(&w, &sum->table.sites[i]);
    for (i = 0; i < w.held.nrows; i++)
      writeheld(&w, &w.held.rows[i]);
    writelocations(&w);
    writefunctions(&w);
    writestrings(&w);
  }
  w.failed |= w.strings.failed | w.part.failed | w.message.failed;
  heldstack_free(&w.held);
  strlist_free(&w.strings);
  idmap_free(&w.bylocation);
  bytes_free(&w.message);
  bytes_free(&w.part);
  free(w.location);
  free(w.key);
  return !w.failed;
}
