/* SPDX-License-Identifier: MIT */
/*
** Converts a profile of asamp into the stock or extended format, or into a part of a merged file
** (unite.h). It is a client of the reader that passes the reader's events to the encoder. Times are
** rounded to microseconds. The output lacks samples of an unknown type and the unique number of a
** flight recorder; in the extended format it also lacks copy samples. For each live sample, it has
** only the last known path of references to it. Memory: the call tree, at most 65,536 survival
** outcomes, the deaths of one collection, these paths, and the memory of the encoder.
*/
#ifndef asamp_transcode_h
#define asamp_transcode_h

#include "encoder.h"
#include "output.h"
#include "readprofile.h"

/* A Lua state of the output file. If it has no events, only its numbers and periods are set. */
typedef struct TranscodeState {
  uint32_t id;          /* number of the Lua state in the output */
  uint32_t from;        /* number of the Lua state in the profile that is read */
  size_t deathplace;    /* index of the followed sample (a survivor whose death the file records)
                           after the last run in Transcode.deaths */
  int undecided;        /* 1: the reader has delivered a sample without a survival outcome. Then no
                           outcome of the state can be written any more, because outcomes are in the
                           order of the samples */
  int ended;            /* 1: the Lua state was closed at the time 'end' */
  uint64_t end;         /* time at which the Lua state was closed, ns; valid if 'ended' is 1 */
  uint64_t orphans;     /* of a closed state: number of samples of native memory that outlive the
                           state (orphans) and whose death was not read yet */
  /* The following members are used in merged files only. */
  struct TranscodeState *next;  /* list of closed states: the state of the profile that was closed
                                   before this one */
  uint64_t allocated;   /* exact number of bytes that the Lua state has allocated */
  /* Periods of the Lua state that were written last: sampling period of allocation and copy samples
     in bytes, period of time samples in ns. */
  uint64_t period, timens;
  int wall;             /* 1: 'timens' is a period of wall time; 0: of CPU time */
} TranscodeState;

/*
** Connects a Transcode to the merged file into which it writes a profile: the file's encoder, and
** callbacks of the file's writer (unite.c). In the file, functions or classes with equal names have
** one number, and so have equal label sets.
*/
typedef struct TranscodeInto {
  void *ud;
  Encoder *encoder;
  uint64_t mallocs;  /* period of native memory in the file's head, bytes; 0: the head has no such
                        period, so it is written with the samples */
  /* Returns the output's state for a state of the profile, and adds it if it is new. Returns NULL
     if there is not enough memory, or if there are too many states; in the latter case sets the
     client's 'stop'. */
  TranscodeState *(*state) (void *ud, uint32_t id);
  /* The next three callbacks return the file's id of a function, native function or class. If the
     name is new, they write it, or the encoder writes it later. They return 0 if there is not
     enough memory. */
  uint64_t (*function) (void *ud, const char *name);
  uint64_t (*native) (void *ud, const char *name);
  uint32_t (*class) (void *ud, const char *name);
  /* Returns the output's number for the label set 'set' of the profile; 'set' is not 0. */
  uint32_t (*labels) (void *ud, uint32_t set);
  /* Called for the death of an orphan: a sample of native memory that has outlived state 'id' of
     the profile. Stores the number of the state in the output in *number. Returns 0 if the state is
     not known to have orphans. */
  int (*orphaned) (void *ud, uint32_t id, uint32_t *number);
} TranscodeInto;

