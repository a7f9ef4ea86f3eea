// SPDX-License-Identifier: Apache-2.0
// Requests that a script follows (`flow` of doc/json.md): the slowest of them, how one ended, and one as a waterfall.
import { exact, number } from "./format.js";

const MOST = 500; // that are kept

export class Flows {
	constructor() {
		this.list = []; // in the order in which they came
		this.seen = 0; // in all
		this.version = 0;
	}

	add(line) {
		this.list.push(line);
		this.seen = Math.max(this.seen, this.list.length);
		this.version++;
		if (this.list.length <= 2 * MOST) return;
		const least = sorted(this.list, "elapsed", true)[MOST - 1].elapsed;
		this.list = this.list.filter((f) => f.elapsed >= least).slice(0, MOST);
	}

	totals(line) {
		this.seen = line.flows;
		this.version++;
	}
}

// What lists can be sorted by.
export const COLUMNS = {
	time: (f) => f.time,
	function: (f) => f.function,
	elapsed: (f) => f.elapsed,
	depth: (f) => f.depth,
	messages: (f) => f.messages,
	spawns: (f) => f.spawns,
	processes: (f) => f.processes.length,
	end: (f) => markOf(f),
	most: (f) => mostOf(f)?.who ?? "",
};

export function sorted(list, column, down) {
	const of = COLUMNS[column];
	const sign = down ? -1 : 1;
	return [...list].sort((a, b) => {
		const x = of(a),
			y = of(b);
		return (x < y ? -sign : x > y ? sign : 0) || b.elapsed - a.elapsed;
	});
}

export const nameOf = (process) => process.name || process.pid;
export const labelOf = (hop, flow) => hop.label ?? (hop.text || (hop.kind === "begin" ? flow.function : hop.kind));

// ---- how it ended ---------------------------------------------------------------------------------

