// SPDX-License-Identifier: Apache-2.0
// Draws a heat map on a canvas: cells, axes, lines; and says what is under a point.
import { placeOf } from "./buckets.js";
import { clock, number } from "./format.js";
import { HeatMap, binFor } from "./heatmap.js";
import { legend } from "./legend.js";
import { theme } from "./theme.js";

const LEFT = 68,
	RIGHT = 52,
	TOP = 8,
	BOTTOM = 44;
const FONT = "11px system-ui, sans-serif";
const LABEL = 24; // pixels from one label of the y axis to the next, at least
const EVERY = [1, 2, 4, 5, 8, 10, 16, 20, 25, 32, 50, 64, 100, 128, 200, 256, 500, 512];

// The edge below a row; of the row after the last, the one above that.
const edgeOf = (buckets, r) => (r < buckets.length ? buckets[r].lo : buckets[r - 1].hi);

// 2500: 2.5
const mantissa = (x) => Number(Math.abs(x).toExponential(5).split("e")[0]);

// 0: a power of ten; 1: five of them; 2: some of them; 3: anything else.
function roundness(x) {
	if (!x) return 0;
	const first = mantissa(x);
	if (first === 1) return 0;
	if (first === 5) return 1;
	return Number.isInteger(first) ? 2 : 3;
}

export class HeatCanvas {
	constructor(app, dist, canvas) {
		Object.assign(this, { app, dist, canvas });
		this.map = new HeatMap(dist);
		this.ring = document.createElement("canvas");
		this.ink = canvas.getContext("2d");
		this.rowZoom = null; // {lo, hi}: bucket edges; as the look has it
		this.size();
	}

	close() {
		this.map.close();
	}

	size() {
		const w = this.canvas.clientWidth,
			h = this.canvas.clientHeight;
		const ratio = Math.min(3, devicePixelRatio || 1);
		if (w === this.w && h === this.h && ratio === this.ratio) return;
		Object.assign(this, { w, h, ratio });
		this.canvas.width = Math.round(w * ratio);
		this.canvas.height = Math.round(h * ratio);
		this.plot = {
			x: LEFT,
			y: TOP,
			w: Math.max(10, w - LEFT - RIGHT),
			h: Math.max(10, h - TOP - BOTTOM),
		};
	}

	// look: {shown, hueOf, scale, clamp, unit, lines: {p50, p90, p99}, threshold, pinned, rowZoom}
	paint(look) {
		const { app, map, dist } = this;
		const { run } = dist;
		const last = app.last;
		if (last < 0) return;
		this.look = look;
		this.rowZoom = look.rowZoom;
		dist.compare(app.partner(dist));
		const { range } = app;
		const slots = range ? range.to - range.from : app.slots;
		const first = range ? range.from : last - slots;
		const bin = binFor(slots, run.hz, first < dist.timeline.coarse);
		const from = range ? Math.floor(range.from / bin) : 0;
		const cols = range
			? Math.max(1, Math.ceil(range.to / bin) - from)
			: Math.max(1, Math.floor(slots / bin));
		map.configure({
			cols,
			bin,
			live: !range,
			from,
			shown: look.shown,
			hueOf: look.hueOf,
			scale: look.scale,
			clamp: look.clamp,
			normal: dist.normal,
			dark: theme.dark,
		});
		const news = map.update(last);
		if (news) this.transfer(news);
		this.draw();
	}

	transfer(news) {
		const { map, ring } = this;
		if (!map.rows) return;
		if (ring.width !== map.cols || ring.height !== map.rows || this.of !== map.pixels) {
			ring.width = map.cols;
			ring.height = map.rows;
			this.of = map.pixels;
			this.image = new ImageData(
				new Uint8ClampedArray(map.pixels.buffer),
				map.cols,
				map.rows,
			);
			this.ringInk = ring.getContext("2d");
			news = { all: true };
		}
		if (news.all) this.ringInk.putImageData(this.image, 0, 0);
		else
			for (let c = news.from; c <= news.to; c++)
				this.ringInk.putImageData(
					this.image,
					0,
					0,
					map.index(c),
					0,
					1,
					map.rows,
				);
	}

