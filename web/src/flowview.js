// SPDX-License-Identifier: Apache-2.0
// Requests: a list of them, and one as a waterfall. A row is a process; bars are running, waiting and
// time in the mailbox; arrows are messages. The menu `Follow` asks which function begins a request.
import { html } from "htm/preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { Card } from "./card.js";
import { fileName, save } from "./export.js";
import {
	SILENCES,
	atLeast,
	axisTicks,
	endText,
	isName,
	labelOf,
	lifeOf,
	markOf,
	mostOf,
	nameOf,
	secondsText,
	shares,
	sorted,
	waterfall,
} from "./flows.js";
import { clock, exact, number, percent } from "./format.js";
import { Menu } from "./menu.js";

const ROWS = 200; // of the list
const TALL = 30; // px of a row of the waterfall
const BAR = 18;
const AXIS = 26;
const LEAST = 2; // px of a bar
const NAMES = 208; // px for names of processes

export function FlowView({ app, run }) {
	const { flows } = run;
	const [by, setBy] = useState({ column: "elapsed", down: true });
	const [picked, setPicked] = useState(null);
	const over = useRef(false);
	const snap = useRef(null);
	const asked = `${by.column} ${by.down}`;
	// Rows hold still under the pointer, new ones come below them; paused, none come.
	const held = snap.current?.asked === asked ? snap.current.rows : null;
	if (!held || app.paused === null) {
		const rows = sorted(flows.list, by.column, by.down).slice(0, ROWS);
		const old = new Set(over.current ? held : []);
		snap.current = { asked, rows: [...old, ...rows.filter((f) => !old.has(f))].slice(0, ROWS) };
	}
	const { rows } = snap.current;
	const flow = picked ?? sorted(flows.list, "elapsed", true)[0];
	const nodes = new Set(flow?.processes.map((p) => p.node)).size;
	const most = rows.reduce((m, f) => Math.max(m, f.elapsed), 1);
	const head = (column, text, title, cls = "num") => {
		const on = by.column === column;
		return html`<th class=${cls} aria-sort=${on ? (by.down ? "descending" : "ascending") : null}>
			<button class="sort" title=${title}
				onClick=${() => setBy({ column, down: on ? !by.down : !["function", "most"].includes(column) })}>${text}<i
				class=${on ? (by.down ? "down" : "up") : ""} aria-hidden="true"></i></button></th>`;
	};
	const keys = (e) => {
		const step = { ArrowDown: 1, ArrowUp: -1 }[e.key];
		const to = step && rows[rows.indexOf(flow) + step];
		if (!to) return;
		setPicked(to);
		e.currentTarget.querySelectorAll("tbody button")[rows.indexOf(to)]?.focus();
		e.preventDefault();
	};
	return html`<${Card} title="Requests" class="flows"
		note=${`${exact(flows.seen)} followed${flows.seen > flows.list.length ? `, ${exact(flows.list.length)} of the slowest are here` : ""}`}
		beside=${picked && run.phase !== "ended" && html`<button class="accent"
			onClick=${() => setPicked(null)} title="Always show the slowest request">The slowest</button>`}
		tools=${flow && html`<button onClick=${() =>
			save(fileName("request", "json"), new Blob([JSON.stringify(flow, null, 1)], { type: "application/json" }))}
			title="Save this request">JSON</button>`}
		table=${flow && (() => html`<${HopTable} flow=${flow} />`)}>
		<div class="scroll flow-list" onPointerEnter=${() => {
			over.current = true;
		}} onPointerLeave=${() => {
			over.current = false;
		}} onKeyDown=${keys}>
		<table class="rows"><thead><tr>
			${head("function", "request", "Sort by function", "name")}
			${head("elapsed", "took", "Sort by time")}
			${head("end", "end", "Sort by how it ended", "end")}
			${head("most", "most of it in", "Sort by the process in which most of the time went", "most")}
			${head("depth", "hops", "Sort by the longest chain of messages and spawns")}
			${head("messages", "messages", "Sort by messages")}
			${head("spawns", "spawns", "Sort by spawns")}
			${head("processes", "processes", "Sort by processes")}
			${head("time", "began", "Sort by time of day")}
		</tr></thead><tbody>${rows.map((f) => html`<tr key=${f.flow} aria-selected=${f === flow}
				class=${f === flow ? "picked" : ""} onClick=${() => setPicked(f)}>
			<th scope="row" class="name"><button class="pick" aria-pressed=${f === flow}>${f.function}</button></th>
			<td class="num value" title=${`${exact(f.elapsed / 1000)} µs`}><span class="bar"
				style=${{ width: `${(100 * f.elapsed) / most}%` }}></span><span>${took(f)}</span></td>
			<td class="end" title=${endText(f)}><${Mark} flow=${f} /></td>
			<td class="most" title=${mostText(f)}>${mostOf(f)?.who}</td>
			<td class="num">${f.depth}</td><td class="num">${f.messages}</td><td class="num">${f.spawns}</td>
			<td class="num">${f.processes.length}</td><td class="num">${clock(f.time)}</td></tr>`)}</tbody></table></div>
		${!flow && html`<p class="dim pad">No request yet: one is shown when it is over${run.form &&
			`, or when nothing has happened in it for ${secondsText(run.form.silence)}`}.</p>`}
		${flow && html`<${Waterfall} key=${flow.flow} app=${app} run=${run} flow=${flow} nodes=${nodes} />`}
	<//>`;
}

