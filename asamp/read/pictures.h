/* SPDX-License-Identifier: MIT */
/*
** Snapshots of resident memory (pictures), read from the file row by row. Independent of files and
** Lua. Invariants:
**
**   PI1  at most PICTURES_MOST snapshots are kept. At the limit half of them are dropped: the last
**        one, the one with the most resident memory, and every second of the others stay;
**   PI2  a snapshot has at most PICTURES_ROWS rows.
*/
#ifndef asamp_pictures_h
#define asamp_pictures_h

#include "bounds.h"
#include "readprofile.h"

/* A row of a snapshot of resident memory: a number of bytes and their use, as in ReadResident. */
typedef struct PictureRow {
  int64_t bytes;
  uint32_t what, text;   /* offsets in Pictures.texts */
} PictureRow;

/* A snapshot of resident memory. */
typedef struct Picture {
  uint64_t time;         /* time of the snapshot, us since the start */
  int64_t rss;           /* resident bytes of the process: those of the row "rss"; 0: there is no
                            such row */
  PictureRow *rows;
  size_t n, size;        /* number of rows, capacity */
} Picture;

typedef struct Pictures {
  StrTab texts;          /* texts of all rows; those beyond PICTURES_TEXTS bytes are empty */
  Picture *all;          /* the kept snapshots, oldest first */
  size_t n, size;        /* number of kept snapshots, capacity */
  uint64_t count;        /* number of snapshots in the file */
  uint64_t left;         /* number of rows dropped because their snapshot already had PICTURES_ROWS
                            rows (PI2) */
} Pictures;

/*
** Initializes an empty list of snapshots of resident memory. Returns 0 if there is not enough
** memory; pictures_free must be called in either case.
*/
int pictures_init (Pictures *p);
/* Frees everything. */
void pictures_free (Pictures *p);

/*
** Adds a row to the last snapshot if they have the same time, else to a new snapshot. Copies the
** texts, cut to READER_MAXNAME bytes. Returns 0 if there is not enough memory.
*/
int pictures_add (Pictures *p, const ReadResident *r);

#endif
