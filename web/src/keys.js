// SPDX-License-Identifier: Apache-2.0
// The keyboard, and the list of its keys.
import { html } from "htm/preact";
import { useEffect, useRef } from "preact/hooks";
import { WINDOWS } from "./app.js";
import { theme } from "./theme.js";

export const KEYS = [
	["Ctrl-Enter", "run the script"],
	["f", "show where the CPU time goes, as a flame graph"],
	["Esc", "go back: close a menu, leave a field, undo a zoom; otherwise, and in the editor: stop the script"],
	["Space", "pause and resume: data is still recorded"],
	["k", "keep the run, to compare it with the next one; again: drop it"],
	["0", "return all pictures to live data"],
	["1 … 5", "show the last 30 s, 1, 2, 5, 10 minutes"],
	["e", "show or hide the editor"],
	["d", "switch the theme: system, light, dark"],
	["/", "go to the editor"],
	["?", "show this list"],
	["Ctrl-Space", "in the editor: complete"],
	["Ctrl-m", "in the editor: Tab moves to the next field; again: it indents"],
	["Arrows, Enter", "in a menu: move, select; in a picture: move, select the cell"],
	["Drag", "in a heat map: zoom; double click or Esc goes back"],
	["Click", "on a cell: its keys; on a key: only this key; Alt: all but this key; on a frame: zoom"],
];

// Esc goes back a step; it stops the script where there is no step to go back, and in the editor.
function escape(app, e) {
	const field = e.target.closest?.("input, textarea, select");
	if (app.help) app.showHelp(false);
	else if (e.defaultPrevented) return;
	else if (field?.type === "search" && field.value) {
		field.value = "";
		field.dispatchEvent(new Event("input", { bubbles: true }));
	} else if (field && !field.closest(".cm-editor")) field.blur();
	else if (e.target.closest?.(".cm-editor") || !app.back()) app.stop();
}

export function listenKeys(app) {
	document.addEventListener("keydown", (e) => {
		const typing = e.target.closest?.("input, textarea, select, .cm-editor");
		if ((e.ctrlKey || e.metaKey) && e.key === "Enter") {
			if (!e.defaultPrevented) app.execute();
			e.preventDefault();
			return;
		}
		if (e.key === "Escape") return escape(app, e);
		if (typing || e.ctrlKey || e.metaKey || e.altKey) return;
		const windowSize = WINDOWS[Number(e.key) - 1];
		if (e.key === " " && !e.target.closest?.("button, summary")) app.pause();
		else if (e.key === "?") app.showHelp(!app.help);
		else if (e.key === "e") {
			app.side = !app.side;
			app.changed();
			app.paint();
		} else if (e.key === "k") app.keep();
		else if (e.key === "f") app.profile();
		else if (e.key === "d") theme.next();
		else if (e.key === "/") app.editor?.focus();
		else if (e.key === "0") {
			app.paused = null;
			app.back(true);
			app.zoom(null);
		} else if (windowSize) app.setWindow(windowSize);
		else return;
		e.preventDefault();
	});
}

export function Help({ app }) {
	const box = useRef(null);
	useEffect(() => box.current.focus(), []);
	const close = () => app.showHelp(false);
	return html`<div class="veil" onClick=${close}>
		<div class="help" role="dialog" aria-modal="true" aria-label="Keys" tabindex="-1"
			ref=${box} onClick=${(e) => e.stopPropagation()}>
			<header><h2>Keys</h2><button class="quiet" onClick=${close}
				aria-label="Close">×</button></header>
			<dl>${KEYS.map(([key, what]) => html`<div key=${key}><dt><kbd>
				${key}</kbd></dt><dd>${what}</dd></div>`)}</dl>
		</div>
	</div>`;
}
