// SPDX-License-Identifier: Apache-2.0
// Messages of the server as objects. Most are text, in JSON. Ticks with buckets are bytes: nearly all
// of a tick is buckets, thousands of them ten times a second, and these go into arrays that are used
// again, without an object each. c_src/web/pack.h has the format.

// Buckets of the message read last, one after the other: a list of them is {from, to}. Bounds that
// are null in JSON are infinite here.
export const scratch = {
	lo: new Float64Array(1 << 12),
	hi: new Float64Array(1 << 12),
	count: new Float64Array(1 << 12),
	size: 0,

	room(more) {
		if (this.size + more <= this.lo.length) return;
		for (const name of ["lo", "hi", "count"]) {
			const bigger = new Float64Array((this.size + more) * 2);
			bigger.set(this[name]);
			this[name] = bigger;
		}
	},

	push(lo, hi, count) {
		if (!(count > 0)) return;
		this.lo[this.size] = lo;
		this.hi[this.size] = hi;
		this.count[this.size++] = count;
	},

	// Buckets as JSON has them.
	load(list) {
		this.size = 0;
		this.room(list.length);
		for (const { lo, hi, count } of list) this.push(lo ?? -Infinity, hi ?? Infinity, count);
		return { from: 0, to: this.size };
	},
};

const decoder = new TextDecoder();
const [SAME, NO_LO] = [0, 1]; // else: no hi
let bytes = null;
let at = 0; // in bytes

function number() {
	let b = bytes[at++];
	if (b < 128) return b;
	let n = b & 127;
	for (let scale = 128; b > 127; scale *= 128) {
		b = bytes[at++];
		n += (b & 127) * scale;
	}
	return n;
}

function signed() {
	const n = number();
	return n % 2 ? -(n + 1) / 2 : n / 2;
}

// A list of so many buckets.
function list(left) {
	const from = scratch.size;
	let place = 0;
	scratch.room(left);
	while (left > 0) {
		const head = number();
		const kind = head % 4;
		const n = (head - kind) / 4;
		if (n < 1 || n > left) throw new RangeError("a tick with a run that is none");
		left -= n;
		if (kind === SAME) {
			let lo = place + signed();
			const width = number();
			for (let i = 0; i < n; i++, lo += width) scratch.push(lo, lo + width, number());
			place = lo;
		} else if (kind === NO_LO) {
			place = signed();
			scratch.push(-Infinity, place, number());
		} else {
			place += signed();
			scratch.push(place, Infinity, number());
		}
		if (at > bytes.length) throw new RangeError("a tick that is cut");
	}
	return { from, to: scratch.size };
}

// Of a string or an ArrayBuffer. In a tick that came as bytes, lists of buckets are {from, to}, numbers
// of `scratch`.
export function readMessage(data) {
	if (typeof data === "string") return JSON.parse(data);
	bytes = new Uint8Array(data);
	const head = 4 + (bytes[0] | (bytes[1] << 8) | (bytes[2] << 16) | (bytes[3] << 24));
	const message = JSON.parse(decoder.decode(bytes.subarray(4, head)));
	at = head;
	scratch.size = 0;
	for (const item of message.line.aggregations)
		if (item.buckets !== undefined) item.buckets = list(item.buckets);
	bytes = null;
	return message;
}
