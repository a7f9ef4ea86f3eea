/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of flow_threads.c: how often something was not as it should be. */
#ifndef FLOW_THREADS_H
#define FLOW_THREADS_H

unsigned flow_parts_joined_twice(void);
unsigned flow_members_buried_alive(void);
unsigned flow_depths_lost(void);

#endif
