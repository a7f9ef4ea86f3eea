// SPDX-License-Identifier: Apache-2.0
// A heat map with all around it: controls, what is under the pointer, keys, the table behind.
import { html } from "htm/preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { percentile, valueText } from "./buckets.js";
import { Card, ExportMenu, Still, useEvery, useHold, useSlowly } from "./card.js";
import { KEY_HUES, swatch } from "./colour.js";
import { UNITS, UNIT_NAMES, clock, exact, number, percent, range, readNumber } from "./format.js";
import { HeatCanvas } from "./heatcanvas.js";
import { Choice, Toggle } from "./menu.js";
import { RELEASED } from "./series.js";
import { theme } from "./theme.js";

const SCALES = [
	["rank", "rank"],
	["log", "log"],
	["linear", "linear"],
	["percent", "% of column"],
];
const MOST_KEYS = 60;
const KEYS_EVERY = 900; // ms between new counts of the keys
const RESORT = 3000; // and between new orders of them

// Which keys are shown, by their texts: all, only some, or all but some.
export function keyShown(choice, key) {
	if (choice.mode === "all") return true;
	return choice.keys.has(key) === (choice.mode === "only");
}

export const ALL = { mode: "all", keys: new Set() };

export function pickKey(choice, key, how) {
	const mode = how === "except" ? "except" : "only";
	const keys = new Set(choice.mode === mode && how !== "isolate" ? choice.keys : []);
	if (
		how === "isolate" &&
		choice.mode === "only" &&
		choice.keys.size === 1 &&
		choice.keys.has(key)
	)
		return ALL;
	if (keys.has(key)) keys.delete(key);
	else keys.add(key);
	return keys.size ? { mode, keys } : ALL;
}

// Arrays by series that grow as keys come; a new choice makes new ones, which redraws everything.
function useSeries(app, agg, { choice, byKey, hues }) {
	const node = app.onlyNode;
	const sets = useMemo(
		() => ({
			shown: new Uint8Array(64),
			hueOf: byKey ? new Uint8Array(64) : null,
			filled: 0, // the series' version
		}),
		[agg, choice, byKey, hues, node],
	);
	return {
		grow() {
			const { series } = agg;
			if (series.size > sets.shown.length) {
				const bigger = (a) => {
					const b = new Uint8Array(series.size * 2);
					b.set(a);
					return b;
				};
				sets.shown = bigger(sets.shown);
				if (sets.hueOf) sets.hueOf = bigger(sets.hueOf);
			}
			if (sets.filled === series.version) return sets;
			for (let id = 0; id < series.size; id++) {
				if (series.given[id] <= sets.filled) continue;
				const { text } = series.keys[series.key[id]];
				sets.shown[id] = app.nodeShown(series.node[id]) && keyShown(choice, text) ? 1 : 0;
				if (!sets.hueOf) continue;
				if (!hues.has(text) && hues.size < KEY_HUES)
					hues.set(text, hues.size);
				sets.hueOf[id] = hues.get(text) ?? KEY_HUES;
			}
			sets.filled = series.version;
			return sets;
		},
	};
}

// A hue each for the greatest keys of aggregations that are shown beside each other, by their texts.
export function huesOf(aggs) {
	const sums = new Map();
	for (const agg of aggs)
		for (const [key, n] of agg.countsSinceStart()) {
			const { text, rest } = agg.series.keys[key];
			if (rest) continue;
			sums.set(text, (sums.get(text) ?? 0) + n);
		}
	const greatest = [...sums.keys()].sort((a, b) => sums.get(b) - sums.get(a));
	return new Map(greatest.slice(0, KEY_HUES).map((text, i) => [text, i]));
}

// What a heat map and its controls show anew only if one of these changes; what has to follow the data
// does so by itself.
export const heatDepends = (app, { agg }) => [
	agg.total === 0,
	agg.nkeys,
	agg.normal,
	app.lookOf(agg),
	app.range,
	app.onlyNode,
	theme.dark,
];

