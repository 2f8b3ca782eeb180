/* SPDX-License-Identifier: MIT */
/*
** The file of a Firefox profile and its shared tables; the samples of its thread
** are of firefoxrows.c, collections, marks and counters of firefoxmarks.c.
*/
#ifndef asamp_firefoxfile_h
#define asamp_firefoxfile_h

#include "firefox.h"
#include "fold.h"
#include "output.h"

/*
** Writes the file: 'head' has the members "meta" and "libs". A phrase why
** not, or NULL (the output has its own errors).
*/
const char *firefoxfile_write (Firefox *f, const ReadProfile *r, const Fold *fold,
                               const char *head, Output *o);

#endif