const NORMAL = /^(normal|shutdown|\{shutdown,.*)$/;

// Processes that ended for a reason that is none of the usual ones: [{process, reason}].
export function crashes(flow) {
	const by = new Map();
	for (const h of flow.hops)
		if (h.exit !== undefined && !NORMAL.test(h.exit) && !by.has(h.from)) by.set(h.from, h.exit);
	return [...by].map(([i, reason]) => ({ process: i >= 0 ? nameOf(flow.processes[i]) : "a process", reason }));
}

// Whether it took longer than is known.
export const isOpen = (flow) => ["waits", "aged", ""].includes(flow.end);
export const atLeast = (flow) => isOpen(flow) || !!flow.incomplete;

// What is unusual about its end, in a word; "": nothing. The most pressing of several.
export function markOf(flow) {
	if (crashes(flow).length) return "exit";
	if (flow.end === "waits") return "waits";
	if (flow.end === "cut") return "cut";
	if (flow.incomplete) return "incomplete";
	if (flow.end === "aged") return "continues";
	return flow.end === "" ? "not ended" : "";
}

// The same in sentences.
export function endText(flow) {
	const says = crashes(flow).map(({ process, reason }) => `${process} exited: ${reason}.`);
	const quiet = flow.quiet ? ` for ${number(flow.quiet, "ns", 2)}` : "";
	if (flow.end === "waits") says.push(`It has not finished: the process that began it waits for an answer. ${lastText(flow)}`);
	else if (flow.end === "aged") says.push(`It continues, but is no longer followed. ${lastText(flow)}`);
	else if (flow.end === "") says.push(`It had not ended when the script did. ${lastText(flow)}`);
	else if (flow.end === "idle") says.push(`Then nothing happened in it${quiet}.`);
	if (flow.incomplete) says.push(`It is incomplete: ${flow.lacks ?? "some of its events were dropped"}.`);
	if (flow.more > 0) says.push(`${exact(flow.more)} later messages are not shown.`);
	return says.join(" ");
}

// Where it was last: who has the message, or took it and has not gone on.
function lastText(flow) {
	const h = lastHop(flow);
	if (!h || h.kind === "begin") return "";
	const ago = number(flow.elapsed - (h.taken === undefined ? h.sent : h.until), "ns", 3);
	const what = labelOf(h, flow);
	if (h.taken === undefined) return `Last message: ${what}, sent to ${h.receiver || "a process"} ${ago} before, was not received.`;
	return `Last message: ${nameOf(flow.processes[h.to])} received ${what}, and did nothing more for ${ago}.`;
}

const lastHop = (flow) => flow.hops.filter((h) => h.critical).reduce((a, b) => (a && a.sent > b.sent ? a : b), null);

// ---- a waterfall ----------------------------------------------------------------------------------

// A row for each process, in the order in which they come in, with its bars: running, waiting for the next
// message of the same request, and messages in its mailbox. Arrows go from row to row. The critical path
// is a list of points. Of a request that has not finished, messages that were not taken have rows too, and
// what lasts at its end is drawn until there: it is `open`.
export function waterfall(flow) {
	const order = new Map();
	const rows = [];
	const rowOf = (h) => order.get(placeOf(flow, h));
	for (const h of flow.hops) {
		const place = placeOf(flow, h);
		if (place === null || order.has(place)) continue;
		order.set(place, rows.length);
		const process = typeof place === "number" ? flow.processes[place] : { node: "", pid: place, name: "" };
		rows.push({ process, bars: [] });
	}
	const arrows = [];
	for (const h of flow.hops) {
		const to = rowOf(h);
		if (to === undefined) continue;
		if (h.taken === undefined) rows[to].bars.push({ kind: "mailbox", from: h.sent, to: flow.elapsed, hop: h, open: true });
		else {
			if (h.kind === "message" && h.taken > h.sent)
				rows[to].bars.push({ kind: "mailbox", from: h.sent, to: h.taken, hop: h });
			rows[to].bars.push({ kind: "running", from: h.taken, to: h.until, hop: h });
		}
		const from = order.get(h.from);
		if (h.kind !== "begin" && from !== undefined)
			arrows.push({ from, to, at: h.sent, until: h.kind === "spawn" ? h.taken : h.sent, hop: h });
	}
	for (const row of rows) row.bars.push(...waits(row.bars));
	if (isOpen(flow)) goOn(flow, rows, rowOf);
	return { rows, arrows, path: pathOf(flow, rowOf) };
}

// The row that a hop leads to: an index of processes, or the name of one that has not taken it; null: none.
function placeOf(flow, h) {
	if (h.taken !== undefined) return h.to >= 0 ? h.to : null;
	if (!isOpen(flow) || h.exit !== undefined || !h.receiver || h.receiver.startsWith("#Port")) return null;
	const same = flow.processes.flatMap((p, i) => (p.pid === h.receiver || p.name === h.receiver ? [i] : []));
	return same.length === 1 ? same[0] : h.receiver;
}

// Until its end: who began it waits, and who took the last message has not gone on.
function goOn(flow, rows, rowOf) {
	const visit = (row) => row.bars.filter((b) => b.kind === "running").reduce((a, b) => (a && a.from > b.from ? a : b), null);
	const first = rows[rowOf(flow.hops[0])];
	const last = lastHop(flow);
	const holder = last?.taken === undefined ? undefined : rows[rowOf(last)];
	const until = (row, kind) => {
		const b = row && visit(row);
		if (b && b.to < flow.elapsed) row.bars.push({ kind, from: b.to, to: flow.elapsed, hop: b.hop, open: true });
	};
	if (flow.end === "waits") until(first, "waiting");
	if (holder !== first) until(holder, "holds");
}

function waits(bars) {
	const visits = bars.filter((b) => b.kind === "running").sort((a, b) => a.from - b.from);
	const out = [];
	for (let i = 1; i < visits.length; i++) {
		const from = visits[i - 1].to,
			to = visits[i].hop.sent;
		if (to > from) out.push({ kind: "waiting", from, to, hop: visits[i - 1].hop });
	}
	return out;
}

// Where it is when: [{at, row}], from the beginning to the end.
function pathOf(flow, rowOf) {
	const points = [];
	const hops = flow.hops.filter((h) => h.critical).sort((a, b) => a.sent - b.sent);
	for (const h of hops) {
		const row = rowOf(h);
		if (row === undefined) continue;
		points.push({ at: h.sent, row });
		if (h.taken !== undefined) points.push({ at: h.taken, row }, { at: h.until, row });
	}
	if (points.length && isOpen(flow)) points.push({ at: flow.elapsed, row: points.at(-1).row });
	return points;
}

// Where the time of the critical path went; rest: after the last that is known, if it has not finished.
export function shares(flow) {
	let running = 0,
		mailbox = 0;
	for (const h of flow.hops) {
		if (!h.critical) continue;
		if (h.taken !== undefined) {
			running += pathEnd(flow, h) - h.taken;
			mailbox += h.taken - h.sent;
		} else if (placeOf(flow, h) !== null) mailbox += flow.elapsed - h.sent;
	}
	return { running, mailbox, rest: isOpen(flow) ? Math.max(0, flow.elapsed - running - mailbox) : 0 };
}

// The one part of the critical path that took most of it: {who, how, time}; null: it took no time.
export function mostOf(flow) {
	let most = null;
	const part = (who, how, time) => {
		if (time > (most?.time ?? 0)) most = { who, how, time };
	};
	for (const h of flow.hops) {
		if (!h.critical || placeOf(flow, h) === null) continue;
		const who = h.to >= 0 ? nameOf(flow.processes[h.to]) : h.receiver;
		if (h.taken === undefined) part(who, "in the mailbox", flow.elapsed - h.sent);
		else {
			part(who, "in the mailbox", h.taken - h.sent);
			part(who, "running", pathEnd(flow, h) - h.taken);
		}
	}
	const last = lastHop(flow);
	if (last?.taken !== undefined && last.to >= 0) part(nameOf(flow.processes[last.to]), "nothing more is known", shares(flow).rest);
	return most;
}

// Until the path goes on: a visit may send more after that.
function pathEnd(flow, hop) {
	const next = flow.hops.find((h) => h.critical && h.cause === hop.hop && h.kind !== "begin");
	return next ? next.sent : hop.until;
}

// Round times for an axis, about so many.
export function axisTicks(from, to, many) {
	const rough = (to - from) / Math.max(1, many);
	const ten = 10 ** Math.floor(Math.log10(Math.max(rough, 1)));
	const step = [1, 2, 5, 10].map((n) => n * ten).find((s) => s >= rough) ?? ten;
	const out = [];
	for (let t = Math.ceil(from / step) * step; t <= to; t += step) out.push(t);
	return out;
}

// ---- the menu `Follow` ------------------------------------------------------------------------------

// Seconds without an event after which a request is taken to be over. A server is in a request until the next one
// comes to it, so many requests end no other way: the shorter, the sooner they are shown. But one that waits longer
// for an answer is shown as one that has not finished.
export const SILENCES = [0.5, 1, 2, 5, 10, 30, 60, 300];
export const SILENCE = 2;
const LIFE = 60; // the option flowlife, if nobody sets it

// Seconds that a request is followed at most.
export const lifeOf = (silence) => Math.max(LIFE, 10 * silence);
export const secondsText = (s) => (s < 60 ? `${s} s` : `${s / 60} min`);

const option = (s) => (Number.isInteger(s) ? `${s}s` : `${s * 1000}ms`);

// module, fn: where requests begin; oneIn: of how many calls one is followed.
export function followScript({ module, fn, oneIn, silence }) {
	const some = oneIn > 1;
	const life = lifeOf(silence);
	return `/* Requests: calls of ${module}:${fn}, and whatever they cause in other processes.
   One is over when nothing has happened in it for ${secondsText(silence)}. */
#pragma D option flowtime=${option(silence)}
${life > LIFE ? `#pragma D option flowlife=${option(life)}\n` : ""}${some ? "\nint calls;\n" : ""}
erlang*:${module}:${fn}:function-entry
${some ? `/calls++ % ${oneIn} == 0/\n` : ""}{
	follow();
}

erlang*:::flow-end
{
	@took_us[args[2]] = quantize(args[3] / 1000);
}
`;
}

export const isName = (text) => /^[\w@*?'./-]+$/.test(text);

// What the form of the menu has, as it was stored: "module function one-in silence".
export function readForm(text) {
	const [module = "", fn = "", oneIn = "1", silence] = (text ?? "").split(" ");
	return { module, fn, oneIn, silence: SILENCES.includes(Number(silence)) ? Number(silence) : SILENCE };
}
export const formText = ({ module, fn, oneIn, silence }) => `${module} ${fn} ${oneIn} ${silence}`;
