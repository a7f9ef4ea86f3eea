// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { Run, keyNames } from "../src/model.js";
import { csvParts, jsonParts } from "../src/export.js";
import { HeatMap } from "../src/heatmap.js";
import { listRows } from "../src/list.js";

const T0 = 1700000000000;
const run = (script = "", hz = 10) =>
	new Run({ id: 1, script, nodes: [], hz, args: [], clock: () => T0 });
const tick = (n, aggregations, more = {}) => ({
	type: "tick",
	node: "a@h",
	time: T0 + n * 100,
	aggregations,
	fired: n,
	cost: 1,
	...more,
});
const q = (keys, buckets) => ({ aggregation: "t", function: "quantize", keys, buckets, normal: 1 });
const b = (lo, hi, count) => ({ lo, hi, count });

function heat(r, name = "t", setup = {}) {
	const map = new HeatMap(r.aggregations.get(name));
	map.configure({
		cols: 5,
		bin: 1,
		live: true,
		from: 0,
		shown: new Uint8Array(64).fill(1),
		hueOf: null,
		scale: "log",
		clamp: 0,
		dark: false,
		...setup,
	});
	map.update(r.lastSlot, 0);
	return map;
}
test("nothing to show is a line of the log", () => {
	const r = run();
	r.line({ type: "nothing", events: 0, text: "nothing to show: 0 events of gc_minor-end in 5.0 s" });
	assert.deepEqual(
		r.log.entries.map((e) => [e.kind, e.text]),
		[["nothing", "nothing to show: 0 events of gc_minor-end in 5.0 s"]],
	);
});
const columns = (map) =>
	Array.from({ length: map.cols }, (_, i) => [
		...map.cell(map.head - map.cols + 1 + i, 0).counts,
	]);

test("what normalize() divides is shown divided, all of it, and kept undivided", () => {
	const r = run("x { @us = sum(timestamp - self->at); @t = quantize(timestamp); }");
	const sum = (value) => ({ aggregation: "us", function: "sum", keys: ["p"], value, normal: 1 });
	r.line(tick(0, [sum(1500), q(["x"], [b(1, 2, 30)])]));
	const us = r.aggregations.get("us");
	const shown = () => us.byKey(() => true, null).get(0).value;
	assert.deepEqual([shown(), us.unit], [1500, "ns"]);
	r.line(tick(1, [sum(999), q(["x"], [b(1, 2, 10)])], { normals: { us: 1000, t: 10 } }));
	assert.deepEqual([shown(), us.unit], [2.499, "us"]);
	assert.equal(us.byKey(() => true, { from: r.firstSlot, to: r.firstSlot + 1 }).get(0).value, 1.5);
	const t = r.aggregations.get("t");
	assert.equal(t.unit, "ns"); // counts are divided, values are not
	const map = heat(r, "t", { normal: t.normal });
	assert.deepEqual([map.cell(map.head, 0).count, map.cell(map.head, 0).share], [1, 1]);
	assert.deepEqual([...t.countsByKey(r.firstSlot, r.lastSlot + 1, null, () => true)], [[0, 4]]);
	assert.match([...csvParts(r, [us])].join(""), /,p,1\.5\r\n.*,p,0\.999\r\n$/s);
	assert.match([...csvParts(r, [t])].join(""), /,x,1,2,3\r\n.*,x,1,2,1\r\n$/s);
	assert.match([...jsonParts(r, [us])].join(""), /"unit":"us","normal":1000/);
	// a colour that is clamped at 2 is that of 20 that came
	assert.equal(heat(r, "t", { normal: t.normal, clamp: 2 }).scaleMax, 20);
	// nothing came, and it is denormalized
	r.line(tick(2, [], {}));
	assert.deepEqual([shown(), t.normal], [2499, 1]);
});

