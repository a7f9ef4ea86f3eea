// SPDX-License-Identifier: Apache-2.0
// What the script printed, following the end unless one has scrolled up. Lines are added to the DOM
// by hand: there may be thousands.
import { html } from "htm/preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { Card } from "./card.js";
import { fileName, save } from "./export.js";
import { clock } from "./format.js";

const LINES = 1000; // in the DOM
const EVERY = 200; // ms between new lines: a script may print thousands a second
const MANY = 200; // so many at once are not read anyway: they come less often

export function LogView({ app, run }) {
	const box = useRef(null);
	const follow = useRef(true);
	const [away, setAway] = useState(false);
	const [times, setTimes] = useState(false);

	useLayoutEffect(() => {
		let shown = 0;
		let at = -Infinity;
		let every = EVERY;
		let later = null;
		const el = box.current;
		el.replaceChildren();
		const off = app.painter((now) => {
			if (app.paused !== null || run.log.count === shown) return;
			if (now - at < every) {
				later ??= setTimeout(() => {
					later = null;
					app.paint();
				}, every);
				return;
			}
			at = now;
			const fresh = run.log.entries.filter((e) => e.n > shown).slice(-LINES);
			every = run.log.count - shown > MANY ? 4 * EVERY : EVERY;
			shown = run.log.count;
			const many = run.nodeNames.length > 1;
			const widest = Math.max(0, ...run.nodeNames.map((n) => n.length));
			el.style.setProperty("--node", `${Math.min(32, widest)}ch`);
			el.append(...fresh.map((e) => lineElement(e, many)));
			while (el.childElementCount > LINES) el.firstElementChild.remove();
			if (follow.current) el.scrollTop = el.scrollHeight;
		});
		return () => {
			off();
			clearTimeout(later);
		};
	}, [run]);

	const scrolled = () => {
		const el = box.current;
		if (!el) return; // the view went between the scrolling and the word of it
		follow.current = el.scrollHeight - el.scrollTop - el.clientHeight < 8;
		if (away === follow.current) setAway(!follow.current);
	};
	const toEnd = () => {
		box.current.scrollTop = box.current.scrollHeight;
	};
	const text = () =>
		run.log.entries
			.map(
				(e) =>
					`${new Date(e.time).toISOString()} ${e.node ? `${e.node} ` : ""}${e.text}\n`,
			)
			.join("");

	return html`<${Card} title="Output"
		note=${`${run.log.count} ${run.log.count === 1 ? "line" : "lines"}`} class="log"
		beside=${away && html`<button class="accent" onClick=${toEnd}>To the end</button>`}
		tools=${html`
			<button aria-pressed=${times} class="toggle"
				onClick=${() => setTimes(!times)}>times</button>
			<button onClick=${() => save(fileName("output", "txt"), new Blob([text()], { type: "text/plain" }))}>Save</button>`}>
		<div class=${`lines${times ? " times" : ""}`} ref=${box} role="log"
			aria-label="Output of the script" tabindex="0" onScroll=${scrolled}></div>
	<//>`;
}

function lineElement(e, withNode) {
	const div = document.createElement("div");
	div.className = `line ${e.kind}`;
	const time = document.createElement("time");
	time.textContent = clock(e.time, true);
	div.append(time);
	if (withNode && e.node) {
		const node = document.createElement("span");
		node.className = "node";
		node.textContent = e.node;
		div.append(node);
	}
	// Text stays text, whatever the traced program put into it.
	div.append(document.createTextNode(e.text === "" ? "\u00a0" : e.text));
	return div;
}
