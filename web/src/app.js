// SPDX-License-Identifier: Apache-2.0
// The page's state and what can be done with it; views read it and are told when to look again.
// Pictures paint once a frame when something came; texts are refreshed twice a second, as fast as
// one can read.
import { options } from "preact";
import { Connection, login, readFragment, scriptFragment } from "./connection.js";
import { parametersOf } from "./d_language.js";
import { followScript, formText, readForm } from "./flows.js";
import { splitArgs } from "./format.js";
import { Run } from "./model.js";
import { loadSaved, storeSaved } from "./library.js";
import { load, loadHere, loadTab, store, storeHere, storeTab, theme } from "./theme.js";
import { readMessage } from "./wire.js";

const SLOW = 500; // ms between refreshes of texts
const GONE = "has gone away";
const SETTLED = 500; // ms after the last key that the address is written anew

export const WINDOWS = [30, 60, 120, 300, 600];
const YOUNG = 10; // seconds that a picture has at the beginning
// How several nodes are shown: summed up, or a view each.
export const TOGETHER = -1;
export const EACH = -2;

export const RATES = [1, 2, 5, 10];

// Why there is no connection; it is tried again all the time.
const LINK = {
	lost: "No connection to the server; trying again.",
	slow: "This browser is too slow for the output of the script: use a lower rate, or fewer keys.",
	refused: "The server does not accept this page. Open the link with the token that it printed when it started.",
	anew: "The server was restarted and does not know this page: open the link that it printed.",
	many: "Too many pages are open: close some, here or in another browser.",
};

// How an aggregation is shown at first. unit: null: the one that the script's text suggests; rowZoom: {lo,
// hi}, edges of buckets; choice: which keys, by their texts; hues: of keys, by their texts.
const PLAIN_LOOK = {
	unit: null,
	scale: "log",
	clamp: "",
	lines: { p50: true, p90: false, p99: true },
	threshold: "",
	choice: { mode: "all", keys: new Set() }, // those of heatview.js
	byKey: false,
	hues: null,
	rowZoom: null,
};

const FIRST_SCRIPT = `/* Calls of lists functions: how long they take. Ctrl-Enter runs it. */
erlang*:lists::function-entry
{
	self->at = vtimestamp;
}

erlang*:lists::function-return
/self->at/
{
	@time[copyinstr(arg1)] = quantize(vtimestamp - self->at);
	@calls[copyinstr(arg1)] = count();
	self->at = 0;
}
`;

// A sample keeps what it was at, so that BIFs and NIFs have colours of their own.
export const FLAME_SCRIPT = `/* Where the CPU time goes: 97 samples a second of each scheduler that works. */
profile-97
{
	@cpu[ustack(), erlstate] = count();
}
`;

// Of slots, in seconds: one at least.
const spanOf = (run, from, to) => Math.max(1, to - from) / run.hz;

export class App {
	constructor() {
		this.listeners = new Set();
		this.painters = new Set();
		this.link = "connecting"; // connecting, up, down, refused
		this.linkMessage = "";
		this.hello = null;
		this.nodes = null; // null: not known yet
		this.library = [];
		this.saved = loadSaved();
		this.chosen = null; // names of nodes to trace; null: all
		// Each tab has its own; a new one begins with what was written last.
		this.text = loadHere("erltrace.text") ?? FIRST_SCRIPT;
		this.args = loadHere("erltrace.args") ?? "";
		this.linked = false; // the address has the script
		this.hz = Number(load("erltrace.hz")) || 10;
		this.window = Number(load("erltrace.window")) || 60;
		this.fast = load("erltrace.fast") === "1"; // function probes by hooks inside the VM, where a node can
		this.notFast = new Map(); // nodes that cannot, as they said: why
		this.form = readForm(load("erltrace.follow")); // of the menu `Follow`
		this.run = null;
		this.kept = null; // an earlier run, shown beside this one
		this.looks = new Map(); // how views are set, by aggregation
		this.backs = new Set(); // of views: what Esc takes back before it stops the script
		this.nextId = 1;
		this.paused = null; // a slot: what came later is not shown
		this.range = null; // {from, to}: slots zoomed to
		this.onlyNode = TOGETHER; // or EACH, or the index of the one node shown
		this.help = false;
		this.side = true; // the editor is shown
		this.problem = ""; // of the last request
		this.frames = []; // script time of each frame that had work, ms
		this.slowAt = 0;
		// Renderings are counted too.
		options.debounceRendering = (render) =>
			queueMicrotask(() => {
				const start = performance.now();
				render();
				this.worked(start);
			});
		theme.onChange(() => {
			this.changed();
			this.paint();
		});
	}