test("percentiles have a heat map, with the script's percentages, and counts that stay whole", () => {
	const r = run("x { @t = percentile(timestamp, 50, 99.9); normalize(@t, 1000); } END { printa(@t); }");
	r.line({
		type: "shape",
		node: "a@h",
		aggregations: [{ aggregation: "t", function: "percentile", params: [50, 99.9], keys: 1 }],
	});
	const p = (buckets) => ({ ...q(["k"], buckets), function: "percentile" });
	r.line(tick(0, [p([b(62, 63, 3)])], { normals: { t: 1000 } }));
	r.line(tick(1, [p([b(62, 63, 1), b(64, 66, 1)])], { normals: { t: 1000 } }));
	const t = r.aggregations.get("t");
	assert.deepEqual(
		r.views().map((v) => v.kind),
		["heat"],
	);
	assert.deepEqual([t.percents, t.unit, t.normal], [[50, 99.9], "ns", 1]);
	assert.deepEqual(columns(heat(r)).slice(-2), [
		[3, 0, 0],
		[1, 0, 1],
	]);
	r.line({
		type: "aggregation",
		aggregation: "t",
		function: "percentile",
		keys: ["k"],
		percentiles: [
			{ percent: 50, value: 62 },
			{ percent: 99.9, value: 64 },
		],
		count: 5,
		normal: 1,
	});
	assert.match(r.log.entries.at(-1).text, /@t\[k\] {2}p50 62, p99\.9 64/);
});

test("of several nodes the one that normalized last decides, and one that has not yet does not undo it", () => {
	const r = run();
	const sum = { aggregation: "s", function: "sum", keys: [], value: 100, normal: 1 };
	r.line(tick(0, [sum]));
	r.line(tick(0, [sum], { node: "b@h" }));
	r.line(tick(1, [], { normals: { s: 10 } }));
	r.line(tick(1, [], { node: "b@h" }));
	assert.equal(r.aggregations.get("s").byKey(() => true, null).get(0).value, 20);
	r.line(tick(2, [{ ...sum, aggregation: "constructor" }], { normals: { s: 10 } }));
	assert.equal(r.aggregations.get("constructor").normal, 1);
	r.line(tick(2, [], { node: "b@h", normals: { s: 5 } }));
	r.line(tick(2, [], { normals: { s: 10 } }));
	assert.equal(r.aggregations.get("s").normal, 5);
});

test("pictures that are compared have one axis and one scale of colours", () => {
	const first = run();
	const second = run();
	first.line(tick(0, [q(["x"], [b(1, 2, 5)])]));
	second.line(tick(0, [q(["x"], [b(64, 128, 900)])]));
	const [one, two] = [first, second].map((r) => r.aggregations.get("t"));
	const a = heat(first);
	const alone = a.scaleMax;
	one.compare(two);
	two.compare(one);
	const other = heat(second);
	a.update(first.lastSlot, 1);
	assert.deepEqual(
		a.buckets.map((x) => [x.lo, x.hi]),
		other.buckets.map((x) => [x.lo, x.hi]),
	);
	assert.ok(alone < a.scaleMax);
	assert.equal(a.scaleMax, other.scaleMax);
	assert.deepEqual(a.colours, other.colours);
	// more comes in one of them: the other one's colours follow, without data of its own
	second.line(tick(1, [q(["x"], [b(64, 128, 90000)])]));
	other.update(second.lastSlot, 2);
	assert.deepEqual(a.update(first.lastSlot, 2), { all: true });
	assert.equal(a.scaleMax, other.scaleMax);
	assert.equal(a.update(first.lastSlot, 3), null);
	// by rank: of all cells of both
	for (const m of [a, other]) m.configure({ ...m.setup, scale: "rank" });
	a.update(first.lastSlot, 4);
	other.update(second.lastSlot, 4);
	assert.deepEqual(a.colours, other.colours);
	// each for itself again
	other.close();
	one.compare(null);
	a.update(first.lastSlot, 5);
	assert.equal(a.buckets.length, 1);
	assert.equal(a.scaleMax, alone);
});

test("cells of the picture are the counts that came", () => {
	const r = run();
	r.line({
		type: "shape",
		node: "a@h",
		aggregations: [{ aggregation: "t", function: "quantize", params: [], keys: 1 }],
	});
	r.line(tick(0, [q(["x"], [b(1, 2, 3), b(4, 8, 1)])]));
	r.line(tick(1, []));
	r.line(tick(2, [q(["x"], [b(2, 4, 7)]), q(["y"], [b(2, 4, 2)])]));
	const map = heat(r);
	assert.deepEqual(columns(map).slice(2), [
		[3, 0, 1],
		[0, 0, 0],
		[0, 9, 0],
	]);
	assert.deepEqual([...map.known].filter(Boolean).length, 3);
	assert.equal(map.cell(map.head, 1).total, 9);
	assert.deepEqual(
		r.views().map((v) => v.kind),
		["heat"],
	);
});