export function HeatView({ app, view, where }) {
	const { agg } = view;
	const set = app.lookOf(agg);
	const { scale, clamp, lines, threshold, choice, byKey, rowZoom } = set;
	const unit = set.unit ?? agg.unit;
	const change = (what) => app.setLook(agg, what);
	const setChoice = (c) => change({ choice: c });
	const setByKey = (on) =>
		change({
			byKey: on,
			hues: on ? huesOf([agg, app.partner(agg)].filter(Boolean)) : null,
		});
	const [hover, setHover] = useState(null); // {x, y} of the pointer in the canvas
	const [pinned, setPinned] = useState(null);
	const [box, setBox] = useState(null); // a drag: {x0, y0, x1, y1}
	const canvas = useRef(null);
	const heat = useRef(null);
	const series = useSeries(app, agg, set);
	const look = useRef(null);

	look.current = () => {
		const { shown, hueOf } = series.grow();
		return {
			shown,
			hueOf,
			scale,
			clamp: Number(clamp) || 0,
			unit,
			lines,
			threshold: readNumber(threshold, unit),
			pinned,
			rowZoom,
		};
	};
	// Before the canvas is gone, painting it ends.
	useLayoutEffect(() => {
		const h = (heat.current = new HeatCanvas(app, agg, canvas.current));
		const off = app.painter(() => h.paint(look.current()));
		const resize = new ResizeObserver(() => {
			h.size();
			app.paint();
		});
		resize.observe(canvas.current);
		return () => {
			off();
			resize.disconnect();
			h.close();
		};
	}, [agg]);
	useEffect(() => {
		app.paint();
	}, [set, pinned]);
	useEffect(() => {
		if (!app.range) setPinned(null);
	}, [app.range]);

	const at = (e) => {
		const r = canvas.current.getBoundingClientRect();
		return { x: e.clientX - r.left, y: e.clientY - r.top };
	};
	const down = (e) => {
		if (e.button !== 0 || !heat.current.at(at(e).x, at(e).y)) return;
		canvas.current.setPointerCapture(e.pointerId);
		const p = at(e);
		setBox({ x0: p.x, y0: p.y, x1: p.x, y1: p.y });
	};
	const move = (e) => {
		const p = at(e);
		if (box) setBox({ ...box, x1: p.x, y1: p.y });
		setHover(heat.current.at(p.x, p.y) ? p : null);
	};
	const up = () => {
		if (!box) return;
		setBox(null);
		if (!zoomTo(box)) pin(heat.current.at(box.x0, box.y0));
	};
	// A finger that scrolls the page.
	const cancel = () => {
		setBox(null);
		setHover(null);
	};
	const pin = (cell) => {
		if (!cell || !(agg.nkeys > 0)) return;
		const { map } = heat.current;
		setPinned({
			slots: [cell.column * map.setup.bin, (cell.column + 1) * map.setup.bin],
			bucket: map.buckets[cell.row],
		});
	};
	const zoomTo = (b) => {
		const h = heat.current;
		const wide = Math.abs(b.x1 - b.x0) > 8,
			high = Math.abs(b.y1 - b.y0) > 8;
		if (!wide && !high) return false;
		const one = h.at(Math.min(b.x0, b.x1), Math.max(b.y0, b.y1), true);
		const two = h.at(Math.max(b.x0, b.x1), Math.min(b.y0, b.y1), true);
		if (high) change({ rowZoom: h.zoomOf(one.row, two.row + 1) });
		const { bin } = h.map.setup;
		if (wide) app.zoom({ from: one.column * bin, to: (two.column + 1) * bin });
		app.paint();
		return true;
	};
	const reset = () => {
		setPinned(null);
		if (rowZoom) change({ rowZoom: null });
		app.zoom(null);
	};
	const back = useRef(null);
	back.current = (all) => {
		const steps = [
			[box, () => setBox(null)],
			[pinned, () => setPinned(null)],
			[hover?.keyboard, () => setHover(null)],
			[app.range || rowZoom, reset],
		].filter(([there]) => there);
		for (const [, undo] of all ? steps : steps.slice(0, 1)) undo();
		return steps.length > 0;
	};
	useLayoutEffect(() => {
		const f = (all) => back.current(all);
		app.backs.add(f);
		return () => app.backs.delete(f);
	}, []);
	const keys = (e) => {
		const h = heat.current;
		const step = {
			ArrowLeft: [-1, 0],
			ArrowRight: [1, 0],
			ArrowUp: [0, 1],
			ArrowDown: [0, -1],
		}[e.key];
		if (step && h.map.rows) {
			const [a, z] = h.rowRange();
			const now = hover
				? h.at(hover.x, hover.y, true)
				: { column: h.map.head, row: a };
			const column = Math.min(
				h.map.head,
				Math.max(h.firstColumn, now.column + step[0]),
			);
			const row = Math.min(z - 1, Math.max(a, now.row + step[1]));
			setHover({ x: h.xOf(column + 0.5), y: h.yOf(row + 0.5), keyboard: true });
			e.preventDefault();
		} else if (e.key === "Enter" && hover) pin(h.at(hover.x, hover.y, true));
	};
	// By itself it has to say where and when it was.
	const png = () =>
		heat.current.picture(
			[
				`${agg.title} ${agg.fn}`,
				agg.run.nodeNames.filter((_, i) => app.nodeShown(i)).join(", "),
				new Date(agg.run.startedAt).toLocaleDateString("sv"),
			].join("   "),
		);

	return html`<${Card} title=${agg.title}
		note=${`${where}${agg.fn}${agg.params.length ? `(${agg.params.join(", ")})` : ""}`}
		class="heat" beside=${(app.range || rowZoom) && html`<button class="accent"
			onClick=${reset} title="Back to live (Esc, 0)">Reset zoom</button>`}
		tools=${html`
			<${Choice} label="Unit" value=${unit}
				options=${UNITS.map((u) => [u, UNIT_NAMES[u]])}
				onChange=${(u) => change({ unit: u })} />
			<${Choice} label="Colour" value=${scale} options=${SCALES}
				onChange=${(s) => change({ scale: s })} />
			<label class="choice"
				title="Cells with at least this count have the strongest colour; empty: the largest count">
				<span>Clamp</span>
				<input class="num" inputmode="numeric" placeholder="auto"
					value=${clamp}
					onInput=${(e) => change({ clamp: e.target.value })} /></label>
			<div class="group" role="group" aria-label="Percentile lines">
				${["p50", "p90", "p99"].map(
				(p) => html`<${Toggle} key=${p} on=${lines[p]}
				title=${`Line of the ${p.slice(1)}th percentile`}
					onChange=${(on) => change({ lines: { ...lines, [p]: on } })}>
					${p}<//>`,
			)}</div>
			<label class="choice"
				title=${`A line at this value: with a unit, or in ${unit === "none" ? "the script's numbers" : UNIT_NAMES[unit]}`}>
				<span>Line at</span>
				<input class="num" placeholder="–"
					value=${threshold}
					onInput=${(e) => change({ threshold: e.target.value })} /></label>
			<${ExportMenu} app=${app} aggs=${[agg]} name=${agg.name} png=${png} />`}
		table=${(open) => html`<${HeatTable} heat=${heat} unit=${unit} title=${agg.title}
			most=${open ? 1024 : 24} />`}>
		<div class="heat-body">
			<div class="plot">
				<canvas ref=${canvas} tabindex="0" role="img"
					aria-label=${`Heat map of ${agg.title}: time to the right, value up, colour is the count. Arrow keys move a cursor; the table button shows the numbers.`}
					onPointerDown=${down} onPointerMove=${move}
						onPointerUp=${up} onPointerCancel=${cancel}
						onPointerLeave=${() => setHover(null)}
					onDblClick=${reset} onKeyDown=${keys}
						onBlur=${() => setHover(null)}></canvas>
				${agg.total === 0 && html`<p class="waiting">Nothing yet</p>`}
				${
					box &&
					html`<div class="box" style=${{
						left: `${Math.min(box.x0, box.x1)}px`,
						top: `${Math.min(box.y0, box.y1)}px`,
						width: `${Math.abs(box.x1 - box.x0)}px`,
						height: `${Math.abs(box.y1 - box.y0)}px`,
					}}></div>`
				}
				${hover && !box && html`<${Hover} app=${app} agg=${agg}
					heat=${heat.current} at=${hover} unit=${unit}
					choice=${choice} />`}
			</div>
			${
				pinned
					? html`<${CellKeys} app=${app} agg=${agg} pinned=${pinned}
						unit=${unit} choice=${choice} setChoice=${setChoice}
						close=${() => setPinned(null)} />`
					: html`<${Keys} app=${app} agg=${agg} choice=${choice}
						setChoice=${setChoice} byKey=${byKey}
						setByKey=${setByKey} hues=${set.hues} rowZoom=${rowZoom} />`
			}
		</div>
	<//>`;
}

