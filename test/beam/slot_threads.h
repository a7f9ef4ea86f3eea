/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of the tables of processes is given back while processes come and go. */
#ifndef SLOT_THREADS_H
#define SLOT_THREADS_H

long slot_pages_kept(void);    /* pages that are there though nobody has a slot in them */
long slot_pages_missing(void); /* processes whose slot is gone, or not as it was */
/* the same, under threads; they and what finds no room are counted */
long slots_overwritten(void);

#endif
