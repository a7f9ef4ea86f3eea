// SPDX-License-Identifier: Apache-2.0
// The frame of every view: title, tools, the picture, and the table behind it.
import { html } from "htm/preact";
import { Component } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { csvParts, fileName, jsonParts, save, toBlob } from "./export.js";
import { Menu, Toggle } from "./menu.js";

const HIDDEN_EVERY = 5000; // ms between refreshes of a table only screen readers see
const OPEN_EVERY = 1000;
const HOLD = 4000; // ms that rows hold still after the pointer has moved over them

// Draws again at most every `ms` while frames come.
export function useEvery(app, ms) {
	const [, again] = useState(0);
	useEffect(() => {
		let at = performance.now();
		return app.painter((now) => {
			if (now - at < ms) return;
			at = now;
			again((n) => n + 1);
		});
	}, [ms]);
}

// Draws again when texts are refreshed, but at most every `ms`.
export function useSlowly(app, ms) {
	const [, again] = useState(0);
	useEffect(() => {
		let at = performance.now();
		return app.subscribe(() => {
			const now = performance.now();
			if (now - at < ms) return;
			at = now;
			again((n) => n + 1);
		});
	}, [ms]);
}

// Rows do not move under a pointer that is about to click; one that only rests there does not hold them for ever.
export function useHold() {
	const moved = useRef(-Infinity);
	return {
		get on() {
			return performance.now() - moved.current < HOLD;
		},
		listen: {
			onPointerMove: () => {
				moved.current = performance.now();
			},
			onPointerLeave: () => {
				moved.current = -Infinity;
			},
		},
	};
}

// What is left as it is, whatever happens around it, until something in `when` is another.
export class Still extends Component {
	shouldComponentUpdate({ when }) {
		return when.some((x, i) => x !== this.props.when[i]);
	}
	render({ of }) {
		return of();
	}
}

// beside: what comes and goes; there is room for it beside the title, and nothing else moves.
export function Card({ title, note, beside, tools, table, children, class: cls = "" }) {
	const [open, setOpen] = useState(false);
	const behind = useRef(null);
	// Who asks for the table sees it, however high the picture is.
	useLayoutEffect(() => {
		if (open) behind.current?.scrollIntoView({ block: "nearest" });
	}, [open]);
	return html`<article class=${`card ${cls}`} aria-label=${title}>
		<header><h2>${title}</h2><span class="note">${note}</span>${beside}<span
			class="grow"></span>
			<div class="tools">${tools}
				${table && html`<${Toggle} on=${open} onChange=${setOpen}
					title="Show the numbers as a table">table<//>`}</div></header>
		${children}
		${table && html`<div ref=${behind} class=${open ? "behind" : "unseen"}><${Slow}
			ms=${open ? OPEN_EVERY : HIDDEN_EVERY} of=${() => table(open)} /></div>`}
	</article>`;
}

// What is shown anew only now and then, whatever happens around it.
function Slow({ ms, of }) {
	const [made, setMade] = useState(null);
	useEffect(() => {
		setMade(of());
		const t = setInterval(() => {
			if (!document.hidden) setMade(of());
		}, ms);
		return () => clearInterval(t);
	}, [ms]);
	return made;
}

// more: [what it is, its ending, the lines], of what only one kind of view has
export function ExportMenu({ app, aggs, name, png, more = [] }) {
	const { run } = app;
	const text = async (kind, make) => {
		const type = kind === "csv" ? "text/csv" : "application/json";
		save(fileName(name, kind), await toBlob(make(run, aggs, app.range), type));
	};
	return html`<${Menu} label="Export" title="Export the picture, or its numbers" right>
		${(close) => html`<ul>
			${
				png &&
				html`<li><button class="item" onClick=${() => {
					png().toBlob((b) => save(fileName(name, "png"), b));
					close();
				}}>PNG, the picture</button></li>`
			}
			<li><button class="item" onClick=${() => {
				text("csv", csvParts);
				close();
			}}>CSV, all of ${app.range ? "the zoom" : "the history"}</button></li>
			<li><button class="item" onClick=${() => {
				text("json", jsonParts);
				close();
			}}>JSON, with times</button></li>
			${more.map(
				([what, kind, lines]) => html`<li key=${kind}><button class="item"
					onClick=${async () => {
						close();
						save(fileName(name, kind), await toBlob(lines(), "text/plain"));
					}}>${what}</button></li>`,
			)}
		</ul>`}
	<//>`;
}
