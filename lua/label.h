/* SPDX-License-Identifier: MIT */
/*
** Labels: a word of each thread that only samplers read and set (luaN_setlabel of
** seam.h). A thread begins with that of the thread that makes
** it, the main thread with 0; nothing else of the core looks at it.
*/
#ifndef luaN_label_h
#define luaN_label_h

/* Upstream calls this when it has made thread L1. */
#undef luai_userstatethread
#define luai_userstatethread(L,L1)	((L1)->label = (L)->label)

#endif
