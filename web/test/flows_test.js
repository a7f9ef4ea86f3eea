// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import {
	Flows,
	SILENCE,
	atLeast,
	axisTicks,
	endText,
	followScript,
	formText,
	isName,
	markOf,
	mostOf,
	nameOf,
	readForm,
	shares,
	sorted,
	waterfall,
} from "../src/flows.js";
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
	assert.deepEqual(shares(FLOW), { running: 70, mailbox: 30, rest: 0 });
});

test("a message that nobody takes has no bar", () => {
	const lost = { ...FLOW, hops: [...FLOW.hops.slice(0, 1), { hop: 1, cause: 0, kind: "message", from: 0, to: -1, sent: 10, text: "x", critical: true }] };
	const { rows, arrows } = waterfall(lost);
	assert.equal(rows.length, 1);
	assert.equal(arrows.length, 0);
});

// One that has not finished: its last message, and who it is for.
const stuck = (end, last) => ({ ...FLOW, end, elapsed: 1000, hops: [FLOW.hops[0], { hop: 1, cause: 0, kind: "message", from: 0, text: "x", critical: true, ...last }] });
const WAITS = stuck("waits", { to: -1, sent: 10, receiver: "server" });

test("who waits, and in whose mailbox the message is", () => {
	const { rows, arrows, path } = waterfall(WAITS);
	const bars = (i) => rows[i].bars.map((b) => [b.kind, b.from, b.to, !!b.open]);
	assert.deepEqual(rows.map((r) => nameOf(r.process)), ["client", "server"]);
	assert.deepEqual(bars(0), [["running", 0, 10, false], ["waiting", 10, 1000, true]]);
	assert.deepEqual(bars(1), [["mailbox", 10, 1000, true]]);
	assert.deepEqual([arrows.length, path.at(-1)], [1, { at: 1000, row: 1 }]);
	assert.deepEqual(shares(WAITS), { running: 10, mailbox: 990, rest: 0 });
	assert.match(endText(WAITS), /has not finished: .* x, sent to server 990 ns before, was not received\.$/);
	const port = stuck("waits", { to: -1, sent: 10, receiver: "#Port<0.5>" });
	assert.equal(waterfall(port).rows.length, 1);
});

test("who has taken the message and has not gone on", () => {
	const taken = stuck("waits", { to: 1, sent: 10, taken: 30, until: 40 });
	const { rows } = waterfall(taken);
	assert.deepEqual(rows[1].bars.map((b) => [b.kind, b.from, b.to]), [["mailbox", 10, 30], ["running", 30, 40], ["holds", 40, 1000]]);
	assert.deepEqual(shares(taken), { running: 20, mailbox: 20, rest: 960 });
	assert.match(endText(taken), / server received x, and did nothing more for 960 ns\.$/);
});

test("how requests end: a mark for what is unusual, and sentences", () => {
	const exit = (reason) => ({ ...FLOW, hops: [...FLOW.hops, { hop: 9, cause: 1, kind: "message", from: 1, to: -1, sent: 95, text: "", exit: reason, critical: false }] });
	for (const [flow, mark, text] of [
		[{ ...FLOW, end: "done" }, "", /^$/],
		[{ ...FLOW, end: "idle", quiet: 2e9 }, "", /^Then nothing happened in it for 2 s\.$/],
		[WAITS, "waits", /^It has not finished/],
		[stuck("aged", { to: 1, sent: 10, taken: 30, until: 40 }), "continues", /^It continues, but is no longer followed\. .*server received x/],
		[stuck("", { to: 1, sent: 10, taken: 30, until: 40 }), "not ended", /^It had not ended when the script did\./],
		[{ ...FLOW, end: "cut", incomplete: true, lacks: "it had more" }, "cut", /^It is incomplete: it had more\.$/],
		[{ ...FLOW, end: "done", incomplete: true, lacks: "1 of 2" }, "incomplete", /^It is incomplete: 1 of 2\.$/],
		[exit("{badarith,[]}"), "exit", /^server exited: \{badarith,\[\]\}\./],
	]) {
		assert.equal(markOf(flow), mark);
		assert.match(endText(flow), text);
	}
	for (const usual of ["normal", "shutdown", "{shutdown,done}"]) assert.equal(markOf({ ...exit(usual), end: "done" }), "");
	assert.equal(atLeast(WAITS), true);
	assert.equal(atLeast({ ...FLOW, end: "idle" }), false);
});

test("in which process most of the time went", () => {
	assert.deepEqual(mostOf(FLOW), { who: "server", how: "running", time: 50 });
	assert.deepEqual(mostOf(WAITS), { who: "server", how: "in the mailbox", time: 990 });
	assert.deepEqual(mostOf(stuck("waits", { to: 1, sent: 10, taken: 30, until: 40 })), { who: "server", how: "nothing more is known", time: 960 });
	assert.equal(mostOf({ ...FLOW, hops: [], elapsed: 0 }), null);
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
});

test("the script of a form", () => {
	const script = (more) => followScript({ module: "m", fn: "f", oneIn: 1, silence: SILENCE, ...more });
	assert.match(script(), /flowtime=2s\n\nerlang\*:m:f:function-entry\n\{\n\tfollow\(\);/);
	assert.match(script({ oneIn: 10 }), /calls\+\+ % 10 == 0/);
	assert.match(script({ silence: 0.5 }), /flowtime=500ms\n/);
	assert.doesNotMatch(script(), /flowlife/);
	// Nothing is cut off that is still waited for.
	assert.match(script({ silence: 60 }), /flowtime=60s\n#pragma D option flowlife=600s\n/);
});

test("a form is stored", () => {
	const form = { module: "m", fn: "f", oneIn: "5", silence: 30 };
	assert.deepEqual(readForm(formText(form)), form);
	assert.deepEqual(readForm("m f 5"), { ...form, silence: SILENCE });
	assert.deepEqual(readForm(null), { module: "", fn: "", oneIn: "1", silence: SILENCE });
	assert.equal(readForm("m f 5 7").silence, SILENCE);
});
