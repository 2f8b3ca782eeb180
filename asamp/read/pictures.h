/* SPDX-License-Identifier: MIT */
/*
** Pictures of resident memory, read from the file row by row. Independent of files and Lua.
** Invariants:
**
**   PI1  of more than PICTURES_MOST pictures every second one is dropped, except the last one
**        and the one with the most resident memory;
**   PI2  a picture has at most PICTURES_ROWS rows.
*/
#ifndef asamp_pictures_h
#define asamp_pictures_h

#include "bounds.h"
#include "readprofile.h"

typedef struct PictureRow {
  int64_t bytes;
  uint32_t what, text;   /* offsets in 'texts' */
} PictureRow;

typedef struct Picture {
  uint64_t time;         /* us since the start */
  int64_t rss;           /* bytes of its row "rss" */
  PictureRow *rows;
  size_t n, size;
} Picture;

typedef struct Pictures {
  StrTab texts;
  Picture *all;
  size_t n, size;
  uint64_t count;        /* number of pictures in the file */
  uint64_t left;         /* rows beyond the limit */
} Pictures;

/*
** Initializes the pictures. Returns 0 if there is not enough memory; pictures_free must be called
** in either case.
*/
int pictures_init (Pictures *p);
void pictures_free (Pictures *p);

/* Adds a row. Returns 0 if there is not enough memory. */
int pictures_add (Pictures *p, const ReadResident *r);

#endif
