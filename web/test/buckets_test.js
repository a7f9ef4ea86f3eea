// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { BucketSet, fill, lineAt, percentile, placeOf, valueAt, valueText } from "../src/buckets.js";

const edges = (set) => set.ready().map((r) => [r.lo, r.hi]);

test("quantize: powers of two, zero and negative ones, holes filled", () => {
	const s = new BucketSet("quantize");
	// -7..-4 is the bucket of -4; those between are filled in
	s.id(4, 8);
	s.id(-7, -3);
	s.id(0, 1);
	s.id(16, 32);
	assert.deepEqual(edges(s), [
		[-7, -3],
		[-3, -1],
		[-1, 0],
		[0, 1],
		[1, 2],
		[2, 4],
		[4, 8],
		[8, 16],
		[16, 32],
	]);
});

test("lquantize: all of the axis from the start, bounds without end outside", () => {
	const s = new BucketSet("lquantize", [0, 10, 2]);
	assert.deepEqual(edges(s), [
		[0, 2],
		[2, 4],
		[4, 6],
		[6, 8],
		[8, 10],
	]);
	const under = s.id(null, 0),
		over = s.id(10, null),
		mid = s.id(4, 6);
	assert.deepEqual(edges(s), [
		[null, 0],
		[0, 2],
		[2, 4],
		[4, 6],
		[6, 8],
		[8, 10],
		[10, null],
	]);
	assert.equal(s.rowOf[under], 0);
	assert.equal(s.rowOf[mid], 3);
	assert.equal(s.rowOf[over], 6);
});

test("lquantize of the heat-map script: 0, 63, 2", () => {
	const s = new BucketSet("lquantize", [0, 63, 2]);
	s.id(62, null);
	const rows = edges(s);
	assert.deepEqual(rows[0], [0, 2]);
	assert.deepEqual(rows.at(-1), [62, null]);
	assert.equal(rows.length, 32);
});

test("a large lquantize shows only what there is", () => {
	const s = new BucketSet("lquantize", [0, 100000, 10]);
	assert.equal(edges(s).length, 0);
	s.id(50, 60);
	s.id(80, 90);
	assert.deepEqual(edges(s), [
		[50, 60],
		[60, 70],
		[70, 80],
		[80, 90],
	]);
});

test("llquantize: steps of a magnitude", () => {
	assert.deepEqual(
		fill("llquantize", [10, 0, 6, 10], 7, 10).map((b) => b.lo),
		[7, 8, 9],
	);
	assert.deepEqual(
		fill("llquantize", [10, 1, 6, 5], -29, 30).map((b) => [b.lo, b.hi]),
		[
			[-29, -9],
			[-9, 10],
			[10, 30],
		],
	);
	assert.deepEqual(fill("llquantize", [10, 0, 6, 10], 80, 200), [
		{ lo: 80, hi: 90 },
		{ lo: 90, hi: 100 },
		{ lo: 100, hi: 200 },
	]);
});

test("percentile: 32 buckets each power of two, mirrored below 0", () => {
	assert.deepEqual(fill("percentile", [50], 62, 70), [
		{ lo: 62, hi: 63 },
		{ lo: 63, hi: 64 },
		{ lo: 64, hi: 66 },
		{ lo: 66, hi: 68 },
		{ lo: 68, hi: 70 },
	]);
	assert.deepEqual(fill("percentile", [50], -67, -61), [
		{ lo: -67, hi: -65 },
		{ lo: -65, hi: -63 },
		{ lo: -63, hi: -62 },
		{ lo: -62, hi: -61 },
	]);
	// from bucket to bucket as the engine has them: 32 each power of two
	const rows = fill("percentile", [50], 0, 2 ** 40);
	assert.equal(rows.length, 64 + 34 * 32);
	assert.equal(fill("percentile", [50], 1 - 2 ** 40, 1).length, rows.length);
	assert.equal(fill("percentile", [50], 1 - 2 ** 53, 1).length, 64 + 47 * 32);
});

test("edges the rule does not reach give one wide bucket, not wrong ones", () => {
	assert.deepEqual(fill("lquantize", [0, 9, 4], 0, 10), [{ lo: 0, hi: 10 }]);
	assert.deepEqual(fill("unknown", [], 3, 9), [{ lo: 3, hi: 9 }]);
});

test("ids stay when rows move", () => {
	const s = new BucketSet("quantize");
	const a = s.id(8, 16);
	s.ready();
	assert.equal(s.rowOf[a], 0);
	const b = s.id(2, 4);
	s.ready();
	assert.equal(s.id(8, 16), a);
	assert.deepEqual([s.rowOf[b], s.rowOf[a]], [0, 2]);
	assert.equal(s.idAfter(b, 8, 16), a);
	assert.equal(s.idAfter(b, 8, 16), a);
	assert.equal(s.idAfter(b, 2, 4), b);
});

