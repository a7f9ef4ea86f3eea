// SPDX-License-Identifier: Apache-2.0
// What --perfetto, --otlp and snapshots make, read by code that is not ours, for test/node/flows.sh
// and test/node/snapshot.sh:
//	node flow_readers.js trace FILE	Chrome's own engine of traces (@paulirish/trace_engine)
//	node flow_readers.js tracks FILE	the same: instants by tracks, of a snapshot's
//timeline 	node flow_readers.js otlp FILE	the published schema
//(@opentelemetry/otlp-transformer); a post a line
// Prints what it understood, sorted, without times.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);

function say(lines) {
	const counts = new Map();
	for (const l of lines) counts.set(l, (counts.get(l) ?? 0) + 1);
	for (const [l, n] of [...counts].sort()) console.log(`${n} ${l}`);
}

async function trace(file) {
	const engine = "@paulirish/trace_engine/models/trace";
	const Flows = await import(`${engine}/handlers/FlowsHandler.js`);
	const Tree = await import(`${engine}/helpers/TreeHelpers.js`);
	const Trace = await import(`${engine}/helpers/Trace.js`);
	const events = JSON.parse(readFileSync(file, "utf8")).traceEvents;
	Trace.sortTraceEventsInPlace(events);
	const names = new Map();
	for (const e of events)
		if (e.ph === "M") names.set(`${e.name} ${e.pid} ${e.tid}`, e.args.name);
	const node = (e) => names.get(`process_name ${e.pid} 0`).replace(/@.*/, "");
	const who = (e) => `${names.get(`thread_name ${e.pid} ${e.tid}`)} on ${node(e)}`;
	const lines = [];
	// Slices of each thread: each in at most one other, none across another.
	const threads = new Map();
	for (const e of events.filter((x) => x.ph === "X")) {
		const at = `${e.pid} ${e.tid}`;
		threads.set(at, [...(threads.get(at) ?? []), e]);
	}
	for (const slices of threads.values()) {
		const { entryToNode } = Tree.treify(slices, { filter: { has: () => true } });
		for (const [e, n] of entryToNode) {
			if (n.parent && e.ts + e.dur > n.parent.entry.ts + n.parent.entry.dur + 0.0005)
				lines.push(`across: ${e.name} and ${n.parent.entry.name}`);
			lines.push(`slice of ${who(e)}: ${n.parent ? `${n.parent.entry.name} > ` : ""}${e.name}`);
		}
	}
	Flows.reset();
	for (const e of events) Flows.handleEvent(e);
	await Flows.finalize();
	for (const [from, to] of Flows.data().flows)
		lines.push(`arrow from ${who(from)} to ${who(to)}: ${from.name}, ${to.name}`);
	const pairs = events.filter((e) => "be".includes(e.ph));
	for (const e of Trace.createMatchedSortedSyntheticEvents(pairs))
		lines.push(`${e.cat}: ${e.name}, ${e.dur > 0}`);
	say(lines);
}

async function tracks(file)
{
	const engine = "@paulirish/trace_engine/models/trace";
	const Meta = await import(`${engine}/handlers/MetaHandler.js`);
	const Trace = await import(`${engine}/helpers/Trace.js`);
	const events = JSON.parse(readFileSync(file, "utf8")).traceEvents;
	Trace.sortTraceEventsInPlace(events);
	Meta.reset();
	for (const e of events)
		Meta.handleEvent(e);
	const {processNames, threadsInProcess} = Meta.data();
	say(
		events.filter((e) => e.ph === "i").map((e) => {
			const thread = threadsInProcess.get(e.pid)?.get(e.tid);
			return `${processNames.get(e.pid)?.args.name}, ${thread?.args.name}: ${
				e.name}, ${e.args.text}`;
		}),
	);
}

const attribute = (list, key) => {
	const v = list.find((a) => a.key === key)?.value;
	return v?.stringValue ?? (v?.intValue !== undefined ? String(v.intValue) : v?.boolValue);
};

function otlp(file) {
	const root = require("@opentelemetry/otlp-transformer/build/src/generated/root.js");
	const Request = root.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
	const hex = (b) => Buffer.from(b ?? []).toString("hex");
	const spans = [];
	const lines = [];
	for (const line of readFileSync(file, "utf8").trim().split("\n")) {
		const object = JSON.parse(line);
		// JSON has these as hexadecimal digits, protocol buffers as bytes
		const text = JSON.stringify(object, (k, v) =>
			["traceId", "spanId", "parentSpanId"].includes(k) ? Buffer.from(v, "hex").toString("base64") : v,
		);
		const given = JSON.parse(text);
		const message = Request.fromObject(given);
		const wrong = Request.verify(message);
		if (wrong) lines.push(`not by the schema: ${wrong}`);
		// What the schema does not know would be gone.
		const back = Request.toObject(Request.decode(Request.encode(message).finish()), {
			longs: String, bytes: String, json: true,
		});
		lostIn(given, back, "").forEach((l) => lines.push(`not in the schema: ${l}`));
		for (const r of message.resourceSpans)
			for (const s of r.scopeSpans) for (const span of s.spans) spans.push({ span, resource: r.resource });
	}
	const byId = new Map(spans.map((s) => [`${hex(s.span.traceId)} ${hex(s.span.spanId)}`, s]));
	if (byId.size !== spans.length) lines.push("two spans have one number");
	for (const { span, resource } of spans) {
		const parent = byId.get(`${hex(span.traceId)} ${hex(span.parentSpanId)}`);
		const kids = hex(span.parentSpanId) ? (parent ? `in ${parent.span.name}` : "WITHOUT PARENT") : "root";
		const times = BigInt(span.endTimeUnixNano.toString()) >= BigInt(span.startTimeUnixNano.toString());
		const after = !parent || BigInt(span.startTimeUnixNano.toString()) >= BigInt(parent.span.startTimeUnixNano.toString());
		lines.push(
			`${attribute(resource.attributes, "service.name").replace(/@.*/, "")}: ${span.name} ${kids}, kind ${span.kind}, ${attribute(span.attributes, "erlang.message") ?? attribute(span.attributes, "code.function.name")}${times && after ? "" : " BACK IN TIME"}${hex(span.traceId).length === 32 && hex(span.spanId).length === 16 ? "" : " BAD NUMBER"}`,
		);
	}
	lines.push(...[...new Set(spans.map((s) => hex(s.span.traceId)))].map(() => "trace"));
	say(lines);
}

// Members of a that b does not have. Defaults are left out by protocol buffers.
function lostIn(a, b, at) {
	if (a === null || typeof a !== "object") return [];
	return Object.keys(a).flatMap((k) => {
		if (b?.[k] === undefined) return a[k] === 0 || a[k] === "" || a[k] === "0" || a[k] === false ? [] : [`${at}.${k}`];
		return lostIn(a[k], b[k], `${at}.${k}`);
	});
}

const [how, file] = process.argv.slice(2);
await{otlp, trace, tracks}[how](file);