// What is under the pointer. Follows the picture as it moves.
function Hover({ app, agg, heat, at, unit, choice }) {
	useEvery(app, 1);
	const cell = heat?.at(at.x, at.y, true);
	if (!cell) return null;
	const { map } = heat;
	const got = map.cell(cell.column, cell.row);
	const bucket = map.buckets[cell.row];
	const slots = [cell.column * map.setup.bin, (cell.column + 1) * map.setup.bin];
	const sums =
		got.count > 0
			? agg.countsByKey(
					slots[0],
					Math.min(slots[1], app.last + 1),
					new Set(bucket.ids),
					app.nodeShown,
				)
			: new Map();
	const top = [...sums]
		.filter(([key]) => keyShown(choice, agg.series.keys[key].text))
		.sort((a, b) => b[1] - a[1]);
	const p = (q) => valueText(map.buckets, percentile(got.counts, q, got.total), unit);
	const left = at.x > heat.w / 2;
	const style = left ? { right: `${heat.w - at.x + 14}px` } : { left: `${at.x + 14}px` };
	style.top = `${Math.max(-36, Math.min(at.y - 20, heat.h - 230))}px`;
	return html`
		<div class="cursor"
			style=${{ left: `${heat.xOf(cell.column)}px`, width: `${Math.max(1, heat.plot.w / map.cols)}px`, top: `${heat.plot.y}px`, height: `${heat.plot.h}px` }}></div>
		<div class="cursor cell" style=${{
			left: `${heat.xOf(cell.column)}px`,
			width: `${Math.max(2, heat.plot.w / map.cols)}px`,
			top: `${heat.yOf(cell.row + 1)}px`,
			height: `${Math.max(2, heat.yOf(cell.row) - heat.yOf(cell.row + 1))}px`,
		}}></div>
		<div class="tip" style=${style} role=${at.keyboard ? "status" : null}>
			<div class="tip-head"><b>${range(bucket.lo, bucket.hi, unit)}</b><span>
				${clock(agg.run.timeOf(slots[0]), true)}</span></div>
			${
				got.known
					? html`<dl>
				<dt>count</dt><dd>${exact(got.count)}</dd>
				<dt>of column</dt><dd>
					${percent(100 * got.share)}</dd>
				${agg.percents.map((q) => html`<dt>p${q}</dt><dd>${p(q / 100)}</dd>`)}</dl>
				${
					top.length > 0 &&
					agg.nkeys > 0 &&
					html`<ol>${top.slice(0, 5).map(
						([key, n]) => html`<li key=${key}>
					<span>${agg.series.keys[key].text}</span><b>
						${exact(n)}</b></li>`,
					)}
					${top.length > 5 && html`<li class="dim"><span>
						${top.length - 5} more keys</span></li>`}</ol>`
				}`
					: html`<p class="dim">no data for this time</p>`
			}
		</div>`;
}

