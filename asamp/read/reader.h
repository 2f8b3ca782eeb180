/* SPDX-License-Identifier: MIT */
/*
** This folder reads a profile, which is a VMProf log (doc/profile-format.md), in one pass, and adds
** it up. This file declares the reader; readersum.h declares the totals.
**
** The reader converts little-endian logs of versions 0 to 7 (64-bit, 32-bit and those of Windows),
** plain or compressed with gzip: files of asamp (own files), stock and extended, with all details;
** and files of other writers: time samples, allocation samples, object records. Its data:
**
**   ReaderClient  receives the events, one by one. The totals and the converters (asamp/convert)
**                 are clients.
**   ReadProfile   is the result: all that is not an event, such as the call tree, names and kinds.
**   ReaderState   is the data while a file is read (readerstate.h): queued stacks; for each Lua
**                 state a ReaderStream with its undecided and its followed samples.
**
** reader.c reads the records. readername.c interprets names, readermeta.c metas, readerbatch.c the
** metas with the details of own files, readerstack.c stacks and objects; readeremit.c calls the
** client. Independent of Lua. Rules:
**
**   R1  all events before a damage are delivered, and ReadProfile.message states its position; only
**       a file that is not such a log yields nothing;
**   R2  memory grows with the numbers of distinct stacks, names, states, undecided and followed
**       samples, each of which is limited (bounds.h), never with the length of the file; data
**       beyond the limits are dropped, counted and reported (readerleft.h);
**   R3  no input causes a crash or an endless loop;
**   R4  every wanted allocation sample is delivered once as a sample, in the order of the file, and
**       later once with its outcome or as undecided, in the same order among the samples of its
**       state. Outcomes come before the collection that decided them;
**   R5  the death of a followed survivor is delivered at most once, between its outcome and the
**       collection that found it dead. Without a death, the sample is alive at the end, as far as
**       the file shows.
*/
#ifndef asamp_reader_h
#define asamp_reader_h

#include "readprofile.h"

/*
** Reads the file ("-": standard input) and calls the client. The caller frees the result with
** readprofile_free. Returns NULL if the file cannot be opened or is not a VMProf log, if there is
** not enough memory, if the samples represent more than READER_MAXSUM, or if the client has set
** 'stop'; then 'err' has one line with path and reason. Events may have been delivered before.
*/
ReadProfile *reader_read (const char *path, ReaderClient *client, char *err,
                      size_t errsize);

#endif
