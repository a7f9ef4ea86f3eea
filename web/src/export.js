// SPDX-License-Identifier: Apache-2.0
// Data as CSV and JSON. Times are ISO 8601; a row a tick, key and bucket (or value). Values and counts are
// normalized, as they are shown.
import { visitCells, visitValues } from "./history.js";

// A field of CSV. Text that a spreadsheet would take for a formula gets an apostrophe before it: keys
// come from the traced program.
export function field(value) {
	if (value === null || value === undefined) return "";
	if (typeof value === "number") return String(value);
	let text = Array.isArray(value) ? value.join(";") : String(value);
	if (/^[=+\-@\t\r]/.test(text)) text = `'${text}`;
	return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

const csvLine = (fields) => `${fields.map(field).join(",")}\r\n`;

// Each tick's items of an aggregation in slots from..to-1:
// {time, node, keys, buckets: [{lo, hi, count}]} or {time, node, keys, value}.
export function* records(run, agg, range) {
	const from = Math.max(range?.from ?? 0, agg.timeline.first);
	const to = Math.min(range?.to ?? Infinity, agg.timeline.last + 1);
	if (agg.timeline.first < 0) return;
	for (let slot = from; slot < to; slot++) {
		for (const part of agg.timeline.parts(slot) ?? []) {
			const time = new Date(run.timeOf(slot)).toISOString();
			const made = new Map();
			const item = (series) => {
				let r = made.get(series);
				if (!r) {
					r = {
						time,
						node: run.nodeNames[agg.series.node[series]],
						keys: agg.series.keys[agg.series.key[series]].raw,
					};
					made.set(series, r);
				}
				return r;
			};
			if (agg.buckets) {
				visitCells(part, (series, id, count) => {
					const { lo, hi } = agg.buckets.all[id];
					(item(series).buckets ??= []).push({ lo, hi, count: count / agg.normal });
				});
				for (const r of made.values())
					r.buckets.sort(
						(a, b) => (a.lo ?? -Infinity) - (b.lo ?? -Infinity),
					);
			} else
				visitValues(part, (series, value) => {
					item(series).value = value / agg.normal;
				});
			yield* made.values();
		}
	}
}

// Both are made piece by piece: ten minutes of many keys do not fit into one string.
export function* csvParts(run, aggs, range) {
	const keys = Math.max(0, ...aggs.map((a) => a.nkeys ?? 0));
	const dist = aggs.some((a) => a.buckets);
	const head = ["time", "node", "aggregation", "function"];
	for (let i = 1; i <= keys; i++) head.push(`key${i}`);
	yield csvLine([...head, ...(dist ? ["lo", "hi", "count"] : ["value"])]);
	for (const agg of aggs) {
		for (const r of records(run, agg, range)) {
			const first = [r.time, r.node, agg.name, agg.fn];
			for (let i = 0; i < keys; i++) first.push(r.keys[i]);
			const start = first.map(field).join(",");
			if (!r.buckets) yield `${start},${dist ? ",," : ""}${field(r.value)}\r\n`;
			else
				for (const b of r.buckets)
					yield `${start},${field(b.lo)},${field(b.hi)},${b.count}\r\n`;
		}
	}
}

export function* jsonParts(run, aggs, range) {
	const { source: script, nodeNames: nodes, hz } = run;
	const drops = [...run.drops.values()];
	const errors = [...run.faults.values()];
	yield `${JSON.stringify({ script, nodes, hz, drops, errors }).slice(0, -1)},"aggregations":[`;
	for (const [i, a] of aggs.entries()) {
		const head = {
			aggregation: a.name,
			function: a.fn,
			params: a.params,
			unit: a.unit,
			normal: a.normal,
			coarse: a.timeline.coarse > a.timeline.first,
		};
		yield `${i ? "," : ""}\n${JSON.stringify(head).slice(0, -1)},"ticks":[`;
		let comma = "\n";
		for (const r of records(run, a, range)) {
			yield comma + JSON.stringify(r);
			comma = ",\n";
		}
		yield "]}";
	}
	yield "]}\n";
}

const PIECE = 4 << 20;

// Parts as a Blob, which the browser keeps outside of the page; lets frames go on between pieces.
export async function toBlob(parts, type) {
	const pieces = [];
	let text = "";
	for (const p of parts) {
		text += p;
		if (text.length < PIECE) continue;
		pieces.push(new Blob([text]));
		text = "";
		await new Promise((resolve) => setTimeout(resolve));
	}
	return new Blob([...pieces, text], { type });
}

export function save(name, blob) {
	const a = document.createElement("a");
	a.href = URL.createObjectURL(blob);
	a.download = name;
	a.click();
	setTimeout(() => URL.revokeObjectURL(a.href), 10000);
}

// A file name for an export of now.
export function fileName(what, ext) {
	const t = new Date().toISOString().slice(0, 19).replace(/[:T]/g, "-");
	return `erltrace-${what.replace(/\W+/g, "") || "agg"}-${t}.${ext}`;
}
