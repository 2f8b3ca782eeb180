/* SPDX-License-Identifier: MIT */
/* Snapshots of resident memory (pictures.h). */
#include "pictures.h"
#include "list.h"

#include <stdlib.h>
#include <string.h>

int pictures_init (Pictures *p) {
  memset(p, 0, sizeof(*p));
  return strtab_init(&p->texts, PICTURES_TEXTS);
}

void pictures_free (Pictures *p) {
  size_t i;
  for (i = 0; i < p->n; i++)
    free(p->all[i].rows);
  free(p->all);
  strtab_free(&p->texts);
  memset(p, 0, sizeof(*p));
}

/* Drops every second snapshot, except the last one and the one with the largest 'rss'. */
static void pictures_halve (Pictures *p) {
  size_t i, n = 0, highest = 0, others = 0;
  for (i = 1; i < p->n; i++)
    if (p->all[i].rss > p->all[highest].rss)
      highest = i;
  for (i = 0; i < p->n; i++) {
    if (i == highest || i == p->n - 1 || others++ % 2 == 0)
      p->all[n++] = p->all[i];
    else
      free(p->all[i].rows);
  }
  p->n = n;
}

/* Returns the last snapshot if its time is 'time'. Otherwise appends a snapshot with this time and
   returns it; NULL if out of memory. */
static Picture *of (Pictures *p, uint64_t time) {
  Picture *to;
  if (p->n > 0 && p->all[p->n - 1].time == time)
    return &p->all[p->n - 1];
  if (p->n >= PICTURES_MOST)
    pictures_halve(p);
  if (!list_grow(&p->all, p->n, &p->size, sizeof(*p->all)))
    return NULL;
  to = &p->all[p->n++];
  memset(to, 0, sizeof(*to));
  to->time = time;
  p->count++;
  return to;
}

int pictures_add (Pictures *p, const ReadResident *r) {
  size_t what = r->whatlength < READER_MAXNAME ? r->whatlength : READER_MAXNAME;
  size_t text = r->textlength < READER_MAXNAME ? r->textlength : READER_MAXNAME;
  Picture *to = of(p, r->time);
  PictureRow *row;
  if (to == NULL)
    return 0;
  if (to->n >= PICTURES_ROWS) {
    p->left++;
    return 1;
  }
  if (!list_grow(&to->rows, to->n, &to->size, sizeof(*to->rows)))
    return 0;
  row = &to->rows[to->n++];
  row->bytes = r->bytes;
  row->what = strtab_put(&p->texts, r->what, what);
  row->text = strtab_put(&p->texts, r->text, text);
  if (what == 3 && memcmp(r->what, "rss", 3) == 0)
    to->rss = r->bytes;
  return 1;
}
