// SPDX-License-Identifier: Apache-2.0
// What the tests of the page share: a node that is asked, a browser that is driven.
import { constants, openSync, readFileSync, writeSync } from "node:fs";
import { Socket } from "node:net";
import { chromium } from "playwright-core";
import { unpacked } from "../pack.js";

// A node that test/lib/nodelib.sh has started: it evaluates lines, and prints "@@" and the value.
export class ErlangNode {
	constructor(folder, name) {
		this.name = name;
		this.in = openSync(`${folder}/${name}.in`, constants.O_WRONLY);
		const fd = openSync(
			`${folder}/${name}.out`,
			constants.O_RDONLY | constants.O_NONBLOCK,
		);
		this.out = new Socket({ fd, readable: true, writable: false });
		this.waiting = [];
		let text = "";
		this.out.on("data", (d) => {
			text += d;
			for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n")) {
				const line = text.slice(0, at);
				text = text.slice(at + 1);
				if (line.startsWith("@@")) this.waiting.shift()?.(line.slice(2));
			}
		});
	}

	ask(expressions) {
		return new Promise((resolve, reject) => {
			const late = setTimeout(
				() => reject(new Error(`no answer from ${this.name}: ${expressions}`)),
				60000,
			);
			this.waiting.push((value) => {
				clearTimeout(late);
				resolve(value);
			});
			writeSync(this.in, `${expressions}\n`);
		});
	}

	// Without an answer.
	tell(expressions) {
		writeSync(this.in, `${expressions}\n`);
	}

	close() {
		this.out.destroy();
	}
}

// What is traced on a node: "[]" if nothing is.
export const FLAGS =
	"lists:usort(lists:append([F || P <- processes(), {flags, F} <- [erlang:trace_info(P, flags)]] ++ " +
	"[[S || erlang:function_exported(trace, session_info, 1), S <- apply(trace, session_info, [all]), S =/= default]])).";

export const flags = (node) => node.ask(FLAGS);

// A process of the node that looks, every 2 ms, whether anything is traced.
export const watch = (node) =>
	node.ask(
		`register(watcher, spawn(fun W() -> receive {watch, From, Ref} -> (fun L() -> case ${FLAGS.slice(0, -1)} of ` +
			"[] -> From ! {off, Ref, os:system_time(millisecond)}; _ -> receive after 2 -> ok end, L() end end)(), W() end end)), ok.",
	);

// Milliseconds from the beginning of an act to the moment that nothing on the node is traced, by the
// node's own look.
export async function offAfter(node, act) {
	const off = node.ask(
		"R = make_ref(), watcher ! {watch, self(), R}, receive {off, R, T} -> T after 20000 -> os:system_time(millisecond) end.",
	);
	const began = Date.now();
	await act();
	return Number(await off) - began;
}

// Fails, with what it was, if a promise takes longer than so many seconds.
export function within(promise, seconds, what) {
	let late;
	return Promise.race([
		promise,
		new Promise((_, reject) => {
			late = setTimeout(
				() => reject(new Error(`${what} takes more than ${seconds} s`)),
				seconds * 1000,
			);
		}),
	]).finally(() => clearTimeout(late));
}

export async function launch() {
	const browser = await chromium.launch({
		executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
		args: ["--no-sandbox"],
		timeout: 60000,
	});
	const cdp = await browser.newBrowserCDPSession();
	const { processInfo } = await cdp.send("SystemInfo.getProcessInfo");
	return { browser, pid: processInfo.find((p) => p.type === "browser").id, cdp };
}

// Opens the page; what its console complains of is collected in page.faults, the lines of its scripts
// in page.lines: {id, line}.
export async function open(browser, url, options) {
	const kept = spare && !options && !spare.isClosed() && spare.context().browser() === browser;
	const page = kept ? spare : await newTab(browser, options);
	if (kept) spare = null;
	page.faults = [];
	page.lines = [];
	await page.goto(url);
	return page;
}

// A tab that is as a new one, for the next open(): a new one with its process is most of what a step would take.
let spare = null;

// Closes all tabs but one, which is kept if it can be made as new.
export async function closeTabs(browser) {
	const [first, ...others] = browser.contexts();
	await Promise.all(others.map((c) => c.close()));
	spare = first ? await emptied(first) : null;
	if (!spare) await first?.close();
}

async function emptied(context) {
	const [page, ...others] = context.pages();
	await Promise.all(others.map((p) => p.close()));
	// One that is somewhere else has no storage that could be cleared.
	if (!page || !/^http:/.test(page.url())) return null;
	await page.evaluate(() => {
		localStorage.clear();
		sessionStorage.clear();
	});
	await context.clearCookies();
	await page.goto("about:blank");
	return page;
}