	subscribe(f) {
		this.listeners.add(f);
		return () => this.listeners.delete(f);
	}
	changed() {
		for (const f of this.listeners) f();
	}

	// Were texts refreshed a moment ago?
	get fresh() {
		return performance.now() - this.slowAt < 2 * SLOW;
	}

	painter(f) {
		this.painters.add(f);
		this.paint();
		return () => this.painters.delete(f);
	}

	// Asks for a frame.
	paint() {
		if (this.queued) return;
		this.queued = true;
		requestAnimationFrame((now) => {
			this.queued = false;
			const start = performance.now();
			for (const f of this.painters) f(now);
			this.worked(start);
			// Texts have a frame of their own, between two ticks.
			if (now - this.slowAt >= SLOW) {
				this.slowAt = now;
				setTimeout(() => this.changed(), 40);
			}
		});
	}

	// Keeps how much script time frames (60 a second) took, for those who measure.
	worked(start) {
		const end = performance.now();
		const frame = Math.floor((start * 60) / 1000);
		if (frame === this.frame) this.frames[this.frames.length - 1] += end - start;
		else this.frames.push(end - start);
		this.frame = frame;
		if (this.frames.length > 3000) this.frames.splice(0, 1000);
	}

	async start() {
		const token = this.readAddress();
		addEventListener("hashchange", () => this.addressChanged());
		addEventListener("online", () => this.connection?.again());
		document.addEventListener("visibilitychange", () => {
			if (!document.hidden) this.connection?.again();
		});
		if (token) {
			const ok = await login(token);
			if (ok !== true) {
				this.link = "refused";
				this.linkMessage = ok;
				this.changed();
				return;
			}
		}
		this.connect();
	}

	connect() {
		const scheme = location.protocol === "https:" ? "wss" : "ws";
		this.connection = new Connection(`${scheme}://${location.host}/ws`, {
			up: () => this.up(),
			down: (how) => this.down(how),
			message: (m) => {
				const start = performance.now();
				this.message(readMessage(m));
				this.worked(start);
			},
		});
		this.connection.start();
	}

	// Takes script and arguments from the address, and returns the token that is in it. The token goes from
	// the address. The script stays: it is there when the page is loaded again, and when the address is
	// sent to somebody.
	readAddress() {
		const { token, script, args } = readFragment(location.hash);
		if (script !== null) {
			// The page was loaded again: what has been written since is newer.
			const again = scriptFragment(script, args) === loadTab("erltrace.link");
			this.linked = true;
			// Loaded, never run: who opens a link decides that.
			if (!again) {
				this.setText(script);
				this.editor?.set(script);
				this.setArgs(args);
			}
			this.writeAddress();
		} else if (token) history.replaceState(null, "", location.pathname);
		return token;
	}

	// A script that came by a link stays in the address, as it is now.
	writeAddress() {
		clearTimeout(this.settling);
		if (!this.linked) return;
		const link = scriptFragment(this.text, this.args);
		storeTab("erltrace.link", link);
		history.replaceState(null, "", location.pathname + link);
	}
	edited() {
		clearTimeout(this.settling);
		if (this.linked) this.settling = setTimeout(() => this.writeAddress(), SETTLED);
	}