// What the list of keys counts: in a zoom what is in there, else all since the start. Of what is over, or paused, it
// is counted once.
function useTotals(app, agg, rowZoom) {
	const { range } = app;
	const zoom = { from: range?.from, to: Math.min(range?.to ?? Infinity, app.last + 1), band: rowZoom };
	const zoomed = range || rowZoom;
	const goesOn = !zoomed && app.paused === null;
	return useMemo(
		() => (zoomed ? agg.countsIn(zoom, app.nodeShown) : agg.countsSinceStart(app.nodeShown)),
		[agg, range, rowZoom, app.onlyNode, agg.normal, agg.series.released, goesOn ? {} : Math.min(zoom.to, agg.timeline.last)],
	);
}

function Keys({ app, agg, choice, setChoice, byKey, setByKey, hues, rowZoom }) {
	const hold = useHold();
	const order = useRef([]);
	const sorted = useRef({ at: -Infinity });
	useSlowly(app, KEYS_EVERY);
	const totals = useTotals(app, agg, rowZoom);
	if (!(agg.nkeys > 0)) return null;
	// Rows do not move under the pointer, and not all the time elsewhere; but another zoom has its own order.
	const now = performance.now();
	const of = `${app.range?.from} ${app.range?.to} ${rowZoom?.lo} ${rowZoom?.hi} ${app.onlyNode}`;
	const isKey = (key) => !agg.series.keys[key].rest;
	if (sorted.current.of !== of || (!hold.on && now - sorted.current.at > RESORT) || order.current.length === 0) {
		order.current = [...totals.keys()].filter(isKey).sort((a, b) => totals.get(b) - totals.get(a));
		sorted.current = { at: now, of };
	} else {
		const have = new Set(order.current);
		order.current = order.current.filter((key) => totals.has(key) && isKey(key));
		for (const key of totals.keys()) if (!have.has(key) && isKey(key)) order.current.push(key);
	}
	const many = order.current.length;
	const zoomed = app.range || rowZoom;
	const { released } = agg.series;
	let all = 0;
	for (const n of totals.values()) all += n;
	const click = (e, text) => setChoice(pickKey(choice, text, howOf(e)));
	return html`<aside class="keys" aria-label="Keys" ...${hold.listen}>
		<header><span title=${zoomed ? "Counts of the zoom" : "Counts since the start"}>${many} ${many === 1 ? "key" : "keys"}${zoomed ? " in the zoom" : ""}${app.other ? ", per second" : ""}</span>
			${choice.mode !== "all" && html`<button class="small"
				onClick=${() => setChoice(ALL)}>Show all</button>`}
			<${Toggle} on=${byKey} onChange=${setByKey}
				title="A hue for each of the eight largest keys; a cell has the hue of its largest key">hues<//></header>
		<ul>${order.current.slice(0, MOST_KEYS).map((key) => {
			const n = totals.get(key) ?? 0;
			const { text } = agg.series.keys[key];
			const row = {
				text,
				count: number(n / app.per),
				// In half percents: most rows stay as they are most of the time.
				share: all ? Math.round((200 * n) / all) / 2 : 0,
				on: keyShown(choice, text),
				colour: byKey ? swatch(hues.get(text) ?? KEY_HUES, theme.dark) : null,
			};
			const made = () => html`<${KeyRow} ...${row}
				pick=${(e) => click(e, text)}
				leaveOut=${() => setChoice(pickKey(choice, text, "except"))} />`;
			return html`<${Still} key=${key} of=${made} when=${[...Object.values(row), choice]} />`;
		})}</ul>
		${many > MOST_KEYS && html`<p class="dim">
			${exact(many - MOST_KEYS)} more keys, with less</p>`}
		${released > 0 && !zoomed && html`<p class="dim" title=${RELEASED}>+ ${exact(released)} more that were released</p>`}
	</aside>`;
}