async function newTab(browser, options = {}) {
	const context = await browser.newContext({
		viewport: { width: 1440, height: 900 },
		acceptDownloads: true,
		...options,
	});
	context.setDefaultTimeout(40000);
	const page = await context.newPage();
	page.on("console", (m) => {
		if (["error", "warning"].includes(m.type())) page.faults.push(m.text());
	});
	page.on("pageerror", (e) => page.faults.push(e.stack));
	page.on("dialog", (d) => {
		page.faults.push(`a dialog: ${d.message()}`);
		d.dismiss();
	});
	page.on("websocket", (ws) =>
		ws.on("framereceived", ({ payload }) => {
			const m = typeof payload === "string" ? JSON.parse(payload) : unpacked(payload);
			if (m.type === "line") page.lines.push(m);
			for (const line of m.lines ?? []) page.lines.push({ id: m.id, line });
		}),
	);
	return page;
}

export const ready = (page) =>
	page.waitForFunction(() => globalThis.erltrace?.nodes?.length && globalThis.erltrace.editor);

// Types a script and runs it on the named nodes, as a person does it; returns when a tick has come.
export async function run(page, script, { nodes, ticks = 1 } = {}) {
	await ready(page);
	if (nodes)
		await page.evaluate((names) => {
			const app = globalThis.erltrace;
			for (const n of app.nodes)
				app.choose(n.name, names.includes(n.name.split("@")[0]));
		}, nodes);
	await page.locator(".cm-content").click();
	await page.evaluate((text) => globalThis.erltrace.editor.set(text), script);
	await page.locator(".cm-content").press("Control+Enter");
	await page.waitForFunction(
		({ n, text }) =>
			globalThis.erltrace.run?.source === text && globalThis.erltrace.run.ticks >= n,
		{ n: ticks, text: script },
	);
}

// Stops the script; what its end printed of an aggregation: key text -> value or {lo: count}.
export async function stop(page, aggregation) {
	await page.getByRole("button", { name: "Stop" }).click();
	await page.waitForFunction(() => globalThis.erltrace.run.phase === "ended");
	return printed(page, aggregation);
}

export async function printed(page, aggregation) {
	const id = await page.evaluate(() => globalThis.erltrace.run.id);
	const end = {};
	for (const { line } of page.lines.filter((m) => m.id === id)) {
		if (line.type === "aggregation" && line.aggregation === aggregation)
			end[line.keys.join()] = line.buckets ? cells(line.buckets) : line.value;
	}
	return end;
}

export function cells(buckets) {
	const by = {};
	for (const b of buckets) if (b.count) by[b.lo] = (by[b.lo] ?? 0) + b.count;
	return by;
}

// What a menu's item saves, as text.
export async function exported(page, card, kind) {
	await page.locator(card).getByRole("button", { name: "Export" }).click();
	const [file] = await Promise.all([
		page.waitForEvent("download"),
		page
			.locator(`${card} .menu-body`)
			.getByText(new RegExp(`^${kind}`))
			.click(),
	]);
	return {
		name: file.suggestedFilename(),
		text: readFileSync(await file.path(), kind === "PNG" ? "latin1" : "utf8"),
	};
}

export const whole = (text) => Number(text.replace(/[^\d-]/g, ""));

// The numbers of an aggregation as the page would save them, summed up over time: key -> {lo: count}.
export async function saved(page, card) {
	const { text } = await exported(page, card, "JSON");
	const by = {};
	for (const a of JSON.parse(text).aggregations) {
		for (const t of a.ticks) {
			const key = t.keys.join();
			if (t.buckets) {
				by[key] ??= {};
				for (const [lo, n] of Object.entries(cells(t.buckets)))
					by[key][lo] = (by[key][lo] ?? 0) + n;
			} else by[key] = (by[key] ?? 0) + t.value;
		}
	}
	return by;
}

// Rows of the table behind a heat map, once it has so many values in all.
export async function table(page, all) {
	await page.waitForFunction((n) => {
		const caption = document.querySelector(".heat .behind caption")?.textContent ?? "";
		return Number(/: ([\d\s]+) values/.exec(caption)?.[1].replace(/\s/g, "")) === n;
	}, all);
	const rows = await page
		.locator(".heat .behind tbody tr")
		.evaluateAll((list) => list.map((r) => [...r.children].map((c) => c.textContent.trim())));
	return rows.map(([range, count]) => [range, whole(count)]);
}

export const total = (page, key) =>
	page.evaluate((k) => {
		const [a] = globalThis.erltrace.run.aggregations.values();
		const i = a.series.keys.findIndex((x) => x.text === k);
		let n = 0;
		a.series.key.forEach((x, s) => {
			if (x === i) n += a.totals ? a.totals[s] : a.state[s].value;
		});
		return n;
	}, key);
export const hasTotal = (page, key, n) =>
	page.waitForFunction(
		([k, wanted]) => {
			const [a] = globalThis.erltrace.run.aggregations.values();
			const i = a.series.keys.findIndex((x) => x.text === k);
			let sum = 0;
			a.series.key.forEach((x, s) => {
				if (x === i) sum += a.totals ? a.totals[s] : a.state[s].value;
			});
			return sum >= wanted;
		},
		[key, n],
	);

export const picture = (page) =>
	page.locator(".heat canvas").evaluate((c) => c.toDataURL());
