// SPDX-License-Identifier: Apache-2.0
// The script menu: the library of the server and the scripts saved in this browser.
import { html } from "htm/preact";
import { useState } from "preact/hooks";
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

export function Library({ app }) {
	const [filter, setFilter] = useState("");
	const [name, setName] = useState("");
	const wanted = filter.toLowerCase();
	const found = app.library.filter((s) =>
		`${s.name} ${s.title ?? ""}`.toLowerCase().includes(wanted),
	);
	const save = (e) => {
		e.preventDefault();
		if (name.trim()) app.saveScript(name.trim(), app.editor.text());
		setName("");
	};
	const copy = async () => {
		const link =
			location.origin + location.pathname + scriptFragment(app.editor.text(), app.args);
		try {
			await navigator.clipboard.writeText(link);
			app.say("The link is copied. It opens this script, and does not run it.");
		} catch {
			// Without the clipboard, which only secure pages have: where one can take it by hand.
			history.replaceState(null, "", link);
			app.say("The clipboard is not to be had: the link is in the address of this page.");
		}
	};

	return html`<${Menu} label="Scripts" title="Library and saved scripts" wide>
		${(close) => html`
			<form class="menu-row" onSubmit=${save}>
				<input class="grow" placeholder="Save this script as…"
					aria-label="Name to save the script as" value=${name}
					onInput=${(e) => setName(e.target.value)} />
				<button disabled=${!name.trim()}>Save</button>
				<button type="button" onClick=${() => {
					copy();
					close();
				}} title="Copy a link that opens this script (it does not run it)">Copy link</button>
			</form>
			${
				app.saved.length > 0 &&
				html`<h3>Saved</h3>
				<ul>${app.saved.map(
					(s) => html`<li key=${s.name} class="menu-row">
					<button class="item grow" onClick=${() => {
						app.load(s.text);
						close();
					}}>${s.name}</button>
					<button class="quiet" aria-label=${`Remove ${s.name}`}
						onClick=${() => app.removeScript(s.name)}>×</button>
				</li>`,
				)}</ul>`
			}
			<h3>Library</h3>
			${
				app.library.length > 8 &&
				html`<div class="menu-row"><input class="grow"
					placeholder="Filter" aria-label="Filter the library"
					value=${filter}
				onInput=${(e) => setFilter(e.target.value)} /></div>`
			}
			<ul>${found.map(
				(s) => html`<li key=${s.name}>
				<button class="item" onClick=${() => {
					app.load(s.text);
					close();
				}}>
					<b>${s.name}</b><span>${s.title}</span>
				</button></li>`,
			)}</ul>
			${app.library.length === 0 && html`<p
				class="dim pad">The server has no scripts.</p>`}
		`}
	<//>`;
}
