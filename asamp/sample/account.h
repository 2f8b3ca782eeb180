/* SPDX-License-Identifier: MIT */
/*
** Counts the bytes that a Lua state allocates while it is sampled: the total, and the bytes by
** label set. A program sets labels for a coroutine; each set of labels has a small number, 0 for
** none (labels.h). The core reports when another coroutine runs, and with it another label set.
**
**   AC1  the result of account_bytes is the sum of all sets, set 0 included, plus the bytes
**        allocated since the last change of the running coroutine's set;
**   AC2  if there is no memory for the sum of a set, its bytes are added to the sum of the set that
**        was in use before;
**   AC3  another thread may call account_each while the state runs. So a sum never moves, is
**        accessed atomically, and is freed only by account_close.
*/
#ifndef asamp_account_h
#define asamp_account_h

#include "lua.h"
#include "seam.h"

/* The bytes allocated under one label set. */
typedef struct AccountSum {
  uint64_t bytes;	/* Bytes allocated under this set. If the set is that of the running
                           coroutine, the bytes since the last change of label sets are
                           missing. */
  uint64_t reported;	/* Bytes that account_each has reported. For the running coroutine's set,
                           they may exceed 'bytes', because 'bytes' lacks the newest bytes. */
  uint32_t set;
} AccountSum;

#define ACCOUNT_FIRST	8	/* number of sums in Account.pieces[0]; each further element has
                                   twice as many as the previous one */
#define ACCOUNT_PIECES	20

/* The counts of a Lua state. */
typedef struct Account {
  /* Data that the Lua core updates. Must be the first field, because account_find casts a pointer
     to this field to Account *. */
  luaN_Labels seam;
  int on;
  uint64_t bytes;	/* Bytes that the state allocated while counting was on, up to the last
                           account_off. */
  uint64_t since;	/* The state's total of allocated bytes at the last account_on or
                           account_reset. */
  AccountSum none;	/* bytes allocated without labels (set 0) */
  AccountSum *pieces[ACCOUNT_PIECES];  /* The sums of all label sets except set 0. pieces[k] has
                                          space for ACCOUNT_FIRST << k sums. */
  uint32_t n;		/* number of sums in 'pieces'; atomic */
  AccountSum **table;	/* hash table of the sums by label set, at most three quarters full; NULL:
                           no sum yet */
  unsigned log;		/* log2 of the number of slots of 'table' */
} Account;

/* Starts counting the state's bytes. The account must not be moved until account_off. */
void account_on (Account *a, lua_State *L);
/* Stops counting the state's bytes. */
void account_off (Account *a, lua_State *L);

/* Restarts the counts, for example for a new profile. 'rest': the bytes of all label sets that
   account_each has not reported to the old profile; the new profile receives them. Sets the total
   to 'rest'. Sets the sum of each label set to its unreported bytes, or to 0 if 'rest' is 0. Call
   it on the state's own thread. */
void account_reset (Account *a, lua_State *L, uint64_t rest);

/* Frees the memory of the account. Counting must be off, and no other thread may read the
   account. */
void account_close (Account *a);

/* Returns the bytes allocated while counting was on, with any labels or none. Call it on the
   state's own thread. */
uint64_t account_bytes (const Account *a, lua_State *L);

/* Selects the bytes of each label set that account_each passes to f.
   ACCOUNT_WHOLE   all bytes
   ACCOUNT_REST    the bytes that were not reported yet
   ACCOUNT_REPORT  like ACCOUNT_REST; the call records these bytes as reported */
typedef enum AccountPart { ACCOUNT_WHOLE, ACCOUNT_REST, ACCOUNT_REPORT } AccountPart;

/*
** Calls f for each label set, with those bytes of the set that 'part' selects. Omits sets with 0
** bytes. Returns the sum of the bytes passed to f. Allocates nothing.
**
** 'all': the total of the selected bytes, over all sets. It is needed because the sum of the
** running coroutine's set lacks the newest bytes: for this set, f receives 'all' minus the bytes of
** the other sets. A thread other than the state's own may pass an outdated total, which is too
** small. Then the returned sum may be larger than 'all'.
*/
uint64_t account_each (Account *a, AccountPart part, uint64_t all,
                       void (*f) (void *ud, uint32_t set, uint64_t bytes), void *ud);

#endif
