// SPDX-License-Identifier: Apache-2.0
// Colours of the heat map. All ramps are lines in OKLab: lightness goes evenly from the paper's to the
// other end, so that equal steps look equal and the order holds without seeing hue at all; hue runs
// between blue and yellow, the axis that the common colour blindnesses keep.

// OKLab (L 0..1, chroma, hue in degrees) as linear sRGB; channels may leave 0..1 (out of gamut).
function linear(L, C, h) {
	const a = C * Math.cos((h * Math.PI) / 180);
	const b = C * Math.sin((h * Math.PI) / 180);
	const l = (L + 0.3963377774 * a + 0.2158037573 * b) ** 3;
	const m = (L - 0.1055613458 * a - 0.0638541728 * b) ** 3;
	const s = (L - 0.0894841775 * a - 1.291485548 * b) ** 3;
	return [
		4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
		-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
		-0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
	];
}

const gamma = (x) => (x <= 0.0031308 ? 12.92 * x : 1.055 * x ** (1 / 2.4) - 0.055);

// As [r, g, b] 0..255; chroma gives way until the screen can show it.
export function oklch(L, C, h) {
	let rgb = linear(L, C, h);
	for (let c = C; c > 0 && rgb.some((x) => x < -1e-4 || x > 1.0001);) {
		c = Math.max(0, c - 0.004);
		rgb = linear(L, c, h);
	}
	return rgb.map((x) => Math.round(255 * gamma(Math.min(1, Math.max(0, x)))));
}

export const css = ([r, g, b]) => `rgb(${r} ${g} ${b})`;
const pack = ([r, g, b]) => ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;

export const LEVELS = 256;

// The hues of keys, far apart one after the other; [hue, lightness shift, chroma].
const HUES = [
	[255, 0, 0.15],
	[65, 0.02, 0.15],
	[165, 0.03, 0.13],
	[345, -0.02, 0.16],
	[110, 0.06, 0.14],
	[300, -0.04, 0.15],
	[215, 0.05, 0.11],
	[30, -0.03, 0.16],
];
export const KEY_HUES = HUES.length;

// A ramp of LEVELS packed pixels (as a Uint32 of an ImageData has them). hue -1: the sequential ramp;
// 0..KEY_HUES-1: a key's; KEY_HUES: keys that have no hue of their own.
export function ramp(hue, dark) {
	const out = new Uint32Array(LEVELS);
	for (let i = 0; i < LEVELS; i++) {
		const t = i / (LEVELS - 1);
		out[i] = pack(shade(hue, dark, t));
	}
	return out;
}

export function shade(hue, dark, t) {
	if (hue < 0) {
		// Away from the paper in even steps of lightness; chroma is highest in the middle.
		const L = dark ? 0.3 + 0.62 * t : 0.93 - 0.65 * t;
		const h = dark ? 285 - 175 * t ** 1.3 : 205 + 85 * t;
		return oklch(L, 0.03 + 0.085 * Math.sin(Math.PI * 0.85 * t), h);
	}
	if (hue >= KEY_HUES) return oklch(dark ? 0.3 + 0.5 * t : 0.9 - 0.5 * t, 0.005, 260);
	const [h, shift, C] = HUES[hue];
	return oklch(
		(dark ? 0.32 + 0.46 * t : 0.91 - 0.38 * t) + shift * t,
		C * (0.35 + 0.65 * t),
		h,
	);
}

// The colour of a key in lists and legends.
export const swatch = (hue, dark) => css(shade(hue, dark, 0.9));

// Scales: how a count (0 < n) becomes a level 1..LEVELS-1. `clamp`: the count from which on all are the
// strongest; 0: the greatest there is.
export function linearScale(max) {
	const k = (LEVELS - 2) / Math.max(1, max);
	return (n) => 1 + Math.min(LEVELS - 2, Math.round(n * k));
}

export function logScale(max) {
	const k = (LEVELS - 2) / Math.log2(1 + Math.max(1, max));
	return (n) => 1 + Math.min(LEVELS - 2, Math.round(Math.log2(1 + n) * k));
}

// Counts fall into classes: small ones exactly, larger ones in 32 steps a doubling. A scale is then a
// table by class, which is also what makes ranks cheap.
const EXACT = 256;
const STEPS = 32;
export const CLASSES = EXACT + 56 * STEPS;

export function classOf(n) {
	if (n < EXACT) return n | 0;
	const c = EXACT + (((Math.log2(n) - 8) * STEPS) | 0);
	return c < CLASSES ? c : CLASSES - 1;
}

export const classValue = (c) => (c < EXACT ? c : 2 ** (8 + (c - EXACT + 0.5) / STEPS));

// class -> level for counts up to max. histogram: how many cells have each class (for "rank").
export function levels(kind, max, histogram) {
	const out = new Uint8Array(CLASSES);
	if (kind === "rank") {
		let cells = 0;
		for (let c = 1; c < CLASSES; c++) cells += histogram[c];
		let before = 0;
		for (let c = 1; c < CLASSES; c++) {
			// The middle of those that are equal, as ranks of equals go; classes that no cell has
			// get the level their neighbours would give them.
			const rank = cells ? (before + histogram[c] / 2) / cells : 0;
			out[c] = 1 + Math.min(LEVELS - 2, Math.round(rank * (LEVELS - 2)));
			before += histogram[c];
		}
		return out;
	}
	const scale = kind === "linear" ? linearScale(max) : logScale(max);
	for (let c = 1; c < CLASSES; c++) out[c] = scale(classValue(c));
	return out;
}

// The next "round" maximum: colours then hold still while the greatest count moves a little.
export function roundMax(max) {
	if (!(max > 0)) return 1;
	return 2 ** (Math.ceil(Math.log2(max) * 2) / 2);
}
