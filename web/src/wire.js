// SPDX-License-Identifier: Apache-2.0
// Messages of the server as objects. Nearly all of a tick is buckets, thousands of them ten times a
// second: these are read out of the bytes into arrays that are used again, without an object each.
// The rest, and whatever looks other than expected, is left to JSON.parse.

const MARK = '"buckets":[';
const [OPEN, CLOSE, END, COMMA, MINUS, N] = [..."{}],-n"].map((c) => c.charCodeAt(0));
const [L, H, C] = [..."lhc"].map((c) => c.charCodeAt(0));

const encoder = new TextEncoder();
let bytes = new Uint8Array(1 << 16);
let at = 0; // in bytes

// Buckets of the message read last, one after the other: a list of them is {from, to}. Bounds that
// are null in JSON are infinite here.
export const scratch = {
	lo: new Float64Array(1 << 12),
	hi: new Float64Array(1 << 12),
	count: new Float64Array(1 << 12),
	size: 0,

	push(lo, hi, count) {
		if (this.size === this.lo.length) {
			for (const name of ["lo", "hi", "count"]) {
				const more = new Float64Array(this.size * 2);
				more.set(this[name]);
				this[name] = more;
			}
		}
		this.lo[this.size] = lo;
		this.hi[this.size] = hi;
		this.count[this.size++] = count;
	},

	// Buckets as JSON has them.
	load(list) {
		this.size = 0;
		for (const { lo, hi, count } of list)
			if (count > 0) this.push(lo ?? -Infinity, hi ?? Infinity, count);
		return { from: 0, to: this.size };
	},
};

// A whole number at `at`, or null as `none`. What is neither leaves `at` at a byte that cannot follow.
function number(none) {
	let b = bytes[at];
	if (b === N) {
		at += 4;
		return none;
	}
	const less = b === MINUS;
	if (less) b = bytes[++at];
	let n = 0;
	for (; b >= 48 && b <= 57; b = bytes[++at]) n = n * 10 + (b - 48);
	return less ? -n : n;
}

// {"lo":1,"hi":2,"count":3},... up to the list's end. False: it is not like that.
function list() {
	if (bytes[at] === END) return true;
	for (;;) {
		if (bytes[at] !== OPEN || bytes[at + 2] !== L) return false;
		at += 6;
		const lo = number(-Infinity);
		if (bytes[at] !== COMMA || bytes[at + 2] !== H) return false;
		at += 6;
		const hi = number(Infinity);
		if (bytes[at] !== COMMA || bytes[at + 2] !== C) return false;
		at += 9;
		const count = number(0);
		if (bytes[at] !== CLOSE) return false;
		if (count > 0) scratch.push(lo, hi, count);
		const b = bytes[at + 1];
		at += 2;
		if (b === END) {
			at--;
			return true;
		}
		if (b !== COMMA) return false;
	}
}

// In the object, lists of buckets that were read are {from, to}, numbers of `scratch`.
export function readMessage(text) {
	let mark = text.indexOf(MARK);
	if (mark < 0) return JSON.parse(text);
	if (bytes.length < text.length) bytes = new Uint8Array(text.length * 2);
	// Places in text and bytes are the same as long as a character is a byte.
	const { read, written } = encoder.encodeInto(text, bytes);
	if (read !== text.length || written !== text.length) return JSON.parse(text);
	const lists = [];
	let rest = "";
	let from = 0;
	scratch.size = 0;
	for (; mark >= 0; mark = text.indexOf(MARK, at)) {
		at = mark + MARK.length;
		const first = scratch.size;
		if (!list()) return JSON.parse(text);
		rest += `${text.slice(from, mark + MARK.length - 1)}${lists.length}`;
		lists.push({ from: first, to: scratch.size });
		from = at + 1;
	}
	const message = JSON.parse(rest + text.slice(from));
	const { line } = message;
	if (line?.type !== "tick") return JSON.parse(text);
	for (const item of line.aggregations)
		if (item.buckets !== undefined) item.buckets = lists[item.buckets];
	return message;
}
