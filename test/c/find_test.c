/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The finder of the VM's facts: candidates that observations narrow to one, to none, or not to one;
 * and that nothing is published that was not concluded. (Its searches: test/erl/find_tests.erl.)
 */
#include "beam/vm/find.c"

#include <sys/mman.h>

#include "checks.h"

/* Words of a process as a search sees them: what was observed each time. */
#define WORDS 6
static bool narrows(const uintptr_t seen[][WORDS], const uintptr_t *fact, unsigned n, unsigned *at,
	unsigned *left)
{
	struct find_set set;

	find_all(&set, 1, WORDS);
	for (unsigned i = 0; i < n; i++)
		FIND_EACH(w, &set)
	if (seen[i][w] != fact[i])
		find_drop(&set, w);
	*left = find_left(&set);
	return find_only(&set, at);
}

static void test_narrowing(void)
{
	static const uintptr_t fact[] = {7, 8, 9};
	static const uintptr_t one[][WORDS] = {
		{7, 7, 7, 7, 0, 0}, {8, 8, 0, 8, 8, 8}, {9, 1, 9, 9, 9, 9}};
	static const uintptr_t none[][WORDS] = {
		{7, 7, 7, 7, 0, 0}, {8, 0, 0, 8, 8, 8}, {9, 1, 9, 0, 9, 9}};
	static const uintptr_t two[][WORDS] = {
		{7, 7, 7, 7, 0, 0}, {8, 8, 0, 8, 8, 8}, {9, 9, 9, 9, 9, 9}};
	unsigned at, left;

	CHECK(narrows(one, fact, 3, &at, &left) && at == 3 && left == 1, "one candidate is left");
	CHECK(!narrows(none, fact, 3, &at, &left) && at == 0 && left == 0, "none is left: refused");
	CHECK(!narrows(two, fact, 3, &at, &left) && at == 0 && left == 2, "two are left: refused");
	CHECK(!narrows(one, fact, 0, &at, &left) && left == WORDS - 1,
		"word 0 is no candidate, and without an observation all others are left");
}

static void test_last(void)
{
	struct find_set set;
	unsigned at;

	find_all(&set, 0, FIND_MOST);
	CHECK(find_left(&set) == FIND_MOST, "as many candidates as there is room for");
	FIND_EACH(w, &set)
	if (w != FIND_MOST - 1)
		find_drop(&set, w);
	CHECK(find_only(&set, &at) && at == FIND_MOST - 1, "the last candidate is the one");
	find_drop(&set, FIND_MOST - 1);
	CHECK(!find_only(&set, &at) && find_next(&set, 0) == FIND_MOST, "it is dropped too");
	find_all(&set, 0, 1);
	CHECK(find_only(&set, &at) && at == 0, "candidate 0 may be the one");
}

static void test_states(void)
{
	static struct find f;

	CHECK(!find_is_known(&f) && !find_publish(&f),
		"nothing is known, or published, before a search");
	CHECK(!find_conclude(&f, true) && !find_publish(&f), "nor concluded");
	find_start(&f);
	CHECK(f.why[0] == '\0' && !find_publish(&f), "a search is no conclusion");
	CHECK(find_conclude(&f, true) && !find_is_known(&f),
		"a conclusion is not known before its test");
	CHECK(find_publish(&f) && find_is_known(&f), "published");
	CHECK(!find_publish(&f) && find_is_known(&f), "once");
	CHECK(!find_conclude(&f, false) && find_is_known(&f), "and not concluded again");
	find_start(&f);
	CHECK(!find_is_known(&f), "another search takes it back");
	CHECK(!find_conclude(&f, false) && atomic_load(&f.state) == FIND_REFUSED &&
			f.why[0] != '\0',
		"no candidate: refused, with a reason");
	CHECK(!find_publish(&f) && !find_is_known(&f), "what was refused is not published");
}

static void test_reasons(void)
{
	static struct find f;

	find_start(&f);
	CHECK(!find_no(&f, "the %s reason", "first") && !find_no(&f, "the second"), "reasons");
	CHECK(!find_conclude(&f, true), "with a reason against it nothing is concluded");
	CHECK(strcmp(f.why, "the first reason") == 0, "the first reason is kept: %s", f.why);
	find_start(&f);
	find_conclude(&f, true);
	find_refuse(&f, "the test failed");
	CHECK(!find_publish(&f) && strcmp(f.why, "the test failed") == 0,
		"the self-test refuses it");
	find_try_again(&f, "busy");
	CHECK(atomic_load(&f.state) == FIND_UNKNOWN && strcmp(f.why, "busy") == 0, "not now");
	find_start(&f);
	CHECK(find_conclude(&f, true) && find_publish(&f), "the next try");
}

static void test_words(void)
{
	const uintptr_t before[] = {1, 2, 4, 8, 0}, one[] = {1, 2, 5, 11, 0},
			two[] = {0, 2, 5, 8, 0};
	uintptr_t bit = 0, *gone, copy[2], here[] = {5, 6};
	unsigned at = 9;

	CHECK(find_flag(before, one, 5, &at, &bit) == 1 && at == 2 && bit == 1,
		"one word has a bit that changed; another has several");
	CHECK(find_flag(before, two, 5, &at, &bit) == 2, "two have one");
	CHECK(find_flag(before, before, 5, &at, &bit) == 0, "none has one");
	CHECK(find_is_address(4096) && !find_is_address(4095) && !find_is_address(0) &&
			!find_is_address(4097) && !find_is_address((uintptr_t)1 << 47),
		"addresses");
	gone = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	munmap(gone, 4096);
	CHECK(find_read(copy, (uintptr_t)here, 2) && copy[0] == 5 && copy[1] == 6,
		"words are read");
	CHECK(!find_read(copy, (uintptr_t)gone, 2), "words that are not there are not");
	CHECK(!find_read(copy, (uintptr_t)here + 1, 1), "nor those at no address of a word");
}

int main(void)
{
	test_narrowing();
	test_last();
	test_states();
	test_reasons();
	test_words();
	return finish();
}
