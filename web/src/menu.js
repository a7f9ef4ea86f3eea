// SPDX-License-Identifier: Apache-2.0
// Small parts that many views use: a menu that opens under its button, a choice of a few.
import { html } from "htm/preact";
import { useEffect, useRef, useState } from "preact/hooks";

// children: a function that gets close() and returns what the menu has.
export function Menu({ label, title, wide, right, icon, children, disabled }) {
	const [open, setOpen] = useState(false);
	const box = useRef(null);
	const button = useRef(null);
	const close = () => {
		setOpen(false);
		button.current?.focus();
	};
	useEffect(() => {
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
		${open && html`<div class=${cls}>${children(close)}</div>`}
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
