// SPDX-License-Identifier: Apache-2.0
// A list: keys with their values, changes and spark lines, several aggregations side by side.
import { html } from "htm/preact";
import { useRef, useState } from "preact/hooks";
import { Card, ExportMenu, useHold } from "./card.js";
import { UNITS, UNIT_NAMES, exact, keyText, number } from "./format.js";
import { filterRows, listRows, sortRows, sparkPath } from "./list.js";
import { Choice } from "./menu.js";
import { adds } from "./model.js";
import { RELEASED } from "./series.js";

const FEW = 40;
const SOME = 60; // rows in the DOM, of as many as there are: those that are seen, and some around
const TALL = 25; // px of a row, until one is there to be measured
const SPARK_W = 80,
	SPARK_H = 20;

export function ListView({ app, view, where }) {
	const { aggs, keyNames } = view;
	const [by, setBy] = useState({ column: 0, what: "value", down: true });
	const [filter, setFilter] = useState("");
	const [all, setAll] = useState(false);
	const hold = useHold();
	const order = useRef(null);
	const snap = useRef(null);
	const body = useRef(null);
	const [first, setFirst] = useState(0);
	// What adds up, of runs that are compared, is shown per second.
	const rate = app.other !== null;
	const per = (agg) => (adds(agg.fn) ? app.per : 1);
	const unitOf = (agg) => app.lookOf(agg).unit ?? agg.unit;
	// Paused, the rows are those of that moment.
	const held = app.paused !== null && !app.range;
	const moment = `${app.paused} ${app.onlyNode}`;
	if (!held || snap.current?.moment !== moment)
		snap.current = {
			moment: held ? moment : "",
			rows: listRows(aggs, { nodeShown: app.nodeShown, range: app.range }),
		};
	const keyed = snap.current.rows.filter((r) => !r.rest);
	const rest = snap.current.rows.find((r) => r.rest);
	const rows = sortRows(filterRows(keyed, filter), by);
	// Rows hold still under the pointer: the order is kept, the numbers go on.
	const asked = `${by.column} ${by.what} ${by.down} ${filter} ${app.onlyNode} ${app.range?.from} ${app.range?.to}`;
	if (hold.on && order.current?.asked === asked) {
		const place = new Map(order.current.names.map((n, i) => [n, i]));
		rows.sort((a, b) => (place.get(a.name) ?? 1e9) - (place.get(b.name) ?? 1e9));
	}
	order.current = { asked, names: rows.map((r) => r.name) };
	const many = all ? rows.length : Math.min(FEW, rows.length);
	const from = Math.max(0, Math.min(first, many - SOME));
	const shown = rows.slice(from, Math.min(many, from + SOME));
	const tall = body.current?.querySelector("tr[data-row]")?.offsetHeight || TALL;
	const scrolled = (e) => {
		// In steps of ten rows, with twenty above what is seen.
		const at = Math.max(0, Math.floor(e.target.scrollTop / tall / 10) * 10 - 20);
		if (at !== first) setFirst(at);
	};
	const room = (n) => n > 0 && html`<tr aria-hidden="true" style=${{ height: `${n * tall}px` }}></tr>`;
	const nkeys = Math.max(0, ...aggs.map((a) => a.nkeys ?? 0));
	// What the longest bar stands for: of all rows, and of those of a run that is compared.
	const most = aggs.map((a, i) => {
		const beside = app.partner(a)?.byKey(() => true, null).values() ?? [];
		const greatest = (cells) => cells.reduce((m, cell) => Math.max(m, Math.abs(cell?.value ?? 0)), 0);
		const other = greatest([...beside]) / (adds(a.fn) ? app.otherPer : 1);
		return Math.max(greatest(rows.map((r) => r.cells[i])) / per(a), other);
	});

	const head = (column, what, text, title, cls = "") => {
		const on = by.column === column && by.what === what;
		const click = () => setBy({ column, what, down: on ? !by.down : column >= 0 });
		return html`<th class=${cls}
			aria-sort=${on ? (by.down ? "descending" : "ascending") : null}>
			<button class="sort" title=${title} onClick=${click}>${text}<i
				class=${on ? (by.down ? "down" : "up") : ""}
				aria-hidden="true"></i></button></th>`;
	};

	return html`<${Card} title=${aggs.map((a) => a.title).join("  ")}
		note=${`${where}${app.range ? "in the time shown" : "since the start"}${rate && aggs.some((a) => adds(a.fn)) ? `, per second of ${number(app.seconds)} s` : ""}`} class="list"
		tools=${html`
			${aggs
				.filter((a) => a.fn !== "count")
				.slice(0, 4)
				.map(
					(
						a,
					) => html`<${Choice} key=${a.name}
						label=${aggs.length > 1 ? `Unit of ${a.title}` : "Unit"}
						value=${unitOf(a)}
				options=${UNITS.map((u) => [u, UNIT_NAMES[u]])}
					onChange=${(u) => app.setLook(a, { unit: u })} />`,
				)}
			${nkeys > 0 && html`<input class="filter" type="search"
				placeholder="Filter" aria-label="Filter keys" value=${filter}
				onInput=${(e) => setFilter(e.target.value)} />`}
			<${ExportMenu} app=${app} aggs=${aggs} name=${aggs[0].name} />`}>
		<div class="scroll" onScroll=${scrolled} ...${hold.listen}>
		<table class=${nkeys > 0 ? "rows" : "rows single"} aria-rowcount=${many + 1}>
			<thead><tr>
				${nkeys > 0 && head(-1, "name", keyNames.length ? keyNames.join(", ") : "key", "Sort by name", "name")}
				${aggs.map(
					(a, i) => html`
					${head(i, "value", `${a.title} ${a.fn}${rate && adds(a.fn) ? " / s" : ""}`, `Sort by ${a.fn}`, "num")}
					${head(i, "change", adds(a.fn) ? "last second" : "change", adds(a.fn) ? "Sort by the increments of the last second" : "Sort by the last second compared to the one before", "num change")}
					<th class="spark"><span
						title=${adds(a.fn) ? "By second, the last minute" : "Value by second, the last minute"}>last minute</span></th>`,
				)}
			</tr></thead>
			<tbody ref=${body}>${room(from)}${shown.map(
				(row, i) => html`<tr key=${row.name} data-row=${from + i}
					aria-rowindex=${from + i + 2}>
				${nkeys > 0 && html`<th scope="row" class="name"
					title=${row.name}>${row.values.map((v, i) => html`<span
					key=${i}>${keyText([v])}</span>`)}</th>`}
				${row.cells.map((cell, i) =>
					cell
						? html`
					<td class="num value" title=${exact(cell.value)}><span
						class="bar"
						style=${{ width: `${most[i] ? (100 * Math.abs(cell.value / per(aggs[i]))) / most[i] : 0}%` }}></span>
						<span>${valueText(cell.value / per(aggs[i]), unitOf(aggs[i]))}</span></td>
					<td class=${`num change ${cell.change ? "" : "zero"}`}>
						${changeText(cell.change, aggs[i], unitOf(aggs[i]))}</td>
					<td class="spark"><${Spark} agg=${cell.agg}
						series=${cell.series} wide=${nkeys === 0}
						held=${held} /></td>`
						: html`<td class="num zero">–</td><td></td>
							<td></td>`,
				)}
			</tr>`,
			)}${room(many - from - shown.length)}</tbody>
		</table></div>
		${rows.length === 0 && html`<p class="dim pad">
			${filter ? "No key contains this." : "Nothing yet."}</p>`}
		${
			(rows.length > FEW || rest) &&
			html`<footer>${rows.length > FEW && html`<span class="dim">${many} of ${rows.length} keys</span>
			<button class="small" onClick=${() => setAll(!all)}>
				${all ? "Fewer" : "All"}</button>`}
			${rest && html`<span class="dim" title=${RELEASED}>+ ${app.range ? "" : `${exact(Math.max(...aggs.map((a) => a.series.released)))} `}more${rest.cells.map((cell, i) =>
				cell && adds(aggs[i].fn) ? `; ${aggs[i].title} ${valueText(cell.value / per(aggs[i]), unitOf(aggs[i]))}` : "",
			)}</span>`}</footer>`
		}
	<//>`;
}

// Whole numbers of a list line up digit by digit while they are short enough to be read.
const valueText = (x, unit) => (unit === "none" && Math.abs(x) < 1e9 ? exact(x) : number(x, unit));

function changeText(x, agg, unit) {
	if (!x) return "0";
	return `${x > 0 ? "+" : "−"}${valueText(Math.abs(x), unit)}`;
}

function Spark({ agg, series, wide, held }) {
	const w = wide ? 300 : SPARK_W,
		h = wide ? 36 : SPARK_H;
	const last = useRef({});
	// A new point comes once a second only.
	if (
		(!(held && last.current.path) && last.current.second !== agg.second) ||
		last.current.series !== series.join()
	)
		last.current = {
			second: agg.second,
			series: series.join(),
			path: sparkPath(agg.spark(series), w, h, adds(agg.fn)),
		};
	return html`<svg width=${w} height=${h} viewBox=${`0 0 ${w} ${h}`} aria-hidden="true">
		<path d=${last.current.path} /></svg>`;
}
