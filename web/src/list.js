// SPDX-License-Identifier: Apache-2.0
// The rows of a list: keys with their values in several aggregations, sorted.
import { adds } from "./model.js";

// rows: [{name, values (keys), cells: [{value, change, spark(), series} | null], rest}]; rest: what keys had that
// were released, all of them together.
export function listRows(aggs, { nodeShown = () => true, range = null } = {}) {
	const rows = new Map();
	aggs.forEach((agg, column) => {
		for (const [key, got] of agg.byKey(nodeShown, range)) {
			const { values, text, rest } = agg.series.keys[key];
			let row = rows.get(text);
			if (!row)
				rows.set(
					text,
					(row = {
						name: text,
						values,
						rest,
						cells: new Array(aggs.length).fill(null),
					}),
				);
			row.cells[column] = new Cell(agg, got);
		}
	});
	return [...rows.values()];
}

export function filterRows(rows, filter) {
	const wanted = filter.toLowerCase();
	return rows.filter((r) => r.name.toLowerCase().includes(wanted));
}

// Changes are looked up when asked for: there may be thousands of rows, and few are shown.
class Cell {
	constructor(agg, got) {
		this.agg = agg;
		this.value = got.value;
		this.series = got.series;
	}

	get change() {
		return (this.known ??= change(this.agg, this.series));
	}
}

// For what adds up: how much came in the last full second. For the others: how far the last full second
// with data is from the one before.
export function change(agg, series) {
	const s = agg.spark(series);
	const last = s[s.length - 1];
	if (adds(agg.fn)) return last === last ? last : 0;
	let i = s.length - 1;
	while (i >= 0 && !(s[i] === s[i])) i--;
	let j = i - 1;
	while (j >= 0 && !(s[j] === s[j])) j--;
	return j >= 0 ? s[i] - s[j] : 0;
}

// by: {column: index, or -1 for the name, what: "value" or "change", down}
export function sortRows(rows, by) {
	const sign = by.down ? -1 : 1;
	const names = (a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);
	const part = (a, b) => {
		for (let i = 0; i < a.values.length; i++) {
			const x = a.values[i],
				y = b.values[i];
			if (typeof x === "number" && typeof y === "number" && x !== y) return x - y;
			if (x !== y) return names({ name: String(x) }, { name: String(y) });
		}
		return 0;
	};
	if (by.column < 0) return rows.sort((a, b) => sign * part(a, b));
	return rows.sort((a, b) => {
		const x = a.cells[by.column]?.[by.what];
		const y = b.cells[by.column]?.[by.what];
		if (x === undefined || y === undefined)
			return x === y ? names(a, b) : x === undefined ? 1 : -1;
		return sign * (x - y) || names(a, b);
	});
}

// A spark line as the path of an SVG, in a box of w by h; zero (or the least) at the bottom.
export function sparkPath(points, w, h, fromZero) {
	let max = -Infinity;
	let min = fromZero ? 0 : Infinity;
	for (const p of points) {
		if (!(p === p)) continue;
		if (p > max) max = p;
		if (p < min) min = p;
	}
	if (max === -Infinity) return "";
	const span = max - min || 1;
	const flat = max === min;
	let path = "";
	let pen = false;
	points.forEach((p, i) => {
		if (!(p === p)) {
			if (fromZero) pen = false;
			return;
		}
		const x = ((i * w) / (points.length - 1)).toFixed(1);
		const y = (
			flat ? (max === 0 ? h - 1 : h / 2) : h - 1 - ((p - min) / span) * (h - 2)
		).toFixed(1);
		path += `${pen ? "L" : "M"}${x} ${y}`;
		pen = true;
	});
	return path;
}