	// A link with a script or a token was put into the address of a page that is open.
	async addressChanged() {
		const token = this.readAddress();
		if (token && this.link !== "up" && (await login(token)) === true)
			this.connection ? this.connection.again() : this.connect();
	}

	up() {
		this.link = "up";
		this.linkMessage = "";
		this.askNodes();
		this.connection.send({ type: "scripts" });
		if (this.run?.phase === "away") {
			this.run.resume();
			this.sendRun();
		}
		this.changed();
	}

	down(how) {
		this.link = how === "lost" || how === "slow" ? "down" : "refused";
		this.linkMessage = LINK[how === "refused" && this.hello ? "anew" : how];
		// The server has ended the script: it is started again with the connection, if that is soon.
		if (this.running) {
			if (how === "lost" && this.run.canResume) this.run.phase = "away";
			else
				this.run.finish({
					reason: "lost",
					code: null,
					message: "the connection to the server was lost; the script has ended",
				});
		}
		this.changed();
	}

	// Somebody wants to know: what they said before is asked anew too.
	lookAgain() {
		this.notFast = new Map();
		this.askNodes();
	}

	askNodes() {
		this.connection?.send({ type: "nodes" });
	}

	// What a node said of fast calls does not hold for one that was started since.
	forgetNotFast(found) {
		const was = new Map((this.nodes ?? []).map((n) => [n.name, n.ospid]));
		for (const n of found) if (n.ok && was.get(n.name) !== n.ospid) this.notFast.delete(n.name);
	}

	// A node that is gone is not found any more: if it is wanted, or was traced, that is shown.
	withMissing(found) {
		const names = new Set(found.map((n) => n.name));
		const wanted = new Set([...(this.chosen ?? []), ...(this.run?.nodeNames ?? [])]);
		const missing = (this.nodes ?? []).filter((n) => wanted.has(n.name) && !names.has(n.name));
		return [...found, ...missing.map((n) => ({ ...n, ok: false, error: GONE }))];
	}

	// A run has lost nodes: the list need not be asked for to know.
	lostNodes() {
		const { nodeNames, nodeInfo } = this.run;
		const gone = (n) => n.ok && nodeInfo[nodeNames.indexOf(n.name)]?.gone;
		if (this.nodes?.some(gone))
			this.nodes = this.nodes.map((n) => (gone(n) ? { ...n, ok: false, error: GONE } : n));
	}

	message(m) {
		switch (m.type) {
			case "hello":
				this.hello = m;
				break;
			case "nodes":
				this.forgetNotFast(m.nodes);
				this.nodes = this.withMissing(m.nodes);
				break;
			case "scripts":
				this.library = m.scripts;
				break;
			case "probes":
				this.connection.answered(m);
				return;
			case "pong":
				return;
			case "started":
				if (m.id === this.run?.id && this.run.phase === "starting")
					this.run.phase = "running";
				break;
			case "line":
				if (m.id !== this.run?.id) return;
				return this.line(m.line);
			case "lines":
				if (m.id !== this.run?.id) return;
				for (const l of m.lines) this.line(l);
				return;
			case "end":
				if (m.id === this.run?.id) this.ended(m);
				break;
			case "error":
				this.problem = m.message;
				if (
					m.id !== undefined &&
					m.id === this.run?.id &&
					this.run.phase === "starting"
				)
					this.run.finish({
						reason: "refused",
						code: null,
						message: m.message,
					});
				break;
		}
		this.changed();
	}

	line(line) {
		const { run } = this;
		const shape = run.shapeVersion;
		const count = () => run.compileErrors.length + run.faults.size + run.aborts.length;
		const errors = count();
		if (run.phase === "starting") run.phase = "running";
		run.line(line);
		if (line.type === "calls") this.heardOfCalls(line);
		if (line.type === "gone") this.lostNodes();
		if (shape !== run.shapeVersion) this.changed();
		if (errors !== count()) {
			this.showErrors();
			this.changed();
		}
		this.paint();
	}

