// SPDX-License-Identifier: Apache-2.0
// Which nodes a script runs on.
import { html } from "htm/preact";
import { useEffect } from "preact/hooks";
import { Menu } from "./menu.js";

const EVERY = 5000; // ms between looks while the list is open

export function nodesLabel(nodes, chosen) {
	if (!nodes) return "Nodes…";
	if (!nodes.length) return "No node";
	if (chosen && chosen.size === 0) return "No node selected";
	const names = nodes.map((n) => n.name).filter((n) => !chosen || chosen.has(n));
	if (names.length === 1) return names[0];
	return chosen ? `${names.length} of ${nodes.length} nodes` : `All ${nodes.length} nodes`;
}

// The list is of now: a node may have come or gone since the page was opened.
function Fresh({ app }) {
	useEffect(() => {
		app.askNodes();
		const t = setInterval(() => app.askNodes(), EVERY);
		return () => clearInterval(t);
	}, []);
	return null;
}

export function NodePicker({ app }) {
	const { nodes, chosen } = app;
	return html`<${Menu} label=${nodesLabel(nodes, chosen)} title="Nodes to trace" wide>
		${() => html`<${Fresh} app=${app} />
			${!nodes?.length && html`<p
				class="dim pad">No Erlang node found. Start one with a name (-sname or -name) as the same user, or give -N to erltrace web.</p>`}
			<ul>${(nodes ?? []).map(
				(n) => html`<li key=${n.name}>
				<label class="item node">
					<input type="checkbox"
						checked=${!chosen || chosen.has(n.name)}
						onChange=${(e) => app.choose(n.name, e.target.checked)} />
					<span class="grow"><b>${n.name}</b>
						<span>${n.ok ? `OTP ${n.otp}, process ${n.ospid}` : n.error || "does not answer"}</span></span>
					<i class=${n.ok ? "dot good" : "dot bad"} aria-hidden="true"></i>
				</label></li>`,
			)}</ul>
			<div class="menu-row"><button
				onClick=${() => app.lookAgain()}>Look again</button>
				${
					chosen &&
					html`<button onClick=${() => {
						app.chosen = null;
						app.changed();
					}}>All</button>`
				}</div>
		`}
	<//>`;
}
