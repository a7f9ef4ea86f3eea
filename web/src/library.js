// SPDX-License-Identifier: Apache-2.0
// The script menu: the library of the server and the scripts saved in this browser.
import { html } from "htm/preact";
import { useState } from "preact/hooks";
import { NO_KERNEL, needsKernel } from "./d_language.js";
import { findScripts } from "./find.js";
import { Menu } from "./menu.js";
import { load, store } from "./theme.js";
import { scriptFragment } from "./connection.js";

const KEY = "erltrace.saved";

export function loadSaved() {
	try {
		const list = JSON.parse(load(KEY) ?? "[]");
		return Array.isArray(list)
			? list.filter(
					(s) =>
						typeof s?.name === "string" &&
						typeof s.text === "string",
				)
			: [];
	} catch {
		return [];
	}
}

export const storeSaved = (list) => store(KEY, JSON.stringify(list));

// A script that needs the kernel says so before it is chosen.
function KernelBadge({ app }) {
	if (app.hello?.kernel !== false) return html`<em class="badge" title="Uses kernel probes">kernel</em>`;
	return html`<em class="badge off" title=${`This script ${NO_KERNEL}`}>needs erltrace web --kernel</em>`;
}

export function Library({ app }) {
	const [filter, setFilter] = useState("");
	const [name, setName] = useState("");
	const saved = findScripts(app.saved, filter);
	const found = findScripts(app.library, filter);
	// What Enter takes.
	const chosen = filter.trim() ? findScripts([...saved, ...found], filter)[0] : null;
	const save = (e) => {
		e.preventDefault();
		if (name.trim()) app.saveScript(name.trim());
		setName("");
	};
	const copy = async () => {
		const link =
			location.origin + location.pathname + scriptFragment(app.editor.text(), app.args);
		try {
			await navigator.clipboard.writeText(link);
			app.say("Link copied. It opens this script without running it.");
		} catch {
			// Without the clipboard, which only secure pages have: where one can take it by hand.
			app.linked = true;
			app.writeAddress();
			app.say("The clipboard is not available: copy the address of this page.");
		}
	};
	const item = (s, close, cls = "") => html`<button
		class=${`item${cls}${s === chosen ? " chosen" : ""}`} onClick=${() => {
			close();
			setFilter("");
			app.load(s);
		}}><div><b>${s.name}</b>${needsKernel(s.text) && html`<${KernelBadge} app=${app} />`}</div>${s.title && html`<span>${s.title}</span>`}</button>`;

	return html`<${Menu} label="Scripts" title="Library and saved scripts" wide>
		${(close) => html`
			<div class="menu-row menu-top"><input class="grow" type="search"
				placeholder="Find a script" aria-label="Find a script"
				value=${filter} onInput=${(e) => setFilter(e.target.value)} /></div>
			${
				saved.length > 0 &&
				html`<h3>Saved</h3>
				<ul>${saved.map(
					(s) => html`<li key=${s.name} class="menu-row">
					${item(s, close, " grow")}
					<button class="quiet" aria-label=${`Remove ${s.name}`}
						onClick=${() => app.removeScript(s.name)}>×</button>
				</li>`,
				)}</ul>`
			}
			<h3>Library</h3>
			<ul>${found.map((s) => html`<li key=${s.name}>${item(s, close)}</li>`)}</ul>
			${found.length === 0 && html`<p class="dim pad">
				${app.library.length ? "No script name contains this." : "The server has no scripts."}</p>`}
			<form class="menu-row menu-foot" onSubmit=${save}>
				<input class="grow" placeholder="Save this script as…"
					aria-label="Name to save the script as" value=${name}
					onInput=${(e) => setName(e.target.value)} />
				<button disabled=${!name.trim()}>Save</button>
				<button type="button" onClick=${() => {
					copy();
					close();
				}} title="Copy a link that opens this script without running it">Copy link</button>
			</form>
		`}
	<//>`;
}