	heardOfCalls({ node, why }) {
		if (why) this.notFast.set(node, why);
		this.changed();
	}

	// Why function probes cannot be fast, if no node that the script would run on can; "": they can, or
	// nobody has said yet.
	get whyNotFast() {
		const names = (this.nodes ?? [])
			.filter((n) => n.ok && (!this.chosen || this.chosen.has(n.name)))
			.map((n) => n.name);
		const whys = names.map((n) => this.notFast.get(n));
		return whys.length && whys.every(Boolean) ? [...new Set(whys)].join("; ") : "";
	}

	ended(m) {
		this.run.finish(m);
		if (m.reason === "lost") this.askNodes();
		this.paint();
	}

	showErrors() {
		const { run, editor } = this;
		if (!run || !editor || run.source !== editor.text()) return;
		editor.show([
			...run.compileErrors.map((e) => ({
				line: e.line,
				column: e.column,
				message: e.message,
			})),
			...[...run.faults.values()].map((f) => ({
				line: f.line,
				column: 0,
				message: f.fault
					? `${f.fault} while it ran; “errors” at the top counts them`
					: f.message,
				severity: "warning",
			})),
		]);
	}

	get running() {
		return !!this.run && this.run.phase !== "ended";
	}

	// Whether it was started.
	execute() {
		if (this.link !== "up") return false;
		const script = this.editor ? this.editor.text() : this.text;
		if (this.asksFor(script)) return false;
		const limit = this.hello?.limits?.script;
		const size = new TextEncoder().encode(script).length;
		this.problem = "";
		if (limit && size > limit) {
			this.say(`The script has ${size} bytes; the server accepts at most ${limit}.`);
			return false;
		}
		// None named means all; nodes that do not answer are left out.
		const up = (this.nodes ?? []).filter((n) => n.ok).map((n) => n.name);
		let nodes = this.chosen ? up.filter((n) => this.chosen.has(n)) : [];
		if (!this.chosen && up.length < (this.nodes ?? []).length) nodes = up;
		if (this.chosen && !nodes.length) {
			this.askNodes(); // it may be there again
			this.say("None of the selected nodes answers. Try again, or select others.");
			return false;
		}
		if (this.running) {
			this.connection.send({ type: "stop", id: this.run.id });
			if (this.kept === this.run)
				this.run.finish({ reason: "stopped", code: null, message: "" });
		}
		this.run = new Run({
			id: this.nextId++,
			script,
			nodes,
			hz: this.hz,
			args: splitArgs(this.args),
		});
		this.run.oldestShown = () =>
			Math.min(this.last - this.window * this.run.hz, this.range?.from ?? Infinity);
		this.paused = null;
		this.range = null;
		this.onlyNode = TOGETHER;
		// What was picked of the last run's values and keys is not looked for in the next one's.
		if (!this.kept)
			for (const [name, look] of this.looks)
				this.looks.set(name, {
					...look,
					choice: PLAIN_LOOK.choice,
					hues: null,
					byKey: false,
					rowZoom: null,
				});
		this.editor?.show([]);
		this.run.fast = this.fast && !this.whyNotFast;
		this.sendRun();
		this.changed();
		return true;
	}

	sendRun() {
		const { id, nodes, source, args, hz, fast } = this.run;
		this.connection.send({
			type: "run",
			id,
			nodes,
			script: source,
			args,
			hz,
			...(fast && { calls: "fast" }),
			packed: true,
		});
	}

	// Whether an argument is missing that the script cannot do without: it is asked for.
	asksFor(script) {
		const given = splitArgs(this.args);
		const parameters = parametersOf(script);
		const i = parameters.findIndex((p, n) => p.needed && !given[n]);
		if (i < 0) return false;
		const { name, about } = parameters[i];
		this.say(`The script needs ${name}: ${about}.`);
		setTimeout(() => document.querySelector(`[data-parameter="${i}"]`)?.focus());
		return true;
	}

