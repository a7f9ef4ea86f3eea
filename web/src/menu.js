// SPDX-License-Identifier: Apache-2.0
// Small parts that many views use: a menu that opens under its button, a choice of a few.
import { html } from "htm/preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";

// Arrows go from item to item, and up from the first one back to the field above them; Enter takes the
// item: the one with the focus, or from that field the one that is marked as chosen.
function menuKeys(e, body) {
	if (e.target.matches("select")) return; // has arrows of its own
	const text = e.target.matches("input:not([type=checkbox])");
	const items = [...body.querySelectorAll(".item")].map((i) => i.querySelector("input") ?? i);
	const at = items.indexOf(e.target);
	const to = {
		ArrowDown: Math.min(at + 1, items.length - 1),
		ArrowUp: at - 1,
		Home: text ? undefined : 0,
		End: text ? undefined : items.length - 1,
	}[e.key];
	if (to !== undefined) (items[to] ?? body.querySelector("input[type=search]"))?.focus();
	else if (e.key === "Enter" && e.target.type === "checkbox") e.target.click();
	else if (e.key === "Enter" && e.target.type === "search") body.querySelector(".chosen")?.click();
	else return;
	e.preventDefault();
}

// children: a function that gets close() and returns what the menu has.
export function Menu({ label, title, wide, right, icon, children, disabled }) {
	const [open, setOpen] = useState(false);
	const box = useRef(null);
	const button = useRef(null);
	const close = () => {
		setOpen(false);
		button.current?.focus();
	};
	// Not later: between the end of the menu and of these the menu would be asked for what it has.
	useLayoutEffect(() => {
		if (!open) return undefined;
		const outside = (e) => {
			if (!box.current.contains(e.target)) setOpen(false);
		};
		const key = (e) => {
			if (e.key !== "Escape") return;
			e.stopPropagation();
			close();
		};
		document.addEventListener("pointerdown", outside);
		document.addEventListener("keydown", key, true);
		box.current.querySelector(".menu-body input, .menu-body button")?.focus();
		return () => {
			document.removeEventListener("pointerdown", outside);
			document.removeEventListener("keydown", key, true);
		};
	}, [open]);
	const cls = `menu-body${wide ? " wide" : ""}${right ? " right" : ""}`;
	return html`<div class="menu" ref=${box}>
		<button ref=${button} title=${title} disabled=${disabled} aria-haspopup="true"
			aria-expanded=${open} onClick=${() => setOpen(!open)}
			class=${icon ? "icon" : ""} aria-label=${icon ? title : null}>
			${label}${!icon && html`<i class="caret" aria-hidden="true"></i>`}</button>
		${open && html`<div class=${cls} onKeyDown=${(e) => menuKeys(e, e.currentTarget)}>
			${children(close)}</div>`}
	</div>`;
}

// options: [[value, text, title]]
export function Choice({ label, value, options, onChange }) {
	return html`<label class="choice"><span>${label}</span>
		<select aria-label=${label} value=${String(value)}
			onChange=${(e) => onChange(e.target.value)}>
			${options.map(([v, text]) => html`<option key=${v} value=${String(v)}
				selected=${String(v) === String(value)}>${text}</option>`)}
		</select></label>`;
}

export function Toggle({ on, onChange, title, children }) {
	return html`<button class="toggle" aria-pressed=${on} title=${title}
		onClick=${() => onChange(!on)}>${children}</button>`;
}