	// The rows shown: [from, to). Asked for each point of a line, made anew when it changes.
	rowRange() {
		const { rowZoom, map } = this;
		const { buckets } = map;
		if (this.rangeOf === buckets && this.rangeZoom === rowZoom) return this.range;
		this.rangeOf = buckets;
		this.rangeZoom = rowZoom;
		const a = rowZoom ? buckets.findIndex((b) => b.lo === rowZoom.lo) : -1;
		const z = rowZoom ? buckets.findIndex((b) => b.hi === rowZoom.hi) : -1;
		return (this.range = a < 0 || z < a ? [0, buckets.length] : [a, z + 1]);
	}

	// Rows as a zoom of the look; null: all of them.
	zoomOf(from, to) {
		const { buckets } = this.map;
		return from <= 0 && to >= buckets.length
			? null
			: { lo: buckets[from].lo, hi: buckets[to - 1].hi };
	}

	yOf(place) {
		const [a, z] = this.rowRange();
		return this.plot.y + this.plot.h * (1 - (place - a) / (z - a));
	}

	xOf(column) {
		return this.plot.x + (this.plot.w * (column - this.firstColumn)) / this.map.cols;
	}
	get firstColumn() {
		return this.map.head - this.map.cols + 1;
	}

	// The cell at a point: {column, row}; null beside the plot.
	at(x, y, clampTo = false) {
		const { plot, map } = this;
		if (!map.rows) return null;
		if (
			!clampTo &&
			(x < plot.x || x >= plot.x + plot.w || y < plot.y || y >= plot.y + plot.h)
		)
			return null;
		const [a, z] = this.rowRange();
		const inside = (v, most) => Math.min(most, Math.max(0, v));
		return {
			column:
				this.firstColumn +
				inside(
					Math.floor(((x - plot.x) / plot.w) * map.cols),
					map.cols - 1,
				),
			row:
				a +
				inside(
					Math.floor((1 - (y - plot.y) / plot.h) * (z - a)),
					z - a - 1,
				),
		};
	}

	draw(ink = this.ink, ratio = this.ratio) {
		const { plot, map } = this;
		ink.setTransform(ratio, 0, 0, ratio, 0, 0);
		ink.clearRect(0, 0, this.w, this.h);
		ink.fillStyle = theme.colour("plot");
		ink.fillRect(plot.x, plot.y, plot.w, plot.h);
		this.gaps(ink);
		if (map.rows) {
			this.cells(ink);
			this.yAxis(ink);
		}
		this.xAxis(ink);
		if (!map.rows) return;
		this.lines(ink);
		this.pinned(ink);
		this.legend(ink);
	}

	// The cell that was clicked on, which moves with the picture.
	pinned(ink) {
		const { map, plot, look } = this;
		if (!look.pinned) return;
		const { slots, bucket } = look.pinned;
		const row = map.buckets.findIndex((b) => b.lo === bucket.lo);
		const [a, z] = this.rowRange();
		const x = this.xOf(slots[0] / map.setup.bin);
		const w = Math.max(3, this.xOf(slots[1] / map.setup.bin) - x);
		if (row < a || row >= z || x + w <= plot.x || x >= plot.x + plot.w) return;
		const y = this.yOf(row + 1);
		ink.strokeStyle = theme.colour("paper");
		ink.lineWidth = 4;
		ink.strokeRect(x, y, w, this.yOf(row) - y);
		ink.strokeStyle = theme.colour("accent");
		ink.lineWidth = 2;
		ink.strokeRect(x, y, w, this.yOf(row) - y);
	}

	// What the colours mean, below the time: as many counts as there is room for, the greatest at the right.
	legend(ink) {
		const { plot } = this;
		ink.font = FONT;
		ink.textAlign = "left";
		ink.textBaseline = "middle";
		const y = plot.y + plot.h + 34;
		for (const { text, x, colour } of this.legendPlaces(ink)) {
			if (colour) {
				ink.fillStyle = colour;
				ink.fillRect(x - 14, y - 5, 10, 10);
			}
			ink.fillStyle = theme.colour("ink-2");
			ink.fillText(text, x, y);
		}
	}

	// They change seldom.
	legendPlaces(ink) {
		const { map, plot } = this;
		const l = this.legendOf;
		if (l?.colours === map.colours && l.plot === plot && l.normal === map.normal)
			return l.list;
		const list = [];
		let right = plot.x + plot.w;
		const put = (text, colour, room) => {
			const x = right - ink.measureText(text).width;
			if (x - room < plot.x) return;
			list.push({ text, x, colour });
			right = x - room;
		};
		for (const { text, colour } of legend(map).reverse()) put(text, colour, 28);
		put(map.setup.scale === "percent" ? "part of the column:" : "values in a cell:", null, 0);
		this.legendOf = { colours: map.colours, normal: map.normal, plot, list };
		return list;
	}