	// The first flame graph, by one click. What is in the editor comes back by undoing.
	profile() {
		if (this.link !== "up" || this.chosen?.size === 0) return;
		if (this.editor?.text() !== FLAME_SCRIPT) this.load({ text: FLAME_SCRIPT });
		this.execute();
	}

	// Requests that begin with a function, by a form (flows.js, readForm).
	follow(form) {
		if (this.link !== "up" || this.chosen?.size === 0) return;
		this.form = form;
		store("erltrace.follow", formText(form));
		this.load({ text: followScript(form) });
		if (this.execute()) this.run.form = form;
	}

	stop() {
		if (!this.running) return;
		if (this.run.phase === "away") {
			this.run.finish({ reason: "stopped", code: null, message: "" });
			return this.changed();
		}
		this.run.phase = "stopping";
		this.connection.send({ type: "stop", id: this.run.id });
		this.changed();
	}

	pause() {
		if (!this.run || this.run.lastSlot < 0) return;
		this.paused = this.paused === null ? this.run.lastSlot : null;
		this.changed();
		this.paint();
	}

	// Holds on to the run for comparing: the next ones are shown beside it. Again: lets it go.
	keep() {
		if (this.kept) this.kept = null;
		else if (this.run?.lastSlot >= 0) this.kept = this.run;
		this.changed();
		this.paint();
	}

	// The run that this one is compared with, and its newest slot; null: none.
	get other() {
		const { kept } = this;
		return kept && kept !== this.run ? { run: kept, last: kept.lastSlot } : null;
	}

	// Seconds that numbers are of: those of the zoom, as far as the script ran then, or all since its start.
	get seconds() {
		const { run, range, last } = this;
		return spanOf(run, Math.max(range?.from ?? 0, run.firstSlot), Math.min(range?.to ?? Infinity, last + 1));
	}

	// What counts and sums are divided by. Runs that are compared were not as long as each other: what adds up is
	// shown per second then.
	get per() {
		return this.other ? this.seconds : 1;
	}
	get otherPer() {
		return this.other ? spanOf(this.other.run, this.other.run.firstSlot, this.other.last + 1) : 1;
	}

	// The same aggregation of that run.
	partner(agg) {
		const a = this.other?.run.aggregations.get(agg.name);
		return a && a.fn === agg.fn && a.params.join() === agg.params.join() ? a : null;
	}

	// How an aggregation is shown. It is the next run's too, and that of a run that is kept: two pictures
	// are compared by one scale.
	lookOf(agg) {
		return this.looks.get(`${agg.fn} ${agg.params} ${agg.name}`) ?? PLAIN_LOOK;
	}
	setLook(agg, change) {
		const look = { ...this.lookOf(agg), ...change };
		this.looks.set(`${agg.fn} ${agg.params} ${agg.name}`, look);
		this.changed();
		this.paint();
	}

	// The state as views of the run that is kept are to see it: over, with a zoom of its own.
	get forKept() {
		if (this.past?.run === this.kept) return this.past;
		const { kept } = this;
		const past = Object.create(this, {
			run: { value: kept },
			other: { get: () => ({ run: this.run, last: this.last }) },
			paused: { value: kept.lastSlot },
			range: { value: null, writable: true },
			onlyNode: { value: TOGETHER },
			nodeShown: { value: () => true },
			paint: { value: () => this.paint() },
			follow: { value: (form) => this.follow(form) },
			zoom: {
				value: (range) => {
					past.range = range;
					this.changed();
					this.paint();
				},
			},
		});
		return (this.past = past);
	}

