/* SPDX-License-Identifier: Apache-2.0 */
/* Has a node room for erltrace? One that runs out of atoms or memory dies. */
#ifndef NODE_ROOM_H
#define NODE_ROOM_H

#include "connection.h"

int nd_room(const struct nd *n, struct et_error *e); /* ET_ROOM: no */

#endif
