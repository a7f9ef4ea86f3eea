// SPDX-License-Identifier: Apache-2.0
// The page. Files, from the wire to the screen:
//	connection.js	log in, web socket		wire.js		messages as objects, ticks from bytes
//	model.js	a run: its lines become aggregations
//	history.js	600 s of slots in bytes		buckets.js	edges, rows, percentiles
//	series.js	keys, by node, and which are released
//	app.js		state and actions		format.js	numbers, units, keys as text
//	heatmap.js	cells and pixels		heatcanvas.js	axes, lines		heatview.js	controls, keys
//	colour.js	ramps and scales		legend.js	what colours mean
//	list.js, flame.js, flows.js, log.js and their views
//	editor.js	CodeMirror with d_language.js	probes.js	what is offered while one types
//	banner, nodes, library (find.js), keys, theme, menu, card, export
import { html } from "htm/preact";
import { render } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { App, EACH, RATES, TOGETHER, WINDOWS } from "./app.js";
import { Banner } from "./banner.js";
import { Still } from "./card.js";
import { NO_KERNEL, argumentsOf, needsKernel, parametersOf, withArgument } from "./d_language.js";
import { createEditor } from "./editor.js";
import { FlameView } from "./flameview.js";
import { FlowView, FollowMenu } from "./flowview.js";
import { clock, duration, splitArgs } from "./format.js";
import { HeatView, heatDepends } from "./heatview.js";
import { Help, listenKeys } from "./keys.js";
import { Library } from "./library.js";
import { ListView } from "./listview.js";
import { LogView } from "./logview.js";
import { Choice } from "./menu.js";
import { NodePicker } from "./nodes.js";
import { startTheme, theme } from "./theme.js";

function Page({ app }) {
	const [, again] = useState(0);
	useEffect(() => app.subscribe(() => again((n) => n + 1)), []);
	useEffect(() => {
		const t = setInterval(() => {
			// Frames bring new texts too: this is for when nothing comes.
			if (app.running && !document.hidden && !app.fresh) app.changed();
		}, 1000);
		return () => clearInterval(t);
	}, []);
	useEffect(() => {
		document.title = app.running
			? `▶ erltrace · ${app.run.nodeNames.join(", ")}`
			: "erltrace";
	});
	return html`
		<${Still} of=${() => html`<${Header} app=${app} />`} when=${headerDepends(app)} />
		<main class=${app.side ? "" : "no-side"} inert=${app.help}>
			<${Still} of=${() => html`<${Side} app=${app} />`}
				when=${[app.args, app.hz, app.fast, app.whyNotFast, app.running, app.run, app.run?.compileErrors.length, app.hello, sideDepends(app.text)]} />
			<section class="views" aria-label="Views">
				<${Banner} app=${app} />
				${app.link !== "up" && app.run && html`<p class="strip bad" role="alert">
					${app.linkMessage}</p>`}
				<${Troubles} run=${app.run} />
				<${Views} app=${app} />
			</section>
		</main>
		${app.help && html`<${Help} app=${app} />`}`;
}

const THEMES = {
	auto: ["◐", "Theme: system"],
	light: ["☀", "Theme: light"],
	dark: ["☾", "Theme: dark"],
};

// What the header shows; it is made anew only if one of these is another.
const headerDepends = (app) => [
	app.link,
	app.nodes,
	app.chosen,
	app.library,
	app.saved,
	app.run,
	app.running,
	app.run?.lastSlot >= 0,
	app.run?.nodeNames.length,
	app.paused !== null,
	app.kept,
	app.onlyNode,
	app.window,
	theme.choice,
	app.help,
];

function Header({ app }) {
	const { run, paused } = app;
	const seconds = (s) => (s < 60 ? `${s} s` : `${s / 60} min`);
	const [sign, says] = THEMES[theme.choice];
	const can = app.link === "up" && !(app.chosen?.size === 0);
	return html`<header class="top" inert=${app.help}>
		<h1>erltrace</h1>
		<${NodePicker} app=${app} />
		<${Library} app=${app} />
		<${FollowMenu} app=${app} disabled=${!can} />
		<div class="run" role="group" aria-label="Run">
			<button class="primary" disabled=${!can} onClick=${() => app.execute()}
				title="Run the script (Ctrl-Enter)"><i class="play"
				aria-hidden="true"></i>Run</button>
			<button class="profile" disabled=${!can} onClick=${() => app.profile()}
				title="Where the nodes spend their CPU time: a flame graph of samples (f)">Flame graph</button>
			<button disabled=${!app.running} onClick=${() => app.stop()}
				title="Stop the script and turn off all probes (Esc)"><i class="square"
				aria-hidden="true"></i>Stop</button>
			<button class="pause" disabled=${!run || run.lastSlot < 0}
				aria-pressed=${paused !== null} onClick=${() => app.pause()}
				title="Pause the display; the script runs on (Space)">
					${paused === null ? "Pause" : "Resume"}</button>
			<button class="keep" disabled=${!app.kept && !(run?.lastSlot >= 0)}
				aria-pressed=${app.kept !== null} onClick=${() => app.keep()}
				title="Keep this run, to compare it with the next one (k)">Keep</button>
		</div>
		<span class="grow"></span>
		${
			run &&
			run.nodeNames.length > 1 &&
			html`<${Choice} label="Show" value=${app.onlyNode}
				onChange=${(v) => app.showNode(Number(v))}
			options=${[
				[TOGETHER, "all together"],
				[EACH, "each by itself"],
				...run.nodeNames.map((n, i) => [i, n]),
			]} />`
		}
		<${Choice} label="Last" value=${app.window}
			options=${WINDOWS.map((w) => [w, seconds(w)])}
			onChange=${(v) => app.setWindow(Number(v))} />
		<button class="icon" onClick=${() => theme.next()} title=${`${says} (d)`}
			aria-label=${says}>${sign}</button>
		<button class="icon keyboard" onClick=${() => app.showHelp(true)} title="Keys (?)" aria-label="Keys">?</button>
	</header>`;
}

