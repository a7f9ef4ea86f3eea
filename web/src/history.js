// SPDX-License-Identifier: Apache-2.0
// What came in the last 600 seconds. Time is cut into slots, one a tick; a slot holds what came in it,
// encoded in bytes, so that an hour's run stays small however many keys and buckets it has. Old slots
// are merged to one a second when they take too much room, and dropped when even that is not enough.

export const SECONDS = 600;

// A growing byte buffer with numbers of 7 bits a byte.
class Bytes {
	constructor() {
		this.at = 0;
		this.buf = new Uint8Array(4096);
	}
	room(n) {
		if (this.at + n <= this.buf.length) return;
		const more = new Uint8Array(Math.max(this.buf.length * 2, this.at + n));
		more.set(this.buf);
		this.buf = more;
	}
	put(n) {
		const { buf } = this;
		let { at } = this;
		while (n >= 128) {
			buf[at++] = (n % 128) | 128;
			n = n < 2 ** 31 ? n >>> 7 : Math.floor(n / 128);
		}
		buf[at++] = n;
		this.at = at;
	}
	take() {
		const out = this.buf.slice(0, this.at);
		this.at = 0;
		return out;
	}
}

const out = new Bytes();

// Encodes cells without a copy between: for each series head() and its cells, then take().
export const writer = {
	head(series, cells) {
		out.room(24 + cells * 16);
		out.put(series);
		out.put(cells);
	},
	cell(id, count) {
		out.put(id);
		out.put(count);
	},
	take: () => out.take(),
};

// Cells of one tick: an array of {series, cells: [id, count, id, count ...]}.
export function encodeCells(entries) {
	for (const { series, cells } of entries) {
		out.room(24 + cells.length * 8);
		out.put(series);
		out.put(cells.length >> 1);
		for (let i = 0; i < cells.length; i++) out.put(cells[i]);
	}
	return out.take();
}

// The slots of one aggregation; who extends it knows what parts are and how to merge them.
export class Timeline {
	constructor(hz, budget) {
		this.hz = hz;
		this.capacity = SECONDS * hz;
		this.slots = new Array(this.capacity).fill(null);
		this.first = -1; // the oldest slot held
		this.last = -1; // the newest slot written
		this.bytes = 0;
		this.budget = budget;
		this.coarse = -1; // slots before this one are one a second
	}

	// Adds a part (bytes) to a slot. Slots never go back by more than the ring holds.
	add(slot, part) {
		if (this.first < 0) this.first = this.last = slot;
		if (slot > this.last) {
			// All of the ring between is to be forgotten.
			const from = Math.max(this.last + 1, slot - this.capacity + 1);
			for (let s = from; s <= slot; s++) this.forget(s);
			this.last = slot;
			this.first = Math.max(this.first, slot - this.capacity + 1);
		}
		if (slot < this.first) {
			if (slot <= this.last - this.capacity) return;
			this.first = slot;
		}
		const i = slot % this.capacity;
		(this.slots[i] ??= []).push(part);
		this.bytes += part.length + 80;
		if (this.bytes > this.budget) this.shrink();
	}

	forget(slot) {
		const i = slot % this.capacity;
		for (const p of this.slots[i] ?? []) this.bytes -= p.length + 80;
		this.slots[i] = null;
	}

	// The parts of a slot; null: no tick came for it.
	parts(slot) {
		if (slot < this.first || slot > this.last) return null;
		return this.slots[slot % this.capacity];
	}

	shrink() {
		const fine = this.last - 60 * this.hz;
		let second = Math.floor(Math.max(this.first, this.coarse) / this.hz);
		while (this.bytes > this.budget && (second + 1) * this.hz < fine) {
			this.mergeSecond(second++);
			this.coarse = second * this.hz;
		}
		while (this.bytes > this.budget && this.first < fine) {
			this.forget(this.first);
			this.first++;
		}
	}

	mergeSecond(second) {
		const from = second * this.hz;
		const parts = [];
		for (let s = from; s < from + this.hz; s++) {
			parts.push(...(this.parts(s) ?? []));
			if (s >= this.first) this.forget(s);
		}
		const merged = this.merge(parts);
		const at = Math.max(from, this.first);
		this.slots[at % this.capacity] = [merged];
		this.bytes += merged.length + 80;
		for (let s = at + 1; s < from + this.hz; s++) this.slots[s % this.capacity] = [];
	}
}

// Distributions: counts by series and bucket id.
export class CellTimeline extends Timeline {
	merge(parts) {
		const sums = new Map();
		for (const p of parts) {
			visitCells(p, (series, id, n) => {
				let cells = sums.get(series);
				if (!cells) sums.set(series, (cells = new Map()));
				cells.set(id, (cells.get(id) ?? 0) + n);
			});
		}
		return encodeCells(
			[...sums].map(([series, cells]) => ({ series, cells: [...cells].flat() })),
		);
	}
}

export function visitCells(part, each) {
	let at = 0;
	const get = () => {
		let n = 0;
		for (let scale = 1; ; scale *= 128) {
			const b = part[at++];
			n += (b & 127) * scale;
			if (b < 128) return n;
		}
	};
	while (at < part.length) {
		const series = get();
		for (let k = get(); k > 0; k--) {
			const id = get();
			each(series, id, get());
		}
	}
}

// The same without a call a cell, for pictures: adds counts to `column` by row. `rowOf`: id -> row;
// `shown`: series -> 0 or 1. With `hueOf` (series -> hue) counts also go to `hueSums`, a column a hue.
export function addColumn(part, column, rowOf, shown, hueOf, hueSums) {
	const size = part.length;
	const rows = column.length;
	for (let at = 0; at < size;) {
		let b = part[at++];
		let series = b & 127;
		for (let k = 128; b > 127; k *= 128) {
			b = part[at++];
			series += (b & 127) * k;
		}
		b = part[at++];
		let cells = b & 127;
		for (let k = 128; b > 127; k *= 128) {
			b = part[at++];
			cells += (b & 127) * k;
		}
		const use = shown[series];
		const base = hueOf ? hueOf[series] * rows : 0;
		for (; cells > 0; cells--) {
			b = part[at++];
			let id = b & 127;
			for (let k = 128; b > 127; k *= 128) {
				b = part[at++];
				id += (b & 127) * k;
			}
			b = part[at++];
			let n = b & 127;
			for (let k = 128; b > 127; k *= 128) {
				b = part[at++];
				n += (b & 127) * k;
			}
			if (!use) continue;
			const row = rowOf[id];
			column[row] += n;
			if (hueOf) hueSums[base + row] += n;
		}
	}
}

// Numbers: what each series had, as {series: Uint32Array, values: Float64Array, weights}.
export function encodeValues(entries) {
	const series = Uint32Array.from(entries, (e) => e.series);
	const values = Float64Array.from(entries, (e) => e.value);
	const weights = entries.some((e) => e.weight !== 1)
		? Float64Array.from(entries, (e) => e.weight)
		: null;
	return { series, values, weights, length: series.length * (weights ? 20 : 12) };
}

export class ValueTimeline extends Timeline {
	constructor(hz, budget, combine) {
		super(hz, budget);
		this.combine = combine;
	}

	merge(parts) {
		const sums = new Map();
		for (const p of parts) {
			visitValues(p, (series, value, weight) => {
				const s = sums.get(series);
				if (s) this.combine(s, value, weight);
				else sums.set(series, { series, value, weight });
			});
		}
		return encodeValues([...sums.values()]);
	}
}

export function visitValues(part, each) {
	for (let i = 0; i < part.series.length; i++)
		each(part.series[i], part.values[i], part.weights ? part.weights[i] : 1);
}