const howOf = (e) =>
	e.altKey ? "except" : e.ctrlKey || e.metaKey || e.shiftKey ? "add" : "isolate";
const HOW = "Click: show only this key. Ctrl: add this key. Alt: hide this key.";

function KeyRow({ text, count, share, on, colour, pick, leaveOut }) {
	return html`<li class=${on ? "" : "off"}>
		<button class="key" aria-pressed=${on} onClick=${pick}
			title=${`${text}\n${HOW}`}>
			${colour && html`<i class="swatch" style=${{ background: colour }}></i>`}
			<span class="text">${text}</span><span class="n">${count}</span>
			<span class="bar" style=${{ width: `${share}%` }}></span></button>
		<button class="quiet x" aria-label=${`Leave out ${text}`} title="Leave out"
			onClick=${leaveOut}>×</button>
	</li>`;
}

// The counts of one cell by key, after a click on it: where all keys were, so that nothing jumps.
function CellKeys({ app, agg, pinned, unit, choice, setChoice, close }) {
	const { slots, bucket } = pinned;
	const sums = useMemo(
		() =>
			[
				...agg.countsByKey(
					slots[0],
					slots[1],
					new Set(bucket.ids),
					app.nodeShown,
				),
			].sort((a, b) => b[1] - a[1]),
		[pinned, app.onlyNode],
	);
	const all = sums.reduce((n, [, c]) => n + c, 0);
	return html`<aside class="keys cell-keys" aria-label="Keys of the cell">
		<header><span><b>${range(bucket.lo, bucket.hi, unit)}</b><br />
			${clock(agg.run.timeOf(slots[0]), true)}, ${exact(all)} in all</span>
			<button class="quiet" onClick=${close} title="Back to all keys"
				aria-label="Close">×</button></header>
		<div class="scroll"><table><thead><tr><th>Key</th><th
			class="num">Count</th></tr></thead>
			<tbody>${sums.slice(0, MOST_KEYS).map(([key, n]) => {
				const { text } = agg.series.keys[key];
				const share = percent((100 * n) / all);
				return html`<tr key=${key} class=${keyShown(choice, text) ? "" : "off"}>
				<td><button class="key" title=${`${text}, ${share}\n${HOW}`}
					aria-pressed=${keyShown(choice, text)}
					onClick=${(e) => setChoice(pickKey(choice, text, howOf(e)))}><span
					class="text">${text}</span></button></td>
				<td class="num" title=${share}>${exact(n)}</td></tr>`;
			})}</tbody></table>
		${sums.length === 0 && html`<p class="dim">Nothing in this cell.</p>`}
		${sums.length > MOST_KEYS && html`<p class="dim">
			${sums.length - MOST_KEYS} more keys, with less</p>`}</div>
	</aside>`;
}