// What the script's head says, as one text.
const sideDepends = (text) => JSON.stringify([argumentsOf(text), parametersOf(text), needsKernel(text)]);

// A field for each parameter of a script of the library. They write what is in the field `Arguments`.
function Parameters({ app }) {
	const parameters = parametersOf(app.text);
	if (!parameters.length) return null;
	const given = splitArgs(app.args);
	const label = (name) => name.charAt(0).toUpperCase() + name.slice(1);
	return html`<div class="parameters" role="group" aria-label="Parameters">${parameters.map(
		({ name, needed, about, otherwise }, i) => html`<label key=${i} class="choice" title=${about}>
			<span>${label(name)}</span><input class=${needed && !given[i] ? "needed" : ""} data-parameter=${i}
				value=${given[i] ?? ""} placeholder=${needed ? "needed" : otherwise} spellcheck="false"
				autocomplete="off" aria-required=${needed}
				onInput=${(e) => app.setArgs(withArgument(parameters, given, i, e.target.value.trim()))}
				onKeyDown=${(e) => {
					if (e.key === "Enter" && !e.ctrlKey && !e.metaKey) app.execute();
				}} /></label>`,
	)}</div>`;
}

function Side({ app }) {
	const at = useRef(null);
	const size = useRef(null);
	useEffect(() => {
		app.editor = createEditor(at.current, {
			doc: app.text,
			nonce: document.querySelector("meta[name=csp-nonce]")?.content,
			findProbes: (text) => app.findProbes(text),
			onChange: (text) => app.setText(text),
			onRun: () => app.execute(),
		});
		app.editor.focus();
		app.changed();
	}, []);
	const drag = (e) => {
		if (!e.buttons) return;
		const w = Math.min(innerWidth - 400, Math.max(280, e.clientX));
		document.documentElement.style.setProperty("--side", `${w}px`);
	};
	const errors = app.run?.compileErrors.filter((e) => !e.line && app.run.inScript);
	const { names, about } = argumentsOf(app.text);
	return html`<section class="side" aria-label="Script">
		<div class="editor" ref=${at}></div>
		${
			errors?.length > 0 &&
			html`<div class="problems" role="alert">${errors.map(
				(
					e,
					i,
				) => html`<button key=${i} class="problem"
					onClick=${() => e.line && app.editor.goTo(e.line, e.column)}>
			<span class="where">
				${e.line ? `line ${e.line}${e.column ? `, column ${e.column}` : ""}` : e.doing || "error"}</span>
			<span>${e.message}</span></button>`,
			)}</div>`
		}
		${needsKernel(app.text) && app.hello?.kernel === false && html`<p class="side-note">This script ${NO_KERNEL}.</p>`}
		<${Parameters} app=${app} />
		<footer>
			<label class="choice grow"
				title=${`Arguments of the script: $1, $2 ... Quotes preserve blanks.${about && `\n${about}`}`}>
				<span>Arguments</span>
				<input class="grow" value=${app.args} placeholder=${names} spellcheck="false"
					onInput=${(e) => app.setArgs(e.target.value)} /></label>
			<${FastCalls} app=${app} />
			<${Choice} label="Rate" value=${app.hz}
				options=${RATES.map((r) => [r, `${r}/s`])}
				onChange=${(v) => app.setHz(Number(v))} />
		</footer>
		<div class="splitter" ref=${size} aria-hidden="true"
			onPointerDown=${(e) => size.current.setPointerCapture(e.pointerId)}
			onPointerMove=${drag}></div>
	</section>`;
}

const FAST = "From the next run on, function probes get their events from hooks inside the VM instead of its tracing. This is much cheaper, where the node permits it.";

