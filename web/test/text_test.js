// SPDX-License-Identifier: Apache-2.0
// Formats, export, the log, the D tokenizer, addresses.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import { StringStream } from "@codemirror/language";
import { readFragment, scriptFragment } from "../src/connection.js";
import { argumentsOf, needsKernel, parametersOf, probeTextAt, tokenizer, withArgument } from "../src/d_language.js";
import { csvParts, field, jsonParts } from "../src/export.js";
import { buildTree, findAgain, folded, frameTable, kindOf, layout, valueOf } from "../src/flame.js";
import { callsText, callsTitle, costText } from "../src/banner.js";
import {
	dividedUnit,
	duration,
	exact,
	guessUnit,
	keyText,
	number,
	percent,
	range,
	readNumber,
	splitArgs,
} from "../src/format.js";
import { findScripts } from "../src/find.js";
import { Log } from "../src/log.js";
import { Run } from "../src/model.js";
import { meant, offer } from "../src/probes.js";
import { prototype, readWords } from "../words.js";

const toCSV = (...args) => [...csvParts(...args)].join("");
const toJSON = (...args) => [...jsonParts(...args)].join("");

test("numbers with units", () => {
	assert.equal(number(1500, "ns"), "1.5 µs");
	assert.equal(number(999.7, "ns"), "1 µs");
	assert.equal(number(63, "us"), "63 µs");
	assert.equal(number(1500, "us"), "1.5 ms");
	assert.equal(number(90e3, "ms"), "1.5 min");
	assert.equal(number(0, "us"), "0");
	assert.equal(number(1536, "bytes"), "1.5 KiB");
	assert.equal(number(1234), "1234");
	assert.equal(number(1234567), "1.23M");
	assert.equal(number(-20000), "-20k");
	assert.equal(number(0.0012), "0.0012");
	assert.equal(number(null), "–");
	assert.equal(number(2 ** 62, "ns"), "1281024 h");
	assert.equal(exact(1234567), "1\u202f234\u202f567");
	assert.equal(exact(-12.345), "-12.35");
	assert.deepEqual([0, 0.01, 33.333, NaN].map(percent), ["0.0 %", "< 0.1 %", "33.3 %", "–"]);
});

test("ranges, with bounds missing", () => {
	assert.equal(range(0, 2, "us"), "0 – 2 µs");
	assert.equal(range(null, 0, "us"), "< 0");
	assert.equal(range(63, null, "us"), "≥ 63 µs");
	assert.equal(range(4, 5), "4");
	assert.equal(duration(3725), "1:02:05");
});

test("units guessed from the script", () => {
	const s =
		"{ @time[copyinstr(arg1)] = lquantize((vtimestamp - self->t[copyinstr(arg1)] ) / 1000, 0, 63, 2); @c[1] = count(); @q = quantize(timestamp - self->t); }";
	assert.equal(guessUnit(s, "time"), "us");
	assert.equal(guessUnit(s, "c"), "none");
	assert.equal(guessUnit(s, "q"), "ns");
	assert.equal(guessUnit("{ @all[1] = quantize(this->ns); }", "all"), "ns");
	assert.equal(guessUnit("{ @[1] = sum(arg2); }", "_"), "none");
	const all = "{ this->all = vtimestamp - self->at[arg2]; @own = sum(this->all - self->inner[arg2]); }";
	assert.equal(guessUnit(all, "own"), "ns");
	assert.equal(guessUnit("{ this->x = (timestamp - a) / 1000; @t = max(this->x); }", "t"), "us");
	assert.equal(guessUnit("{ this->x = arg2; self->t = timestamp; @t = max(this->x); }", "t"), "none");
	assert.equal(guessUnit("{ @bytes[1] = sum(arg2); }", "bytes"), "bytes");
});

test("keys as text", () => {
	assert.equal(keyText([]), "(all)");
	assert.equal(keyText(["a", 5, null, ""]), 'a, 5, NULL, ""');
	assert.equal(keyText([["a:b/1+0x10", "c:d/2"]]), "a:b/1 +1");
	assert.equal(keyText(["<script>alert(1)</script>"]), "<script>alert(1)</script>");
});

test("arguments are split at blanks, quotes keep them", () => {
	assert.deepEqual(splitArgs(`lists 5 "a b" 'c d'`), ["lists", "5", "a b", "c d"]);
	assert.deepEqual(splitArgs("  "), []);
});

