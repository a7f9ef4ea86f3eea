// SPDX-License-Identifier: Apache-2.0
// Buckets of a distribution, whatever its function: each has an id that never changes (history keeps
// ids) and, once sorted, a row (pictures use rows). Edges are those that came with the data; what lies
// between two of them without data is filled in, so that the axis has no holes.
import { number } from "./format.js";

const least = (b) => (b.lo === null ? -Infinity : b.lo);

// The empty buckets between edges a and b (a < b), by the function's own rule; one wide bucket where
// the rule does not lead from a to b.
export function fill(fn, params, a, b) {
	const edges = [a];
	const next = stepper(fn, params);
	for (let e = a; next && e < b && edges.length <= 4096;) {
		const n = next(e);
		if (!(n > e)) break;
		edges.push((e = n));
	}
	if (edges[edges.length - 1] !== b) edges.splice(1, edges.length, b);
	return edges.slice(1).map((hi, i) => ({ lo: edges[i], hi }));
}

// The edge that follows an edge.
function stepper(fn, params = []) {
	if (fn === "lquantize") {
		const step = params[2] ?? 1;
		return (e) => e + step;
	}
	if (fn === "quantize") {
		// Buckets of negative values mirror the others: from 1 - hi up to 1 - lo.
		return (e) => (e > 0 ? e * 2 : e === 0 ? 1 : 1 - (1 - e) / 2);
	}
	if (fn === "percentile") {
		// 32 buckets each power of two; magnitudes below 64 have buckets of their own.
		return (e) => {
			const m = Math.abs(e);
			if (m < 64) return e + 1;
			const width = 2 ** (Math.floor(Math.log2(m)) - 5);
			return e + (32 * width > m ? width / 2 : width); // log2 rounds
		};
	}
	if (fn === "llquantize" && params.length >= 4) {
		const [factor, low, , steps] = params;
		const first = factor ** low;
		// Of the magnitude that e is in; `below`: that it ends.
		const width = (e, below) => {
			let size = 1;
			while (below ? size * factor < e : size * factor <= e) size *= factor;
			return Math.max(1, Math.floor((size * factor) / steps));
		};
		return (e) => {
			if (e >= first) return e + width(e, false);
			const mirrored = 1 - e;
			return mirrored > first ? 1 - (mirrored - width(mirrored, true)) : first;
		};
	}
	return null;
}

export class BucketSet {
	constructor(fn, params = []) {
		this.fn = fn;
		this.params = params;
		this.ids = new Map(); // "lo:hi" -> id
		this.byLo = new Map(); // lo -> id: the quick way in
		this.follows = [];
		this.all = []; // id -> {lo, hi}
		this.los = []; // the same as numbers, without a bound infinite
		this.his = [];
		this.rows = []; // row -> {lo, hi, id}; id -1: filled in
		this.rowOf = new Int32Array(0); // id -> row
		this.version = 0;
		this.other = null; // a set whose buckets have rows here too
		this.otherSize = 0;
		this.seed();
	}

	// Has the rows of another set too, so that two pictures have one axis; null: its own only.
	beside(other) {
		if (other === this.other && (other?.all.length ?? 0) === this.otherSize) return;
		this.other = other;
		this.otherSize = other?.all.length ?? 0;
		this.stale = true;
	}

	// An lquantize that is small enough to show whole has its axis from the start.
	seed() {
		const [base, limit, step = 1] = this.params;
		if (this.fn !== "lquantize" || !(limit > base) || !((limit - base) / step <= 80))
			return;
		this.full = { lo: base, hi: base + Math.floor((limit - base) / step) * step };
		this.sort();
	}

	id(lo, hi) {
		const quick = this.byLo.get(lo);
		if (quick !== undefined && this.all[quick].hi === hi) return quick;
		const name = `${lo}:${hi}`;
		let id = this.ids.get(name);
		if (id === undefined) {
			id = this.all.length;
			this.ids.set(name, id);
			this.byLo.set(lo, id);
			this.all.push({ lo, hi });
			this.los.push(lo ?? -Infinity);
			this.his.push(hi ?? Infinity);
			this.stale = true;
		}
		return id;
	}

