// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { readMessage, scratch } from "../src/wire.js";
import { pack, unpacked } from "./pack.js";

const tick = (aggregations) => ({
	type: "line",
	id: 3,
	line: { type: "tick", node: "a@h", time: 1, aggregations, fired: 9, cost: 0.5 },
});
const item = (keys, buckets) => ({ aggregation: "t", function: "quantize", keys, buckets, normal: 1 });
const b = (lo, hi, count) => ({ lo, hi, count });

test("a packed tick is what it was before, without an object a bucket", () => {
	const m = tick([
		item(["x"], [b(null, 0, 1), b(0, 1, 22), b(8, 16, 333), b(2 ** 51 - 1, null, 4)]),
		item(["größe", 7, ["s", "t"]], [b(-7, -3, 5), b(-3, -1, 2 ** 51), b(-1, 0, 1)]),
		item(["l"], [b(10, 20, 1), b(20, 30, 128), b(30, 40, 16384), b(60, 70, 1), b(70, null, 1)]),
		item([], []),
		{ aggregation: "n", function: "count", keys: [], value: 17, normal: 1 },
	]);
	const bytes = pack(m);
	const [first] = readMessage(Uint8Array.from(bytes).buffer).line.aggregations;
	assert.deepEqual(first.buckets, { from: 0, to: 4 });
	assert.deepEqual(unpacked(bytes), m);
});

// As test/web/pack_test.c has them of the server: format and reader change together.
test("the bytes are those of c_src/web/pack.h", () => {
	const m = tick([item(["x"], [b(null, -2, 3), b(0, 5, 1), b(5, 10, 200), b(20, null, 1)])]);
	const bytes = [...pack(m)];
	const head = bytes[0] + 256 * bytes[1];
	assert.deepEqual(bytes.slice(4 + head), [5, 3, 3, 8, 4, 5, 1, 200, 1, 6, 20, 1]);
	assert.match(Buffer.from(bytes.slice(4, 4 + head)).toString(), /"buckets":4,"normal":1/);
});

test("text is JSON", () => {
	const m = tick([item(["x"], [b(1, 2, 3), b(2, 4, 5)])]);
	assert.deepEqual(readMessage(JSON.stringify(m)), m);
	assert.throws(() => readMessage('{"type":"line","line":{"buckets":[{"lo":'), SyntaxError);
});

test("a tick that is cut is an error, not an endless one", () => {
	const bytes = pack(tick([item(["x"], [b(0, 5, 1), b(5, 10, 2), b(90, 95, 2)])]));
	for (let n = 1; n < 6; n++)
		assert.throws(() => unpacked(bytes.subarray(0, bytes.length - n)), RangeError);
});

test("many buckets, and none with nothing in it", () => {
	const list = Array.from({ length: 20000 }, (_, i) => b(i, i + 1, i % 3));
	const [got] = unpacked(pack(tick([item(["x"], list)]))).line.aggregations;
	assert.deepEqual(got.buckets, list.filter((x) => x.count));
	const { from, to } = scratch.load(list);
	assert.equal(to - from, list.filter((x) => x.count).length);
});
