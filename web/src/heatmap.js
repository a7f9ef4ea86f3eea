// SPDX-License-Identifier: Apache-2.0
// The cells of a heat map: a ring of columns, each some slots wide, with counts by row and their
// pixels. A tick computes and colours only the columns it touched; all are coloured again when the
// scale changes, which rounding makes rare. No DOM: whoever draws takes `pixels`.
import { CLASSES, KEY_HUES, classOf, classValue, levels, ramp, roundMax } from "./colour.js";
import { lineAt, percentile } from "./buckets.js";
import { addColumn } from "./history.js";

export const COLUMNS = 300; // at most so many side by side
const ROWS = 1024; // more are folded together
const RANK_EVERY = 1000; // ms between new ranks
const PERCENTILES = [
	["p50", 0.5],
	["p90", 0.9],
	["p99", 0.99],
];

export class HeatMap {
	constructor(dist) {
		this.dist = dist;
		this.setup = {};
		this.stale = true;
		this.touched = Infinity;
		this.rankedAt = 0;
		this.last = -1; // slot
		this.watch = (slot) => {
			if (slot < this.touched) this.touched = slot;
		};
		dist.watchers.add(this.watch);
		dist.maps.add(this);
		this.hist = new Uint32Array(CLASSES);
	}

	close() {
		this.dist.watchers.delete(this.watch);
		this.dist.maps.delete(this);
	}

	// The pictures beside this one, of other nodes or another run: all have one scale of colours.
	get beside() {
		const { maps, other } = this.dist;
		if (maps.size < 2 && !other) return [];
		return [...maps, ...(other?.maps ?? [])].filter((m) => m !== this && m.rows);
	}

	// What to show: {cols, bin, live, from (a column, when not live), shown (Uint8Array by series), hueOf (Uint8Array
	// by series or null), scale, clamp, normal, dark}. New keys only: what did not change costs nothing.
	configure(setup) {
		const old = this.setup;
		this.setup = setup;
		const same = (...names) => names.every((n) => old[n] === setup[n]);
		if (!same("cols", "bin", "from", "live", "shown", "hueOf")) this.stale = true;
		if (!same("dark", "hueOf")) this.ramps = null;
		if (!same("scale", "clamp", "normal", "dark")) this.recolour = true;
		if (
			old.scale !== setup.scale &&
			(old.scale === "percent" || setup.scale === "percent")
		)
			this.stale = true;
	}

	// Brings the cells up to `last` (the newest slot to be shown). Returns the columns whose pixels are
	// new: null for none, or {all: true} or {from, to} in absolute columns.
	update(last, now = performance.now()) {
		const { setup } = this;
		const rowsNow = this.dist.buckets.ready();
		if (this.version !== this.dist.buckets.version) this.stale = true;
		const head = setup.live
			? Math.floor(last / setup.bin)
			: setup.from + setup.cols - 1;
		let from, to;
		if (this.stale) {
			this.allocate(rowsNow);
			from = head - setup.cols + 1;
			to = head;
		} else {
			from = Math.min(this.head + 1, Math.floor(this.touched / setup.bin));
			// Slots that came while an earlier one was the last to be shown.
			if (last > this.last)
				from = Math.min(from, Math.floor((this.last + 1) / setup.bin));
			from = Math.max(from, head - setup.cols + 1);
			to = Math.min(head, Math.max(head, this.head));
			if (from > to && head === this.head && !this.recolour) {
				this.last = last;
				this.touched = Infinity;
				const { beside } = this;
				return beside.length ? this.colour(from, to, false, now, beside) : null;
			}
			if (head < this.head) {
				this.stale = true;
				return this.update(last, now);
			}
		}
		const whole = this.stale;
		this.stale = false;
		this.head = head;
		this.last = last;
		this.touched = Infinity;
		for (let c = from; c <= to; c++) this.column(c, last);
		return this.colour(from, to, whole, now, this.beside);
	}

	allocate(rowsNow) {
		const { cols } = this.setup;
		this.version = this.dist.buckets.version;
		this.fold = Math.ceil(rowsNow.length / ROWS) || 1;
		this.buckets = foldRows(rowsNow, this.fold);
		const rows = (this.rows = this.buckets.length);
		this.rowOf = this.dist.buckets.rowOf;
		if (this.fold > 1) this.rowOf = this.rowOf.map((r) => Math.floor(r / this.fold));
		if (this.counts?.length !== cols * rows || this.cols !== cols) {
			this.counts = new Float64Array(cols * rows);
			this.classes = new Uint16Array(cols * rows); // of counts: what colours go by
			this.pixels = new Uint32Array(cols * rows);
			this.hues = new Uint8Array(cols * rows);
		} else {
			this.counts.fill(0);
			this.classes.fill(0);
			this.hues.fill(0);
		}
		this.cols = cols;
		this.known = new Uint8Array(cols); // a tick came for the column
		this.totals = new Float64Array(cols);
		this.sums = new Float64Array(rows); // by row over all columns: the table behind the picture
		this.p50 = new Float32Array(cols).fill(NaN);
		this.p90 = new Float32Array(cols).fill(NaN);
		this.p99 = new Float32Array(cols).fill(NaN);
		this.hueSums = new Float64Array(rows * (KEY_HUES + 1));
		this.hist.fill(0);
	}

	index(column) {
		return ((column % this.cols) + this.cols) % this.cols;
	}

	factor(x) {
		return this.setup.scale === "percent" && this.totals[x] > 0
			? 10000 / this.totals[x]
			: 1;
	}