test("a tick draws only its own column; new rows draw all", () => {
	const r = run();
	r.line(tick(0, [q([], [b(1, 2, 3)])]));
	const map = heat(r);
	r.line(tick(1, [q([], [b(1, 2, 2)])]));
	const got = map.update(r.lastSlot, 1);
	assert.deepEqual(got, { from: map.head, to: map.head });
	assert.equal(map.update(r.lastSlot, 2), null);
	r.line(tick(2, [q([], [b(16, 32, 2)])]));
	assert.deepEqual(map.update(r.lastSlot, 3), { all: true });
	assert.equal(map.rows, 5);
});

test("pixels: none for zero, one for a count, the key's hue with keys", () => {
	const r = run();
	r.line(tick(0, [q(["x"], [b(1, 2, 3), b(4, 8, 1)]), q(["y"], [b(4, 8, 5)])]));
	const map = heat(r, "t", { hueOf: Uint8Array.of(0, 1) });
	const x = map.index(map.head);
	assert.equal(map.pixels[1 * map.cols + x], 0);
	assert.notEqual(map.pixels[2 * map.cols + x], 0);
	assert.equal(map.hues[x * map.rows + 0], 0);
	assert.equal(map.hues[x * map.rows + 2], 1);
});

test("percent of column: the same share has the same colour", () => {
	const r = run();
	r.line(tick(0, [q([], [b(1, 2, 10), b(2, 4, 90)])]));
	r.line(tick(1, [q([], [b(1, 2, 1000), b(2, 4, 9000)])]));
	const map = heat(r, "t", { scale: "percent" });
	const px = (c, row) => map.pixels[(map.rows - 1 - row) * map.cols + map.index(c)];
	assert.equal(px(map.head, 0), px(map.head - 1, 0));
	assert.equal(px(map.head, 1), px(map.head - 1, 1));
	assert.notEqual(px(map.head, 0), px(map.head, 1));
});

test("isolated keys: only what is shown counts", () => {
	const r = run();
	r.line(tick(0, [q(["x"], [b(1, 2, 3)]), q(["y"], [b(1, 2, 5)])]));
	assert.deepEqual(columns(heat(r, "t", { shown: Uint8Array.of(0, 1) })).at(-1), [5]);
	const keys = r.aggregations
		.get("t")
		.countsByKey(r.firstSlot, r.lastSlot + 1, null, () => true);
	assert.deepEqual(
		[...keys],
		[
			[0, 3],
			[1, 5],
		],
	);
});

test("columns of several slots add up; a fixed range stays", () => {
	const r = run();
	for (let n = 0; n < 40; n++) r.line(tick(n, [q([], [b(1, 2, 1)])]));
	const map = heat(r, "t", {
		bin: 5,
		cols: 4,
		live: false,
		from: Math.floor(r.firstSlot / 5) + 1,
	});
	assert.deepEqual(
		columns(map).map((c) => c[0]),
		[5, 5, 5, 5],
	);
});

test("jitter of ticks leaves no holes; a long silence does", () => {
	const r = run();
	let n = 0;
	for (const late of [0, 60, -40, 90, 130, -20, 0])
		r.line(tick(n++, [], { time: T0 + n * 100 + late }));
	assert.equal(r.lastSlot - r.firstSlot, 6);
	r.line(tick(60, []));
	assert.ok(r.lastSlot - r.firstSlot > 50);
});

test("two nodes are put together in time though their clocks differ", () => {
	const r = run();
	r.line(tick(0, [q(["x"], [b(1, 2, 3)])]));
	r.line({ ...tick(0, [q(["x"], [b(1, 2, 4)])]), node: "b@h", time: T0 + 3600e3 });
	assert.ok(r.lastSlot - r.firstSlot < 5, String(r.lastSlot - r.firstSlot));
	assert.equal(r.fired, 0);
	assert.deepEqual(r.nodeNames, ["a@h", "b@h"]);
	assert.equal(r.aggregations.get("t").series.keys.length, 1);
});

