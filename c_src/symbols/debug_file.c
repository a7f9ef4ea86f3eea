/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Symbols of a stripped program or library. Distributions keep them in a separate file, found by
 * the build id (/usr/lib/debug/.build-id/xx/yyyy.debug) or by the name in .gnu_debuglink; or, for
 * functions only, compressed in .gnu_debugdata. A file matches if it has the same build id, or the
 * checksum of the link.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "elf.h"
#include "proc_file.h"

#define DEBUG_DIR   "/usr/lib/debug"
#define MAX_CHECKED (1u << 30) /* limit of bytes to checksum */
#define MAX_PACKED  (16u << 20)
#define MAX_PLAIN   (128u << 20)
enum { MAX_ID = 64, MAX_LINK = 512, UNPACK_MEMORY = 64 << 20, NO_ROOM = 10 };

struct id {
	size_t n; /* 0: none */
	uint8_t bytes[MAX_ID];
};
struct program {
	int pid;
	const char *path;
	struct id id;
};

/* ---- matching a file ------------------------------------------------------------------ */

static void read_id(int fd, struct id *id)
{
	uint32_t head[3];
	Elf64_Shdr sh;
	uint8_t *note;

	id->n = 0;
	if (!elf_section(fd, ".note.gnu.build-id", &sh) ||
		(note = elf_bytes(fd, sh.sh_offset, sh.sh_size, 4096)) == NULL)
		return;
	if (sh.sh_size >= sizeof(head) + 4) {
		memcpy(head, note, sizeof(head));
		if (head[0] == 4 && head[1] <= MAX_ID && head[1] <= sh.sh_size - sizeof(head) - 4 &&
			head[2] == NT_GNU_BUILD_ID) {
			memcpy(id->bytes, note + sizeof(head) + 4, head[1]);
			id->n = head[1];
		}
	}
	free(note);
}

/* CRC-32 of the whole file, as in .gnu_debuglink; false: too large, or not readable. */
static bool checksum(int fd, uint32_t *sum)
{
	uint8_t buf[16384];
	uint32_t table[256], crc = UINT32_MAX;
	off_t at = 0;
	ssize_t n;

	for (uint32_t i = 0; i < 256; i++) {
		table[i] = i;
		for (int k = 0; k < 8; k++)
			table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0xedb88320 : 0);
	}
	while ((n = pread(fd, buf, sizeof(buf), at)) > 0 && at <= MAX_CHECKED) {
		for (ssize_t i = 0; i < n; i++)
			crc = crc >> 8 ^ table[(crc ^ buf[i]) & 0xff];
		at += n;
	}
	*sum = ~crc;
	return n == 0;
}

static bool same_id(const struct id *a, const struct id *b)
{
	return a->n == b->n && memcmp(a->bytes, b->bytes, a->n) == 0;
}

/* Is it the program's file? sum: the checksum of the link, or NULL: only by the build id. */
static bool matches(int fd, const struct program *w, const uint32_t *sum)
{
	struct id id;
	uint32_t got;

	read_id(fd, &id);
	if (w->id.n > 0 && id.n > 0)
		return same_id(&w->id, &id);
	return sum != NULL && checksum(fd, &got) && got == *sum;
}

/* ---- files ---------------------------------------------------------------------------- */

static bool read_if_matches(struct elf *f, int fd, const struct program *w, const uint32_t *sum)
{
	bool found = fd >= 0 && matches(fd, w, sum) && elf_read_symbols(f, fd);

	if (fd >= 0)
		close(fd);
	return found;
}

/* In the root directory of the process, or else in our own. */
static bool try_path(struct elf *f, const char *path, const struct program *w, const uint32_t *sum)
{
	return read_if_matches(f, fi_open_in(w->pid, path), w, sum) ||
	       read_if_matches(f, fi_open(path), w, sum);
}