const took = (flow, digits) => `${atLeast(flow) ? "≥ " : ""}${number(flow.elapsed, "ns", digits)}`;

function mostText(flow) {
	const most = mostOf(flow);
	return most ? `${most.who}, ${most.how}: ${percent((100 * most.time) / flow.elapsed)}` : "";
}

function Mark({ flow }) {
	const mark = markOf(flow);
	return mark && html`<span class=${`mark ${mark === "exit" ? "bad" : "warn"}`}>${mark}</span>`;
}

// Follows again, and waits longer for answers.
function Longer({ app, form }) {
	const silence = form && SILENCES.find((s) => s > form.silence);
	return silence && html` <button class="small" onClick=${() => app.follow({ ...form, silence })}
		title=${`Follow again: a request is over after ${secondsText(silence)} of silence`}>Wait ${secondsText(silence)}</button>`;
}

function Waterfall({ app, run, flow, nodes }) {
	const box = useRef(null);
	const [wide, setWide] = useState(800);
	const [range, setRange] = useState(null); // {from, to}: zoomed
	const [drag, setDrag] = useState(null); // {from, to}, px
	const [hover, setHover] = useState(null); // {x, y, bar}
	const { rows, arrows, path } = waterfall(flow);
	const from = range?.from ?? 0,
		to = range?.to ?? Math.max(1, flow.elapsed);
	const names = wide < 560 ? 120 : NAMES;
	const room = Math.max(80, wide - names - 12);
	const x = (t) => names + ((t - from) / (to - from)) * room;
	const y = (row) => AXIS + row * TALL;
	const high = y(rows.length) + 6;
	const inside = (a, b) => b >= from && a <= to;
	const clip = (v) => Math.max(names - 2, Math.min(names + room + 2, v));

	useLayoutEffect(() => {
		const resize = new ResizeObserver(() => box.current && setWide(box.current.clientWidth));
		resize.observe(box.current);
		setWide(box.current.clientWidth);
		return () => resize.disconnect();
	}, []);
	const back = useRef(null);
	back.current = () => {
		if (!range) return false;
		setRange(null);
		return true;
	};
	useLayoutEffect(() => {
		const f = () => back.current();
		app.backs.add(f);
		return () => app.backs.delete(f);
	}, []);
	const at = (e) => e.clientX - box.current.getBoundingClientRect().left;
	const down = (e) => {
		if (e.button !== 0 || at(e) < names) return;
		e.currentTarget.setPointerCapture(e.pointerId);
		setDrag({ from: at(e), to: at(e) });
	};
	const move = (e) => drag && setDrag({ ...drag, to: clip(at(e)) });
	const up = () => {
		if (!drag) return;
		const [a, b] = [drag.from, drag.to].sort((p, q) => p - q);
		setDrag(null);
		if (b - a < 4) return;
		const time = (px) => from + ((px - names) / room) * (to - from);
		setRange({ from: Math.max(0, time(a)), to: Math.max(time(a) + 1, time(b)) });
	};
	const show = (bar) => (e) => {
		const r = box.current.getBoundingClientRect();
		setHover({ x: e.clientX - r.left, y: e.clientY - r.top, bar });
	};
	const ticks = axisTicks(from, to, Math.floor(room / 110));
	const line = path.map((p, i) => `${i ? "L" : "M"}${x(p.at).toFixed(1)} ${(y(p.row) + TALL / 2 + BAR / 2 + 2).toFixed(1)}`).join("");
	const part = shares(flow);
	const share = (time) => percent((100 * time) / Math.max(1, flow.elapsed));
	return html`<div class="waterfall">
		<p class="flow-what"><${Mark} flow=${flow} /><b>${flow.function}</b> took ${took(flow, 4)}:
			running ${share(part.running)}, in mailboxes ${share(part.mailbox)}${part.rest > 0 && `, then nothing ${share(part.rest)}`}${" "}
			of the critical path${nodes > 1 ? ` over ${nodes} nodes` : ""}. Most of it in ${mostText(flow)}. <span class="flow-end">${endText(flow)}</span>
			${flow.end === "waits" && html`<${Longer} app=${app} form=${run.form} />`}
			${range && html` <button class="small" onClick=${() => setRange(null)} title="Back to the whole request (Esc)">Whole request</button>`}</p>
		<div class="flow-plot" ref=${box} onPointerLeave=${() => setHover(null)}>
		<svg width=${wide} height=${high} role="img" tabindex="0"
			aria-label=${`Waterfall of ${flow.function}: ${rows.length} processes, ${flow.messages} messages. Drag to zoom, Esc goes back; the table button shows the numbers.`}
			onPointerDown=${down} onPointerMove=${move} onPointerUp=${up} onDblClick=${() => setRange(null)}>
			<defs><clipPath id=${`clip${flow.flow}`}><rect x=${names - 2} y="0" width=${room + 8} height=${high} /></clipPath></defs>
			${rows.map((r, i) => html`<g key=${i}>
				${i % 2 === 0 && html`<rect class="lane" x="0" y=${y(i)} width=${wide} height=${TALL} />`}
				<text class="who" x="10" y=${y(i) + TALL / 2 + (nodes > 1 ? -3 : 4)}>${fitName(nameOf(r.process), names)}<title>
					${nameOf(r.process)} ${r.process.pid} on ${r.process.node}</title></text>
				${nodes > 1 && html`<text class="where" x="10" y=${y(i) + TALL / 2 + 10}>${fitName(r.process.node, names)}</text>`}
			</g>`)}
			${ticks.map((t) => html`<g key=${t}><line class="tick" x1=${x(t)} x2=${x(t)} y1=${AXIS - 4} y2=${high - 6} />
				<text class="when" x=${x(t) + 3} y="15">${t === 0 ? "0" : number(t, "ns", 4)}</text></g>`)}
			<g clip-path=${`url(#clip${flow.flow})`}>
			${rows.flatMap((r, i) => r.bars.filter((b) => inside(b.from, b.to)).map((b, k) => {
				const left = clip(x(b.from)),
					w = Math.max(b.kind === "running" ? LEAST : 0.75, clip(x(b.to)) - left);
				const thin = { running: BAR, holds: BAR, mailbox: 8, waiting: 2 }[b.kind];
				return html`<g key=${`${i} ${k}`} class=${`bar ${b.kind}${b.open ? " open" : ""}${b.hop.critical && b.kind !== "waiting" ? " critical" : ""}`}
					data-hop=${b.hop.hop} onPointerMove=${show(b)}>
					<rect x=${left} y=${y(i) + (TALL - thin) / 2} width=${w} height=${thin} rx=${b.kind === "running" ? 3 : 1} />
					${b.kind === "running" && w > 44 && html`<text x=${left + 6} y=${y(i) + TALL / 2 + 4}>
						${fitText(labelOf(b.hop, flow), w - 10)}</text>`}</g>`;
			}))}
			${arrows.filter((a) => inside(a.at, a.until)).map((a) => {
				const downward = a.to > a.from;
				const x1 = x(a.at),
					y1 = y(a.from) + TALL / 2 + (downward ? BAR / 2 : -BAR / 2),
					y2 = y(a.to) + TALL / 2 + (downward ? -5 : 5);
				return html`<g key=${a.hop.hop} class=${`arrow${a.hop.critical ? " critical" : ""}`} data-hop=${a.hop.hop}>
					<line x1=${x1} y1=${y1} x2=${x1} y2=${y2} />
					<path d=${`M${x1} ${y2}l-3 ${downward ? -6 : 6}h6z`} /></g>`;
			})}
			<path class="critical-path" d=${line} /></g>
			${drag && html`<rect class="drag" x=${Math.min(drag.from, drag.to)} y=${AXIS} width=${Math.abs(drag.to - drag.from)} height=${high - AXIS} />`}
		</svg>
		${hover && html`<${HopTip} flow=${flow} hover=${hover} wide=${wide} />`}</div>
		<ul class="kinds" aria-label="Colours"><li><i class="running"></i>running</li>
			<li><i class="mailbox"></i>in the mailbox</li><li><i class="wait"></i>waiting</li>
			${rows.some((r) => r.bars.some((b) => b.kind === "holds")) && html`<li><i class="holds"></i>received it, nothing more is known</li>`}
			<li><i class="path"></i>critical path: what the end had to wait for</li></ul>
	</div>`;
}

// About 6.7 px a character of these sizes.
const fitText = (text, px) => (text.length * 6.4 <= px ? text : px < 24 ? "" : `${text.slice(0, Math.floor(px / 6.4) - 1)}…`);
const fitName = (text, px) => (text.length * 6.9 <= px - 20 ? text : `${text.slice(0, Math.floor((px - 20) / 6.9) - 1)}…`);

function HopTip({ flow, hover, wide }) {
	const { hop, kind, from, to, open } = hover.bar;
	const who = (i) => (i >= 0 ? nameOf(flow.processes[i]) : hop.receiver || "?");
	const time = { mailbox: open ? "not received for" : "in the mailbox", holds: "nothing more for" }[kind] ?? kind;
	const side = hover.x > wide / 2 ? { right: `${wide - hover.x + 12}px` } : { left: `${hover.x + 12}px` };
	return html`<div class="tip" style=${{ ...side, top: `${Math.max(0, hover.y + 14)}px` }}>
		<div class="tip-head"><b>${kind === "waiting" ? `${who(hop.to)} waits` : labelOf(hop, flow)}</b></div>
		<dl>${kind !== "waiting" && hop.kind !== "begin" && html`<dt>from</dt><dd>${who(hop.from)}</dd>`}
			${kind !== "waiting" && html`<dt>${hop.kind === "begin" ? "in" : "to"}</dt><dd>${who(hop.to)}</dd>`}
			<dt>at</dt><dd>${number(from, "ns", 5) || 0}</dd>
			<dt>${time}</dt><dd>${number(to - from, "ns", 4)}</dd>
			${kind === "running" && hop.kind === "message" && html`<dt>in the mailbox before</dt><dd>${number(hop.taken - hop.sent, "ns", 4)}</dd>`}
			${kind !== "waiting" && hop.critical && html`<dt>critical path</dt><dd>${percent((100 * (to - from)) / flow.elapsed)}</dd>`}</dl></div>`;
}

function HopTable({ flow }) {
	const who = (i, other) => (i >= 0 ? nameOf(flow.processes[i]) : (other ?? ""));
	return html`<table><caption>${flow.function}, ${exact(flow.elapsed / 1000)} µs; times in µs</caption>
		<thead><tr><th>Message</th><th>From</th><th>To</th><th class="num">Sent</th><th class="num">In the mailbox</th>
			<th class="num">Running</th><th>Critical</th></tr></thead>
		<tbody>${flow.hops.map((h) => html`<tr key=${h.hop}><th scope="row">${labelOf(h, flow)}</th><td>${who(h.from)}</td>
			<td>${who(h.to, h.receiver)}</td><td class="num">${exact(h.sent / 1000)}</td>
			<td class="num">${h.taken === undefined ? "–" : exact((h.taken - h.sent) / 1000)}</td>
			<td class="num">${h.taken === undefined ? "–" : exact((h.until - h.taken) / 1000)}</td>
			<td>${h.critical ? "yes" : ""}</td></tr>`)}</tbody></table>`;
}

// Which function begins a request, and when it is over: no D is needed.
export function FollowMenu({ app, disabled }) {
	const [written, setWritten] = useState(null); // and not followed yet
	const form = written ?? app.form;
	const ok = isName(form.module) && isName(form.fn) && Number(form.oneIn) >= 1;
	const field = (key, label, hint, more = {}) => html`<label class="field"><span>${label}</span><input
		value=${form[key]} placeholder=${hint} spellcheck="false" autocomplete="off" ...${more}
		onInput=${(e) => {
			// "orders:put" may be pasted as a whole
			const [module, fn] = e.target.value.trim().split(":");
			setWritten(key === "module" && fn !== undefined ? { ...form, module, fn: fn || form.fn } : { ...form, [key]: e.target.value.trim() });
		}} /></label>`;
	return html`<${Menu} label="Follow" title="Follow requests: calls of a function, and everything that they cause in other processes" disabled=${disabled}>
		${(close) => html`<form class="follow" onSubmit=${(e) => {
			e.preventDefault();
			if (!ok) return;
			setWritten(null);
			close();
			app.follow({ ...form, oneIn: Math.floor(Number(form.oneIn)) });
		}}>
			<p>A request begins at a call of this function, and continues in all processes to which it sends messages or which it spawns.</p>
			${field("module", "Module", "orders")}
			${field("fn", "Function", "put")}
			${field("oneIn", "One in", "1", { inputmode: "numeric", title: "1: follow every call; 100: one in a hundred" })}
			<label class="field"><span>Over after</span><select value=${form.silence}
				onChange=${(e) => setWritten({ ...form, silence: Number(e.target.value) })}>
				${SILENCES.map((s) => html`<option key=${s} value=${s} selected=${s === form.silence}>${secondsText(s)} of silence</option>`)}</select></label>
			<p>A server stays in a request until it gets the next one. So many requests end after a silence, and appear only
				then. If the process that began a request still waits for an answer, the request has the mark <b>waits</b>. Choose
				more than slow answers take. No request is followed for longer than ${secondsText(lifeOf(form.silence))}.</p>
			<button class="primary" disabled=${!ok}>Follow</button></form>`}<//>`;
}
