// SPDX-License-Identifier: Apache-2.0
// A run of a script as the page knows it: built from the lines that come, asked by the views. No DOM.
import { Flows } from "./flows.js";
import { BucketSet } from "./buckets.js";
import { dividedUnit, guessUnit, keyText } from "./format.js";
import {
	CellTimeline,
	ValueTimeline,
	encodeValues,
	visitCells,
	visitValues,
	writer,
} from "./history.js";
import { Log } from "./log.js";
import { Series } from "./series.js";
import { scratch } from "./wire.js";

const BUDGET = 64 << 20; // bytes of history for a run, all aggregations together
export const SPARK = 60; // seconds of a spark line
// A script that a lost connection has ended is started again: so many ms after it was heard of last, so many
// times at most within so many ms.
const RESUME = 60e3;
const RESUMES = 3;
const RESUMES_IN = 300e3;
const QUIET = 4000; // ms without a tick: the node does not answer
const RELEASE = 5; // seconds between looks whether keys can be released
const SHOWN = 60; // seconds that are shown, if nobody says otherwise

export const isDistribution = (fn) => fn.endsWith("quantize") || fn === "percentile";

class Aggregation {
	constructor(run, shape) {
		this.run = run;
		this.name = shape.aggregation;
		this.fn = shape.function;
		this.params = shape.params ?? [];
		this.nkeys = shape.keys ?? null;
		this.series = new Series(run.nodeNames);
		this.rawUnit = guessUnit(run.script, this.name); // of values as they come
		this.normal = 1; // what normalize() divides what is shown by
		this.hasStacks = false;
	}

	get unit() {
		return dividedUnit(this.rawUnit, this.normal);
	}

	get title() {
		return this.name === "_" ? "@" : `@${this.name}`;
	}

	lookAt(keys) {
		this.nkeys ??= keys.length;
		if (!this.hasStacks && keys.some(Array.isArray)) {
			this.hasStacks = true;
			this.run.shapeVersion++;
		}
	}
}

export class Distribution extends Aggregation {
	constructor(run, shape) {
		super(run, shape);
		this.buckets = new BucketSet(this.fn, this.params);
		this.timeline = new CellTimeline(run.hz, run.budget);
		this.totals = []; // by series: counts since the start, not normalized
		this.total = 0;
		this.watchers = new Set(); // told of slots that changed
		this.maps = new Set(); // its pictures
		this.other = null; // the same of another run, which it is compared with
	}

	// Counts are normalized, not values.
	get unit() {
		return this.rawUnit;
	}

	// The percentages that are named: those of the script, if it has some.
	get percents() {
		return this.fn === "percentile" && this.params.length ? this.params : [50, 90, 99];
	}

	// Compared with another, or with none: both have one axis and one scale of colours.
	compare(other) {
		this.other = other;
		this.buckets.beside(other?.buckets ?? null);
	}

	add(node, slot, items) {
		const { buckets } = this;
		for (const item of items) {
			this.lookAt(item.keys);
			const series = this.series.id(node, item.keys, slot, this.timeline.first);
			const { from, to } = Array.isArray(item.buckets)
				? scratch.load(item.buckets)
				: item.buckets;
			const { lo, hi, count } = scratch;
			let sum = 0;
			writer.head(series, to - from);
			for (let i = from, id = -1; i < to; i++) {
				id = buckets.idAfter(id, lo[i], hi[i]);
				writer.cell(id, count[i]);
				sum += count[i];
			}
			this.count(series, sum);
			this.total += sum;
		}
		this.timeline.add(slot, writer.take());
		for (const w of this.watchers) w(slot);
	}

	count(series, n) {
		this.totals[series] = (this.totals[series] ?? 0) + n;
	}

	release(since) {
		this.series.release(
			since,
			(id) => this.totals[id] ?? 0,
			(from, to) => {
				this.count(to, this.totals[from] ?? 0);
				this.totals[from] = 0;
			},
		);
	}

	// By key index, normalized.
	countsSinceStart(nodeShown = () => true) {
		const sums = new Map();
		this.totals.forEach((n, series) => {
			if (!n || !nodeShown(this.series.node[series])) return;
			const key = this.series.key[series];
			sums.set(key, (sums.get(key) ?? 0) + n / this.normal);
		});
		return sums;
	}

