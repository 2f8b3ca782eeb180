/* SPDX-License-Identifier: MIT */
/*
** Pictures of where resident memory was, as the file tells them row by row. Knows
** neither files nor Lua. Invariants:
**   PI1  of more than PICTURES_MOST pictures each second one goes, but for the last one and
**        the one with the most resident memory;
**   PI2  a picture has at most PICTURES_ROWS rows.
*/
#ifndef asamp_pictures_h
#define asamp_pictures_h

#include "bounds.h"
#include "readprofile.h"

typedef struct PictureRow {
  int64_t bytes;
  uint32_t what, text;   /* in 'texts' */
} PictureRow;

typedef struct Picture {
  uint64_t time;         /* us since the start */
  int64_t rss;           /* what its row "rss" says */
  PictureRow *rows;
  size_t n, size;
} Picture;

typedef struct Pictures {
  StrTab texts;
  Picture *all;
  size_t n, size;
  uint64_t count;        /* there were */
  uint64_t left;         /* rows that found no room */
} Pictures;

/* 0 without memory; free it all the same. */
int pictures_init (Pictures *p);
void pictures_free (Pictures *p);

/* 0 without memory. */
int pictures_add (Pictures *p, const ReadResident *r);

#endif
