// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { filterRows, listRows, sortRows, sparkPath } from "../src/list.js";
import { Run } from "../src/model.js";

const T0 = 1700000000000;
const item = (aggregation, fn, key, value, more = {}) => ({
	aggregation,
	function: fn,
	keys: key === null ? [] : [key],
	value,
	normal: 1,
	...more,
});

// Ticks of 2 Hz; each an array of items.
function runOf(ticks, node = "a@h") {
	const r = new Run({ id: 1, script: "", nodes: [], hz: 2, args: [], clock: () => T0 });
	ticks.forEach((aggregations, i) =>
		r.line({ type: "tick", node, time: T0 + i * 500, aggregations, fired: 0, cost: 0 }),
	);
	return r;
}
const cells = (rows, column = 0) => rows.map((r) => [r.name, r.cells[column]?.value]);

test("counts and sums add up; the last full second is the change", () => {
	const r = runOf([
		[item("c", "count", "x", 3)],
		[item("c", "count", "x", 4)],
		[item("c", "count", "x", 1), item("c", "count", "y", 9)],
		[],
		[],
	]);
	const rows = sortRows(listRows([r.aggregations.get("c")]), {
		column: 0,
		what: "value",
		down: true,
	});
	assert.deepEqual(cells(rows), [
		["y", 9],
		["x", 8],
	]);
	assert.deepEqual(
		rows.map((x) => x.cells[0].change),
		[9, 1],
	);
	const x = r.aggregations.get("c").spark([0]);
	assert.deepEqual([...x.slice(-2)], [7, 1]);
});

test("min, max, avg, stddev are put together by what they are", () => {
	const t = (v, n) => [
		item("lo", "min", "k", v),
		item("hi", "max", "k", v),
		item("av", "avg", "k", v, { count: n }),
		item("sd", "stddev", "k", v, { count: n }),
	];
	const r = runOf([t(10, 1), t(4, 3), t(7, 1)]);
	const value = (name) => listRows([r.aggregations.get(name)])[0].cells[0].value;
	assert.equal(value("lo"), 4);
	assert.equal(value("hi"), 10);
	assert.ok(Math.abs(value("av") - (10 + 12 + 7) / 5) < 1e-9);
	assert.ok(Math.abs(value("sd") - Math.sqrt((100 + 48 + 49) / 5)) < 1e-9);
});

test("several aggregations side by side, blanks where a key is in one only", () => {
	const r = runOf([
		[item("a", "count", "x", 1), item("b", "sum", "x", 5), item("b", "sum", "z", 2)],
	]);
	const rows = sortRows(listRows([r.aggregations.get("a"), r.aggregations.get("b")]), {
		column: 1,
		what: "value",
		down: true,
	});
	assert.deepEqual(
		rows.map((x) => [x.name, x.cells[0]?.value ?? null, x.cells[1]?.value ?? null]),
		[
			["x", 1, 5],
			["z", null, 2],
		],
	);
	sortRows(rows, { column: 0, what: "value", down: false });
	assert.equal(rows.at(-1).name, "z", "what has no value is last, whichever way");
});

test("sorting by name: numbers as numbers", () => {
	const r = runOf([
		[item("a", "count", 10, 1), item("a", "count", 9, 1), item("a", "count", 100, 1)],
	]);
	const rows = sortRows(listRows([r.aggregations.get("a")]), {
		column: -1,
		what: "name",
		down: false,
	});
	assert.deepEqual(
		rows.map((x) => x.name),
		["9", "10", "100"],
	);
});

test("nodes together or one by one", () => {
	const r = runOf([[item("a", "count", "x", 1)]]);
	r.line({
		type: "tick",
		node: "b@h",
		time: T0,
		aggregations: [item("a", "count", "x", 5)],
		fired: 0,
		cost: 0,
	});
	const agg = r.aggregations.get("a");
	assert.deepEqual(cells(listRows([agg])), [["x", 6]]);
	assert.deepEqual(cells(listRows([agg], { nodeShown: (n) => n === 1 })), [["x", 5]]);
});

test("a range of time, and a filter", () => {
	const r = runOf([
		[item("a", "count", "x", 1)],
		[item("a", "count", "x", 10), item("a", "count", "yy", 1)],
		[item("a", "count", "x", 100)],
	]);
	const agg = r.aggregations.get("a");
	const range = { from: r.firstSlot + 1, to: r.firstSlot + 2 };
	assert.deepEqual(cells(listRows([agg], { range })), [
		["x", 10],
		["yy", 1],
	]);
	assert.deepEqual(cells(filterRows(listRows([agg]), "Y")), [["yy", 1]]);
});

test("negative sums and zero stay what they are", () => {
	const r = runOf([[item("a", "sum", null, -7)], [item("a", "sum", null, 7)]]);
	assert.equal(listRows([r.aggregations.get("a")])[0].cells[0].value, 0);
});

test("spark lines: in their box, gaps where nothing is known", () => {
	assert.equal(sparkPath([NaN, NaN], 10, 10, true), "");
	assert.equal(sparkPath([0, 5, 10], 20, 12, true), "M0.0 11.0L10.0 6.0L20.0 1.0");
	assert.equal(sparkPath([1, NaN, 3], 20, 12, true).match(/M/g).length, 2);
	assert.equal(sparkPath([4, 4], 20, 12, false), "M0.0 6.0L20.0 6.0");
});