	// Where no tick came there is no zero either.
	gaps(ink) {
		const { map, plot } = this;
		ink.fillStyle = theme.colour("gap");
		if (!map.known) return;
		for (let i = 0; i < map.cols;) {
			let j = i;
			while (j < map.cols && !map.known[map.index(this.firstColumn + j)]) j++;
			if (j > i) {
				const x = plot.x + (plot.w * i) / map.cols;
				ink.fillRect(x, plot.y, (plot.w * (j - i)) / map.cols, plot.h);
			}
			i = j + 1;
		}
	}

	cells(ink) {
		const { map, plot, ring } = this;
		const [a, z] = this.rowRange();
		const sy = map.rows - z,
			sh = z - a;
		const split = map.index(this.firstColumn);
		const ratio = this.ratio;
		const mid = Math.round(((plot.w * (map.cols - split)) / map.cols) * ratio) / ratio;
		ink.imageSmoothingEnabled = false;
		ink.drawImage(ring, split, sy, map.cols - split, sh, plot.x, plot.y, mid, plot.h);
		if (split > 0)
			ink.drawImage(
				ring,
				0,
				sy,
				split,
				sh,
				plot.x + mid,
				plot.y,
				plot.w - mid,
				plot.h,
			);
	}

	yAxis(ink) {
		const { plot } = this;
		ink.font = FONT;
		ink.textAlign = "right";
		ink.textBaseline = "middle";
		ink.fillStyle = theme.colour("ink-2");
		ink.strokeStyle = theme.colour("line");
		ink.lineWidth = 1;
		ink.beginPath();
		for (const { text, y } of this.yTexts()) {
			ink.moveTo(plot.x - 4, y);
			ink.lineTo(plot.x, y);
			ink.fillText(text, plot.x - 7, Math.min(y, plot.y + plot.h - 1));
		}
		ink.stroke();
	}

	// The labels with their places; they change seldom.
	yTexts() {
		const { map, look, plot } = this;
		const range = this.rowRange();
		const t = this.texts;
		if (t?.range === range && t.unit === look.unit && t.plot === plot) return t.list;
		const list = this.yLabels().map((r) => ({
			text: number(edgeOf(map.buckets, r), look.unit),
			y: Math.round(this.yOf(r)) + 0.5,
		}));
		this.texts = { range, unit: look.unit, plot, list };
		return list;
	}

	// The edges that are named, as rows: every so many; of an llquantize, whose steps change, those
	// that are round, as far as there is room.
	yLabels() {
		const { plot, map, dist } = this;
		const [a, z] = this.rowRange();
		const rowHeight = plot.h / (z - a);
		const edge = (r) => edgeOf(map.buckets, r);
		const rows = [];
		for (let r = a; r <= z; r++) if (edge(r) !== null) rows.push(r);
		if (dist.fn === "llquantize") {
			const taken = [];
			for (const wanted of [0, 1, 2, 3])
				for (const r of rows)
					if (
						roundness(edge(r)) === wanted &&
						taken.every((t) => Math.abs(t - r) * rowHeight >= LABEL)
					)
						taken.push(r);
			return taken;
		}
		const step = this.roundStep(rowHeight);
		if (step) return rows.filter((r) => edge(r) % step === 0);
		const every = EVERY.find((n) => n * rowHeight >= LABEL) ?? 1024;
		// From the first edge that is a number on, so that labels stay round.
		return rows.filter((r) => (r - (map.buckets[0].lo === null ? 1 : 0)) % every === 0);
	}

	// Of an lquantize: from label to label, a round number that its edges have; null: there is none.
	roundStep(rowHeight) {
		const { fn, params } = this.dist;
		const [base, , width = 1] = params;
		if (fn !== "lquantize" || this.look.unit === "bytes" || this.map.fold > 1) return null;
		const every = EVERY.find(
			(n) => n * rowHeight >= LABEL && [1, 2, 5].includes(mantissa(n * width)),
		);
		return every && base % width === 0 ? every * width : null;
	}