	// Likewise of a part of the picture: of slots, and of a band of values {lo, hi}; without them, of all there is.
	countsIn({ from = 0, to, band }, nodeShown) {
		const inside = ({ lo, hi }) =>
			(lo ?? -Infinity) >= (band.lo ?? -Infinity) && (hi ?? Infinity) <= (band.hi ?? Infinity);
		const ids = band && new Set(this.buckets.all.flatMap((b, id) => (inside(b) ? [id] : [])));
		const first = Math.max(from, this.timeline.first);
		return this.countsByKey(first, Math.min(to, this.timeline.last + 1), ids, nodeShown);
	}

	// Counts by key index of the slots from..to-1, those in `rows` (a Set of bucket ids; null: all).
	countsByKey(from, to, ids, nodeShown) {
		const sums = new Map();
		for (let s = from; s < to; s++) {
			for (const part of this.timeline.parts(s) ?? []) {
				visitCells(part, (series, id, n) => {
					if (
						(ids && !ids.has(id)) ||
						!nodeShown(this.series.node[series])
					)
						return;
					const key = this.series.key[series];
					sums.set(key, (sums.get(key) ?? 0) + n / this.normal);
				});
			}
		}
		return sums;
	}
}

// How two values of the same key become one; `into` has value and weight.
const COMBINE = {
	count(into, value) {
		into.value += value;
	},
	sum(into, value) {
		into.value += value;
	},
	min(into, value) {
		into.value = Math.min(into.value, value);
	},
	max(into, value) {
		into.value = Math.max(into.value, value);
	},
	avg(into, value, weight) {
		const all = into.weight + weight;
		if (all > 0) into.value += ((value - into.value) * weight) / all;
		into.weight = all;
	},
	stddev(into, value, weight) {
		const all = into.weight + weight;
		if (all > 0)
			into.value = Math.sqrt(
				(into.value ** 2 * into.weight + value ** 2 * weight) / all,
			);
		into.weight = all;
	},
};

export const adds = (fn) => fn === "count" || fn === "sum";

export class Scalar extends Aggregation {
	constructor(run, shape) {
		super(run, shape);
		this.combine = COMBINE[this.fn] ?? COMBINE.sum;
		this.timeline = new ValueTimeline(run.hz, run.budget, this.combine);
		this.state = []; // by series: {value, weight, now, spark}, not normalized
		this.second = -1; // the second `now` is of
	}

	add(node, slot, items) {
		this.roll(Math.floor(slot / this.run.hz));
		const entries = [];
		for (const item of items) {
			if (typeof item.value !== "number") continue;
			this.lookAt(item.keys);
			const entry = {
				series: this.series.id(node, item.keys, slot, this.timeline.first),
				value: item.value,
				weight: item.count ?? 1,
			};
			const s = this.stateOf(entry.series);
			this.into(s, "value", "weight", entry);
			this.into(s, "now", "nowWeight", entry);
			entries.push(entry);
		}
		this.timeline.add(slot, encodeValues(entries));
	}

	stateOf(series) {
		return (this.state[series] ??= {
			value: null,
			weight: 0,
			now: null,
			nowWeight: 0,
			spark: new Float32Array(SPARK).fill(NaN),
		});
	}

	release(since) {
		this.series.release(
			since,
			(id) => Math.abs(this.state[id]?.value ?? 0),
			(from, to) => {
				const { value, weight } = this.state[from];
				this.into(this.stateOf(to), "value", "weight", { value, weight });
				this.state[from] = null;
			},
		);
	}

	into(s, value, weight, entry) {
		if (s[value] === null) {
			s[value] = entry.value;
			s[weight] = entry.weight;
			return;
		}
		const both = { value: s[value], weight: s[weight] };
		this.combine(both, entry.value, entry.weight);
		s[value] = both.value;
		s[weight] = both.weight;
	}

