// SPDX-License-Identifier: Apache-2.0
// The line that always shows how the run is: state, time, events, cost on the node, which way function
// probes go, drops, errors.
import { html } from "htm/preact";
import { duration, exact, number, percent } from "./format.js";

const REASONS = {
	exited: "Ended",
	stopped: "Stopped",
	limit: "Ended by a limit",
	lost: "Lost",
	refused: "Refused",
};

export function stateOf(app) {
	const { run } = app;
	if (!run) return { cls: "idle", text: "Idle" };
	if (run.phase === "ended") {
		if (run.failed)
			return {
				cls: "bad",
				text: run.inScript ? "Does not compile" : "Not started",
			};
		if (run.aborts.length) return { cls: "bad", text: "Aborted" };
		const bad =
			run.end.reason !== "stopped" &&
			(run.end.code !== 0 || run.end.reason !== "exited");
		return {
			cls: bad ? "bad" : "idle",
			text: REASONS[run.end.reason] ?? run.end.reason,
		};
	}
	if (run.phase === "starting") return { cls: "busy", text: "Starting" };
	if (run.phase === "away") return { cls: "warn", text: "Reconnecting" };
	if (run.phase === "stopping") return { cls: "busy", text: "Stopping" };
	if (app.paused !== null) return { cls: "warn", text: "Paused" };
	if (run.nodeInfo.length && run.nodeInfo.every((n) => n.gone || run.quietFor(n)))
		return { cls: "warn", text: "No data" };
	return { cls: "good", text: "Running" };
}

const COST = "Share of the schedulers' busy time that the script takes: its events, rounds of the provider state, samples";
const COST_UNKNOWN =
	"Unknown: the script runs in the kernel, and only nodes measure the cost of events";

export const costText = (cost) => (cost === null ? "unknown" : percent(cost));

export function costClass(cost) {
	return cost >= 10 ? "bad" : cost >= 2 ? "warn" : "";
}

const CALLS =
	"How function probes get their events: traced, from the VM's tracing; fast, from hooks inside the VM; counted, without events, by the VM itself";

// Of all nodes: "counted", "fast", "traced", or several; "": the script has no function probes.
export function callsText(run) {
	const ways = new Set();
	for (const { calls } of run.nodeInfo) {
		if (!calls || calls.way === "none") continue;
		if (calls.functions || !calls.counted) ways.add(calls.way);
		if (calls.counted) ways.add("counted");
		if (calls.traced.length) ways.add("traced");
	}
	return [...ways].sort().join(", ");
}

// A line for each node: how many functions, and why some or all are traced.
export function callsTitle(run) {
	const lines = run.nodeInfo.map(({ calls }, i) => {
		if (!calls || calls.way === "none") return "";
		const many = `${calls.functions} function${calls.functions === 1 ? "" : "s"}`;
		const counted = calls.counted ? `; counted by the VM: ${calls.counted}` : "";
		const why = calls.why ? ` (${calls.why})` : "";
		const traced = calls.traced.map(
			(t) =>
				`; traced: ${t.example}${t.functions > 1 ? ` and ${t.functions - 1} more` : ""} (${t.why})`,
		);
		return `\n${run.nodeNames[i]}: ${calls.way}, ${many}${counted}${why}${traced.join("")}`;
	});
	return CALLS + lines.join("");
}

// What one has to know beside the numbers; the most pressing first.
function messages(app) {
	const { run } = app;
	const list = [app.problem];
	if (!run) return list;
	list.push(...run.aborts);
	if (run.end && !run.failed) {
		// What the command said last names the abort once more, in more words.
		if (!run.aborts.length) list.push(run.end.message);
		if (!run.end.message && run.end.reason === "exited" && run.end.code > 0)
			list.push(`exit code ${run.end.code}`);
	}
	run.nodeInfo.forEach((n, i) => {
		const ms = run.quietFor(n);
		if (n.gone && app.running) list.push(`${run.nodeNames[i]} has gone away`);
		if (ms) list.push(`no data from ${run.nodeNames[i]} for ${Math.round(ms / 1000)} s`);
	});
	if (app.paused !== null && app.running)
		list.push(`still recording; ${duration((run.lastSlot - app.paused) / run.hz)} behind`);
	if (app.running && !run.nodeInfo.some((n) => n.gone)) list.push(run.warning);
	return list;
}

export function Banner({ app }) {
	const { run } = app;
	const state = stateOf(app);
	const seconds = run ? ((run.endedAt ?? Date.now()) - run.startedAt) / 1000 : 0;
	const drops = run?.dropTotal ?? 0;
	const errors = (run?.faultCount ?? 0) + (run?.compileErrors.length ?? 0) + (run?.aborts.length ?? 0);
	const dropList = run
		? [...run.drops.values()].map((d) => `${d.kind}: ${d.total}`).join("\n")
		: "";
	const errorList = run
		? [...run.faults].map(([what, f]) => `${what}: ${f.count}×`).join("\n")
		: "";
	const costs = run
		? run.nodeInfo
				.map((n, i) => `${run.nodeNames[i] || "kernel"}: ${costText(n.cost)}`)
				.join("\n")
		: "";
	const missing = app.running && run.nodeInfo.some((n) => n.gone || run.quietFor(n));
	const message = [...new Set(messages(app).filter(Boolean))].join("; ");

	return html`<section class="banner" aria-label="State of the run">
		<div class="stat state" role="status"><i class=${`dot ${state.cls}`}
			aria-hidden="true"></i><b>${state.text}</b></div>
		<${Stat} name="time" value=${run ? duration(seconds) : "–"} />
		<${Stat} name="events" value=${run ? number(run.fired) : "–"}
			title=${run ? `${exact(run.fired)} events` : ""} />
		<${Stat} name="per second" value=${run && app.running ? number(run.rate) : "–"} />
		<${Stat} name="cost on node" value=${run?.ticks ? costText(run.cost) : "–"}
			cls=${costClass(run?.cost ?? 0)}
				title=${`${run?.ticks && run.cost === null ? COST_UNKNOWN : COST}\n${costs}`} />
		<${Stat} name="calls" value=${(run && callsText(run)) || "–"}
			title=${run ? callsTitle(run) : CALLS} />
		<${Stat} name="drops" value=${run ? number(drops) : "–"}
			cls=${drops ? "warn" : ""} title=${dropList || "Nothing was lost"} />
		<${Stat} name="errors" value=${run ? number(errors) : "–"}
			cls=${errors ? "bad" : ""} title=${errorList || "No errors"} />
		<div class=${`message${missing ? " warn" : ""}`} title=${message}>${message}</div>
	</section>`;
}

function Stat({ name, value, title, cls = "" }) {
	return html`<div class=${`stat ${cls}`} title=${title}><span class="name">${name}</span>
		<span class="value">${value}</span></div>`;
}