	xAxis(ink) {
		const { plot, map, dist } = this;
		const { hz } = dist.run;
		const seconds = (map.cols * map.setup.bin) / hz;
		const fit = Math.max(2, Math.floor(plot.w / 90));
		const step =
			[0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300].find(
				(s) => seconds / s <= fit,
			) ?? 600;
		const first = (this.firstColumn * map.setup.bin) / hz;
		ink.font = FONT;
		ink.textAlign = "center";
		ink.textBaseline = "top";
		ink.fillStyle = theme.colour("ink-2");
		ink.strokeStyle = theme.colour("line");
		const base = plot.y + plot.h;
		for (let k = Math.ceil(first / step - 1e-9); k * step <= first + seconds; k++) {
			const x = plot.x + (plot.w * (k * step - first)) / seconds;
			ink.beginPath();
			ink.moveTo(Math.round(x) + 0.5, base);
			ink.lineTo(Math.round(x) + 0.5, base + 4);
			ink.stroke();
			if (x > plot.x + 20 && x < plot.x + plot.w - 20)
				ink.fillText(
					clock(Math.round(k * step * 1000), step < 1),
					x,
					base + 7,
				);
		}
		ink.strokeRect(plot.x - 0.5, plot.y - 0.5, plot.w + 1, plot.h + 1);
	}

	lines(ink) {
		const { plot, look, map } = this;
		ink.save();
		ink.beginPath();
		ink.rect(plot.x, plot.y, plot.w, plot.h);
		ink.clip();
		ink.lineJoin = "round";
		const labels = [];
		for (const name of ["p50", "p90", "p99"]) {
			const y = look.lines[name] ? this.percentileLine(ink, name) : null;
			if (y !== null) labels.push({ text: name, y, colour: `line-${name}` });
		}
		if (look.threshold !== null) {
			const y = this.yOf(placeOf(map.buckets, look.threshold));
			ink.strokeStyle = theme.colour("bad");
			ink.lineWidth = 1.5;
			ink.setLineDash([6, 4]);
			ink.beginPath();
			ink.moveTo(plot.x, y);
			ink.lineTo(plot.x + plot.w, y);
			ink.stroke();
			ink.setLineDash([]);
			labels.push({ text: number(look.threshold, look.unit), y, colour: "bad" });
		}
		ink.restore();
		this.labels(ink, labels);
	}

	percentileLine(ink, name) {
		const { map, plot } = this;
		const at = map[name];
		ink.beginPath();
		let pen = false;
		let end = null;
		for (let i = 0; i < map.cols; i++) {
			const place = at[map.index(this.firstColumn + i)];
			if (!(place === place)) {
				pen = false;
				continue;
			}
			const x = plot.x + (plot.w * (i + 0.5)) / map.cols;
			const y = (end = this.yOf(place));
			if (pen) ink.lineTo(x, y);
			else ink.moveTo(x, y);
			pen = true;
		}
		ink.strokeStyle = theme.colour("paper");
		ink.lineWidth = 3.5;
		ink.stroke();
		ink.strokeStyle = theme.colour(`line-${name}`);
		ink.lineWidth = 1.5;
		ink.stroke();
		return end;
	}

	// What lines are, at their right end, none upon another.
	labels(ink, list) {
		const { plot } = this;
		ink.font = FONT;
		ink.textAlign = "left";
		ink.textBaseline = "middle";
		list.sort((a, b) => b.y - a.y);
		let free = plot.y + plot.h;
		for (const { text, y, colour } of list) {
			const at = Math.max(plot.y + 5, Math.min(y, free));
			free = at - 13;
			if (y < plot.y - 1 || y > plot.y + plot.h + 1) continue;
			ink.fillStyle = theme.colour(colour);
			ink.fillText(text, plot.x + plot.w + 5, at);
		}
	}

	// A picture of its own, with a title: for export.
	picture(title) {
		const out = document.createElement("canvas");
		const ratio = 2;
		out.width = this.w * ratio;
		out.height = (this.h + 30) * ratio;
		const plain = document.createElement("canvas");
		plain.width = this.w * ratio;
		plain.height = this.h * ratio;
		this.draw(plain.getContext("2d"), ratio);
		const ink = out.getContext("2d");
		ink.fillStyle = theme.colour("paper");
		ink.fillRect(0, 0, out.width, out.height);
		ink.drawImage(plain, 0, 30 * ratio);
		ink.setTransform(ratio, 0, 0, ratio, 0, 0);
		ink.font = "600 13px system-ui, sans-serif";
		ink.fillStyle = theme.colour("ink");
		ink.fillText(title, LEFT, 20);
		return out;
	}
}
