/* SPDX-License-Identifier: MIT */
/*
** Writes the file of a Firefox profile from the rows that firefox.h has stored. This module writes
** the shared tables, firefoxrows.h the samples and allocations of threads, and firefoxmarks.h the
** collections, marks and counters.
*/
#ifndef asamp_firefoxfile_h
#define asamp_firefoxfile_h

#include "firefox.h"
#include "fold.h"
#include "output.h"

/*
** Writes the file, once, after firefox_group. 'head' contains the members "meta" and "libs" as
** JSON. Returns NULL, or the reason for a failure (errors of the output itself are not included).
*/
const char *firefoxfile_write (Firefox *f, const ReadProfile *r, const Fold *fold,
                               const char *head, Output *o);

#endif
