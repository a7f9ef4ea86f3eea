// SPDX-License-Identifier: Apache-2.0
// Script time of the page with 256 buckets, 32 keys, 10 ticks a second, 300 columns: node test/bench.js [SECONDS]
// Time is of the page's main thread: taking in a tick's message and all that is drawn for it.
import { chromium } from "playwright-core";
import { serve } from "./devserver.js";

const seconds = Number(process.argv[2]) || 40;
const server = await serve();
const browser = await chromium.launch({
	executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
	args: ["--no-sandbox"],
});
for (const kind of ["", " dense"]) {
	const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
	await page.goto(`http://127.0.0.1:${server.port}/#token=dev`);
	await page.waitForFunction(() => globalThis.erltrace?.nodes);
	await page.evaluate((kind) => {
		const app = globalThis.erltrace;
		app.setWindow(30);
		app.editor.set(
			`/* bench 256x32${kind} */\nx { @t[1] = lquantize(2, 0, 512, 2); }\n`,
		);
		app.execute();
	}, kind);
	await page.waitForFunction(() => globalThis.erltrace.run.ticks > 20);
	const cdp = await page.context().newCDPSession(page);
	await cdp.send("Performance.enable", { timeDomain: "threadTicks" });
	const metrics = async () =>
		Object.fromEntries(
			(await cdp.send("Performance.getMetrics")).metrics.map((m) => [
				m.name,
				m.value,
			]),
		);
	await page.evaluate(() => {
		globalThis.erltrace.frames.length = 0;
	});
	const before = await metrics();
	const ticks = await page.evaluate(() => globalThis.erltrace.run.ticks);
	await page.waitForTimeout(seconds * 1000);
	const after = await metrics();
	const got = await page.evaluate(() => ({
		frames: globalThis.erltrace.frames,
		ticks: globalThis.erltrace.run.ticks,
		bytes: globalThis.erltrace.run.aggregations.get("t").timeline.bytes,
	}));
	const f = got.frames.sort((a, b) => a - b);
	const at = (p) => f[Math.min(f.length - 1, Math.floor(p * f.length))].toFixed(2);
	const n = got.ticks - ticks;
	console.log(
		`256 buckets, 32 keys${kind}: ${f.length} frames: script ms p50 ${at(0.5)} p95 ${at(0.95)} p99 ${at(0.99)} max ${at(1)}; ` +
			`all script and JSON per tick ${((1000 * (after.ScriptDuration - before.ScriptDuration)) / n).toFixed(2)} ms; ` +
			`history ${(got.bytes / n / 1024).toFixed(1)} KB a tick; heap ${(after.JSHeapUsedSize / 1e6).toFixed(0)} MB`,
	);
	await page.close();
}
await browser.close();
server.close();