	// Counts of one column anew, from its slots up to `last`.
	column(c, last) {
		const { rows, rowOf, setup, hist, sums } = this;
		const x = this.index(c);
		const cells = this.counts.subarray(x * rows, (x + 1) * rows);
		const classes = this.classes.subarray(x * rows, (x + 1) * rows);
		for (let r = 0; r < rows; r++) {
			if (classes[r] > 0) hist[classes[r]]--;
			sums[r] -= cells[r];
		}
		cells.fill(0);
		const hueSums = setup.hueOf ? this.hueSums.fill(0) : null;
		let known = 0;
		const end = Math.min(last, (c + 1) * setup.bin - 1);
		for (let s = c * setup.bin; s <= end; s++) {
			const parts = this.dist.timeline.parts(s);
			if (!parts) continue;
			known = 1;
			for (const part of parts)
				addColumn(part, cells, rowOf, setup.shown, setup.hueOf, hueSums);
		}
		let total = 0;
		for (let r = 0; r < rows; r++) {
			total += cells[r];
			sums[r] += cells[r];
		}
		this.known[x] = known;
		this.totals[x] = total;
		const k = this.factor(x);
		for (let r = 0; r < rows; r++) {
			const c = cells[r] > 0 ? classOf(cells[r] * k) || 1 : 0;
			classes[r] = c;
			if (c > 0) hist[c]++;
		}
		for (const [name, p] of PERCENTILES) {
			const at = percentile(cells, p, total);
			this[name][x] = at ? lineAt(this.buckets, at) : NaN;
		}
		if (hueSums) this.dominant(x);
	}

	dominant(x) {
		const { rows, hueSums, hues } = this;
		for (let r = 0; r < rows; r++) {
			let best = 0;
			let most = hueSums[r];
			for (let h = 1; h <= KEY_HUES; h++) {
				const n = hueSums[h * rows + r];
				if (n > most) {
					most = n;
					best = h;
				}
			}
			hues[x * rows + r] = best;
		}
	}

	max() {
		for (let c = CLASSES - 1; c > 0; c--) if (this.hist[c]) return classValue(c);
		return 0;
	}

	// What counts, or hundredths of a percent, are divided by to be shown.
	get normal() {
		return this.setup.scale === "percent" ? 1 : (this.setup.normal ?? 1);
	}

	// The count that the scale of colours ends with.
	top(whole, beside) {
		const { clamp, scale } = this.setup;
		if (clamp > 0) return clamp * (scale === "percent" ? 100 : this.normal);
		const max = this.max();
		// Hold the scale while the maximum is a little less than it was; not if others go by it too.
		if (this.scaleMax >= max && this.scaleMax <= max * 2 && !whole && !beside.length)
			return this.scaleMax;
		const shown = Math.max(...[this, ...beside].map((m) => m.max() / m.normal));
		return roundMax(shown) * this.normal;
	}

	// beside: pictures that have the same scale.
	colour(from, to, whole, now, beside) {
		const { setup } = this;
		if (!this.ramps) {
			this.ramps = [];
			for (let h = setup.hueOf ? 0 : -1; h <= (setup.hueOf ? KEY_HUES : -1); h++)
				this.ramps.push(ramp(h, setup.dark));
			this.recolour = true;
		}
		const max = this.top(whole, beside);
		const rank = setup.scale === "rank";
		if (
			whole ||
			this.recolour ||
			(rank ? now - this.rankedAt >= RANK_EVERY : max !== this.scaleMax)
		) {
			this.scaleMax = max;
			this.rankedAt = now;
			this.recolour = false;
			const hists = [this, ...beside].map((m) => m.hist);
			this.histAll = beside.length
				? this.hist.map((_, c) => hists.reduce((n, h) => n + h[c], 0))
				: this.hist;
			const table = levels(
				rank ? "rank" : setup.scale === "log" ? "log" : "linear",
				max,
				this.histAll,
			);
			this.colours = this.ramps.map((r) =>
				Uint32Array.from(table, (level, c) => (c > 0 ? r[level || 1] : 0)),
			);
			this.paint(0, this.cols);
			return { all: true };
		}
		for (let c = from; c <= to; c++) this.paint(this.index(c), this.index(c) + 1);
		return from <= to ? { from, to } : null;
	}

	// Pixels of columns of the ring; row 0 is at the bottom.
	paint(from, to) {
		const { rows, cols, classes, hues, pixels, colours } = this;
		const byKey = colours.length > 1;
		const [plain] = colours;
		for (let r = 0; r < rows; r++) {
			const at = (rows - 1 - r) * cols;
			for (let x = from, i = from * rows + r; x < to; x++, i += rows)
				pixels[at + x] = byKey ? colours[hues[i]][classes[i]] : plain[classes[i]];
		}
	}

	// A cell by its absolute column and row: its count is normalized, the column's `counts` and their `total`
	// are not.
	cell(column, row) {
		const x = this.index(column);
		const counts = this.counts.subarray(x * this.rows, (x + 1) * this.rows);
		const total = this.totals[x];
		return {
			count: counts[row] / this.dist.normal,
			share: counts[row] / total,
			known: this.known[x],
			counts,
			total,
		};
	}
}

export function foldRows(rows, fold) {
	if (fold <= 1)
		return rows.map((r) => ({ lo: r.lo, hi: r.hi, ids: r.id >= 0 ? [r.id] : [] }));
	const out = [];
	for (let i = 0; i < rows.length; i += fold) {
		const some = rows.slice(i, i + fold);
		out.push({
			lo: some[0].lo,
			hi: some[some.length - 1].hi,
			ids: some.map((r) => r.id).filter((id) => id >= 0),
		});
	}
	return out;
}

// How many slots a column has, for `slots` side by side.
export const binFor = (slots, hz, coarse) =>
	Math.max(1, Math.ceil(slots / COLUMNS), coarse ? hz : 1);
