// SPDX-License-Identifier: Apache-2.0
// Requests that a script follows (`flow` of doc/json.md): the slowest of them, and one as a waterfall.

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

// A row for each process, in the order in which they come in, with its bars: running, waiting for the next
// message of the same request, and messages in its mailbox. Arrows go from row to row. The critical path
// is a list of points.
export function waterfall(flow) {
	const order = new Map();
	for (const h of flow.hops) if (h.to >= 0 && h.taken !== undefined && !order.has(h.to)) order.set(h.to, order.size);
	const rows = [...order.keys()].map((i) => ({ process: flow.processes[i], bars: [] }));
	const arrows = [];
	for (const h of flow.hops) {
		const to = order.get(h.to);
		if (h.taken === undefined || to === undefined) continue;
		if (h.kind === "message" && h.taken > h.sent)
			rows[to].bars.push({ kind: "mailbox", from: h.sent, to: h.taken, hop: h });
		rows[to].bars.push({ kind: "running", from: h.taken, to: h.until, hop: h });
		const from = order.get(h.from);
		if (h.kind !== "begin" && from !== undefined)
			arrows.push({ from, to, at: h.sent, until: h.kind === "spawn" ? h.taken : h.sent, hop: h });
	}
	for (const row of rows) row.bars.push(...waits(row.bars));
	return { rows, arrows, path: pathOf(flow, order) };
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
function pathOf(flow, order) {
	const points = [];
	const hops = flow.hops.filter((h) => h.critical).sort((a, b) => a.sent - b.sent);
	for (const h of hops) {
		const row = order.get(h.to);
		if (row === undefined) continue;
		points.push({ at: h.sent, row });
		if (h.taken !== undefined) points.push({ at: h.taken, row }, { at: h.until, row });
	}
	return points;
}

// Where the time of the critical path went.
export function shares(flow) {
	let running = 0,
		mailbox = 0;
	for (const h of flow.hops) {
		if (!h.critical || h.taken === undefined) continue;
		running += pathEnd(flow, h) - h.taken;
		mailbox += h.taken - h.sent;
	}
	return { running, mailbox };
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

// The script of the menu `Follow`.
export function followScript(module, fn, oneIn) {
	const some = oneIn > 1;
	return `/* Requests: calls of ${module}:${fn}, and whatever they cause in other processes. */
#pragma D option flowtime=1s
${some ? "\nint calls;\n" : ""}
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
