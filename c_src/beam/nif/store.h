/* SPDX-License-Identifier: Apache-2.0 */
/* Terms that outlive every process, and every version of the library (store.c). */
#ifndef BEAM_STORE_H
#define BEAM_STORE_H

#pragma GCC visibility push(hidden)

int beam_store_init(void **priv, void *old); /* old: the private data of the old code, or NULL */

#pragma GCC visibility pop
#endif
