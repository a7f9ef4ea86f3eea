/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The words of erlang_probes.def. An argument of a probe is its type and its name: S(sender) is a
 * string, U() a uint32_t, I() an int, N() an int64_t. C() is a string that shows contents, K() such
 * an int64_t: payload=off refuses them; the others are times, sizes, names, identities. A reader of
 * the table makes of them:
 *
 *   PROBE_NARGS(arguments...)	   how many there are
 *   PROBE_TYPES(arguments...)	   "string", "int", ...: the elements of an array
 *   PROBE_ENUM(ID, arguments...)  constants: ARG(ID, sender) is the number of an argument,
 *				   ARG_BIT(ID, sender) its bit in a mask, STRINGS(ID) the mask of
 *				   those that are strings
 *   PROBE_CONTENTS(arguments...)  the mask of those that show contents
 *
 * Macros only: erlang_probes.def includes it wherever it is included itself.
 *
 */
#ifndef ERLANG_PROBES_H
#define ERLANG_PROBES_H

#define PROBE_NARGS(...) PROBE_11TH(__VA_ARGS__, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define PROBE_TYPES(...) PROBE_EACH(PROBE_TYPE, , __VA_ARGS__)
#define PROBE_CONTENTS(...) (PROBE_EACH(PROBE_CONTENT, , __VA_ARGS__) 0)
#define PROBE_ENUM(ID, ...)                                                                        \
	enum {                                                                                     \
		PROBE_EACH(PROBE_NUMBER, ID, __VA_ARGS__)                                          \
		STRINGS_##ID = PROBE_EACH(PROBE_STRING, , __VA_ARGS__) 0                           \
	};
#define ARG(ID, name)	  ((int)ARG_##ID##_##name)
#define ARG_BIT(ID, name) (1u << ARG(ID, name))
#define STRINGS(ID)	  ((unsigned)STRINGS_##ID)

/* Of a type: the name, what D calls it, whether it is a string, whether it shows contents. */
#define PROBE_ARG_S(name) name, "string", 1, 0
#define PROBE_ARG_U(name) name, "uint32_t", 0, 0
#define PROBE_ARG_I(name) name, "int", 0, 0
#define PROBE_ARG_N(name) name, "int64_t", 0, 0
#define PROBE_ARG_C(name) name, "string", 1, 1
#define PROBE_ARG_K(name) name, "int64_t", 0, 1

/* What becomes of the n-th argument. */
#define PROBE_TYPE(...)				    PROBE_TYPE_(__VA_ARGS__)
#define PROBE_TYPE_(ID, n, name, type, is_string, shows) type,
#define PROBE_NUMBER(...)			    PROBE_NUMBER_(__VA_ARGS__)
#define PROBE_NUMBER_(ID, n, name, type, is_string, shows) ARG_##ID##_##name = n,
#define PROBE_STRING(...)			    PROBE_STRING_(__VA_ARGS__)
#define PROBE_STRING_(ID, n, name, type, is_string, shows) is_string << n |
#define PROBE_CONTENT(...)			    PROBE_CONTENT_(__VA_ARGS__)
#define PROBE_CONTENT_(ID, n, name, type, is_string, shows) shows << n |

/* DO(ID, n, name, type, is_string, shows) for each argument */
#define PROBE_EACH(DO, ID, ...)                                                                    \
	PROBE_PASTE(PROBE_EACH_, PROBE_NARGS(__VA_ARGS__))(DO, ID, __VA_ARGS__)
#define PROBE_PASTE(a, b)	PROBE_PASTE_(a, b)
#define PROBE_PASTE_(a, b)	a##b
#define PROBE_11TH(a, b, c, d, e, f, g, h, i, j, n, ...) n
#define PROBE_EACH_1(DO, ID, a) DO(ID, 0, PROBE_ARG_##a)
#define PROBE_EACH_2(DO, ID, a, b) PROBE_EACH_1(DO, ID, a) DO(ID, 1, PROBE_ARG_##b)
#define PROBE_EACH_3(DO, ID, a, b, c) PROBE_EACH_2(DO, ID, a, b) DO(ID, 2, PROBE_ARG_##c)
#define PROBE_EACH_4(DO, ID, a, b, c, d) PROBE_EACH_3(DO, ID, a, b, c) DO(ID, 3, PROBE_ARG_##d)
#define PROBE_EACH_5(DO, ID, a, b, c, d, e)                                                        \
	PROBE_EACH_4(DO, ID, a, b, c, d) DO(ID, 4, PROBE_ARG_##e)
#define PROBE_EACH_6(DO, ID, a, b, c, d, e, f)                                                     \
	PROBE_EACH_5(DO, ID, a, b, c, d, e) DO(ID, 5, PROBE_ARG_##f)
#define PROBE_EACH_7(DO, ID, a, b, c, d, e, f, g)                                                  \
	PROBE_EACH_6(DO, ID, a, b, c, d, e, f) DO(ID, 6, PROBE_ARG_##g)
#define PROBE_EACH_8(DO, ID, a, b, c, d, e, f, g, h)                                               \
	PROBE_EACH_7(DO, ID, a, b, c, d, e, f, g) DO(ID, 7, PROBE_ARG_##h)
#define PROBE_EACH_10(DO, ID, a, b, c, d, e, f, g, h, i, j)                                        \
	PROBE_EACH_8(DO, ID, a, b, c, d, e, f, g, h)                                               \
	DO(ID, 8, PROBE_ARG_##i) DO(ID, 9, PROBE_ARG_##j)

#endif
