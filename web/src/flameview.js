// SPDX-License-Identifier: Apache-2.0
// Stacks as a flame graph: the outermost frame at the bottom, a box as wide as its part of the whole.
import { html } from "htm/preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { Card, ExportMenu } from "./card.js";
import { css, oklch } from "./colour.js";
import { KINDS, buildTree, findAgain, folded, frameTable, kindOf, layout, valueOf } from "./flame.js";
import { UNITS, UNIT_NAMES, exact, number, percent } from "./format.js";
import { Choice } from "./menu.js";
import { keyNames } from "./model.js";
import { theme } from "./theme.js";

const ROW = 19;
const EVERY = 1000; // ms between new layouts while data comes
const LEAST_ROWS = 10;

// Hues by kind; Erlang's functions have warm ones by module, so that neighbours of one module look
// alike. Quiet, all of them: texts are on them.
const HUES = { bif: 145, nif: 195, native: 255, kernel: 305, gc: 0 };
const shades = new Map();
function frameColour(node, dark) {
	const kind = kindOf(node);
	const module = kind === "erlang" ? /^[^:`+/]*/.exec(node.name)[0] : "";
	const at = `${kind} ${module} ${dark}`;
	let c = shades.get(at);
	if (!c) shades.set(at, (c = makeColour(kind, module, dark)));
	return c;
}

function makeColour(kind, module, dark) {
	if (kind === "key" || kind === "scheduler")
		return css(oklch(dark ? 0.36 : 0.88, 0.012, 260));
	let h = 7;
	for (let i = 0; i < module.length; i++) h = (h * 31 + module.charCodeAt(i)) % 9973;
	const hue = HUES[kind] ?? 30 + (h % 13) * 5;
	const light = (h % 4) * 0.018;
	return css(dark ? oklch(0.43 + light, 0.075, hue) : oklch(0.89 - light, 0.075, hue));
}

export function FlameView({ app, view, where }) {
	const { agg } = view;
	const canvas = useRef(null);
	const plot = useRef(null);
	const s = useRef({ root: buildTree([]), top: null, made: 0, boxes: [], depth: 0 });
	const [hover, setHover] = useState(null); // {x, y, node}
	const [zoomed, setZoomed] = useState(null);
	const [find, setFind] = useState("");
	const unit = app.lookOf(agg).unit ?? agg.unit;
	const [rows, setRows] = useState(LEAST_ROWS);
	const wanted = useRef("");
	wanted.current = find.toLowerCase();

	const rebuild = () => {
		const f = s.current;
		const stacks = [];
		for (const [key, got] of agg.byKey(app.nodeShown, app.range))
			stacks.push({ keys: agg.series.keys[key].values, value: got.value });
		const root = buildTree(stacks, keyNames(app.run.script, agg.name).indexOf("erlstate"));
		f.top = f.top ? findAgain(root, f.top) : root;
		f.root = root;
		Object.assign(f, layout(f.top));
		// What is pointed at goes on.
		setHover((h) => h && { ...h, node: findAgain(root, h.node) });
		f.kinds = new Set(f.boxes.filter((b) => b.depth > 0).map((b) => kindOf(b.node)));
		// Higher when stacks are deeper, never lower again: nothing below jumps about.
		setRows((r) => Math.max(r, Math.min(60, f.depth)));
	};
	const draw = () => {
		const el = canvas.current;
		const ratio = devicePixelRatio || 1;
		const w = el.clientWidth,
			h = el.clientHeight;
		if (el.width !== Math.round(w * ratio) || el.height !== Math.round(h * ratio)) {
			el.width = Math.round(w * ratio);
			el.height = Math.round(h * ratio);
		}
		const ink = el.getContext("2d");
		ink.setTransform(ratio, 0, 0, ratio, 0, 0);
		paint(ink, w, h);
	};
	const paint = (ink, w, h) => {
		const dark = theme.dark;
		ink.clearRect(0, 0, w, h);
		ink.font = "11.5px system-ui, sans-serif";
		ink.textBaseline = "middle";
		for (const b of s.current.boxes) {
			const x = b.x * w,
				bw = b.w * w;
			if (bw < 0.5) continue;
			const y = h - (b.depth + 1) * ROW;
			const hit =
				wanted.current &&
				b.node.name.toLowerCase().includes(wanted.current);
			ink.globalAlpha = b.above || (wanted.current && !hit) ? 0.45 : 1;
			ink.fillStyle = hit
				? theme.colour("accent")
				: b.node.depth === 0
					? theme.colour("gap")
					: frameColour(b.node, dark);
			ink.fillRect(x, y, Math.max(0.5, bw - 1), ROW - 1);
			ink.globalAlpha = b.above ? 0.7 : 1;
			if (bw > 28) {
				ink.fillStyle = hit
					? theme.colour("on-accent")
					: theme.colour("ink");
				ink.fillText(fit(ink, b.node.name, bw - 9), x + 4, y + ROW / 2);
			}
		}
		ink.globalAlpha = 1;
	};

	// Before the canvas is gone, painting it ends.
	useLayoutEffect(() => {
		const f = s.current;
		f.range = undefined;
		const off = app.painter((now) => {
			const what = `${app.range?.from} ${app.range?.to} ${app.onlyNode} ${agg.normal}`;
			if (
				f.what !== what ||
				(app.range === null && app.paused === null && now - f.made >= EVERY)
			) {
				f.what = what;
				f.made = now;
				rebuild();
			}
			draw();
		});
		const resize = new ResizeObserver(() => app.paint());
		resize.observe(canvas.current);
		return () => {
			off();
			resize.disconnect();
		};
	}, [agg]);
	useEffect(() => {
		app.paint();
	}, [find, zoomed, rows]);
	// Stacks may be higher than the window: their feet are what one sees first.
	useEffect(() => {
		if (plot.current) plot.current.scrollTop = plot.current.scrollHeight;
	}, [rows]);

	const boxAt = (e) => {
		const r = canvas.current.getBoundingClientRect();
		const x = e.clientX - r.left,
			y = e.clientY - r.top;
		const depth = Math.floor((r.height - y) / ROW);
		const b = s.current.boxes.find(
			(c) => c.depth === depth && x >= c.x * r.width && x < (c.x + c.w) * r.width,
		);
		return b ? { x, y, node: b.node } : null;
	};
	const zoom = (node) => {
		const f = s.current;
		f.top = node && node.depth > 0 ? node : f.root;
		Object.assign(f, layout(f.top));
		setZoomed(f.top === f.root ? null : f.top.name);
		setHover(null);
	};
	const back = useRef(null);
	back.current = () => {
		if (!zoomed) return false;
		zoom(null);
		return true;
	};
	useLayoutEffect(() => {
		const f = () => back.current();
		app.backs.add(f);
		return () => app.backs.delete(f);
	}, []);
	const keys = (e) => {
		const f = s.current;
		const kids = [...f.top.children.values()].sort((a, b) => b.value - a.value);
		if (e.key === "ArrowUp" && kids[0]) zoom(kids[0]);
		else if (e.key === "ArrowDown" && f.top.parent) zoom(f.top.parent);
		else if (["ArrowLeft", "ArrowRight"].includes(e.key) && f.top.parent) {
			const all = [...f.top.parent.children.values()].sort((a, b) =>
				a.name < b.name ? -1 : 1,
			);
			zoom(
				all[
					(all.indexOf(f.top) +
						(e.key === "ArrowRight" ? 1 : all.length - 1)) %
						all.length
				],
			);
		} else return;
		e.preventDefault();
	};
	const png = () => {
		const el = canvas.current;
		const out = document.createElement("canvas");
		out.width = el.width;
		out.height = el.height;
		const ink = out.getContext("2d");
		ink.fillStyle = theme.colour("paper");
		ink.fillRect(0, 0, out.width, out.height);
		ink.drawImage(el, 0, 0);
		return out;
	};
	const { root, top } = s.current;
	const share = (n) => percent((100 * n) / root.value);
	const found = find && root.value > 0 ? valueOf(root, (name) => name.toLowerCase().includes(wanted.current)) : 0;

	return html`<${Card} title=${agg.title}
		note=${`${where}${agg.fn} by stack, ${app.range ? "in the time shown" : "since the start"}`}
		class="flame" beside=${zoomed && html`<button class="accent"
			onClick=${() => zoom(null)} title="Back to all frames (Esc, 0)">All frames</button>`}
		tools=${html`
			${agg.fn !== "count" && html`<${Choice} label="Unit" value=${unit}
				options=${UNITS.map((u) => [u, UNIT_NAMES[u]])}
				onChange=${(u) => app.setLook(agg, { unit: u })} />`}
			${find && html`<span class="found" role="status">${share(found)}</span>`}
			<input class="filter" type="search" placeholder="Find a frame"
				aria-label="Find a frame" value=${find}
				onInput=${(e) => setFind(e.target.value)} />
			<${ExportMenu} app=${app} aggs=${[agg]} name=${agg.name} png=${png}
				more=${[["Folded stacks, for other tools", "folded", () => folded(s.current.root)]]} />`}
		table=${(open) => html`<${FrameTable} root=${s.current.root} unit=${unit}
			most=${open ? 200 : 20} />`}>
		<div class="plot flame-plot" ref=${plot}>
			<canvas ref=${canvas} style=${{ height: `${rows * ROW + 4}px` }}
				tabindex="0" role="img"
				aria-label=${`Flame graph of ${agg.title}${zoomed ? `, at ${zoomed}` : ""}. Arrow keys go up to the widest frame, down, and to the sides, Esc back to all; the table button shows the numbers.`}
				onPointerMove=${(e) => setHover(boxAt(e))}
					onPointerLeave=${() => setHover(null)}
				onClick=${(e) => {
					const b = boxAt(e);
					if (b) zoom(b.node);
				}} onDblClick=${() => zoom(null)} onKeyDown=${keys}></canvas>
			${root.value === 0 && html`<p class="waiting">Nothing yet</p>`}
			${
				hover &&
				html`<div class="tip" style=${{
					[hover.x > (canvas.current?.clientWidth ?? 0) / 2
						? "right"
						: "left"]:
						`${hover.x > (canvas.current?.clientWidth ?? 0) / 2 ? canvas.current.clientWidth - hover.x + 12 : hover.x + 12}px`,
					top: `${Math.max(0, hover.y - 60)}px`,
				}}>
				<div class="tip-head"><b>${hover.node.name}</b></div>
				<dl><dt>all</dt><dd>
					${number(hover.node.value, unit)} (${share(hover.node.value)})</dd>
					<dt>own</dt><dd>
						${number(hover.node.self, unit)} (${share(hover.node.self)})</dd>
					${top !== root && hover.node.depth > top.depth && html`<dt>of ${top.name}</dt><dd>
						${percent((100 * hover.node.value) / top.value)}</dd>`}
					${linesOf(hover.node).map(([line, part]) => html`<dt
						key=${line}>${hover.node.file}:${line}</dt><dd>${percent(part)}</dd>`)}</dl></div>`
			}
		</div>
		${s.current.kinds?.size > 0 && html`<${Kinds} kinds=${s.current.kinds} />`}
	<//>`;
}

// The lines of a frame that are in most of its stacks: where it calls, or is itself.
function linesOf(node) {
	return [...(node.lines ?? [])]
		.sort((a, b) => b[1] - a[1])
		.slice(0, 3)
		.map(([line, n]) => [line, (100 * n) / node.value]);
}

function Kinds({ kinds }) {
	const sample = { key: { key: true }, gc: { name: "(garbage" }, scheduler: { name: "(scheduler)" },
		native: { name: "[" }, kernel: { name: "vmlinux`" } };
	const of = (kind) => sample[kind] ?? { name: "gen_server:", states: new Map([[kind, 1]]), self: 1 };
	return html`<ul class="kinds" aria-label="Colours">${Object.keys(KINDS)
		.filter((k) => kinds.has(k))
		.map((k) => html`<li key=${k}><i style=${{ background: frameColour(of(k), theme.dark) }}
			aria-hidden="true"></i>${KINDS[k]}</li>`)}</ul>`;
}

function fit(ink, text, width) {
	if (ink.measureText(text).width <= width) return text;
	let n = Math.floor((text.length * width) / ink.measureText(text).width);
	while (n > 0 && ink.measureText(`${text.slice(0, n)}…`).width > width) n--;
	return n > 1 ? `${text.slice(0, n)}…` : "";
}

function FrameTable({ root, unit, most }) {
	return html`<table>
		<caption>Frames: own, and all with what they call; ${exact(root.value)} in all</caption>
		<thead><tr><th>Frame</th><th class="num">Own</th><th class="num">All</th><th
			class="num">Share</th></tr></thead>
		<tbody>${frameTable(root)
			.slice(0, most)
			.map(
				(
					f,
				) => html`<tr key=${f.name}><th scope="row">${f.name}</th><td
					class="num">${number(f.self, unit)}</td>
			<td class="num">${number(f.total, unit)}</td><td class="num">
				${percent((100 * f.total) / root.value)}</td></tr>`,
			)}</tbody></table>`;
}