	// A new second begins: what `now` had becomes a point of the spark line.
	roll(second) {
		if (second <= this.second) return;
		if (this.second >= 0) {
			const quiet = adds(this.fn) ? 0 : NaN;
			for (const s of this.state) {
				if (!s) continue;
				for (let t = Math.max(this.second, second - SPARK); t < second; t++)
					s.spark[t % SPARK] =
						t === this.second ? (s.now ?? quiet) : quiet;
				s.now = null;
				s.nowWeight = 0;
			}
		}
		this.second = second;
	}

	// The points of some series' spark line, oldest first, of full seconds only.
	spark(seriesList) {
		const out = new Float64Array(SPARK).fill(NaN);
		for (let i = 0; i < SPARK; i++) {
			const both = { value: NaN, weight: 0 };
			for (const id of seriesList) {
				const v = this.state[id]?.spark[(this.second + i) % SPARK];
				if (!(v === v)) continue;
				if (both.value === both.value) this.combine(both, v, 1);
				else {
					both.value = v;
					both.weight = 1;
				}
			}
			out[i] = both.value / this.normal;
		}
		return out;
	}

	// By key index {value, series}, normalized: since the start, or in the slots of `range`. What a range that is
	// over had is kept.
	byKey(nodeShown, range) {
		if (range) {
			const nodes = this.run.nodeNames
				.map((_, i) => (nodeShown(i) ? 1 : 0))
				.join("");
			const name = `${range.from} ${range.to} ${nodes} ${Math.min(range.to, this.timeline.last)} ${this.normal} ${this.series.released}`;
			this.kept ??= new Map();
			if (!this.kept.has(name)) {
				if (this.kept.size > 16) this.kept.clear();
				this.kept.set(name, this.sums(nodeShown, range));
			}
			return this.kept.get(name);
		}
		return this.sums(nodeShown, null);
	}

	sums(nodeShown, range) {
		const out = new Map();
		const put = (series, value, weight) => {
			if (value === null || !nodeShown(this.series.node[series])) return;
			const key = this.series.key[series];
			const have = out.get(key);
			if (!have) out.set(key, { value, weight, series: [series] });
			else {
				this.combine(have, value, weight);
				if (!have.series.includes(series)) have.series.push(series);
			}
		};
		if (!range) this.state.forEach((s, id) => s && put(id, s.value, s.weight));
		else {
			for (let slot = range.from; slot < range.to; slot++)
				for (const part of this.timeline.parts(slot) ?? [])
					visitValues(part, put);
		}
		if (this.normal !== 1) for (const got of out.values()) got.value /= this.normal;
		return out;
	}
}

export class Run {
	constructor({ id, script, nodes, hz, args, clock = Date.now }) {
		Object.assign(this, { id, source: script, nodes, hz, args, clock });
		// Without comments: what they say is not meant for guessing units and keys.
		this.script = script.replace(/\/\*[^]*?\*\/|\/\/.*/g, " ");
		this.budget = BUDGET;
		this.phase = "starting"; // starting, running, away (no connection), stopping, ended
		this.startedAt = clock();
		this.heardAt = this.startedAt;
		this.resumed = []; // when it was started again
		this.endedAt = null;
		this.end = null; // {reason, code, message}
		this.nodeNames = [];
		this.nodeInfo = []; // by node: {slot, skew, fired, cost, calls, fires, normals, heard, gone}
		this.aggregations = new Map();
		this.shapeVersion = 0;
		this.firstSlot = -1;
		this.lastSlot = -1;
		this.ticks = 0;
		this.log = new Log();
		this.flows = null; // requests; null: the script follows none
		this.form = null; // of the menu `Follow`, if the script is of that
		this.drops = new Map(); // kind -> {total, message}
		this.compileErrors = []; // why it did not start, or not on each node
		this.aborts = []; // why it was ended while it ran
		this.armed = false; // a node has started it
		this.faults = new Map(); // "what in line n" -> {count, line, fault, message}
		this.faultCount = 0;
		this.warning = ""; // the last
		this.oldestShown = () => this.lastSlot - SHOWN * this.hz; // a slot: keys not seen since may be released
		this.releasedAt = -1; // slot
	}

