#!/usr/bin/env -S erltrace -qs
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * msgs.d: messages: how large they are, and who sends how many, and how much, to which process.
 *
 *	erltrace -N NODE -qs msgs.d [SECONDS] [HOW MANY]
 *
 * Arguments: how many seconds to run (until ^C); how many of the busiest pairs to show (20).
 * Cost: flag send; about 0.4 us for a message, more for a large one, whose term is walked to find
 * its size.
 * Processes are shown by their registered names (flag procs) if they have one.
 * Sample (sizes in words, without binaries):
 *	  words
 *	           value  ------------- Distribution ------------- count
 *	               2 |                                         0
 *	               4 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@            241
 *	               8 |@@@@@@@@@@@                              92
 *	              16 |                                         0
 *
 *	FROM                 TO                     MESSAGES
 *	demo_store           <0.312.0>                    12
 *
 *	FROM                 TO                        WORDS
 *	demo_store           <0.312.0>                    48
 */
#pragma D option quiet
#pragma D option defaultargs

inline string who = erlname != "" ? erlname : erlpid;
inline int most = $2 ? $2 : 20;

BEGIN { seconds = $1; }

erlang*:::message-send
{
	@size["words"] = quantize(arg2);
	@n[who, erlpeer] = count();
	@words[who, erlpeer] = sum(arg2);
}

tick-1s /--seconds == 0/ { exit(0); }

END
{
	printa(@size);
	trunc(@n, most);
	printf("\n%-20s %-20s %10s\n", "FROM", "TO", "MESSAGES");
	printa("%-20s %-20s %@10d\n", @n);
	trunc(@words, most);
	printf("\n%-20s %-20s %10s\n", "FROM", "TO", "WORDS");
	printa("%-20s %-20s %@10d\n", @words);
	trunc(@size); trunc(@n); trunc(@words);
}