// `most`: rows at most; neighbours are put together to keep to it.
function HeatTable({ heat, unit, title, most }) {
	const map = heat.current?.map;
	if (!map?.rows) return html`<p class="dim">No data yet.</p>`;
	const { sums } = map;
	const all = sums.reduce((a, b) => a + b, 0);
	const count = (n) => exact(n / map.dist.normal);
	const p = (q) => valueText(map.buckets, percentile(sums, q, all), unit);
	// Zoomed to a band of values: its rows, with their share of all.
	const [from, to] = heat.current.rowRange();
	const band = heat.current.rowZoom && sums.slice(from, to).reduce((a, b) => a + b, 0);
	let rows = map.buckets
		.map((b, i) => ({ b, n: sums[i] }))
		.slice(from, to)
		.filter((r) => r.n > 0);
	const fold = Math.ceil(rows.length / most);
	if (fold > 1) {
		rows = rows
			.filter((_, i) => i % fold === 0)
			.map((_, i) => rows.slice(i * fold, (i + 1) * fold))
			.map((some) => ({
				b: { lo: some[0].b.lo, hi: some.at(-1).b.hi },
				n: some.reduce((a, r) => a + r.n, 0),
			}));
	}
	rows.reverse();
	return html`<table><caption>
		${title} in the time shown: ${count(all)} values, ${map.dist.percents.map((q) => `p${q} ${p(q / 100)}`).join(", ")}${
			heat.current.rowZoom &&
			`; ${count(band)} (${percent((100 * band) / all)}) in ${range(map.buckets[from].lo, map.buckets[to - 1].hi, unit)}`
		}</caption>
		<thead><tr><th>Range</th><th class="num">Count</th><th
			class="num">Share</th></tr></thead>
		<tbody>${rows.map(
			(
				r,
			) => html`<tr key=${`${r.b.lo}`}><th scope="row">
				${range(r.b.lo, r.b.hi, unit)}</th><td class="num">
				${count(r.n)}</td>
			<td class="num">${percent((100 * r.n) / all)}</td></tr>`,
		)}</tbody></table>`;
}