static bool by_id(struct elf *f, const struct program *w)
{
	char path[sizeof(DEBUG_DIR) + 2 * MAX_ID + 32];
	int at;

	if (w->id.n < 2)
		return false;
	at = snprintf(path, sizeof(path), DEBUG_DIR "/.build-id/%02x/", w->id.bytes[0]);
	for (size_t i = 1; i < w->id.n; i++)
		at += snprintf(path + at, sizeof(path) - (size_t)at, "%02x", w->id.bytes[i]);
	snprintf(path + at, sizeof(path) - (size_t)at, ".debug");
	return try_path(f, path, w, NULL);
}

static bool by_link(struct elf *f, int fd, const struct program *w)
{
	static const char *const forms[] = {"%.*s/%s", "%.*s/.debug/%s", DEBUG_DIR "%.*s/%s"};
	const char *slash = strrchr(w->path, '/');
	char path[4096], *name = NULL;
	bool found = false;
	Elf64_Shdr sh;
	uint32_t sum;
	size_t len;

	if (slash == NULL || !elf_section(fd, ".gnu_debuglink", &sh) || sh.sh_size < 8 ||
		(name = elf_bytes(fd, sh.sh_offset, sh.sh_size, MAX_LINK)) == NULL)
		return false;
	len = strlen(name);
	if (len > 0 && strchr(name, '/') == NULL && ((len + 4) & ~3UL) + 4 <= sh.sh_size) {
		memcpy(&sum, name + ((len + 4) & ~3UL), sizeof(sum));
		for (unsigned i = 0; i < 3 && !found; i++) {
			snprintf(path, sizeof(path), forms[i], (int)(slash - w->path), w->path,
				name);
			found = try_path(f, path, w, &sum);
		}
	}
	free(name);
	return found;
}

/* ---- .gnu_debugdata ------------------------------------------------------------------- */

/*
 * From liblzma, which is loaded when first needed: code that runs inside nodes must not depend on
 * it.
 */
typedef int (*unpack_fn)(uint64_t *memory, uint32_t flags, const void *allocator, const uint8_t *in,
	size_t *in_at, size_t in_size, uint8_t *out, size_t *out_at, size_t out_size);

static unpack_fn unpacker(void)
{
	static void *library;

	if (library == NULL)
		library = dlopen("liblzma.so.5", RTLD_NOW | RTLD_LOCAL);
	return library != NULL ? (unpack_fn)(uintptr_t)dlsym(library, "lzma_stream_buffer_decode")
			       : NULL;
}

/* NULL: corrupt, or too large. */
static uint8_t *unpack(const uint8_t *in, size_t size, size_t *len)
{
	unpack_fn fn = unpacker();
	uint8_t *out = NULL;
	int rc = NO_ROOM;

	for (size_t room = 8 * size; fn != NULL && rc == NO_ROOM && room <= MAX_PLAIN; room *= 4) {
		uint64_t memory = UNPACK_MEMORY;
		size_t at = 0;

		free(out);
		*len = 0;
		out = malloc(room);
		rc = out != NULL ? fn(&memory, 0, NULL, in, &at, size, out, len, room) : -1;
	}
	if (rc == 0)
		return out;
	free(out);
	return NULL;
}

static bool packed(struct elf *f, int fd)
{
	uint8_t *in = NULL, *out = NULL;
	bool found = false;
	Elf64_Shdr sh;
	size_t len = 0;
	int mem;

	if (elf_section(fd, ".gnu_debugdata", &sh))
		in = elf_bytes(fd, sh.sh_offset, sh.sh_size, MAX_PACKED);
	if (in != NULL)
		out = unpack(in, sh.sh_size, &len);
	mem = out != NULL ? memfd_create("debugdata", MFD_CLOEXEC) : -1;
	if (mem >= 0) {
		found = write(mem, out, len) == (ssize_t)len && elf_read_symbols(f, mem);
		close(mem);
	}
	free(in);
	free(out);
	return found;
}

void elf_read_debug(struct elf *f, int fd, int pid, const char *path)
{
	struct program w = {.pid = pid, .path = path};

	if (f->symtab || f->nload == 0)
		return;
	read_id(fd, &w.id);
	if (!by_id(f, &w) && !by_link(f, fd, &w))
		packed(f, fd);
}