test("percentiles are in the bucket of the true value", () => {
	let seed = 7;
	const random = () => (seed = (seed * 16807) % 2147483647) / 2147483647;
	for (let round = 0; round < 50; round++) {
		const values = Array.from({ length: 1 + Math.floor(random() * 300) }, () =>
			Math.floor(random() ** 3 * 1000),
		).sort((a, b) => a - b);
		const rows = Array.from({ length: 100 }, (_, i) => ({
			lo: i * 10,
			hi: i * 10 + 10,
		}));
		const counts = new Array(100).fill(0);
		for (const v of values) counts[Math.floor(v / 10)]++;
		for (const p of [0.5, 0.9, 0.99]) {
			const truth = values[Math.ceil(p * values.length) - 1];
			const got = valueAt(rows, percentile(counts, p));
			assert.ok(
				Math.floor(got / 10) === Math.floor(truth / 10),
				`p${p}: ${got} and ${truth}`,
			);
		}
	}
});

test("percentiles of nothing, and of buckets without bounds", () => {
	assert.equal(percentile([0, 0], 0.5), null);
	assert.equal(valueAt([], null), null);
	const rows = [
		{ lo: null, hi: 0 },
		{ lo: 0, hi: 10 },
		{ lo: 10, hi: null },
	];
	assert.equal(valueAt(rows, percentile([5, 0, 0], 0.5)), -1);
	assert.equal(valueAt(rows, percentile([0, 0, 5], 0.5)), 10);
	assert.equal(valueText(rows, percentile([5, 0, 0], 0.5)), "< 0");
	assert.equal(valueText(rows, percentile([0, 0, 5], 0.5), "ms"), "≥ 10 ms");
	assert.equal(lineAt(rows, percentile([5, 0, 0], 0.5)), 0.5);
});

test("a bucket of one value has it as every percentile", () => {
	// of quantize: -1, 0, 1; of lquantize with step 1; of llquantize with the magnitude of ones
	for (const [lo, n] of [[-1, 1], [0, 7], [1, 1000], [42, 3]]) {
		const rows = [{ lo, hi: lo + 1 }];
		for (const p of [0.5, 0.9, 0.99, 1]) {
			assert.equal(valueAt(rows, percentile([n], p)), lo);
			assert.equal(valueText(rows, percentile([n], p)), String(lo));
			assert.equal(lineAt(rows, percentile([n], p)), 0.5);
		}
	}
});

test("percentiles are whole numbers that the bucket can hold", () => {
	// quantize's buckets of negative values end with the one nearest to zero; llquantize's middle one
	// lies around zero
	for (const [lo, hi] of [[2, 4], [-3, -1], [-1023, -511], [1024, 2048], [-9, 10], [300, 400]]) {
		for (const n of [1, 2, 3, 1000]) {
			for (const p of [0, 0.001, 0.5, 0.9, 0.99, 1]) {
				const at = percentile([n], p);
				const got = valueAt([{ lo, hi }], at);
				assert.ok(Number.isInteger(got) && got >= lo && got < hi, `${lo} ${hi} ${n} ${p}: ${got}`);
				const line = lineAt([{ lo, hi }], at);
				assert.ok(line > 0 && line < 1, `${line}`);
			}
		}
	}
	// two of [2, 4): one in the lower half, one in the upper
	assert.equal(valueAt([{ lo: 2, hi: 4 }], percentile([2], 0.5)), 2);
	assert.equal(valueAt([{ lo: 2, hi: 4 }], percentile([2], 1)), 3);
});

test("sets of buckets beside each other have the same rows", () => {
	for (const [fn, params, one, two] of [
		["quantize", [], [[8, 16]], [[-3, -1], [64, 128]]],
		["lquantize", [0, 1000, 10], [[20, 30]], [[null, 0], [500, 510]]],
		["llquantize", [10, 0, 6, 10], [[3, 4]], [[200, 300]]],
	]) {
		const a = new BucketSet(fn, params);
		const b = new BucketSet(fn, params);
		const ids = one.map(([lo, hi]) => a.id(lo, hi));
		a.beside(b);
		b.beside(a);
		for (const [lo, hi] of two) b.id(lo, hi);
		a.beside(b);
		const edges = (s) => s.ready().map(({ lo, hi }) => [lo, hi]);
		assert.deepEqual(edges(a), edges(b), fn);
		assert.equal(edges(a).length > one.length, true);
		assert.deepEqual(ids.map((id) => [a.rows[a.rowOf[id]].lo, a.rows[a.rowOf[id]].hi]), one);
		a.beside(null);
		assert.equal(a.ready().length, one.length);
	}
});

test("a value's place among the rows", () => {
	const rows = [
		{ lo: null, hi: 0 },
		{ lo: 0, hi: 10 },
		{ lo: 10, hi: 20 },
		{ lo: 20, hi: null },
	];
	assert.equal(placeOf(rows, 5), 1.5);
	assert.equal(placeOf(rows, 10), 2);
	assert.equal(placeOf(rows, -3), 0.5);
	assert.equal(placeOf(rows, 99), 3.5);
});