test("views: lists by kind of key, stacks a flame graph", () => {
	const r = run(
		"x { @a[probefunc] = count(); @b[probefunc] = sum(1); @c = count(); @s[ustack()] = count(); }",
	);
	for (const [aggregation, keys] of [
		["a", 1],
		["b", 1],
		["c", 0],
		["s", 1],
	])
		r.line({
			type: "shape",
			node: "a@h",
			aggregations: [
				{
					aggregation,
					function: aggregation === "b" ? "sum" : "count",
					params: [],
					keys,
				},
			],
		});
	assert.deepEqual(
		r.views().map((v) => [v.kind, v.aggs?.map((a) => a.name)]),
		[
			["list", ["a", "b"]],
			["list", ["c"]],
			["list", ["s"]],
		],
	);
	r.line(
		tick(0, [
			{
				aggregation: "s",
				function: "count",
				keys: [["a:b/1+0x8", "c:d/2"]],
				value: 1,
				normal: 1,
			},
		]),
	);
	assert.equal(r.views().at(-1).kind, "flame");
});

test("aggregations of one clause or one printa share a list, others with the same words do not", () => {
	const views = (script, names) => {
		const r = run(script);
		for (const aggregation of names)
			r.line({
				type: "shape",
				aggregations: [
					{ aggregation, function: "count", params: [], keys: 1 },
				],
			});
		return r.views().map((v) => v.aggs.map((a) => a.name).join());
	};
	assert.deepEqual(
		views("a { @x[f] = count(); } b { /* @y[g] */ @y[f] = count(); }", ["x", "y"]),
		["x", "y"],
	);
	assert.deepEqual(
		views("a { @x[f] = count(); @y[f] = count(); @z[g] = count(); }", ["x", "y", "z"]),
		["x,y", "z"],
	);
	assert.deepEqual(
		views(
			'a { @x[f] = count(); } b { @y[f] = count(); } END { printa("%@d @n", @x, @y); }',
			["x", "y"],
		),
		["x,y"],
	);
});

test("drops and errors are counted, by kind", () => {
	const r = run();
	r.line({ type: "drop", kind: "PRINCIPAL", cpu: 0, drops: 2, total: 2, message: "2 drops" });
	r.line({ type: "drop", kind: "PRINCIPAL", cpu: 0, drops: 3, total: 5, message: "3 drops" });
	r.line({ type: "drop", kind: "DYNAMIC", cpu: null, drops: 1, total: 1, message: "1 drop" });
	assert.equal(r.dropTotal, 6);
	for (let i = 0; i < 3; i++)
		r.line({ type: "error", fault: "divide-by-zero", line: 3, message: "error ..." });
	assert.equal(r.faultCount, 3);
	assert.equal(r.faults.size, 1);
	r.line({ type: "error", tag: "D_SYNTAX", line: 1, column: 2, message: "no" });
	assert.equal(r.compileErrors.length, 1);
});

test("a watchdog's abort does not hide the results", () => {
	const r = run();
	const e = { type: "error", tag: "ET_WATCHDOG", line: 0, column: 0, doing: "processing aborted" };
	r.line({ type: "shape", node: "a@h", aggregations: [] });
	r.line(tick(0, [q(["x"], [b(1, 2, 3)])]));
	r.line({ ...e, message: "probes took 40 %" });
	r.line({ ...e, message: "probes took 40 %" });
	assert.deepEqual([r.failed, r.compileErrors, r.aborts], [false, [], ["probes took 40 %"]]);
	assert.equal(r.log.entries.at(-1).text, "probes took 40 %");
	// of two nodes one refuses, before the other one begins
	const two = run();
	two.line({ ...e, tag: "ET_ARM", message: "not here" });
	assert.ok(two.failed);
	two.line({ type: "shape", node: "b@h", aggregations: [] });
	assert.ok(!two.failed);
});

