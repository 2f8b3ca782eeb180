/* SPDX-License-Identifier: MIT */
/*
** Conversion of a profile of asamp into the other format, or into a file with several profiles
** (unite.h): a client of the reader that passes the reader's events to the encoder. All details
** are kept; times are rounded to microseconds. Memory: the call tree, the survival outcomes and
** deaths of one collection, and the memory of the encoder.
*/
#ifndef asamp_transcode_h
#define asamp_transcode_h

#include "encoder.h"
#include "output.h"
#include "readprofile.h"

/* A Lua state of the output. A zeroed structure with an id is a state without events. */
typedef struct TranscodeState {
  uint32_t id;          /* number in the output */
  uint32_t from;        /* number in the profile */
  size_t deathplace;    /* index of the sample after the last run of 'deaths' */
  int undecided;        /* 1: a sample has no survival outcome yet */
  int ended;            /* 1: the state was closed at 'end' */
  uint64_t end;         /* ns */
  uint64_t orphans;     /* samples alive at its close that have not been reported as dead */
  struct TranscodeState *next;  /* the state closed before this one; merged files only */
  uint64_t allocated;   /* bytes */
  uint64_t period, timens;  /* last period written; 'timens' of time samples; merged files only */
  int wall;
} TranscodeState;

/*
** Output into a merged file. Functions, classes and sets of labels with equal names get one
** number, and the file has its own numbers of states.
*/
typedef struct TranscodeInto {
  void *ud;
  Encoder *encoder;
  uint64_t mallocs;  /* bytes that a sample of native memory represents, if equal in all
                        profiles; 0: the period is written with the samples */
  /* Returns the output's state for a state of the profile, or NULL if there is not enough
     memory. */
  TranscodeState *(*state) (void *ud, uint32_t id);
  /* These three return the id of a function, native function or class, and write a new name
     first. They return 0 if there is not enough memory. */
  uint64_t (*function) (void *ud, const char *name);
  uint64_t (*native) (void *ud, const char *name);
  uint32_t (*class) (void *ud, const char *name);
  /* Returns the output's number for a set of labels of the profile. */
  uint32_t (*labels) (void *ud, uint32_t set);
  /* Called for a dead orphan of a state of the profile. Stores the output's number of the
     state in *number. Returns 0 if the state has no orphans. */
  int (*orphaned) (void *ud, uint32_t id, uint32_t *number);
} TranscodeInto;

typedef struct Transcode {
  ReaderClient client;  /* pass this to reader_read */
  const ReadProfile *r;
  Output *o;
  int format;           /* PROFILE_STOCK or PROFILE_EXTENDED */
  const TranscodeInto *into;  /* NULL: the output is not a merged file */
  uint32_t ofstate;        /* the profile's number of the state 'of' */
  TranscodeState *of;   /* state of the following events; NULL: not known yet */
  TranscodeState single;  /* the only state, if the output is not a merged file */
  Encoder *encoder;     /* NULL before the first event */
  uint64_t start;       /* ns */
  uint64_t untyped;     /* total count of the samples without a known type, which are omitted */
  int wall;             /* 1: the last time period is of wall-clock time */
  uint32_t node;        /* node of the current stack */
  uint32_t *path;       /* nodes of the current stack, the outermost first */
  size_t npath;
  uint32_t *place;      /* by node: its index in 'path', valid if path[index] is the node */
  uint32_t nplaces;     /* nodes that have an entry in 'place' */
  size_t placesize;
  ProfileFrame *frames;
  IdMap named;          /* written frames -> 0; in a merged file their index in 'frame' */
  uint64_t *frame;      /* ids in the merged file */
  size_t nframe, framesize;
  IdMap classes;        /* offset of the name + 1 -> id of the class */
  uint32_t nclasses;
  unsigned char *survived;  /* survival outcomes not passed to the encoder yet */
  uint32_t *class;
  size_t nfates;
  uint32_t *deaths;     /* deaths not passed on yet: lengths of runs of alive and dead samples */
  size_t ndeaths, deathsize;
  uint32_t *holder;     /* path of holders of each followed sample; 0: none */
  size_t nholders, holdersize;
  IdMap paths;        /* path in the profile -> its number (1, 2, ...) within the current state */
} Transcode;

/*
** Initializes t to write to an open output. Returns 0 if there is not enough memory.
** transcode_free must be called in both cases.
*/
int transcode_start (Transcode *t, int format, Output *o);
/* Initializes t for a profile that starts at 'start' (in ns) of a merged file. */
int transcode_into (Transcode *t, const TranscodeInto *into, uint64_t start);
/*
** Finishes the output after reader_read. Returns NULL, or the reason why the output is
** incomplete.
*/
const char *transcode_finish (Transcode *t, const ReadProfile *r);
void transcode_free (Transcode *t);

/* Sink of the encoder; 'ud' is the output. */
void transcode_sink (void *ud, Bytes *out, int text);
/* The client's function 'head'. */
void transcode_head (void *ud, const ReadProfile *r);
/* Switches to client.state for events that are written to the encoder directly. */
void transcode_turn (Transcode *t);
/* Writes all events that are held back, and leaves no state current. */
void transcode_pause (Transcode *t);

/*
** Adds the numbers of data omitted by limits of the profile's writer to 'to'. Returns the number
** of texts that were cut.
*/
uint64_t transcode_left (ProfileLeft *to, const ReadProfile *r);
/* Stores up to PROFILE_LABELS labels of a set and returns their number. */
size_t transcode_labels (const ReadProfile *r, uint32_t set, ProfileLabel *to);
/*
** Splits the name "n:symbol:0:library" of a native function. Leaves both buffers unchanged if the
** text has another form.
*/
void transcode_split (const char *text, char *symbol, size_t symbolsize, char *file,
                      size_t filesize);

#endif
