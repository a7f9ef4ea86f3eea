// SPDX-License-Identifier: Apache-2.0
// What the colours of a heat map mean: some counts, each with its colour.
import { CLASSES, classOf, classValue } from "./colour.js";
import { number } from "./format.js";

const MOST = 6;
const RANKS = [0.1, 0.5, 0.9, 1]; // parts of the cells that have so much, or less

// Round numbers only, where the scale has any.
const neat = (x) => (x < 10 ? Math.round(x) : Number(x.toPrecision(2)));

// The counts that are named: least first. Of a share of the column, in hundredths of a percent.
export function legendCounts(scale, max, histogram) {
	let list;
	if (scale === "rank") list = ranked(histogram);
	else if (scale === "log") {
		list = [];
		for (let n = 1; n < 0.6 * max; n *= 10) list.push(n);
		while (list.length > MOST - 1) list = list.filter((_, i) => i % 2 === 0);
		list.push(neat(max));
	} else list = [0.25, 0.5, 0.75, 1].map((part) => neat(part * max));
	return [...new Set(list)].filter((n) => n > 0);
}

function ranked(histogram) {
	let cells = 0;
	for (let c = 1; c < CLASSES; c++) cells += histogram[c];
	const list = [];
	for (let c = 1, below = 0; c < CLASSES && list.length < RANKS.length; c++) {
		below += histogram[c];
		while (cells && below >= RANKS[list.length] * cells) list.push(neat(classValue(c)));
	}
	return list;
}

// [{text, colour}] of a HeatMap as it is coloured now.
export function legend({ setup, scaleMax, histAll, normal, colours }) {
	const clamped = setup.clamp > 0;
	const counts = legendCounts(setup.scale, scaleMax, histAll);
	return counts.map((n, i) => {
		const pixel = colours[0][classOf(n) || 1];
		const text = setup.scale === "percent" ? `${number(n / 100)} %` : number(n / normal);
		return {
			text: clamped && setup.scale !== "rank" && i === counts.length - 1 ? `≥ ${text}` : text,
			colour: `rgb(${pixel & 255} ${(pixel >> 8) & 255} ${(pixel >> 16) & 255})`,
		};
	});
}
