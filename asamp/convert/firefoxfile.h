/* SPDX-License-Identifier: MIT */
/* Writes the file of a Firefox profile from stored rows (firefox.h): itself the shared tables;
   firefoxrows.h samples and allocations; firefoxmarks.h collections, marks and counters. */
#ifndef asamp_firefoxfile_h
#define asamp_firefoxfile_h

#include "firefox.h"
#include "fold.h"
#include "output.h"

/* Writes the file, after firefox_group. 'head' has the members "meta" and "libs". Returns NULL
   or the reason of a failure, except errors of the output. */
const char *firefoxfile_write (Firefox *f, const ReadProfile *r, const Fold *fold,
                               const char *head, Output *o);

#endif