function FastCalls({ app }) {
	const why = app.whyNotFast;
	const later = app.running && app.run.fast !== (app.fast && !why);
	return html`<label class="choice check" title=${why ? `Not possible: ${why}` : FAST}>
		<input type="checkbox" checked=${app.fast && !why} disabled=${!!why}
			onChange=${(e) => app.setFast(e.target.checked)} />
		<span>Fast calls${later && ", from the next run on"}</span></label>`;
}

const VIEWS = { heat: HeatView, list: ListView, flame: FlameView };

function view(key, app, v, where) {
	const made = () => html`<${VIEWS[v.kind]} app=${app} view=${v} where=${where} />`;
	const when = v.kind === "heat" ? heatDepends(app, v) : [{}];
	return html`<${Still} key=${key} when=${when} of=${made} />`;
}

// What went wrong with a run that has results: it is told above them, not in their place.
function Troubles({ run }) {
	if (!run || run.failed) return null;
	const elsewhere = run.compileErrors.map((e) => `One of the nodes did not start the script: ${e.message}`);
	const ended = run.aborts.map((text) => `The script was aborted: ${text}`);
	return [...elsewhere, ...ended].map(
		(text) => html`<p key=${text} class="strip bad" role="alert">${text}</p>`,
	);
}

function Views({ app }) {
	const { run } = app;
	if (app.link !== "up" && !run) {
		return html`<div class="empty"><h2>
			${app.link === "refused" ? "Access denied" : app.link === "down" ? "No connection" : "Connecting"}</h2>
			<p>${app.linkMessage || "One moment."}</p></div>`;
	}
	if (!run) {
		return html`<div class="empty"><h2>No script is running</h2>
			<p>Write a script, or choose one from <b>Scripts</b>, and press <b>Run</b> or <span class="together"><kbd>Ctrl</kbd> <kbd>Enter</kbd></span>.</p>
			<p>Or find out where the CPU time goes: <button disabled=${!!app.chosen && app.chosen.size === 0}
				onClick=${() => app.profile()}>Flame graph</button></p>
			<p>Or find out what a request waits for, in all its processes: <b>Follow</b>.</p>
			<p>The page shows quantize, lquantize, llquantize and percentile as heat maps, counts and sums as lists, stacks as flame graphs, and printf as a log.</p>
			<p>When you close this page, all probes are turned off.</p></div>`;
	}
	if (run.failed) {
		return html`<div class="empty"><h2>
			${run.inScript ? "The script does not compile" : "The script could not start"}</h2>
			${run.compileErrors.map(
			(e, i) => html`<p key=${i}>
			${e.line > 0 && html`<button class="small"
				onClick=${() => app.editor.goTo(e.line, e.column)}>line ${e.line}</button> `}${e.message}${!(e.line > 0) && e.doing ? html`<br />
				<span class="dim">${e.doing}</span>` : ""}</p>`,
		)}</div>`;
	}
	if (!app.kept || app.kept === run) return html`<div class="cards"><${RunViews} app=${app} /></div>`;
	return html`<div class="cards pair">
		<section aria-label="Kept run"><${RunTitle} app=${app.forKept} name="Kept" />
			<${RunViews} app=${app.forKept} /></section>
		<section aria-label="This run"><${RunTitle} app=${app} name="This run" />
			<${RunViews} app=${app} /></section>
	</div>`;
}

function RunTitle({ app, name }) {
	const { run } = app;
	const nodes = run.nodeNames.join(", ");
	const long = run.lastSlot < 0 ? "" : `, ${duration(app.seconds)} long`;
	return html`<h2 class="which">${name}<span>${clock(run.startedAt)}${long}${nodes && ` · ${nodes}`}</span></h2>`;
}

// All views of a run.
function RunViews({ app }) {
	const { run } = app;
	const views = run.views();
	const log = run.log.count > 0;
	return html`
		${run.flows && html`<${FlowView} key=${`${run.id} flows`} app=${app} run=${run} />`}
		${views.flatMap((v) => {
			const key = `${run.id} ${v.kind} ${v.id}`;
			if (app.onlyNode !== EACH) return view(key, app, v, "");
			return run.nodeNames.map((node, i) =>
				view(`${key} ${node}`, app.forNode(i), v, `${node} · `),
			);
		})}
		${log && html`<${LogView} key=${`${run.id} log`} app=${app} run=${run} />`}
		${
			!views.length &&
			!log &&
			!run.flows &&
			html`<div class="empty"><h2>
				${run.phase === "ended" ? "Nothing to show" : "Waiting for data"}</h2>
			<p>${run.phase === "ended" ? run.end.message || "The script ended without output." : "The script is running; its results appear here."}</p></div>`
		}`;
}

startTheme();
const app = new App();
// For the console, and for tests that compare what is drawn with what came.
globalThis.erltrace = app;
document.addEventListener("visibilitychange", () => app.paint());
listenKeys(app);
const at = document.getElementById("app");
at.replaceChildren();
render(html`<${Page} app=${app} />`, at);
app.start();
