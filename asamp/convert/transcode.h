/* SPDX-License-Identifier: MIT */
/*
** Converts a profile of asamp to the stock or extended format, or into a part of a merged file
** (unite.h): passes the reader's events to the encoder. Times are rounded to us. The output lacks
** samples of unknown type and, in the extended format, copy samples. Of the paths of references
** only the last known one of each live sample remains.
*/
#ifndef asamp_transcode_h
#define asamp_transcode_h

#include "encoder.h"
#include "output.h"
#include "readprofile.h"

/* A Lua state of the output. */
typedef struct TranscodeState {
  uint32_t id;          /* number in the output */
  uint32_t from;        /* number in the input */
  size_t deathplace;    /* position of the followed sample (a survivor whose death is recorded)
                           after the last run in 'deaths' */
  int undecided;        /* 1: a sample had no outcome. Then no further outcome of the state can
                           be written, because they are in the order of samples */
  int ended;            /* 1: closed at the time 'end' */
  uint64_t end;         /* ns */
  uint64_t orphans;     /* live samples of native memory of a closed state */
  /* The rest is for merged files only. */
  struct TranscodeState *next;  /* state of the profile that was closed before this one */
  uint64_t allocated;   /* exact bytes allocated */
  /* Sampling periods written last: of allocations in bytes, of time in ns. */
  uint64_t period, timens;
  int wall;             /* 1: wall time; 0: CPU time */
} TranscodeState;

/* The merged file into which a profile is written: its encoder, and callbacks of unite.c. Equal
   names of functions and classes, and equal label sets, have one number there. */
typedef struct TranscodeInto {
  void *ud;
  Encoder *encoder;
  uint64_t mallocs;  /* period of native memory in the head, bytes; 0: written with the samples */
  /* Returns the output's state of a state; adds it if needed. Returns NULL if there is not
     enough memory or there are too many (sets 'stop'). */
  TranscodeState *(*state) (void *ud, uint32_t id);
  /* Returns the file's id of a function, for the next callbacks of a native function and of a
     class; writes the name if it is new. Returns 0 if there is not enough memory. */
  uint64_t (*function) (void *ud, const char *name);
  uint64_t (*native) (void *ud, const char *name);
  uint32_t (*class) (void *ud, const char *name);
  /* Returns the output's number of a label set, not 0. */
  uint32_t (*labels) (void *ud, uint32_t set);
  /* Called for the death of a native sample whose state 'id' has ended. Stores the state's
     number in the output. Returns 0 if the state is unknown. */
  int (*orphaned) (void *ud, uint32_t id, uint32_t *number);
} TranscodeInto;

typedef struct Transcode {
  ReaderClient client;  /* pass this to reader_read */
  const ReadProfile *r;
  Output *o;
  int format;           /* PROFILE_STOCK or PROFILE_EXTENDED */
  const TranscodeInto *into;  /* NULL: not merged */
  uint32_t ofstate;     /* number of 'of' in the input */
  TranscodeState *of;   /* current Lua state of the encoder; NULL: none */
  TranscodeState single;  /* the only state, if not merged */
  Encoder *encoder;     /* NULL before the first event */
  uint64_t start;       /* start in the output, monotonic clock, ns */
  /* Samples of unknown type, in periods, which the output lacks. */
  uint64_t untyped;
  int wall;             /* 1: the last period of time samples is of wall time */
  uint32_t node;        /* call tree node of the encoder's current stack */
  uint32_t *path;       /* nodes of that stack, outermost first */
  size_t npath;
  uint32_t *place;      /* for each node its index in 'path', valid if path[index] is the node */
  uint32_t nplaces;     /* nodes with an entry in 'place' */
  size_t placesize;
  ProfileFrame *frames;  /* READER_MAXDEPTH frames */
  IdMap named;          /* frames whose names are written; merged: maps them to indexes in
                           'frame' */
  uint64_t *frame;      /* their ids in the merged file */
  size_t nframe, framesize;
  IdMap classes;        /* maps a class name's offset + 1 to the class's id in the output */
  uint32_t nclasses;
  unsigned char *survived;  /* outcomes not yet passed to the encoder: 0 died, 1 survived, 2
                               survived without a recorded death */
  uint32_t *class;      /* classes of these samples */
  size_t nfates;
  uint32_t *deaths;     /* deaths of survivors not yet passed on, as run lengths: live, dead,
                           live ... */
  size_t ndeaths, deathsize;
  /* For each live survivor the number of the path of references that keeps it alive; 0: none. */
  uint32_t *holder;
  size_t nholders, holdersize;
  IdMap paths;        /* maps paths of the input to numbers 1, 2, ... within the state */
} Transcode;

/* Initializes t for an open output. Returns 0 if there is not enough memory; call
   transcode_free in either case. */
int transcode_start (Transcode *t, int format, Output *o);
/* Like transcode_start, for a part of a merged file that starts at 'start' (monotonic clock,
   ns). */
int transcode_into (Transcode *t, const TranscodeInto *into, uint64_t start);
/* Writes the remaining outcomes, deaths and paths, and the end of the log unless merged.
   Returns NULL, or why the output is incomplete. */
const char *transcode_finish (Transcode *t, const ReadProfile *r);
void transcode_free (Transcode *t);

/* Writes the encoder's output (EncoderSink); 'ud' is the Output. */
void transcode_sink (void *ud, Bytes *out);
/* The callback 'head': stops the reading of a profile that cannot be converted. */
void transcode_head (void *ud, const ReadProfile *r);
/* Makes client.state the encoder's state, before an event. Sets client.stop on failure. Merged
   files only. */
void transcode_turn (Transcode *t);
/* Passes on outcomes and deaths kept back, before the caller changes the encoder's state.
   Merged files only. */
void transcode_pause (Transcode *t);

/* Adds the input's counts of dropped data to *to. Returns the number of cut texts. */
uint64_t transcode_left (ProfileLeft *to, const ReadProfile *r);
/* Stores up to PROFILE_LABELS labels of a set. Returns their number. */
size_t transcode_labels (const ReadProfile *r, uint32_t set, ProfileLabel *to);
/* Splits the name "n:symbol:0:library" of a native function; truncates the parts. Changes
   nothing if the name has another form. */
void transcode_split (const char *text, char *symbol, size_t symbolsize, char *file,
                      size_t filesize);

#endif