	get dropTotal() {
		let n = 0;
		for (const d of this.drops.values()) n += d.total;
		return n;
	}

	// It never ran: there are no results, only errors.
	get failed() {
		return this.compileErrors.length > 0 && !this.armed;
	}

	// Whether what kept it from running is in the script.
	get inScript() {
		return this.compileErrors.some((e) => e.line > 0);
	}
	// Of the node that it costs most; null: nobody knows.
	get cost() {
		const known = this.nodeInfo.filter((n) => !n.gone && n.cost !== null);
		return known.length ? Math.max(...known.map((n) => n.cost)) : null;
	}

	// Milliseconds since a node was heard of, if they are too many; 0: all is well.
	quietFor(info) {
		const ms = this.clock() - info.heard;
		return !info.gone && this.phase === "running" && ms > QUIET + 2000 / this.hz ? ms : 0;
	}
	get fired() {
		return this.nodeInfo.reduce((sum, n) => sum + n.before + (n.fired ?? 0), 0);
	}
	timeOf(slot) {
		return (slot * 1000) / this.hz;
	}

	node(name) {
		let i = this.nodeNames.indexOf(name);
		if (i < 0) {
			i = this.nodeNames.push(name) - 1;
			this.nodeInfo.push({
				slot: -1,
				skew: null,
				fired: 0,
				before: 0, // fired before the script was started again
				cost: null,
				calls: null, // {way, functions, counted, traced, why}: how function probes get their events
				unmatched: [],
				fires: [],
				normals: new Map(), // of the last tick
				heard: this.clock(), // when the last tick came, by our own clock
				gone: false,
			});
			this.shapeVersion++;
		}
		return i;
	}

	// The slot of a tick. Ticks come about once a slot: small jitter must leave no gaps, so a tick takes
	// the slot after the last one's unless the clock is well off that.
	slotOf(info, time) {
		if (info.skew === null) {
			const off = this.clock() - time;
			info.skew = Math.abs(off) > 2000 ? off : 0;
		}
		const exact = Math.floor(((time + info.skew) * this.hz) / 1000);
		const next = info.slot + 1;
		const slack = Math.max(2, Math.ceil(this.hz * 0.4));
		if (info.slot < 0 || exact - next >= slack) info.slot = exact;
		else if (next - exact < slack) info.slot = next;
		return info.slot;
	}

	// Whether it may be started again once there is a connection.
	get canResume() {
		const now = this.clock();
		return (
			this.phase !== "stopping" &&
			now - this.heardAt < RESUME &&
			this.resumed.filter((t) => now - t < RESUMES_IN).length < RESUMES
		);
	}

	// It begins anew, and its results are added to those that are there.
	resume() {
		const now = this.clock();
		this.phase = "starting";
		this.resumed.push(now);
		for (const info of this.nodeInfo) {
			info.before += info.fired;
			Object.assign(info, { fired: 0, fires: [], heard: now, gone: false });
		}
		const gap = Math.round((now - this.heardAt) / 1000);
		this.warn({
			message: `the connection was lost for ${gap} s: the script was started again; its variables begin anew`,
		});
		this.heardAt = now;
	}

	line(line) {
		this.heardAt = this.clock();
		switch (line.type) {
			case "tick":
				return this.tick(line);
			case "shape":
				return this.shape(line);
			case "calls":
				return this.calls(line);
			case "drop":
				return this.drop(line);
			case "nothing":
				return this.log.note("nothing", line.text);
			case "error":
				return this.error(line);
			case "aggregation":
				return this.printed(line);
			case "warning":
				return this.warn(line);
			case "gone":
				return this.gone(line);
			case "unmatched":
				return this.unmatched(line);
			case "flow":
			case "flows":
				return this.flow(line);
			default:
				return void this.log.line(line);
		}
	}

	// A request, or how many there were.
	flow(line) {
		if (!this.flows) {
			this.flows = new Flows();
			this.shapeVersion++;
		}
		if (line.type === "flow") this.flows.add(line);
		else this.flows.totals(line);
	}

	shape(line) {
		this.armed = true;
		if (line.node) this.node(line.node);
		for (const a of line.aggregations) this.aggregation(a);
	}

