/* SPDX-License-Identifier: MIT */
/* Marks of a profile (marks.h). */
#include "marks.h"
#include "decimal.h"
#include "list.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define REST	"(other marks)"

/* Limit of the bytes of all names, each of at most READER_MAXNAME bytes and a NUL. */
#define TEXT	((MARKS_NAMES + 1) * (READER_MAXNAME + 1))

int marks_init (Marks *m) {
  memset(m, 0, sizeof(*m));
  m->step = 1;
  return strtab_init(&m->text, TEXT);
}

void marks_free (Marks *m) {
  size_t i;
  for (i = 0; i < m->nnames; i++)
    free(m->names[i].value);
  for (i = 0; i < m->n; i++)
    free(m->marks[i].value);
  free(m->names);
  free(m->marks);
  idmap_free(&m->byname);
  strtab_free(&m->text);
  memset(m, 0, sizeof(*m));
}

/* Returns a copy of the mark's value, cut at its first NUL and to at most 3 * READER_MAXNAME bytes;
   NULL if out of memory. */
static char *copyof (const ReadMark *mark) {
  const size_t most = 3 * (size_t)READER_MAXNAME;
  return strndup(mark->value, mark->valuelength < most ? mark->valuelength : most);
}

/* Returns the index of a name in 'names'; adds the name if needed. If there are MARKS_NAMES - 1
   names, uses REST instead of a new name. Returns SIZE_MAX if out of memory. */
static size_t marks_named (Marks *m, const char *name, size_t n) {
  uint32_t number = strtab_find(&m->text, name, n);
  uint32_t at = number == IDMAP_NONE ? IDMAP_NONE
                : idmap_get(&m->byname, (uint64_t)number + 1);
  if (at != IDMAP_NONE)
    return at;
  if (m->nnames >= MARKS_NAMES - 1) {
    m->lumped++;
    name = REST;
    n = strlen(REST);
  }
  number = strtab_put(&m->text, name, n);
  at = idmap_get(&m->byname, (uint64_t)number + 1);
  if (at != IDMAP_NONE)
    return at;
  if (m->text.failed ||
      !list_grow(&m->names, m->nnames, &m->namesize, sizeof(*m->names)) ||
      !idmap_set(&m->byname, (uint64_t)number + 1, (uint32_t)m->nnames))
    return SIZE_MAX;
  memset(&m->names[m->nnames], 0, sizeof(*m->names));
  m->names[m->nnames].name = number;
  return m->nnames++;
}

/* Returns 1 and sets *number if the text is a finite number, perhaps with spaces around it. */
static int marks_isnumber (const char *text, double *number) {
  char *end;
  if (strpbrk(text, "nNiI") != NULL)
    return 0;  /* excludes infinity and NaN */
  *number = decimal_read(text, &end);
  return end != text && end[strspn(end, " \f\n\r\t\v")] == '\0' &&
         isfinite(*number);
}

/* Adds a mark to the totals of its name. */
static void marks_count (MarkName *to, uint64_t time, const char *value) {
  double number;
  if (to->count++ == 0)
    to->first = time;
  to->last = time;
  if (!marks_isnumber(value, &number))
    return;
  if (to->numbers == 0 || number < to->least)
    to->least = number;
  if (to->numbers == 0 || number > to->most)
    to->most = number;
  to->sum += number;
  to->numbers++;
  to->integers += value[strspn(value, "0123456789+- ")] == '\0';
}

/* Drops every second kept mark and doubles 'step'. Call it if MARKS_MOST marks are kept. */
static void marks_halve (Marks *m) {
  size_t i;
  for (i = 0; i < m->n / 2; i++) {
    free(m->marks[2 * i + 1].value);
    m->marks[i] = m->marks[2 * i];
  }
  m->n /= 2;
  m->step *= 2;
}

/* Counts a mark, which is a name and a value recorded by the program. Keeps it for the timeline if
   its number is a multiple of m->step (the first mark has the number 0). Returns 0 if out of
   memory. */
static int marks_keep (Marks *m, uint64_t time, size_t name, const ReadMark *mark) {
  char *value;
  if (m->count++ % m->step != 0)
    return 1;
  if (m->n == MARKS_MOST) {
    marks_halve(m);
    if ((m->count - 1) % m->step != 0)
      return 1;
  }
  value = copyof(mark);
  if (value == NULL || !list_grow(&m->marks, m->n, &m->size, sizeof(*m->marks))) {
    free(value);
    return 0;
  }
  m->marks[m->n].time = time;
  m->marks[m->n].name = (uint32_t)name;
  m->marks[m->n++].value = value;
  return 1;
}

int marks_add (Marks *m, const ReadMark *mark) {
  size_t n = mark->namelength < READER_MAXNAME ? mark->namelength
                                               : READER_MAXNAME;
  size_t at = marks_named(m, mark->name, n);
  char *value = at != SIZE_MAX ? copyof(mark) : NULL;
  if (value == NULL)
    return 0;
  marks_count(&m->names[at], mark->time, value);
  free(m->names[at].value);
  m->names[at].value = value;
  return marks_keep(m, mark->time, at, mark);
}
