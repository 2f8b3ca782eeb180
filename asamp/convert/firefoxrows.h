/* SPDX-License-Identifier: MIT */
/* The samples and allocations of the threads of a Firefox profile, from the stored rows. */
#ifndef asamp_firefoxrows_h
#define asamp_firefoxrows_h

#include "firefoxcolumns.h"

/* Write a part of the file for group w->group, including its braces. */
void firefoxrows_samples (FirefoxFile *w);
void firefoxrows_allocations (FirefoxFile *w, uint32_t tid);
/* Writes the samples of the thread "Held at the end" (FX4). */
void firefoxrows_held (FirefoxFile *w);

#endif
