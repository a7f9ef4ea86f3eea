// SPDX-License-Identifier: Apache-2.0
// Memory of the tab after an hour's run, at speed: 36000 ticks of 32 keys, a heat map and a list.
// The greatest of what it was, looked at once a second, and what is left after a collection.
// node test/hour.js [BUCKETS A KEY]
import { readFileSync } from "node:fs";
import { chromium } from "playwright-core";
import { serve } from "./devserver.js";

const width = Number(process.argv[2]) || 40;
const server = await serve();
const browser = await chromium.launch({
	executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
	args: ["--no-sandbox"],
});
const root = await browser.newBrowserCDPSession();
const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
const opened = Date.now();
await page.goto(`http://127.0.0.1:${server.port}/#token=dev`);
await page.waitForFunction(() => globalThis.erltrace?.nodes);
const paint = await page.evaluate(
	() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime,
);
console.log(`first paint ${paint?.toFixed(0)} ms, ready ${Date.now() - opened} ms after opening`);

const resident = async () => {
	const { processInfo } = await root.send("SystemInfo.getProcessInfo");
	let most = 0;
	for (const p of processInfo.filter((x) => x.type === "renderer"))
		most = Math.max(
			most,
			Number(
				/RssAnon:\s+(\d+)/.exec(
					readFileSync(`/proc/${p.id}/status`, "latin1"),
				)[1],
			) / 1024,
		);
	return most;
};
console.log(`renderer before: ${(await resident()).toFixed(0)} MB`);

await page.evaluate((width) => {
	const app = globalThis.erltrace;
	app.editor.set(`/* hour ${width} */ x { @t[1] = lquantize(2, 0, 512, 2); @n[1] = count(); }`);
	app.execute();
	setInterval(() => app.connection.send({ type: "taken", ticks: app.run.ticks }), 4);
}, width);
let peak = 0;
for (let over = false; !over; ) {
	await page.waitForTimeout(1000);
	peak = Math.max(peak, await resident());
	over = await page.evaluate(() => globalThis.erltrace.run.phase === "ended");
}
const ticks = await page.evaluate(() => globalThis.erltrace.run.ticks);
if (ticks !== 36000) throw new Error(`only ${ticks} ticks came`);
const cdp = await page.context().newCDPSession(page);
await cdp.send("HeapProfiler.collectGarbage");
await page.waitForTimeout(1500);
const bytes = await page.evaluate(() =>
	[...globalThis.erltrace.run.aggregations.values()].map(
		(a) =>
			`${a.name} ${(a.timeline.bytes / 1048576).toFixed(1)} MB of ${(a.timeline.last - a.timeline.first + 1) / 10} s`,
	),
);
console.log(
	`an hour, ${width} buckets a key: renderer ${peak.toFixed(0)} MB, after collection ${(await resident()).toFixed(0)} MB; history: ${bytes.join(", ")}`,
);
await browser.close();
server.close();