function small() {
	const time = 1700000000000;
	const r = new Run({ id: 1, script: "s", nodes: [], hz: 10, args: [], clock: () => time });
	r.line({
		type: "tick",
		node: "a@h",
		time,
		fired: 1,
		cost: 0,
		aggregations: [
			{
				aggregation: "t",
				function: "lquantize",
				keys: ['a,"b"'],
				buckets: [
					{ lo: null, hi: 0, count: 2 },
					{ lo: 10, hi: null, count: 1 },
				],
				normal: 1,
			},
			{ aggregation: "c", function: "sum", keys: ["=1+1"], value: -7, normal: 1 },
		],
	});
	return { r, when: new Date(time).toISOString() };
}

test("CSV: quoted, formulas disarmed, bounds missing are empty", () => {
	const { r, when } = small();
	assert.equal(
		toCSV(r, [r.aggregations.get("t")]),
		`time,node,aggregation,function,key1,lo,hi,count\r\n${when},a@h,t,lquantize,"a,""b""",,0,2\r\n${when},a@h,t,lquantize,"a,""b""",10,,1\r\n`,
	);
	assert.equal(
		toCSV(r, [r.aggregations.get("c")]),
		`time,node,aggregation,function,key1,value\r\n${when},a@h,c,sum,'=1+1,-7\r\n`,
	);
	assert.equal(field(["x", "y"]), "x;y");
	assert.equal(field("a\nb"), '"a\nb"');
});

test("JSON: with times, as it came", () => {
	const { r, when } = small();
	const got = JSON.parse(toJSON(r, [...r.aggregations.values()]));
	assert.deepEqual(got.aggregations[0].ticks, [
		{
			time: when,
			node: "a@h",
			keys: ['a,"b"'],
			buckets: [
				{ lo: null, hi: 0, count: 2 },
				{ lo: 10, hi: null, count: 1 },
			],
		},
	]);
	assert.deepEqual(got.aggregations[1].ticks, [
		{ time: when, node: "a@h", keys: ["=1+1"], value: -7 },
	]);
	assert.deepEqual(
		JSON.parse(toJSON(r, [r.aggregations.get("t")], { from: 0, to: 1 })).aggregations[0]
			.ticks,
		[],
	);
});

test("the log: lines, parts of lines, stacks; the oldest go", () => {
	const log = new Log();
	log.line({ type: "printf", values: [], text: "a" });
	log.line({ type: "printf", values: [], text: "b\nc\n" });
	log.line({ type: "probe" });
	log.line({ type: "ustack", values: [["f+0x1", "g"]] });
	log.line({ type: "trace", values: [5] });
	assert.deepEqual(
		log.entries.map((e) => e.text),
		["ab", "c", "    f+0x1", "    g", "5"],
	);
	for (let i = 0; i < 10000; i++) log.note("printf", String(i));
	assert.ok(log.entries.length < 5000);
	assert.equal(log.count, 10005);
});

test("a tree of stacks, its boxes and its table", () => {
	const root = buildTree([
		{ keys: [["m`c+0x4", "b (b.erl:3)", "a"]], value: 3 },
		{ keys: [["b", "a"]], value: 1 },
		{ keys: [["a", "b", "a"]], value: 2 },
	]);
	assert.equal(root.value, 6);
	const a = root.children.get("a");
	assert.deepEqual([a.value, a.self, a.children.get("b").self], [6, 0, 1]);
	const { boxes, depth } = layout(root);
	assert.equal(depth, 4);
	const c = boxes.find((x) => x.node.name === "m`c");
	assert.equal(c.w, 0.5);
	assert.equal(findAgain(root, c.node), c.node);
	assert.deepEqual(
		frameTable(root).find((f) => f.name === "a"),
		{ name: "a", self: 2, total: 6 },
	);
	const keyed = buildTree([{ keys: ["node", ["x"]], value: 1 }]);
	assert.equal(keyed.children.get("node").children.get("x").self, 1);
});

// [text, type] of each token that has a type
function tokens(source) {
	const d = tokenizer(readWords());
	const state = d.startState();
	const out = [];
	for (const line of source.split("\n")) {
		const stream = new StringStream(line, 8, 2);
		while (!stream.eol()) {
			stream.start = stream.pos;
			const type = d.token(stream, state);
			assert.ok(stream.pos > stream.start, "goes on");
			if (type) out.push([stream.current(), type]);
		}
	}
	return out;
}

