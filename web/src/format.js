// SPDX-License-Identifier: Apache-2.0
// Numbers, ranges, times and keys as a person reads them.

export const UNITS = ["none", "ns", "us", "ms", "s", "bytes"];
export const UNIT_NAMES = { none: "plain", ns: "ns", us: "µs", ms: "ms", s: "s", bytes: "bytes" };

const TIME = [
	["ns", 1],
	["µs", 1e3],
	["ms", 1e6],
	["s", 1e9],
	["min", 60e9],
	["h", 3600e9],
];
const BYTES = [
	["B", 1],
	["KiB", 1024],
	["MiB", 1024 ** 2],
	["GiB", 1024 ** 3],
	["TiB", 1024 ** 4],
];
const PLAIN = [
	["", 1],
	["k", 1e3],
	["M", 1e6],
	["G", 1e9],
	["T", 1e12],
	["P", 1e15],
];

// At most `digits` significant ones, never an exponent, no zeros at the end of a fraction.
function short(x, digits = 3) {
	const a = Math.abs(x);
	if (a >= 10 ** digits || Number.isInteger(x)) return String(Math.round(x));
	const text = x.toPrecision(digits);
	if (text.includes("e"))
		return a < 1 ? x.toFixed(digits + 3).replace(/0+$/, "") : String(Math.round(x));
	return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

function scaled(x, scale, digits) {
	const a = Math.abs(x);
	let i = 0;
	while (i + 1 < scale.length && a >= scale[i + 1][1]) i++;
	// 999.6 k would read "1000 k"
	if (
		i + 1 < scale.length &&
		Number(short(a / scale[i][1], digits)) * scale[i][1] >= scale[i + 1][1]
	)
		i++;
	return [short(x / scale[i][1], digits), scale[i][0]];
}

const FACTOR = { ns: 1, us: 1e3, ms: 1e6, s: 1e9 };

// The unit of values of a unit that normalize() divides: thousands of ns are us, and so on. What is no
// change of units (seconds of a run, a number of processors) leaves it as it is.
export function dividedUnit(unit, by) {
	if (by === 1 || unit === "none") return unit;
	if (unit === "bytes") return by % 1024 && by % 1000 ? unit : "none";
	if (by % 1000) return unit;
	return UNITS.find((u) => FACTOR[u] === FACTOR[unit] * by) ?? "none";
}

export function number(x, unit = "none", digits = 3) {
	if (x === null || x === undefined || Number.isNaN(x)) return "–";
	if (!Number.isFinite(x)) return x < 0 ? "−∞" : "∞";
	if (unit in FACTOR) {
		if (x === 0) return "0";
		const [n, u] = scaled(x * FACTOR[unit], TIME, digits);
		return `${n} ${u}`;
	}
	if (unit === "bytes") {
		const [n, u] = scaled(x, BYTES, digits);
		return `${n} ${u}`;
	}
	if (Math.abs(x) < 10000) return short(x, Math.max(digits, 4));
	const [n, u] = scaled(x, PLAIN, digits);
	return n + u;
}

// What number() writes, read: "1.5 ms", "64KiB", "20k"; without a unit, the number as it is. null: neither.
export function readNumber(text, unit = "none") {
	const m = /^\s*([+-]?(?:\d+\.?\d*|\.\d+))\s*([a-zµμ]*)\s*$/i.exec(text);
	if (!m) return null;
	const sign = m[2].replace(/^[uμ](?=s$)/i, "µ").toLowerCase();
	if (!sign) return Number(m[1]);
	const [scale, factor] =
		unit in FACTOR ? [TIME, FACTOR[unit]] : [unit === "bytes" ? BYTES : PLAIN, 1];
	const found = scale.find(([name]) => name.toLowerCase() === sign);
	return found ? (Number(m[1]) * found[1]) / factor : null;
}

// A whole number with thin spaces between thousands: for tables, where digits line up.
export function exact(x) {
	if (x === null || x === undefined || Number.isNaN(x)) return "–";
	const text = Number.isInteger(x)
		? String(x)
		: x.toFixed(Math.abs(x) < 1 ? 3 : Math.abs(x) < 100 ? 2 : 1);
	const [whole, part] = text.split(".");
	const spaced = whole.replace(/\B(?=(\d{3})+$)/g, "\u202f");
	return part ? `${spaced}.${part}` : spaced;
}

export function range(lo, hi, unit = "none", digits = 4) {
	if (lo === null && hi === null) return "all";
	if (lo === null) return `< ${number(hi, unit, digits)}`;
	if (hi === null) return `≥ ${number(lo, unit, digits)}`;
	if (hi - lo === 1 && unit === "none") return number(lo, unit, digits);
	return `${number(lo, unit, digits)} – ${number(hi, unit, digits)}`;
}

const two = (n) => String(n).padStart(2, "0");

export function clock(ms, fraction = false) {
	const d = new Date(ms);
	const text = `${two(d.getHours())}:${two(d.getMinutes())}:${two(d.getSeconds())}`;
	return fraction ? `${text}.${Math.floor(d.getMilliseconds() / 100)}` : text;
}

export function duration(seconds) {
	const s = Math.max(0, Math.floor(seconds));
	const h = Math.floor(s / 3600);
	return h
		? `${h}:${two(Math.floor(s / 60) % 60)}:${two(s % 60)}`
		: `${two(Math.floor(s / 60))}:${two(s % 60)}`;
}

// One key of an aggregation (an array of values; a stack is an array of frames) as one line.
export function keyText(keys) {
	if (!keys.length) return "(all)";
	return keys
		.map((k) => {
			if (Array.isArray(k))
				return k.length
					? frameName(k[0]) +
							(k.length > 1 ? ` +${k.length - 1}` : "")
					: "(empty)";
			if (k === null) return "NULL";
			return k === "" ? '""' : String(k);
		})
		.join(", ");
}

// A frame without the offset in its function.
export const frameName = (frame) => String(frame).replace(/\+0x[0-9a-f]+$/i, "");

// What unit an aggregation of a script most likely is in.
export function guessUnit(script, name) {
	const esc = name === "_" ? "" : name.replace(/\W/g, "");
	const found = new RegExp(`@${esc}\\s*(?:\\[[^;]*?\\])?\\s*=\\s*(\\w+)\\s*\\(([^;]*)`).exec(
		script,
	);
	const fn = found?.[1];
	const expr = found?.[2] ?? "";
	if (fn === "count") return "none";
	const divided = (text = expr) => {
		if (/\/\s*1000000\b/.test(text)) return "ms";
		return /\/\s*1000\b/.test(text) ? "us" : "ns";
	};
	if (/timestamp/.test(expr)) return divided();
	for (const word of [...expr.matchAll(/[a-z]+/gi)]
		.map((m) => m[0])
		.concat(name.split(/[_\d]/))) {
		if (/^(ns|nanoseconds?|nsec)$/i.test(word)) return divided();
		if (/^(us|usec|microseconds?)$/i.test(word)) return "us";
		if (/^(ms|msec|milliseconds?)$/i.test(word)) return "ms";
		if (/^(bytes?)$/i.test(word)) return "bytes";
	}
	// A variable that has been set to a time.
	for (const [, variable] of expr.matchAll(/(?:self|this)->(\w+)/g)) {
		const set = new RegExp(`->${variable}\\s*=([^;=]*timestamp[^;]*)`).exec(script);
		if (set) return divided(`${set[1]} ${expr}`);
	}
	return "none";
}

// Words between blanks; quotes keep blanks.
export function splitArgs(text) {
	return [...text.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map((m) => m[1] ?? m[2] ?? m[3]);
}

// A share of 100.
export function percent(x) {
	if (!Number.isFinite(x)) return "–";
	return x > 0 && x < 0.05 ? "< 0.1 %" : `${x.toFixed(1)} %`;
}