test("what came during a pause is in the column of the pause too", () => {
	// columns of four slots: wherever the pause began, others of its column come later
	for (let pause = 0; pause < 4; pause++) {
		const r = run();
		for (let n = 0; n <= pause; n++) r.line(tick(n, [q(["x"], [b(1, 2, 1)])]));
		const held = r.lastSlot;
		const map = heat(r, "t", { bin: 4 });
		for (let n = pause + 1; n < 10; n++) {
			r.line(tick(n, [q(["x"], [b(1, 2, 1)])]));
			map.update(held, n);
		}
		assert.equal(map.sums[0], pause + 1);
		map.update(r.lastSlot, 10);
		assert.equal(map.sums[0], 10);
	}
});

test("an hour at speed stays small", () => {
	const r = run();
	const buckets = Array.from({ length: 64 }, (_, i) => b(i * 2, i * 2 + 2, 1 + (i % 7)));
	for (let n = 0; n < 36000; n += 1) r.line(tick(n, [q([`k${n % 4}`], buckets)]));
	const t = r.aggregations.get("t").timeline;
	assert.ok(t.bytes < 64 << 20);
	assert.ok(t.last - t.first + 1 <= 6000);
	assert.equal(
		r.aggregations.get("t").total,
		36000 * buckets.reduce((s, x) => s + x.count, 0),
	);
});

test("the names of keys, from the script", () => {
	assert.deepEqual(keyNames('x { @a[probefunc, f("a,b]", 2)] = count(); }', "a"), [
		"probefunc",
		'f("a,b]", 2)',
	]);
	assert.deepEqual(keyNames("x { @[args[0]->name] = count(); }", "_"), ["args[0]->name"]);
	assert.deepEqual(keyNames("x { @n = count(); }", "n"), []);
});

test("a node that goes away, or is silent, is told", () => {
	let now = T0;
	const r = new Run({ id: 1, script: "", nodes: [], hz: 10, args: [], clock: () => now });
	r.phase = "running";
	for (let n = 0; n < 3; n++) {
		r.line(tick(n, [], { fired: 100 * n }));
		r.line(tick(n, [], { node: "b@h", fired: 10 * n }));
	}
	const [a, b_] = r.nodeInfo;
	assert.equal(r.rate, 1100);
	r.line({ type: "warning", message: "the node b@h has gone away" });
	assert.deepEqual([a.gone, b_.gone], [false, false], "that is for people");
	r.line({ type: "gone", node: "b@h" });
	r.line({ type: "gone", node: "none@h" });
	assert.deepEqual([a.gone, b_.gone], [false, true]);
	assert.equal(r.log.entries.at(-1).text, "the node b@h has gone away");
	assert.equal(r.rate, 1000);
	now += 4000;
	assert.equal(r.quietFor(a), 0);
	now += 1000;
	assert.equal(r.quietFor(a), 5000);
	assert.equal(r.quietFor(b_), 0, "it is known to be gone");
	assert.equal(r.rate, 0);
	r.line(tick(50, []));
	assert.equal(r.quietFor(a), 0);
});

test("a run whose connection was lost goes on: counts add up, with a gap", () => {
	let now = T0;
	const r = new Run({ id: 1, script: "", nodes: [], hz: 10, args: [], clock: () => now });
	const sum = { aggregation: "s", function: "sum", keys: ["k"], value: 5, normal: 1 };
	const drop = { type: "drop", kind: "PRINCIPAL", cpu: 0, drops: 2, total: 2, message: "2 drops" };
	r.line(tick(0, [sum], { fired: 100 }));
	r.line(drop);
	now += 7000;
	assert.ok(r.canResume);
	r.phase = "away";
	r.resume();
	assert.equal(r.phase, "starting");
	r.line(tick(80, [sum], { fired: 30 }));
	r.line(drop);
	assert.deepEqual([r.fired, r.dropTotal], [130, 4]);
	assert.equal(r.aggregations.get("s").byKey(() => true, null).get(0).value, 10);
	assert.ok(r.lastSlot - r.firstSlot > 70);
	assert.match(r.log.entries.map((e) => e.text).join(), /lost for 7 s: the script was started again/);
	// not for ever, not after a long time, not if it was to be stopped
	r.phase = "stopping";
	assert.ok(!r.canResume);
	r.phase = "running";
	now += 61000;
	assert.ok(!r.canResume);
	r.line(tick(900, []));
	r.resume();
	r.resume();
	assert.ok(!r.canResume);
	now += 300e3;
	r.line(tick(9000, []));
	assert.ok(r.canResume);
});

