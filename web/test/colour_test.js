// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import {
	CLASSES,
	KEY_HUES,
	LEVELS,
	classOf,
	classValue,
	levels,
	logScale,
	linearScale,
	ramp,
	roundMax,
	shade,
} from "../src/colour.js";
import { legend, legendCounts } from "../src/legend.js";

const channels = (px) => [px & 255, (px >> 8) & 255, (px >> 16) & 255];
const light = (px) => {
	const [r, g, b] = channels(px).map((c) =>
		c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4,
	);
	return Math.cbrt(0.2126 * r + 0.7152 * g + 0.0722 * b);
};

test("ramps go one way in lightness, in even steps", () => {
	for (const dark of [false, true]) {
		for (let hue = -1; hue <= KEY_HUES; hue++) {
			const l = [...ramp(hue, dark)].map(light);
			const sign = dark ? 1 : -1;
			const step = (l.at(-1) - l[0]) / (LEVELS - 1);
			for (let i = 16; i < LEVELS; i += 16) {
				assert.ok(
					sign * (l[i] - l[i - 16]) > 0,
					`hue ${hue} dark ${dark} at ${i}`,
				);
				if (hue < 0)
					assert.ok(
						Math.abs((l[i] - l[i - 16]) / 16 / step - 1) < 0.5,
						`even at ${i}`,
					);
			}
		}
	}
});

test("pixels are opaque", () => {
	for (const px of ramp(-1, false)) assert.equal(px >>> 24, 255);
	assert.equal(shade(0, true, 0.5).length, 3);
});

test("classes keep the order of counts, exactly for small ones", () => {
	for (let n = 1; n < 256; n++) assert.equal(classOf(n), n);
	let last = 0;
	for (let n = 1; n < 1e15; n = Math.ceil(n * 1.3)) {
		assert.ok(classOf(n) >= last);
		last = classOf(n);
	}
	assert.ok(Math.abs(classValue(classOf(1e6)) / 1e6 - 1) < 0.03);
	assert.ok(classOf(1e300) < CLASSES);
});

test("linear and log: one is visible, the greatest is the strongest, more is clamped", () => {
	for (const scale of [linearScale(1000), logScale(1000)]) {
		assert.ok(scale(1) >= 1);
		assert.equal(scale(1000), LEVELS - 1);
		assert.equal(scale(50000), LEVELS - 1);
	}
	assert.ok(logScale(1000)(30) > linearScale(1000)(30));
});

test("rank: by how many cells have less, not by how much", () => {
	const hist = new Uint32Array(CLASSES);
	hist[1] = 50;
	hist[2] = 30;
	hist[200] = 20;
	const t = levels("rank", 200, hist);
	assert.ok(t[1] < t[2] && t[2] < t[200]);
	assert.equal(t[1], 1 + Math.round(0.25 * (LEVELS - 2)));
	assert.equal(t[2], 1 + Math.round(0.65 * (LEVELS - 2)));
	// the same picture whatever the size of the greatest
	const other = new Uint32Array(CLASSES);
	other[1] = 50;
	other[2] = 30;
	other[1000] = 20;
	assert.equal(levels("rank", 1, other)[1000], t[200]);
});

test("maxima are rounded up, so that colours hold still", () => {
	assert.equal(roundMax(roundMax(100)), roundMax(100));
	assert.equal(roundMax(100), roundMax(120));
	for (const n of [1, 3, 99, 12345]) assert.ok(roundMax(n) >= n && roundMax(n) < n * 1.5);
});

test("the legend names counts, each in the colour that cells with it have", () => {
	const hist = new Uint32Array(CLASSES);
	assert.deepEqual(legendCounts("log", 724, hist), [1, 10, 100, 720]);
	assert.deepEqual(legendCounts("log", 1, hist), [1]);
	assert.deepEqual(legendCounts("log", 2, hist), [1, 2]);
	assert.ok(legendCounts("log", 1e12, hist).length <= 6);
	assert.deepEqual(legendCounts("linear", 100, hist), [25, 50, 75, 100]);
	assert.deepEqual(legendCounts("linear", 2, hist), [1, 2]);
	// 80 cells with 1, 19 with 7, one with 200
	hist[classOf(1)] = 80;
	hist[classOf(7)] = 19;
	hist[classOf(200)] = 1;
	assert.deepEqual(legendCounts("rank", 0, hist), [1, 7, 200]);
	const table = levels("log", 724, hist);
	const shades = ramp(-1, false);
	const map = {
		setup: { scale: "log", clamp: 0 },
		scaleMax: 724,
		histAll: hist,
		normal: 1,
		colours: [Uint32Array.from(table, (level) => shades[level])],
	};
	const ten = legend(map)[1];
	assert.equal(ten.text, "10");
	assert.equal(ten.colour, `rgb(${channels(shades[table[classOf(10)]]).join(" ")})`);
	map.setup.clamp = 724;
	assert.equal(legend(map).at(-1).text, "≥ 720");
	map.normal = 10;
	assert.equal(legend(map)[1].text, "1");
	map.normal = 1;
	map.setup = { scale: "percent", clamp: 0 };
	map.scaleMax = 5000;
	assert.deepEqual(
		legend(map).map((x) => x.text),
		["13 %", "25 %", "38 %", "50 %"],
	);
});