test("D: probes, predicates, variables, comments", () => {
	const got = tokens(`#pragma D option quiet
/* a
 comment */ erlang*:lists:seq/2:function-entry
/self->at && arg0 / 2/
{
	@time[copyinstr(arg1)] = lquantize(timestamp - $1, 0, 0x3f, 2); // end
	printf("%d \\"x\\"", 'c');
}
tick-1s, BEGIN { x = y ? 1 : 2; }`);
	const of = (text) => got.find(([t]) => t === text)?.[1];
	assert.equal(got[0][1], "meta");
	assert.equal(of("/* a"), "comment");
	assert.equal(of(" comment */"), "comment");
	assert.equal(of("erlang*:lists:seq/2:function-entry"), "labelName");
	assert.equal(of("self"), "keyword");
	assert.equal(of("@time"), "typeName");
	assert.equal(of("copyinstr"), "variableName.function");
	assert.equal(of("lquantize"), "variableName.function");
	assert.equal(of("arg1"), "variableName.standard");
	assert.equal(of("$1"), "variableName.special");
	assert.equal(of("0x3f"), "number");
	assert.equal(of("// end"), "comment");
	assert.equal(of('"%d \\"x\\""'), "string");
	assert.equal(of("tick-1s"), "labelName");
	assert.equal(of("BEGIN"), "labelName");
	assert.equal(of("x"), "variableName");
	assert.equal(of(":"), "operator");
});

test("D: every script of the library is read to its end", () => {
	const dir = new URL("../../scripts/", import.meta.url);
	for (const name of readdirSync(dir).filter((n) => n.endsWith(".d")))
		assert.ok(tokens(readFileSync(new URL(name, dir), "utf8")).length > 5, name);
});

test("where a probe can stand", () => {
	const at = (text) => probeTextAt(text, text.length);
	assert.equal(at("erlang*:li"), "erlang*:li");
	assert.equal(at("BEGIN { x = 1; }\nerlang*:lists:seq/2:fun"), "erlang*:lists:seq/2:fun");
	assert.equal(at("a:b:c:d,\nerl"), "erl");
	assert.equal(at("BEGIN { x"), null);
	assert.equal(at("a:::b /x"), null);
	assert.equal(at("a:::b /x/ { y(); }\ne:"), "e:");
	assert.equal(at("/* e:"), null);
	assert.equal(at("#pragma D option x"), null);
	assert.equal(at("// a { \ne:"), "e:");
});