	calls({ node, way, functions, counted = 0, traced = [], why = "" }) {
		this.nodeInfo[this.node(node)].calls = { way, functions, counted, traced, why };
	}

	aggregation(shape) {
		let a = this.aggregations.get(shape.aggregation);
		if (!a) {
			a = isDistribution(shape.function)
				? new Distribution(this, shape)
				: new Scalar(this, shape);
			this.aggregations.set(a.name, a);
			this.shapeVersion++;
			const n = this.aggregations.size;
			this.budget = BUDGET / n;
			for (const x of this.aggregations.values()) x.timeline.budget = this.budget;
		}
		return a;
	}

	tick(line) {
		const node = this.node(line.node ?? "");
		const info = this.nodeInfo[node];
		const slot = this.slotOf(info, line.time);
		this.ticks++;
		this.armed = true;
		info.heard = this.clock();
		if (this.firstSlot < 0) this.firstSlot = slot;
		this.lastSlot = Math.max(this.lastSlot, slot);
		if (line.fired !== undefined) {
			info.fired = line.fired;
			info.fires.push(line.fired);
			if (info.fires.length > this.hz + 1) info.fires.shift();
		}
		if (line.cost !== undefined) info.cost = line.cost;

		const groups = new Map();
		for (const item of line.aggregations) {
			const list = groups.get(item.aggregation);
			if (list) list.push(item);
			else groups.set(item.aggregation, [item]);
		}
		for (const [name, items] of groups) {
			const { function: fn, keys } = items[0];
			const a =
				this.aggregations.get(name) ??
				this.aggregation({
					aggregation: name,
					function: fn,
					keys: keys.length,
				});
			a.add(node, slot, items);
		}
		// That nothing came is news too: the slot is empty, not unknown.
		for (const a of this.aggregations.values())
			if (!groups.has(a.name)) a.add(node, slot, []);
		if (line.normals || info.normals.size) this.normalize(info, line.normals ?? {});
		if (this.lastSlot - this.releasedAt >= RELEASE * this.hz) {
			this.releasedAt = this.lastSlot;
			for (const a of this.aggregations.values()) a.release(this.oldestShown());
		}
	}

	// What normalize() divides by is for showing only: what came before is divided too. Of several nodes
	// the one that normalized last decides, as in the command.
	normalize(info, normals) {
		const by = new Map(Object.entries(normals));
		for (const a of this.aggregations.values()) {
			const normal = by.get(a.name) ?? 1;
			// Of percentiles it divides the values; the axis has them in their unit.
			if (a.fn === "percentile") continue;
			if (normal === (info.normals.get(a.name) ?? 1)) continue;
			a.normal = normal;
			this.shapeVersion++;
		}
		info.normals = by;
	}

	// Events a second, over the last second.
	get rate() {
		let sum = 0;
		for (const info of this.nodeInfo) {
			const { fires } = info;
			if (fires.length > 1 && !info.gone && !this.quietFor(info))
				sum +=
					((fires[fires.length - 1] - fires[0]) * this.hz) /
					(fires.length - 1);
		}
		return sum;
	}

	drop(line) {
		const at = `${this.resumed.length} ${line.node ?? ""} ${line.kind} ${line.cpu}`;
		this.drops.set(at, {
			kind: line.kind,
			total: line.total ?? (this.drops.get(at)?.total ?? 0) + line.drops,
		});
		this.log.note("drop", line.message, line.node);
	}

	// What the command says beside its results: about the tracing, not by the script.
	warn({ message }) {
		this.warning = message;
		this.log.note("warning", message);
	}

	// A node was lost. The command says why.
	gone({ node }) {
		const info = this.nodeInfo[this.nodeNames.indexOf(node)];
		if (info) info.gone = true;
	}

	// Probe descriptions that match nothing in a node, a sentence each: all of them each time that changes.
	unmatched({ node, descriptions }) {
		const info = this.nodeInfo[this.node(node)];
		for (const text of descriptions)
			if (!info.unmatched.includes(text)) this.log.note("warning", text, node);
		info.unmatched = descriptions;
	}