	// The same state as views of one node are to see it.
	forNode(index) {
		this.perNode ??= new Map();
		let one = this.perNode.get(index);
		if (!one) {
			one = Object.create(this, {
				onlyNode: { value: index },
				nodeShown: { value: (node) => node === index },
				// What changes the state changes that of all.
				paint: { value: () => this.paint() },
				zoom: { value: (range) => this.zoom(range) },
			});
			this.perNode.set(index, one);
		}
		return one;
	}

	// The newest slot to be shown.
	get last() {
		return this.paused ?? this.run?.lastSlot ?? -1;
	}

	// The slots that pictures show, unless one has zoomed: those of the window. A young run has fewer, so
	// that it is seen; their number goes up in a few steps. Runs that are compared show the same time.
	get slots() {
		const span = ({ run, last }) => {
			const age = (last - run.firstSlot + 1) / run.hz;
			return [YOUNG, ...WINDOWS].find((w) => age <= w) ?? this.window;
		};
		const fits = Math.max(span(this), this.other ? span(this.other) : 0);
		return Math.min(fits, this.window) * this.run.hz;
	}

	nodeShown = (node) => this.onlyNode < 0 || node === this.onlyNode;

	zoom(range) {
		this.range = range;
		this.changed();
		this.paint();
	}

	// Takes back the last of what was done to pictures, as far as they know (a drag, a cell, the keyboard's
	// cursor, a zoom), or all of it. Whether there was anything.
	back(all = false) {
		let some = false;
		for (const f of this.backs) some = f(all) || some;
		if (!some && this.range) {
			this.zoom(null);
			some = true;
		}
		return some;
	}

	setWindow(seconds) {
		this.window = seconds;
		store("erltrace.window", seconds);
		this.zoom(null);
	}

	setHz(hz) {
		this.hz = hz;
		store("erltrace.hz", hz);
		this.changed();
	}
	setFast(on) {
		this.fast = on;
		store("erltrace.fast", on ? "1" : "0");
		this.changed();
	}
	setArgs(args) {
		this.args = args;
		storeHere("erltrace.args", args);
		this.edited();
		this.changed();
	}
	setText(text) {
		this.text = text;
		storeHere("erltrace.text", text);
		this.edited();
	}
	showNode(index) {
		this.onlyNode = index;
		this.changed();
		this.paint();
	}

	choose(name, on) {
		const all = this.nodes.map((n) => n.name);
		const set = new Set(this.chosen ?? all);
		if (on) set.add(name);
		else set.delete(name);
		this.chosen = all.every((n) => set.has(n)) ? null : set;
		this.changed();
	}

	// What had the focus has it again afterwards, once it can.
	showHelp(on) {
		if (on) this.before = document.activeElement;
		this.help = on;
		this.changed();
		if (!on) setTimeout(() => this.before?.focus());
	}

	// A word for whoever looks: it goes with the next thing that is done.
	say(problem) {
		this.problem = problem;
		this.changed();
	}

	// Another script, with arguments of its own.
	load({ text, args = "" }) {
		this.editor.set(text);
		this.setArgs(args);
		this.problem = "";
		this.editor.focus();
		this.changed();
		this.asksFor(text);
	}

	saveScript(name) {
		const script = { name, text: this.editor.text(), args: this.args };
		this.saved = [...this.saved.filter((s) => s.name !== name), script].sort(
			(a, b) => (a.name < b.name ? -1 : 1),
		);
		if (!storeSaved(this.saved))
			this.problem = "This browser does not allow the page to save scripts.";
		this.changed();
	}

	removeScript(name) {
		this.saved = this.saved.filter((s) => s.name !== name);
		storeSaved(this.saved);
		this.changed();
	}

	findProbes(text) {
		const node =
			this.chosen?.values().next().value ??
			this.nodes?.find((n) => n.ok)?.name ??
			"";
		return this.connection
			? this.connection.probes(node, text)
			: Promise.resolve({ probes: [], more: false });
	}
}