	// The same, for buckets in order, with infinite bounds for null: the one that came after `id` the
	// last time is likely to come again.
	idAfter(id, lo, hi) {
		const guess = this.follows[id + 1];
		if (guess >= 0 && this.los[guess] === lo && this.his[guess] === hi) return guess;
		return (this.follows[id + 1] = this.id(
			lo === -Infinity ? null : lo,
			hi === Infinity ? null : hi,
		));
	}

	// Rows from ids, lowest first. Returns whether rows are other than before.
	sort() {
		this.stale = false;
		const known = this.all.map((b, id) => ({ ...b, id }));
		for (const { lo, hi } of this.other?.all ?? [])
			if (!this.ids.has(`${lo}:${hi}`)) known.push({ lo, hi, id: -1 });
		known.sort((a, b) => least(a) - least(b));
		const rows = [];
		let top = this.full?.lo ?? null;
		if (this.full && least(known[0] ?? { lo: 0 }) === -Infinity) top = null;
		const upTo = (edge) => {
			if (top !== null && edge !== null && edge > top)
				for (const b of fill(this.fn, this.params, top, edge))
					rows.push({ ...b, id: -1 });
		};
		for (const b of known) {
			if (top === null && this.full && b.lo !== null) top = this.full.lo;
			upTo(b.lo);
			rows.push(b);
			top = b.hi;
			if (b.lo === null && this.full) top = this.full.lo;
		}
		if (this.full && top !== null) upTo(this.full.hi);
		this.rows = rows;
		this.rowOf = new Int32Array(this.all.length);
		rows.forEach((r, i) => {
			if (r.id >= 0) this.rowOf[r.id] = i;
		});
		this.version++;
	}

	ready() {
		if (this.stale) this.sort();
		return this.rows;
	}
}

// Where in `rows` the p-th part (0..1) of counts lies: a row and how far into it; null: no counts.
// As exact as a bucket is wide.
export function percentile(counts, p, total) {
	let sum = total;
	if (sum === undefined) {
		sum = 0;
		for (let i = 0; i < counts.length; i++) sum += counts[i];
	}
	if (!(sum > 0)) return null;
	// The rank of the wanted value, from 1: the least value with at least p of all at or below it.
	const rank = Math.max(1, Math.ceil(p * sum - 1e-9));
	let before = 0;
	for (let i = 0; i < counts.length; i++) {
		if (before + counts[i] >= rank)
			return { row: i, part: (rank - before - 0.5) / counts[i] };
		before += counts[i];
	}
	return null;
}

// A place in rows as a value: a whole number that the bucket can hold, which is lo to hi - 1. Buckets
// without a bound give the value next to the one they have.
export function valueAt(rows, at) {
	if (!at) return null;
	const { lo, hi } = rows[at.row];
	if (lo === null) return hi - 1;
	if (hi === null) return lo;
	return Math.round(lo + (hi - 1 - lo) * Math.min(1, Math.max(0, at.part)));
}

// The same as text; of a bucket without a bound all that is known.
export function valueText(rows, at, unit) {
	if (!at) return number(null);
	const { lo, hi } = rows[at.row];
	if (lo === null) return `< ${number(hi, unit)}`;
	if (hi === null) return `≥ ${number(lo, unit)}`;
	return number(valueAt(rows, at), unit);
}

// The same for a line across the picture, as placeOf() has it. A whole number has the axis from itself
// to the next one: the line goes through the middle of that.
export function lineAt(rows, at) {
	const { lo, hi } = rows[at.row];
	if (lo === null || hi === null) return at.row + 0.5;
	return at.row + (valueAt(rows, at) + 0.5 - lo) / (hi - lo);
}

// A value as a place in rows (0: lower edge of the first row), for lines across the picture.
export function placeOf(rows, value) {
	for (let i = 0; i < rows.length; i++) {
		const { lo, hi } = rows[i];
		if (lo !== null && value < lo) return i;
		if (hi === null) return i + (value === lo ? 0 : 0.5);
		if (value < hi) return lo === null ? i + 0.5 : i + (value - lo) / (hi - lo);
	}
	return rows.length;
}
