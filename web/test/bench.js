// SPDX-License-Identifier: Apache-2.0
// Script time of the page with 256 buckets, 32 keys, 10 ticks a second and 300 columns:
//	node test/bench.js [SECONDS]
// Counted is what the browser's own trace says the page's main thread did in scripts (messages,
// JSON, drawing, renderings, collection of garbage), in time on a processor, by frame of 1/60 s:
// what else the machine does meanwhile does not count. Some keys have few buckets ("usual": most
// are far from full) or all 256 in each tick ("dense").
import { chromium } from "playwright-core";
import { serve } from "./devserver.js";

const SCRIPT = new Set([
	"FunctionCall",
	"FireAnimationFrame",
	"RunMicrotasks",
	"TimerFire",
	"EvaluateScript",
]);
const GC = new Set(["MinorGC", "MajorGC", "V8.GCScavenger", "V8.GC_MC_INCREMENTAL"]);

// Milliseconds of script by frame, outermost events only.
export function scriptByFrame(events, pid, tid) {
	const mine = events
		.filter(
			(e) =>
				e.pid === pid &&
				e.tid === tid &&
				e.ph === "X" &&
				(SCRIPT.has(e.name) || GC.has(e.name)),
		)
		.sort((a, b) => a.ts - b.ts || b.dur - a.dur);
	const frames = new Map();
	let end = 0;
	for (const e of mine) {
		if (e.ts < end) continue;
		end = e.ts + e.dur;
		const frame = Math.floor((e.ts * 60) / 1e6);
		frames.set(frame, (frames.get(frame) ?? 0) + (e.tdur ?? e.dur) / 1000);
	}
	return [...frames.values()].filter((ms) => ms > 0.05).sort((a, b) => a - b);
}

async function measure(browser, port, kind, seconds) {
	const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
	await page.goto(`http://127.0.0.1:${port}/#token=dev`);
	await page.waitForFunction(() => globalThis.erltrace?.nodes);
	await page.evaluate((how) => {
		const app = globalThis.erltrace;
		app.setWindow(30);
		app.editor.set(
			`/* bench 256x32${how} */\nx { @t[1] = lquantize(2, 0, 512, 2); }\n`,
		);
		app.execute();
	}, kind);
	// All columns are there.
	await page.waitForFunction(() => globalThis.erltrace.run.ticks > 300, null, {
		timeout: 90000,
	});
	const ticks = await page.evaluate(() => globalThis.erltrace.run.ticks);
	await browser.startTracing(page, { categories: ["devtools.timeline", "v8", "__metadata"] });
	await page.waitForTimeout(seconds * 1000);
	const trace = JSON.parse((await browser.stopTracing()).toString());
	const n = (await page.evaluate(() => globalThis.erltrace.run.ticks)) - ticks;
	const busiest = new Map();
	for (const e of trace.traceEvents) {
		if (e.name !== "FireAnimationFrame") continue;
		const at = `${e.pid} ${e.tid}`;
		busiest.set(at, (busiest.get(at) ?? 0) + 1);
	}
	const [main] = [...busiest].sort((a, b) => b[1] - a[1])[0];
	const f = scriptByFrame(trace.traceEvents, ...main.split(" ").map(Number));
	const at = (p) => f[Math.min(f.length - 1, Math.floor(p * f.length))].toFixed(2);
	const all = f.reduce((a, b) => a + b, 0);
	console.log(
		`page, 256 buckets, 32 keys, ${kind.trim() || "usual"}: ${n} ticks, ${f.length} frames with script; ` +
			`ms a frame p50 ${at(0.5)} p95 ${at(0.95)} p99 ${at(0.99)} max ${at(1)}; ${(all / n).toFixed(2)} ms a tick in all`,
	);
	await page.close();
}

const seconds = Number(process.argv[2]) || 30;
const server = await serve();
const browser = await chromium.launch({
	executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
	args: ["--no-sandbox"],
});
for (const kind of ["", " dense"]) await measure(browser, server.port, kind, seconds);
await browser.close();
server.close();
