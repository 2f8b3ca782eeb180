/* SPDX-License-Identifier: MIT */
/*
** Snapshots of resident memory. Each row of a snapshot has the bytes of one kind of memory.
**
**   PI1  at most PICTURES_MOST snapshots. At the limit every second snapshot is dropped, except the
**        last snapshot and the snapshot with the largest 'rss';
**   PI2  a snapshot has at most PICTURES_ROWS rows.
*/
#ifndef asamp_pictures_h
#define asamp_pictures_h

#include "bounds.h"
#include "readprofile.h"

/* A row of a snapshot: the bytes of one kind of memory. */
typedef struct PictureRow {
  int64_t bytes;
  uint32_t what, text;   /* kind of memory, and the file or source line that uses it; both as
                            offsets in Pictures.texts */
} PictureRow;

/* A snapshot of resident memory. */
typedef struct Picture {
  uint64_t time;         /* us since the start */
  int64_t rss;           /* resident bytes of the process (row "rss"); 0: unknown */
  PictureRow *rows;
  size_t n, size;        /* number of elements of 'rows', capacity */
} Picture;

typedef struct Pictures {
  StrTab texts;          /* texts of all rows, up to PICTURES_TEXTS bytes */
  Picture *all;          /* the kept snapshots, oldest first */
  size_t n, size;        /* number of snapshots, capacity */
  uint64_t count;        /* number of snapshots in the file */
  uint64_t left;         /* number of rows dropped because their snapshot was full */
} Pictures;

/* Initializes *p without snapshots. Returns 0 if out of memory; call pictures_free in either
   case. */
int pictures_init (Pictures *p);

void pictures_free (Pictures *p);

/* Adds a row to the last snapshot if the row has the time of that snapshot, else to a new one.
   Copies at most READER_MAXNAME bytes of each text. Returns 0 if out of memory. */
int pictures_add (Pictures *p, const ReadResident *r);

#endif
