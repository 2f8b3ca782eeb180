/* SPDX-License-Identifier: MIT */
/*
** Counts exactly the bytes that a state allocates while it is sampled, in all and for each set of
** labels (labels.h). At each change of the running thread's label (luaN_setlabels), the bytes
** allocated since the previous change are added to the sum of the previous set. Memory comes from
** malloc and grows with the number of sets that the state has had.
**
**   AC1  the sums of all sets (also of set 0), and the bytes since the last change, add up to
**        account_bytes;
**   AC2  if there is not enough memory for the sum of a set, its bytes are added to the sum of the
**        previous label's set;
**   AC3  another thread may call account_each while the state runs. Therefore a sum is never moved,
**        is read and written with one access each, and is freed only by account_close.
*/
#ifndef asamp_account_h
#define asamp_account_h

#include "lua.h"
#include "seam.h"

/* The bytes allocated under one set of labels. */
typedef struct AccountSum {
  uint64_t bytes;	/* bytes counted up to the last change of the thread's label */
  uint64_t reported;	/* bytes that account_each has marked as reported; may exceed 'bytes' for
			   the label set of the running thread, until this set changes */
  uint32_t set;
} AccountSum;

#define ACCOUNT_FIRST	8	/* number of sums in the first piece; each further piece has twice
				   as many */
#define ACCOUNT_PIECES	20

typedef struct Account {
  /* the core's view of the account; must be the first field, because the core passes its address
     to 'find'. seam.bytes is NULL before the first account_on */
  luaN_Labels seam;
  int on;
  uint64_t bytes;	/* bytes counted up to the last account_off. account_reset sets it to its
			   argument 'rest' */
  uint64_t since;	/* bytes that the state had allocated (luaN_allocated) at the last
			   account_on or account_reset */
  AccountSum none;	/* the bytes allocated without labels (set 0) */
  AccountSum *pieces[ACCOUNT_PIECES];  /* the sums of the sets with labels */
  uint32_t n;		/* number of sums in the pieces; atomic */
  AccountSum **table;	/* hash table of the sums in 'pieces', at most three quarters full; NULL
			   before the first sum */
  unsigned log;		/* log2 of the number of slots of the table */
} Account;

/* account_on starts to count the state's bytes, unless the account is on; account_off stops. The
   account must not be moved while it is on. */
void account_on (Account *a, lua_State *L);
void account_off (Account *a, lua_State *L);

/* Starts a new total. If 'rest' is 0, all sums become 0. Otherwise each sum keeps the bytes that
   account_each has not marked as reported, and 'rest' is the total of these bytes. Does not switch
   counting on or off. Call it on the state's own thread. */
void account_reset (Account *a, lua_State *L, uint64_t rest);

/* Frees the memory of an account that is off and that no other thread reads. */
void account_close (Account *a);

/* Returns the bytes of all sets together. Call it on the state's own thread. */
uint64_t account_bytes (const Account *a, lua_State *L);

/*
** Selects the bytes that account_each passes to f. WHOLE: all bytes of a set. REST: only the bytes
** not yet marked as reported. REPORT: the same bytes as REST, which are then marked as reported.
*/
typedef enum AccountPart { ACCOUNT_WHOLE, ACCOUNT_REST, ACCOUNT_REPORT } AccountPart;

/*
** Calls f for each set whose bytes are not 0. Returns the sum of the bytes passed to f. Allocates
** nothing.
**
** 'all' is the expected total; for ACCOUNT_WHOLE that is account_bytes. The sum of the set that the
** running thread has is not up to date. For this set, f receives 'all' minus the bytes of the other
** sets, if that is above 0. A thread other than the state's may pass an older total; the result may
** then exceed 'all'.
*/
uint64_t account_each (Account *a, AccountPart part, uint64_t all,
                       void (*f) (void *ud, uint32_t set, uint64_t bytes), void *ud);

#endif
