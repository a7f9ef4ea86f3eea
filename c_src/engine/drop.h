/* SPDX-License-Identifier: Apache-2.0 */
/* Kinds of drops. */
#ifndef EN_DROP_H
#define EN_DROP_H

enum en_drop {
	DROP_PRINCIPAL,	   /* trace buffer full */
	DROP_AGGREGATION,  /* aggregation table full */
	DROP_DYNAMIC,	   /* no room for a dynamic variable */
	DROP_DYNRINSE, DROP_DYNDIRTY, /* the same, while deleted ones await cleaning */
	DROP_SPEC,	   /* speculation buffer full */
	DROP_SPECBUSY,	   /* no speculation free: all are being committed or discarded */
	DROP_SPECUNAVAIL,  /* no speculation free: all are in use */
	DROP_DBLERROR,	   /* a fault in an ERROR clause */
	DROP_STKSTROVERFLOW,
	DROP_THREADS,	   /* more threads than maxthreads fired */
	DROP_RATE,	   /* more records a second than maxrate */
	DROP_SAMPLES,	   /* samples that found no room (beam/sample/sampler_fire.c) */
	DROP_FLOWS,	   /* flows, or messages of them, that found no room (beam/flow/flows.c) */
	DROP_FLOWHOPS,	   /* messages and spawns of a flow beyond flowhops */
	DROP_FLOWTOKENS,   /* calls of follow() in processes that have a token of the application */
	DROP_TIMERS,	   /* timers that found no room (beam/events/timers.c): not known when due */
	DROP_MISSED,	   /* firings that the kernel left out (kernel/missed.c) */
	DROP_KINDS
};

#endif
