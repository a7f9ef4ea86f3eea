// SPDX-License-Identifier: Apache-2.0
// Data as CSV and JSON. Times are ISO 8601; a row a tick, key and bucket (or value).
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
						keys: agg.series.keys[agg.series.key[series]]
							.values,
					};
					made.set(series, r);
				}
				return r;
			};
			if (agg.buckets) {
				visitCells(part, (series, id, count) => {
					const { lo, hi } = agg.buckets.all[id];
					(item(series).buckets ??= []).push({ lo, hi, count });
				});
				for (const r of made.values())
					r.buckets.sort(
						(a, b) => (a.lo ?? -Infinity) - (b.lo ?? -Infinity),
					);
			} else
				visitValues(part, (series, value) => {
					item(series).value = value;
				});
			yield* made.values();
		}
	}
}

export function toCSV(run, aggs, range) {
	const keys = Math.max(0, ...aggs.map((a) => a.nkeys ?? 0));
	const dist = aggs.some((a) => a.buckets);
	const head = ["time", "node", "aggregation", "function"];
	for (let i = 1; i <= keys; i++) head.push(`key${i}`);
	head.push(...(dist ? ["lo", "hi", "count"] : ["value"]));
	const out = [csvLine(head)];
	for (const agg of aggs) {
		for (const r of records(run, agg, range)) {
			const start = [r.time, r.node, agg.name, agg.fn];
			for (let i = 0; i < keys; i++) start.push(r.keys[i]);
			if (r.buckets)
				for (const b of r.buckets)
					out.push(csvLine([...start, b.lo, b.hi, b.count]));
			else
				out.push(
					csvLine(
						dist
							? [...start, "", "", r.value]
							: [...start, r.value],
					),
				);
		}
	}
	return out.join("");
}

export function toJSON(run, aggs, range) {
	return JSON.stringify(
		{
			script: run.source,
			nodes: run.nodeNames,
			hz: run.hz,
			aggregations: aggs.map((a) => ({
				aggregation: a.name,
				function: a.fn,
				params: a.params,
				unit: a.unit,
				coarse: a.timeline.coarse > a.timeline.first,
				ticks: [...records(run, a, range)],
			})),
			drops: [...run.drops.values()],
			errors: [...run.faults.values()],
		},
		null,
		1,
	);
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
