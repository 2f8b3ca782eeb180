/* SPDX-License-Identifier: MIT */
/*
** Writes the file of a Firefox profile and its shared tables. The samples of threads are in
** firefoxrows.c; collections, marks and counters are in firefoxmarks.c.
*/
#ifndef asamp_firefoxfile_h
#define asamp_firefoxfile_h

#include "firefox.h"
#include "fold.h"
#include "output.h"

/*
** Writes the file. 'head' contains the members "meta" and "libs" as JSON. Returns NULL, or the
** reason for a failure (errors of the output itself are not included).
*/
const char *firefoxfile_write (Firefox *f, const ReadProfile *r, const Fold *fold,
                               const char *head, Output *o);

#endif