test("the compiler's tables are read", () => {
	const words = readWords();
	const get = (name) => words.find((w) => w.name === name);
	assert.equal(get("arg0").kind, "variable");
	assert.equal(get("quantize").kind, "aggregation");
	assert.equal(get("printf").kind, "action");
	assert.equal(get("quiet").kind, "option");
	assert.deepEqual([get("erlproc").kind, get("erlargs").kind, get("erlarg").kind], ["variable", "variable", "function"]);
	// every built-in of the table, but those for the D libraries of lib/
	const table = readFileSync(new URL("../../c_src/prog/builtins.def", import.meta.url), "utf8");
	const names = [...table.matchAll(/^D_[BPR]\w+\("(\w+)"/gm)].map((m) => m[1]);
	assert.deepEqual(names.filter((n) => !get(n)), []);
	assert.equal(prototype("i:s[n"), "int (string[, integer])");
});

test("signatures: optional arguments, and functions without a result", () => {
	assert.equal(prototype("n[n"), "(integer[, integer])");
	assert.equal(prototype("ncc[cn"), "(integer, constant, constant[, constant[, integer]])");
	assert.equal(prototype("S:[cc"), "stack ([constant[, constant]])");
	assert.equal(prototype(""), "()");
	assert.equal(prototype("v:f*"), "void (format, ...)");
	for (const { name, kind, detail } of readWords()) {
		if (!["function", "action", "aggregation"].includes(kind)) continue;
		assert.match(detail, /^(?:(?:void|void \*|int|int64_t|uint64_t|string|stack|symbol|term_t) )?\(.*\)$/, name);
		assert.equal(detail.split("[").length, detail.split("]").length, `${name} ${detail}`);
		assert.equal(/^\(/.test(detail), kind === "aggregation", name);
	}
});

test("the head of a script of the library tells its arguments", () => {
	const dir = new URL("../../scripts/", import.meta.url);
	const of = (name) => argumentsOf(readFileSync(new URL(name, dir), "utf8"));
	assert.equal(of("busy.d").names, "[for=SECONDS] [rows=N]");
	assert.equal(of("busy.d").about, "how many seconds to run (until ^C); how many of the busiest to show (10).");
	assert.equal(of("slowwrite.d").names, "module=NAME [over=MICROSECONDS] [for=SECONDS]");
	assert.deepEqual(argumentsOf("BEGIN { exit(0); }"), { names: "", about: "" });
	for (const name of readdirSync(dir).filter((n) => n.endsWith(".d")))
		assert.ok(of(name).names && of(name).about, name);
});

test("what normalize() divides has the unit that it is divided to", () => {
	assert.equal(dividedUnit("ns", 1), "ns");
	assert.equal(dividedUnit("ns", 1000), "us");
	assert.equal(dividedUnit("ns", 1e9), "s");
	assert.equal(dividedUnit("us", 1000), "ms");
	assert.equal(dividedUnit("ns", 60e9), "none");
	assert.equal(dividedUnit("ns", 5), "ns");
	assert.equal(dividedUnit("bytes", 1024), "none");
	assert.equal(dividedUnit("bytes", 3), "bytes");
	assert.equal(number(1748, dividedUnit("ns", 1000)), number(1748000, "ns"));
});

test("a cost that is not known is no zero", () => {
	const r = new Run({ id: 1, script: "", nodes: [], hz: 10, args: [], clock: () => 0 });
	const tick = (node, cost) => r.line({ type: "tick", node, time: 0, aggregations: [], fired: 1, cost });
	tick("", null);
	assert.equal(r.cost, null);
	assert.equal(costText(r.cost), "unknown");
	tick("a@h", 0);
	assert.equal(costText(r.cost), "0.0 %");
	tick("b@h", 2.5);
	assert.equal(r.cost, 2.5);
});

test("which way function probes go, of all nodes", () => {
	const r = new Run({ id: 1, script: "", nodes: [], hz: 10, args: [], clock: () => 0 });
	const calls = (node, way, more = {}) =>
		r.line({ type: "calls", node, way, functions: 1, traced: [], why: "", ...more });
	assert.equal(callsText(r), "");
	calls("a@h", "none", { functions: 0 });
	assert.equal(callsText(r), "");
	assert.doesNotMatch(callsTitle(r), /a@h/);
	calls("b@h", "fast");
	assert.equal(callsText(r), "fast");
	calls("c@h", "traced", { functions: 12, why: "this VM is not known" });
	assert.equal(callsText(r), "fast, traced");
	assert.match(callsTitle(r), /\nb@h: fast, 1 function\nc@h: traced, 12 functions \(this VM is not known\)$/);
	const one = new Run({ id: 1, script: "", nodes: [], hz: 10, args: [], clock: () => 0 });
	const traced = [{ why: "global-function-entry", functions: 3, example: "lists:seq/2" }];
	one.line({ type: "calls", node: "a@h", way: "fast", functions: 9, traced, why: "" });
	assert.equal(callsText(one), "fast, traced");
	const counted = new Run({ id: 1, script: "", nodes: [], hz: 10, args: [], clock: () => 0 });
	counted.line({ type: "calls", node: "a@h", way: "fast", functions: 0, counted: 3, traced: [], why: "" });
	assert.equal(callsText(counted), "counted");
	assert.match(callsTitle(counted), /fast, 0 functions; counted by the VM: 3$/);
	assert.match(callsTitle(one), /fast, 9 functions; traced: lists:seq\/2 and 2 more \(global-function-entry\)$/);
});

test("scripts in the address", () => {
	const script = 'BEGIN { printf("ü~?>"); }';
	assert.deepEqual(readFragment(scriptFragment(script)), { token: null, script, args: "" });
	assert.deepEqual(readFragment("#token=ab12"), { token: "ab12", script: null, args: "" });
	assert.equal(readFragment("#script=***").script, null);
	assert.ok(/^#script=[\w-]*$/.test(scriptFragment(script)));
});

test("nothing of the page makes HTML or code out of text", () => {
	const dir = new URL("../src/", import.meta.url);
	for (const name of readdirSync(dir).filter((n) => n.endsWith(".js"))) {
		const text = readFileSync(new URL(name, dir), "utf8");
		assert.doesNotMatch(
			text,
			/innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|https?:\/\//,
			name,
		);
	}
});

test("probes are offered by interest: general ones, the node's, numbered ones last", () => {
	const names = ["message-send", "gc_minor-end", "process-spawn", "function-entry", "function-entry"];
	const found = ["erlang*:::user_trace-n3", "erlang*:lists:seq/2:function-entry"];
	assert.deepEqual(offer("erlang*:", names, found), [
		"erlang*:::function-entry",
		"erlang*:::message-send",
		"erlang*:::process-spawn",
		"erlang*:::gc_minor-end",
		found[1],
		found[0],
	]);
	assert.deepEqual(offer("erlang*:::spawn", names, []), ["erlang*:::process-spawn"]);
	assert.deepEqual(offer("erlang*:lists:", names, found), [found[1], found[0]]);
	// without its star no probe would match
	assert.equal(offer(meant("erlang:::spawn"), names, [])[0], "erlang*:::process-spawn");
	assert.deepEqual(["erlang1:", "erlang*:l", "erlan"].map(meant), ["erlang1:", "erlang*:l", "erlan"]);
	const known = readWords().filter((w) => w.kind === "probe").map((w) => w.name);
	assert.ok(known.includes("process-spawn") && known.includes("function-return"));
	assert.ok(!known.includes("efile_drv-entry"));
});

test("numbers are read as they are written", () => {
	assert.equal(readNumber("1 ms", "ns"), 1e6);
	assert.equal(readNumber("1.5us", "ns"), 1500);
	assert.equal(readNumber("250 µs", "ms"), 0.25);
	assert.equal(readNumber("2 s", "us"), 2e6);
	assert.equal(readNumber("64 KiB", "bytes"), 65536);
	assert.equal(readNumber("20k"), 20000);
	assert.equal(readNumber("20", "us"), 20);
	assert.equal(readNumber("-3"), -3);
	for (const text of ["", "x", "1 ms", "1.2.3", "-"]) assert.equal(readNumber(text), null);
});

test("frames without a symbol are one by library, the end of a walk is none", () => {
	const root = buildTree([
		{ keys: [["beam.smp`copy+0x8", "libc.so.6`0x7f605dea71f5", "0x0"]], value: 2 },
		{ keys: [["beam.smp`copy+0x9", "libc.so.6`0x7fca0e9c71f5"]], value: 3 },
		{ keys: [["0x7f12", "lists:map/2"]], value: 1 },
	]);
	assert.deepEqual([...root.children.keys()], ["[libc.so.6]", "lists:map/2"]);
	assert.equal(root.children.get("[libc.so.6]").children.get("beam.smp`copy").value, 5);
	assert.equal(root.children.get("lists:map/2").children.get("[unknown]").self, 1);
});

test("frames: lines are noted, kinds told apart, the kernel is on top", () => {
	const root = buildTree(
		[
			{ keys: [["m:f/0 (m.erl:3)", "m:g/0 (m.erl:9)"], "erlang"], value: 3 },
			{ keys: [["m:f/0 (m.erl:4)", "m:g/0 (m.erl:9)"], "erlang"], value: 1 },
			{ keys: [["erlang:md5/1", "m:g/0 (m.erl:8)"], "bif"], value: 5 },
			{ keys: [["c:n/0", "m:g/0 (m.erl:8)"], "dirty"], value: 2 },
			{ keys: [["(garbage collection)", "m:g/0 (m.erl:8)"], "gc"], value: 1 },
			{ keys: [["beam.smp+0x1c0aa", "m:g/0 (m.erl:8)"], "vm"], value: 1 },
			{ keys: [["(scheduler)"], "scheduler"], value: 1 },
		],
		1,
	);
	const g = root.children.get("m:g/0");
	assert.deepEqual([...g.lines], [["9", 4], ["8", 9]]);
	assert.equal(g.file, "m.erl");
	assert.equal(g.children.get("m:f/0").self, 4);
	assert.deepEqual(
		[...g.children.values(), root.children.get("(scheduler)")].map((n) => [n.name, kindOf(n)]),
		[
			["m:f/0", "erlang"],
			["erlang:md5/1", "bif"],
			["c:n/0", "nif"],
			["(garbage collection)", "gc"],
			["[beam.smp]", "native"],
			["(scheduler)", "scheduler"],
		],
	);
	assert.equal(kindOf(g), "erlang");
	assert.equal(valueOf(root, (name) => name.startsWith("m:")), 13);
	const keyed = buildTree([{ keys: [["vmlinux`in+0x1"], "k;1", ["libc.so.6`read+0x1", "m:f/0"]], value: 2 }]);
	assert.deepEqual([...folded(keyed)], ["k:1;m:f/0;libc.so.6`read;vmlinux`in 2\n"]);
	assert.equal(kindOf(keyed.children.get("k;1")), "key");
	assert.deepEqual([...folded(buildTree([{ keys: [[]], value: 1 }]))], ["(no stack) 1\n"]);
});

test("the menu's search finds the script of that name first", () => {
	const folder = new URL("../../scripts/", import.meta.url);
	const all = readdirSync(folder)
		.filter((f) => f.endsWith(".d"))
		.map((f) => ({ name: f.slice(0, -2), title: readFileSync(new URL(f, folder), "utf8").slice(0, 400) }));
	for (const { name } of all) {
		assert.equal(findScripts(all, name)[0].name, name);
		assert.equal(findScripts(all, ` ${name.toUpperCase()}`)[0].name, name);
	}
	const list = [{ name: "b", title: "an ox" }, { name: "fox" }, { name: "oxen" }, { name: "cow" }];
	assert.deepEqual(findScripts(list, "ox").map((s) => s.name), ["oxen", "fox", "b"]);
	assert.equal(findScripts(list, "").length, 4);
});

const library = (name) => readFileSync(new URL(`../../scripts/${name}.d`, import.meta.url), "utf8");

test("a script's parameters, from its head", () => {
	assert.deepEqual(parametersOf(library("exceptions")), [
		{
			name: "module",
			needed: true,
			about: "functions of these modules, a name or a pattern like 'my_*'",
			otherwise: "",
			gap: "",
		},
		{ name: "for", needed: false, about: "how many seconds to run (until ^C)", otherwise: "until stopped", gap: "0" },
		{ name: "rows", needed: false, about: "how many rows to show (all)", otherwise: "all", gap: "0" },
	]);
	const short = (name) => parametersOf(library(name)).map((p) => `${p.name}${p.needed ? "" : `=${p.otherwise}`}`);
	assert.deepEqual(short("flow"), ["module", "function", "for=until stopped", "one in=1"]);
	assert.deepEqual(short("heat"), ["module=all", "for=until stopped"]);
	assert.deepEqual(short("top"), ["sort=reductions", "for=until stopped", "rows=20"]);
	assert.deepEqual(parametersOf("BEGIN { exit($1); }"), []);
	const needing = readdirSync(new URL("../../scripts/", import.meta.url))
		.filter((f) => f.endsWith(".d"))
		.map((f) => f.slice(0, -2))
		.filter((n) => parametersOf(library(n)).some((p) => p.needed));
	assert.deepEqual(needing, ["deadline", "exceptions", "flow", "flowheat", "info", "slowwrite", "states"]);
	for (const name of ["locks", "slowwrite", "syscalls"]) assert.ok(needsKernel(library(name)));
	assert.ok(!needsKernel(library("cpu")));
});

test("fields of parameters write the arguments, with what stands for those before", () => {
	const wall = parametersOf(library("wall"));
	assert.equal(withArgument(wall, [], 2, "my server"), '0 30 "my server"');
	assert.equal(withArgument(wall, ["5"], 1, "7"), "5 7");
	assert.equal(withArgument(wall, ["5", "7"], 1, ""), "5");
	assert.equal(withArgument(parametersOf(library("calls")), [], 1, "3"), '"" 3');
	assert.deepEqual(splitArgs('"" 3'), ["", "3"]);
});

test("completion keeps the provider that was typed, and writes no number of a VM", () => {
	const found = ["erlang26912:lists:seq/2:function-entry", "erlang26912:::process-spawn", "erlang77:::process-spawn"];
	const given = (text) => offer(text, [], found).slice(0, 2);
	assert.deepEqual(given("erlang*:l"), ["erlang*:lists:seq/2:function-entry", "erlang*:::process-spawn"]);
	assert.deepEqual(given("erl*:l")[0], "erl*:lists:seq/2:function-entry");
	assert.deepEqual(given("spawn")[1], "erlang*:::process-spawn");
	assert.deepEqual(given("erlang26912:l")[0], found[0]);
	assert.equal(offer("erlang*:", [], found).length, 2);
	assert.deepEqual(offer("sysc", [], ["syscall::read:entry"]), ["syscall::read:entry"]);
});

test("built-ins of a provider have their colour", () => {
	const kinds = new Map(tokens("x { @[erlproc] = count(); erlarg(0); }"));
	assert.deepEqual([kinds.get("erlproc"), kinds.get("erlarg")], ["variableName.standard", "variableName.function"]);
});
