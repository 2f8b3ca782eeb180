/* SPDX-License-Identifier: MIT */
/* Writes the file of a Firefox profile from the rows that firefox.c has stored. firefoxfile.c
   writes the tables that all threads (tracks of the viewer) share, firefoxrows.c writes samples and
   allocations, and firefoxmarks.c writes collections, marks and counters. */
#ifndef asamp_firefoxfile_h
#define asamp_firefoxfile_h

#include "firefox.h"
#include "fold.h"
#include "output.h"

/* Writes the file. Call it after firefox_group. 'head' is JSON text with the members "meta" and
   "libs". Returns NULL or the reason of a failure; does not report errors of the output. */
const char *firefoxfile_write (Firefox *f, const ReadProfile *r, const Fold *fold,
                               const char *head, Output *o);

#endif