test("what several nodes complain of alike is said once, at its line", () => {
	const r = run();
	const e = { type: "error", tag: "D_X", line: 3, column: 0, doing: "processing aborted" };
	r.line({ ...e, node: "a@h", message: "not permitted" });
	r.line({ ...e, node: "b@h", message: "not permitted" });
	r.line({ ...e, node: "b@h", line: 0, message: "something else" });
	assert.deepEqual(
		r.compileErrors.map(({ line, message }) => [line, message]),
		[
			[3, "not permitted"],
			[0, "something else"],
		],
	);
	assert.ok(r.inScript);
});

test("descriptions that match nothing are noted once for each node", () => {
	const r = run();
	const no = (node, ...descriptions) => r.line({ type: "unmatched", node, descriptions });
	no("a@h", "x matches nothing yet", "y matches nothing yet");
	no("b@h", "x matches nothing yet");
	no("a@h", "y matches nothing yet");
	no("a@h");
	assert.deepEqual(
		r.log.entries.map(({ kind, text, node }) => [kind, text, node]),
		[
			["warning", "x matches nothing yet", "a@h"],
			["warning", "y matches nothing yet", "a@h"],
			["warning", "x matches nothing yet", "b@h"],
		],
	);
});

test("equal pids of two nodes are two processes; names are one", () => {
	const r = run();
	const n = (...keys) => ({ aggregation: "n", function: "count", keys, value: 1, normal: 1 });
	const send = (node) => r.line(tick(0, [n("<0.91.0>", "ets"), n("lists", "ets"), n("port #Port<0.4>", 3)], { node }));
	const texts = () =>
		listRows([r.aggregations.get("n")])
			.map((x) => `${x.name}: ${x.cells[0].value}`)
			.sort();
	send("a@h");
	assert.deepEqual(texts(), ["<0.91.0>, ets: 1", "lists, ets: 1", "port #Port<0.4>, 3: 1"]); // one node: as it is
	send("b@h");
	assert.deepEqual(texts(), [
		"<0.91.0> · a@h, ets: 1",
		"<0.91.0> · b@h, ets: 1",
		"lists, ets: 2",
		"port #Port<0.4> · a@h, 3: 1",
		"port #Port<0.4> · b@h, 3: 1",
	]);
	// saved as it came, with the node beside it
	const csv = [...csvParts(r, [r.aggregations.get("n")])].join("");
	assert.match(csv, /,b@h,n,count,<0\.91\.0>,ets,1\r\n/);
	assert.doesNotMatch(csv, /·/);
});

test("a zoom's keys are those in it, in time and in values", () => {
	const r = run();
	r.line(tick(0, [q(["early"], [b(1, 2, 5)]), q(["both"], [b(1, 2, 1), b(64, 128, 7)])]));
	r.line(tick(1, [q(["late"], [b(1, 2, 3)]), q(["both"], [b(64, 128, 2)])]));
	const t = r.aggregations.get("t");
	const by = (sums) => Object.fromEntries([...sums].map(([key, n]) => [t.series.keys[key].text, n]));
	const all = () => true;
	const at = r.firstSlot;
	assert.deepEqual(by(t.countsSinceStart(all)), { early: 5, both: 10, late: 3 });
	assert.deepEqual(by(t.countsIn({ from: at, to: at + 1 }, all)), { early: 5, both: 8 });
	assert.deepEqual(by(t.countsIn({ from: at + 1, to: Infinity }, all)), { late: 3, both: 2 });
	assert.deepEqual(by(t.countsIn({ to: Infinity, band: { lo: 32, hi: 128 } }, all)), { both: 9 });
	assert.deepEqual(by(t.countsIn({ from: at, to: at + 1, band: { lo: 1, hi: 2 } }, () => false)), {});
});

