/* SPDX-License-Identifier: MIT */
/*
** Reads a profile, a VMProf log (doc/profile-format.md), in one pass: plain or gzip, of versions 0
** to 7, of asamp or another writer. Events go to a client (ReaderClient). The result (ReadProfile)
** has the data that are not events: call tree, names, numbers of collections. The reader's data is
** in readerstate.h; readersum.h computes totals.
**
**   R1  of a damaged file, all events before the damage are delivered, and ReadProfile.message has
**       the position of the damage;
**   R2  memory does not grow with the length of the file, only with the numbers of distinct stacks,
**       names and states, and of live samples. Data beyond the limits (bounds.h) are dropped and
**       counted (readerleft.h);
**   R3  no input causes a crash or an endless loop;
**   R4  an allocation sample is delivered when it is read. Its outcome (the block died or survived
**       its first collection) is delivered later, in the order of samples, before the collection
**       that decided it;
**   R5  the death of a survivor is delivered at most once, before the collection that found the
**       block dead.
*/
#ifndef asamp_reader_h
#define asamp_reader_h

#include "readprofile.h"

/* Reads a file ("-": standard input) and calls the client. The caller frees the result with
   readprofile_free. Returns NULL with one line in 'err' if there is no result, for example if the
   file is not a VMProf log or the client has set 'stop'. */
ReadProfile *reader_read (const char *path, ReaderClient *client, char *err, size_t errsize);

#endif
