/* SPDX-License-Identifier: Apache-2.0 */
/* Faults, as arg4 of the ERROR probe has them, and the standard files. */
inline int DTRACEFLT_UNKNOWN = 0;
inline int DTRACEFLT_BADADDR = 1;
inline int DTRACEFLT_BADALIGN = 2;
inline int DTRACEFLT_ILLOP = 3;
inline int DTRACEFLT_DIVZERO = 4;
inline int DTRACEFLT_NOSCRATCH = 5;
inline int DTRACEFLT_KPRIV = 6;
inline int DTRACEFLT_UPRIV = 7;
inline int DTRACEFLT_TUPOFLOW = 8;
inline int DTRACEFLT_BADSTACK = 9;
inline int DTRACEFLT_BADSIZE = 10;
inline int DTRACEFLT_BADINDEX = 11;
inline int DTRACEFLT_WORK = 13;
inline int DTRACEFLT_TERM = 14;
inline int DTRACEFLT_LOOP = 15;

inline int STDIN_FILENO = 0;
inline int STDOUT_FILENO = 1;
inline int STDERR_FILENO = 2;
