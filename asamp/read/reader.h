/* SPDX-License-Identifier: MIT */
/*
** This folder reads a profile, which is a VMProf log (doc/profile-format.md), in one pass, and
** computes its totals. This file declares the reader; readersum.h declares the totals.
**
** The reader accepts little-endian logs of versions 0 to 7 (64-bit, 32-bit and those of Windows),
** plain or compressed with gzip. Of files written by asamp, in the stock or extended format, it
** reads everything: also the details, which are texts with the sizes, types and survival outcomes
** of samples, and the events. Of files of other writers it reads time samples, allocation samples
** and object records. Its data:
**
**   ReaderClient   receives the events, one by one. The totals and the converters (asamp/convert)
**                  are clients.
**   ReadProfile    is the result. It has everything except the events, such as the call tree, names
**                  and kinds.
**   ReaderState    exists while a file is read (readerstate.h). It has queued stacks, and for each
**                  Lua state a ReaderStream with the state's samples without a survival outcome,
**                  and its survivors whose death the file records (followed samples).
**
** reader.c reads the records. readername.c interprets names, readermeta.c meta records (a key and a
** value), readerbatch.c the meta records with the details, readerstack.c stacks and objects;
** readeremit.c calls the client. Independent of Lua. Rules:
**
**   R1  if a file is damaged, all events before the damage are delivered, and ReadProfile.message
**       states its position. Only a file that is not a VMProf log yields nothing;
**   R2  memory does not grow with the length of the file. It grows with the numbers of distinct
**       stacks, names, states, samples without an outcome and followed samples. Each number is
**       limited (bounds.h); data beyond a limit are dropped, counted and reported (readerleft.h);
**   R3  no input causes a crash or an endless loop;
**   R4  every allocation sample that the client selects is delivered twice: first as a sample, in
**       the order of the file, and later with its survival outcome or as undecided, in the same
**       order among the samples of its state. Outcomes come before the collection that decided
**       them;
**   R5  the death of a followed survivor is delivered at most once, between its outcome and the
**       collection that found it dead. A followed survivor without a death counts as alive at the
**       end.
*/
#ifndef asamp_reader_h
#define asamp_reader_h

#include "readprofile.h"

/*
** Reads the file ("-": standard input) and calls the client. The caller frees the result with
** readprofile_free. Returns NULL if the file cannot be opened or is not a VMProf log, if there is
** not enough memory, if the samples represent more than READER_MAXSUM bytes or ns, or if the client
** has set 'stop'. Then 'err' has one line with path and reason, and events may have been delivered.
*/
ReadProfile *reader_read (const char *path, ReaderClient *client, char *err,
                      size_t errsize);

#endif