typedef struct Transcode {
  ReaderClient client;  /* pass this to reader_read */
  const ReadProfile *r;
  Output *o;
  int format;           /* PROFILE_STOCK or PROFILE_EXTENDED */
  const TranscodeInto *into;  /* NULL: the output is not a merged file */
  uint32_t ofstate;     /* number of the Lua state 'of' in the profile that is read */
  TranscodeState *of;   /* the Lua state whose events the encoder encodes now; NULL: none (merged
			   files only) */
  TranscodeState single;  /* the only Lua state, if the output is not a merged file */
  Encoder *encoder;     /* NULL before the first event, if the output is not a merged file */
  uint64_t start;       /* start of the profile in the output, monotonic clock, ns */
  /* Sum of ReadSample.count over the samples of an unknown type, which the output does not have. */
  uint64_t untyped;
  int wall;             /* 1: the last period of time samples is of wall time */
  uint32_t node;        /* node of the call tree whose stack is the encoder's current stack */
  uint32_t *path;       /* nodes of the encoder's current stack, the outermost first */
  size_t npath;
  uint32_t *place;      /* for each node of the call tree: its index in 'path', valid only if
			   path[index] is the node */
  uint32_t nplaces;     /* number of nodes of the call tree that have an entry in 'place' */
  size_t placesize;
  ProfileFrame *frames;  /* buffer of READER_MAXDEPTH frames */
  IdMap named;          /* the frames whose names were written; in a merged file maps each of them
			   to its index in 'frame' */
  uint64_t *frame;      /* ids in the merged file of the frames in 'named' */
  size_t nframe, framesize;
  IdMap classes;        /* maps the offset of a class's name + 1 to the id of the class in the
                           output */
  uint32_t nclasses;
  unsigned char *survived;  /* survival outcomes not passed to the encoder yet: 0 died, 1 survived,
                               2 survived and the file records no death of it */
  uint32_t *class;      /* ids in the output of the classes of the samples in 'survived' */
  size_t nfates;
  uint32_t *deaths;     /* deaths not passed to the encoder yet: lengths of runs of the followed
                           samples (survivors whose death the file records), alternately of live and
                           of dead ones */
  size_t ndeaths, deathsize;
  /* For each sampled object of the Lua state whose death the file records: number of the path of
     references that keeps it alive; 0: none. */
  uint32_t *holder;
  size_t nholders, holdersize;
  IdMap paths;        /* maps a path of references in the profile to its number (1, 2, ...) within
                         the state */
} Transcode;

/*
** Initializes t to write to an open output. Returns 0 if there is not enough memory.
** transcode_free must be called in both cases.
*/
int transcode_start (Transcode *t, int format, Output *o);
/* Like transcode_start, for a profile that becomes a part of a merged file. 'start' is the start of
   the profile in this file, ns of the monotonic clock. */
int transcode_into (Transcode *t, const TranscodeInto *into, uint64_t start);
/*
** Completes the output, after reader_read. Writes the outcomes and deaths that were kept back, the
** paths of references to live samples and, unless the output is a merged file, the end of the log.
** Returns NULL, or the reason for which the output is incomplete.
*/
const char *transcode_finish (Transcode *t, const ReadProfile *r);
void transcode_free (Transcode *t);

/* Writes the encoder's output (an EncoderSink); 'ud' is the Output. */
void transcode_sink (void *ud, Bytes *out, int text);
/* The client's function 'head': stops the reading of a profile that cannot be converted. */
void transcode_head (void *ud, const ReadProfile *r);
/*
** Makes client.state the encoder's state, before the caller passes an event of the state to the
** encoder. On failure sets client.stop. Only in merged files.
*/
void transcode_turn (Transcode *t);
/*
** Passes the survival outcomes and deaths that were kept back until their collection to the
** encoder. Called before the caller changes the encoder's state; the next event of the profile sets
** it again. Only in merged files.
*/
void transcode_pause (Transcode *t);

/*
** Adds to 'to' the counts of data that the profile's writer has left out. Returns the number of
** texts that the writer has cut.
*/
uint64_t transcode_left (ProfileLeft *to, const ReadProfile *r);
/* Stores up to PROFILE_LABELS labels of set 1, 2, ... in 'to' and returns their number. */
size_t transcode_labels (const ReadProfile *r, uint32_t set, ProfileLabel *to);
/* Splits the name "n:symbol:0:library" of a native function: stores the symbol in 'symbol' and the
   library, unless it is "-", in 'file'. Texts too long for their buffer are cut. Changes nothing if
   the name has another form. */
void transcode_split (const char *text, char *symbol, size_t symbolsize, char *file,
                      size_t filesize);

#endif