// A pid each request: 140 keys a second, as a busy node has them.
function churn(r, from, to, more = () => []) {
	for (let n = from; n < to; n++) {
		const keys = Array.from({ length: 14 }, (_, i) => [`<0.${14 * n + i}.0>`]);
		r.line(
			tick(n, [
				...keys.map((k) => ({ aggregation: "n", function: "count", keys: k, value: 2, normal: 1 })),
				...keys.map((k) => q(k, [b(1, 2, 3)])),
				...more(n),
			]),
		);
	}
}

test("keys that are not seen any more are released, and nothing of what they had is lost", () => {
	const r = run();
	const often = { aggregation: "n", function: "count", keys: ["often"], value: 1, normal: 1 };
	const once = { aggregation: "n", function: "count", keys: ["once, but much"], value: 1e6, normal: 1 };
	churn(r, 0, 3000, (n) => (n === 0 ? [often, once] : [often])); // 300 s: 42,000 keys
	const [n, t] = ["n", "t"].map((name) => r.aggregations.get(name));
	const all = (agg) => agg.series.keys.filter(Boolean).length;
	assert.ok(all(n) < 11000 && all(t) < 11000, `${all(n)} ${all(t)}`); // a minute's and the greatest
	assert.equal(n.series.released + n.series.count, 42002);
	const rows = listRows([n]);
	const value = (name) => rows.find((x) => x.name === name)?.cells[0].value;
	assert.deepEqual([value("often"), value("once, but much")], [3000, 1e6]);
	const rest = rows.find((x) => x.rest);
	assert.equal(rest.cells[0].value, 2 * n.series.released);
	assert.equal(rows.reduce((sum, x) => sum + x.cells[0].value, 0), 2 * 42000 + 3000 + 1e6);
	assert.equal([...t.countsSinceStart().values()].reduce((x, y) => x + y, 0), 3 * 42000);
	// the history has all of it, under that name
	const part = { from: r.firstSlot, to: r.firstSlot + 10 };
	assert.equal([...n.byKey(() => true, part).values()].reduce((sum, g) => sum + g.value, 0), 2 * 140 + 10 + 1e6);
	assert.equal(columns(heat(r, "t", { live: false, from: part.from, shown: new Uint8Array(1e5).fill(1) }))[0][0], 3 * 14);
	// a released key that comes again is a key again
	r.line(tick(3000, [{ ...often, keys: ["<0.1.0>"] }]));
	assert.equal(listRows([n]).find((x) => x.name === "<0.1.0>").cells[0].value, 1);
});

test("hours of new keys take the room of ten minutes of them", () => {
	const r = run("", 1);
	const second = (n) => ({ ...tick(0, []), time: T0 + n * 1000 });
	let most = 0;
	for (let n = 0; n < 7200; n++) {
		const keys = Array.from({ length: 30 }, (_, i) => [`<0.${30 * n + i}.0>`]);
		r.line({
			...second(n),
			aggregations: keys.map((k) => ({ aggregation: "n", function: "count", keys: k, value: 1, normal: 1 })),
		});
		if (n === 1500) most = r.aggregations.get("n").series.size;
	}
	const { series } = r.aggregations.get("n");
	assert.ok(series.size <= 1.05 * most, `${series.size} ${most}`);
	assert.ok(most < 30 * 900, `${most}`);
	assert.ok(series.keys.length < 10000 && series.noKeys.length < 10000);
	// numbers that were given again are of their new keys only
	const last = r.aggregations.get("n").byKey(() => true, { from: r.lastSlot, to: r.lastSlot + 1 });
	assert.deepEqual(
		[...last].map(([key, got]) => [series.keys[key].text, got.value]),
		Array.from({ length: 30 }, (_, i) => [`<0.${30 * 7199 + i}.0>`, 1]),
	);
});

test("however many keys come within the time shown, there is a bound", () => {
	const r = run();
	const keys = (n) => Array.from({ length: 5000 }, (_, i) => [`k${5000 * n + i}`]);
	for (let n = 0; n < 100; n += 10)
		r.line(tick(n, keys(n).map((k) => ({ aggregation: "n", function: "count", keys: k, value: 1, normal: 1 }))));
	const { series } = r.aggregations.get("n");
	assert.ok(series.count <= 45000, `${series.count}`);
	r.line(tick(160, []));
	assert.equal(series.count, 20000);
	assert.equal(series.released, 30000);
});
