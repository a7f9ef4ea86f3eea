// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { Flows, axisTicks, followScript, isName, shares, sorted, waterfall } from "../src/flows.js";
import { Run } from "../src/model.js";

// A client calls a server, which tells a log first and then answers.
const FLOW = {
	type: "flow", flow: "1", function: "m:f/1", time: 5, elapsed: 100, messages: 3, spawns: 0, depth: 2, end: "done",
	processes: [{ node: "a@h", pid: "<0.1.0>", name: "client" }, { node: "a@h", pid: "<0.2.0>", name: "server" }, { node: "a@h", pid: "<0.3.0>", name: "" }],
	hops: [
		{ hop: 0, cause: -1, kind: "begin", from: -1, to: 0, sent: 0, taken: 0, until: 10, text: "", critical: true },
		{ hop: 1, cause: 0, kind: "message", from: 0, to: 1, sent: 10, taken: 30, until: 80, text: "ask", critical: true },
		{ hop: 2, cause: 1, kind: "message", from: 1, to: 2, sent: 40, taken: 50, until: 50, text: "log", critical: false },
		{ hop: 3, cause: 1, kind: "message", from: 1, to: 0, sent: 80, taken: 90, until: 100, text: "ok", critical: true },
	],
};

test("a waterfall: rows by first appearance, bars, arrows, the critical path", () => {
	const { rows, arrows, path } = waterfall(FLOW);
	assert.deepEqual(rows.map((r) => r.process.pid), ["<0.1.0>", "<0.2.0>", "<0.3.0>"]);
	const bars = (i) => rows[i].bars.map((b) => [b.kind, b.from, b.to]);
	assert.deepEqual(bars(0), [["running", 0, 10], ["mailbox", 80, 90], ["running", 90, 100], ["waiting", 10, 80]]);
	assert.deepEqual(bars(1), [["mailbox", 10, 30], ["running", 30, 80]]);
	assert.deepEqual(arrows.map((a) => [a.from, a.to, a.at]), [[0, 1, 10], [1, 2, 40], [1, 0, 80]]);
	assert.deepEqual(path.map((p) => [p.at, p.row]), [[0, 0], [0, 0], [10, 0], [10, 1], [30, 1], [80, 1], [80, 0], [90, 0], [100, 0]]);
});

test("the critical path fills the time", () => {
	assert.deepEqual(shares(FLOW), { running: 70, mailbox: 30 });
});

test("a message that nobody takes has no bar", () => {
	const lost = { ...FLOW, hops: [...FLOW.hops.slice(0, 1), { hop: 1, cause: 0, kind: "message", from: 0, to: -1, sent: 10, text: "x", critical: true }] };
	const { rows, arrows } = waterfall(lost);
	assert.equal(rows.length, 1);
	assert.equal(arrows.length, 0);
});

test("the slowest are kept, however many come", () => {
	const flows = new Flows();
	for (let i = 1; i <= 5000; i++) flows.add({ ...FLOW, flow: String(i), elapsed: i });
	assert.ok(flows.list.length <= 1000);
	assert.equal(Math.max(...flows.list.map((f) => f.elapsed)), 5000);
	assert.ok(sorted(flows.list, "elapsed", true).slice(0, 400).every((f, i) => f.elapsed === 5000 - i));
	const same = new Flows();
	for (let i = 0; i < 5000; i++) same.add({ ...FLOW, elapsed: 7 });
	assert.ok(same.list.length <= 1000);
});

test("sorted by any column, both ways", () => {
	const list = [{ ...FLOW, messages: 1, elapsed: 1 }, { ...FLOW, messages: 9, elapsed: 2 }, { ...FLOW, messages: 9, elapsed: 3 }];
	assert.deepEqual(sorted(list, "messages", true).map((f) => f.elapsed), [3, 2, 1]);
	assert.deepEqual(sorted(list, "messages", false).map((f) => f.elapsed), [1, 3, 2]);
});

test("lines of a run", () => {
	const run = new Run({ id: 1, script: "", nodes: [], hz: 2, args: [], clock: () => 1 });
	assert.equal(run.flows, null);
	run.line({ type: "flows", flows: 40, shown: 1 });
	run.line(FLOW);
	assert.equal(run.flows.seen, 40);
	assert.equal(run.flows.list.length, 1);
	assert.equal(run.log.count, 0);
});

test("round times on the axis", () => {
	assert.deepEqual(axisTicks(0, 1000, 5), [0, 200, 400, 600, 800, 1000]);
	assert.deepEqual(axisTicks(130, 190, 3), [140, 160, 180]);
	assert.ok(axisTicks(0, 1, 8).length <= 3);
});

test("names that may stand in a script", () => {
	for (const good of ["orders", "put/2", "Elixir.Shop.Orders", "demo_*", "'odd-name'"]) assert.ok(isName(good), good);
	for (const bad of ["", "a b", "x:y", "f { exit(0); }", "a\n"]) assert.ok(!isName(bad), bad);
	assert.match(followScript("m", "f", 1), /erlang\*:m:f:function-entry\n\{\n\tfollow\(\);/);
	assert.match(followScript("m", "f", 10), /calls\+\+ % 10 == 0/);
});