	error(line) {
		if (line.tag !== undefined) {
			if (this.armed) this.abort(line);
			else this.compileError(line);
			return;
		}
		this.faultCount++;
		const what = `${line.fault ?? "error"} in line ${line.line}`;
		const have = this.faults.get(what);
		if (have) have.count++;
		else {
			const { line: at, fault, message } = line;
			this.faults.set(what, { count: 1, line: at, fault, message });
		}
		this.log.note("error", line.message, line.node);
	}

	// It ran, and a node or the command has ended it (the watchdog, say): what came until then stays.
	abort({ message, node }) {
		if (!this.aborts.includes(message)) this.aborts.push(message);
		this.log.note("error", message, node);
	}

	// Several nodes say the same.
	compileError(e) {
		const same = (x) =>
			x.line === e.line && x.column === e.column && x.message === e.message;
		if (!this.compileErrors.some(same)) this.compileErrors.push(e);
	}

	// What printa() printed. Distributions have their picture; numbers go to the log. What the end prints of a
	// script without printa() is what its lists have.
	printed(line) {
		if (line.buckets || !/\bprinta\b/.test(this.script)) return;
		const value = line.percentiles
			? line.percentiles.map((p) => `p${p.percent} ${p.value}`).join(", ")
			: typeof line.value === "number"
				? String(Math.round(line.value * 1000) / 1000)
				: "–";
		const keys = line.keys.length ? `[${keyText(line.keys)}]` : "";
		this.log.note(
			"printa",
			`@${line.aggregation === "_" ? "" : line.aggregation}${keys}  ${value}`,
			line.node,
		);
	}

	finish(end) {
		this.phase = "ended";
		this.end = end;
		this.endedAt = this.clock();
	}

	// How the aggregations are shown: a heat map each distribution, a flame graph each with stacks, the
	// others side by side in one list for each kind of key.
	views() {
		const views = [];
		const lists = new Map();
		for (const a of this.aggregations.values()) {
			if (isDistribution(a.fn)) views.push({ kind: "heat", id: a.name, agg: a });
			else if (a.hasStacks) views.push({ kind: "flame", id: a.name, agg: a });
			else {
				const names = keyNames(this.script, a.name);
				const group = a.nkeys ? together(this.script, a.name, names) : "";
				let v = lists.get(group);
				if (!v) {
					v = { kind: "list", id: a.name, aggs: [], keyNames: names };
					lists.set(group, v);
					views.push(v);
				}
				v.aggs.push(a);
			}
		}
		return views;
	}
}

// Which list an aggregation with keys belongs to: that of a printa() that prints it with others, or of
// the clause that it is in, by its keys.
function together(script, name, names) {
	for (const m of script.matchAll(/printa\s*\(([^;]*)\)/g)) {
		const all = [...m[1].replace(/"(?:[^"\\]|\\.)*"/g, "").matchAll(/@(\w*)/g)].map(
			(x) => x[1] || "_",
		);
		if (all.length > 1 && all.includes(name)) return `printa ${all.join()}`;
	}
	const at = script.search(new RegExp(`@${name === "_" ? "" : name}\\s*\\[`));
	return `${script.lastIndexOf("{", at)} ${names.join()}`;
}

// The expressions between the brackets of an aggregation, as the script has them.
export function keyNames(script, name) {
	const esc = name === "_" ? "" : name.replace(/\W/g, "");
	const m = new RegExp(`@${esc}\\s*\\[`).exec(script);
	if (!m) return [];
	const out = [];
	let depth = 0;
	let text = "";
	for (let i = m.index + m[0].length; i < script.length; i++) {
		const c = script[i];
		if (c === '"') {
			const end = script.indexOf('"', i + 1);
			text += script.slice(i, end < 0 ? script.length : end + 1);
			i = end < 0 ? script.length : end;
			continue;
		}
		if ("([".includes(c)) depth++;
		if (c === "]" && depth === 0) break;
		if (")]".includes(c)) depth--;
		if (c === "," && depth === 0) {
			out.push(text.trim());
			text = "";
		} else text += c;
	}
	if (text.trim()) out.push(text.trim());
	return out;
}
