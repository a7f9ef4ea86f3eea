/* SPDX-License-Identifier: Apache-2.0 */
/* D's types. The compiler makes them (d/type.h); print() reads them. */
#ifndef PROG_DTYPE_H
#define PROG_DTYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum d_tkind {
	T_VOID,
	T_INT,	   /* integers, char and _Bool too */
	T_FLOAT,   /* float, double, long double: for memory and printf only */
	T_PTR,	   /* ref: what it points to */
	T_ARRAY,   /* ref: the element type; multi-dimensional: array of arrays */
	T_STRUCT,
	T_UNION,
	T_ENUM,
	T_FUNC,	   /* ref: the result; members: parameters */
	T_TYPEDEF, /* ref; without a name: ref with qualifiers */
	T_STRING,  /* D's string: char[strsize] by value */
	T_STACK,   /* result of stack(), ustack(), jstack() */
	T_SYMADDR, /* _symaddr, _usymaddr: results of sym() and the like */
	T_DYN,	   /* a translated object: only its members have values */
	T_TERM,	   /* a term of Erlang: a handle, see term.h */
};

enum { TQ_CONST = 1, TQ_VOLATILE = 2, TQ_RESTRICT = 4 };

struct d_member {
	const char *name; /* NULL: anonymous member or unnamed parameter */
	const struct d_type *type;
	uint64_t off;	   /* offset in bytes; of a bit-field: of its storage unit */
	uint8_t bit_off;   /* within the storage unit, from the least significant bit */
	uint8_t bit_width; /* 0: not a bit-field */
	int64_t value;	   /* of an enumerator */
	struct d_member *next;
};

struct d_type {
	enum d_tkind kind;
	const char *name; /* typedef name, tag, or basic type's name; NULL: none */
	uint64_t size;	  /* bytes; 0: void, function, incomplete, dynamic */
	uint32_t align;
	uint8_t quals;	  /* TQ_* */
	bool is_signed;	  /* T_INT, T_ENUM */
	bool is_char, is_bool;
	bool complete;	  /* struct, union, enum: defined */
	bool varargs;	  /* T_FUNC */
	const struct d_type *ref;
	uint64_t nelems;  /* T_ARRAY */
	struct d_member *members; /* fields, enumerators or parameters, in order */
};

/* Without typedefs and qualifiers. */
const struct d_type *d_base(const struct d_type *t);
static inline bool d_is_int(const struct d_type *t)
{
	enum d_tkind k = d_base(t)->kind;
	return k == T_INT || k == T_ENUM;
}
static inline bool d_is_kind(const struct d_type *t, enum d_tkind k)
{
	return d_base(t)->kind == k;
}
static inline bool d_is_string(const struct d_type *t) { return d_is_kind(t, T_STRING); }
static inline bool d_is_ptr(const struct d_type *t) { return d_is_kind(t, T_PTR); }
/* Integers, enums and pointers: a value in a register. */
static inline bool d_is_scalar(const struct d_type *t) { return d_is_int(t) || d_is_ptr(t); }
static inline bool d_is_term(const struct d_type *t) { return d_is_kind(t, T_TERM); }
/* Those and handles of terms: one word. */
static inline bool d_is_word(const struct d_type *t) { return d_is_scalar(t) || d_is_term(t); }
/* Passed by address: struct, union, array, float, stack, symbol. */
bool d_is_byref(const struct d_type *t);
bool d_is_signed(const struct d_type *t);

/* "struct foo *", "int [4]", "int (*)(char)" into buf; returns buf. */
char *d_type_name(const struct d_type *t, char *buf, size_t size);

#endif
