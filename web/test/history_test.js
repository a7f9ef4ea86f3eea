// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import {
	CellTimeline,
	SECONDS,
	ValueTimeline,
	addColumn,
	encodeCells,
	encodeValues,
	visitCells,
	visitValues,
} from "../src/history.js";

const all = (part) => {
	const out = [];
	visitCells(part, (...c) => out.push(c));
	return out;
};

test("cells come back as they went in, small and large", () => {
	const entries = [
		{ series: 0, cells: [0, 1, 1, 127, 2, 128] },
		{ series: 300, cells: [5000, 2 ** 40 + 3] },
		{ series: 1, cells: [] },
	];
	assert.deepEqual(all(encodeCells(entries)), [
		[0, 0, 1],
		[0, 1, 127],
		[0, 2, 128],
		[300, 5000, 2 ** 40 + 3],
	]);
});

test("columns: shown series only, by row and by hue", () => {
	const part = encodeCells([
		{ series: 0, cells: [0, 2, 1, 3] },
		{ series: 1, cells: [1, 5] },
		{ series: 2, cells: [0, 100] },
	]);
	const column = new Float64Array(2),
		sums = new Float64Array(6);
	addColumn(part, column, [1, 0], [1, 1, 0], [0, 2, 1], sums);
	assert.deepEqual([...column], [8, 2]);
	assert.deepEqual([...sums], [3, 2, 0, 0, 5, 0]);
});

test("the ring holds 600 s and forgets what is older", () => {
	const t = new CellTimeline(1, 1 << 30);
	for (let s = 1000; s < 2000; s++) t.add(s, encodeCells([{ series: 0, cells: [0, s] }]));
	assert.equal(t.parts(1999 - SECONDS), null);
	assert.equal(all(t.parts(2000 - SECONDS)[0])[0][2], 2000 - SECONDS);
	assert.equal(all(t.parts(1999)[0])[0][2], 1999);
	assert.equal(t.parts(2000), null);
});

test("slots nothing came for are unknown, empty ticks are known", () => {
	const t = new CellTimeline(10, 1 << 30);
	t.add(50, encodeCells([]));
	t.add(53, encodeCells([{ series: 0, cells: [0, 1] }]));
	assert.equal(t.parts(50).length, 1);
	assert.equal(t.parts(51), null);
	assert.equal(t.parts(52), null);
});

test("several nodes share a slot; a late one is taken", () => {
	const t = new CellTimeline(10, 1 << 30);
	t.add(50, encodeCells([{ series: 0, cells: [0, 1] }]));
	t.add(51, encodeCells([{ series: 0, cells: [0, 2] }]));
	t.add(50, encodeCells([{ series: 1, cells: [0, 4] }]));
	assert.deepEqual(t.parts(50).flatMap(all), [
		[0, 0, 1],
		[1, 0, 4],
	]);
});

test("a jump longer than the ring leaves nothing old behind", () => {
	const t = new CellTimeline(1, 1 << 30);
	t.add(10, encodeCells([{ series: 0, cells: [0, 1] }]));
	t.add(100000, encodeCells([{ series: 0, cells: [0, 2] }]));
	let held = 0;
	for (const s of t.slots) held += s ? 1 : 0;
	assert.equal(held, 1);
});

test("over its budget, old slots become one a second and no count is lost", () => {
	const t = new CellTimeline(10, 120 * 1000);
	let sum = 0;
	for (let s = 0; s < 3000; s++) {
		t.add(
			s,
			encodeCells([
				{
					series: 0,
					cells: Array.from({ length: 40 }, (_, i) =>
						i % 2 ? 3 : i,
					),
				},
			]),
		);
		sum += 60;
	}
	assert.ok(t.coarse > 0, "merged");
	assert.ok(t.bytes <= 120 * 1000);
	let got = 0;
	for (let s = t.first; s <= t.last; s++)
		for (const p of t.parts(s) ?? []) for (const c of all(p)) got += c[2];
	assert.equal(t.first, 0);
	assert.equal(got, sum);
});

test("when even that is too much the oldest go, and bytes stay under the budget", () => {
	const t = new CellTimeline(10, 90 * 1000);
	for (let s = 0; s < 6000; s++)
		t.add(
			s,
			encodeCells([
				{
					series: 0,
					cells: Array.from({ length: 60 }, (_, i) =>
						i % 2 ? 3 : i,
					),
				},
			]),
		);
	assert.ok(t.first > 0);
	assert.ok(t.bytes <= 90 * 1000 + 1000, String(t.bytes));
	assert.ok(t.last - t.first >= 60 * 10, "the last minute stays");
});

test("values: merged by their function", () => {
	const t = new ValueTimeline(10, 1 << 30, (into, v) => {
		into.value = Math.max(into.value, v);
	});
	const merged = t.merge([
		encodeValues([{ series: 1, value: 3, weight: 1 }]),
		encodeValues([
			{ series: 1, value: 9, weight: 1 },
			{ series: 2, value: -1, weight: 1 },
		]),
	]);
	const got = [];
	visitValues(merged, (...v) => got.push(v));
	assert.deepEqual(got, [
		[1, 9, 1],
		[2, -1, 1],
	]);
});
