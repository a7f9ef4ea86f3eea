// SPDX-License-Identifier: Apache-2.0
// What the server does with ticks for the page (c_src/web/pack.c), for tests without it; and back.
import { readMessage, scratch } from "../src/wire.js";

export function pack(message) {
	const runs = [];
	const number = (n) => {
		for (; n > 127; n = Math.floor(n / 128)) runs.push((n % 128) | 128);
		runs.push(n);
	};
	const signed = (n) => number(n < 0 ? -n * 2 - 1 : n * 2);
	const list = (buckets) => {
		let place = 0;
		for (let i = 0; i < buckets.length;) {
			const first = buckets[i];
			const from = i++;
			if (first.lo === null) {
				number(5);
				signed((place = first.hi));
			} else if (first.hi === null) {
				number(6);
				signed(first.lo - place);
				place = first.lo;
			} else {
				const width = first.hi - first.lo;
				while (
					buckets[i]?.lo === buckets[i - 1].hi &&
					buckets[i].hi === buckets[i].lo + width
				)
					i++;
				number((i - from) * 4);
				signed(first.lo - place);
				number(width);
				place = buckets[i - 1].hi;
			}
			for (let k = from; k < i; k++) number(buckets[k].count);
		}
		return buckets.length;
	};
	const line = {
		...message.line,
		aggregations: message.line.aggregations.map((a) =>
			a.buckets ? { ...a, buckets: list(a.buckets) } : a,
		),
	};
	const head = Buffer.from(JSON.stringify({ ...message, line }));
	const size = Buffer.alloc(4);
	size.writeUInt32LE(head.length);
	return Buffer.concat([size, head, Buffer.from(runs)]);
}

// A packed tick as it would be in text.
export function unpacked(bytes) {
	const m = readMessage(Uint8Array.from(bytes).buffer);
	const { lo, hi, count } = scratch;
	const bound = (x) => (Math.abs(x) === Infinity ? null : x);
	for (const a of m.line.aggregations) {
		if (!a.buckets) continue;
		const { from, to } = a.buckets;
		a.buckets = [];
		for (let i = from; i < to; i++)
			a.buckets.push({ lo: bound(lo[i]), hi: bound(hi[i]), count: count[i] });
	}
	return m;
}
