/* SPDX-License-Identifier: Apache-2.0 */
/* Modules of OTP that erltrace's own modules call, in a node that has not loaded them. */
#ifndef NODE_OTP_MODULES_H
#define NODE_OTP_MODULES_H

#include "connection.h"

/* Has the node load them, or loads them into it where its code server does not answer. */
int nd_otp_modules(struct nd *n, struct et_error *e);
/* Does its code server answer, and does it read files? What moves within ms does. */
bool nd_loads(struct nd *n, int ms);

#endif
