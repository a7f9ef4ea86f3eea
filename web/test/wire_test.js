// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { readMessage, scratch } from "../src/wire.js";

const tick = (aggregations) => ({
	type: "line",
	id: 3,
	line: { type: "tick", node: "a@h", time: 1, aggregations, fired: 9, cost: 0.5 },
});
const item = (keys, buckets) => ({ aggregation: "t", function: "quantize", keys, buckets, normal: 1 });
const b = (lo, hi, count) => ({ lo, hi, count });

// What was read, with the buckets as JSON has them.
function whole(message) {
	for (const a of message.line.aggregations) {
		if (!a.buckets || Array.isArray(a.buckets)) continue;
		const list = [];
		for (let i = a.buckets.from; i < a.buckets.to; i++)
			list.push({
				lo: scratch.lo[i] === -Infinity ? null : scratch.lo[i],
				hi: scratch.hi[i] === Infinity ? null : scratch.hi[i],
				count: scratch.count[i],
			});
		a.buckets = list;
	}
	return message;
}
const quick = (message) => !Array.isArray(message.line.aggregations[0].buckets);

test("a tick is what JSON.parse makes of it, without an object a bucket", () => {
	const m = tick([
		item(["x"], [b(null, 0, 1), b(0, 1, 22), b(8, 16, 333), b(9007199254740991, null, 4)]),
		item(["y", 7, ["s", "t"]], [b(-7, -3, 5)]),
		item([], []),
		{ aggregation: "n", function: "count", keys: [], value: 17, normal: 1 },
	]);
	const got = readMessage(JSON.stringify(m));
	assert.ok(quick(got));
	assert.deepEqual(whole(got), m);
});

test("a key that looks like buckets, or has letters of more than a byte", () => {
	for (const key of ['"buckets":[{"lo":1', '\\","buckets":[', "größe", "\u{1f600}"]) {
		const m = tick([item([key], [b(1, 2, 3)]), item(["z"], [b(2, 4, 5)])]);
		assert.deepEqual(whole(readMessage(JSON.stringify(m))), m);
	}
});

test("what looks other than expected is read all the same", () => {
	const m = tick([item(["x"], [b(1, 2, 3), b(2, 4, 5)])]);
	for (const text of [
		JSON.stringify(m, null, 2),
		JSON.stringify(m).replace('"lo":1', '"lo":1.0'),
		JSON.stringify(m).replace('"lo":1', '"lo":1e0'),
		JSON.stringify(m).replace('"lo":1,"hi":2', '"hi":2,"lo":1'),
		JSON.stringify(m).replace('"count":3', '"count":3,"more":true'),
	]) {
		const got = readMessage(text);
		delete got.line.aggregations[0].buckets[0]?.more;
		assert.deepEqual(whole(got), m);
	}
	const printed = { type: "line", id: 3, line: { ...item(["x"], [b(1, 2, 3)]), type: "aggregation" } };
	assert.deepEqual(readMessage(JSON.stringify(printed)), printed);
	assert.throws(() => readMessage('{"type":"line","line":{"buckets":[{"lo":'), SyntaxError);
});

test("many buckets, and none with nothing in it", () => {
	const list = Array.from({ length: 20000 }, (_, i) => b(i, i + 1, i % 3));
	const got = whole(readMessage(JSON.stringify(tick([item(["x"], list)]))));
	assert.deepEqual(got.line.aggregations[0].buckets, list.filter((x) => x.count));
});
