// SPDX-License-Identifier: Apache-2.0
// Memory of the tab after an hour's run, at speed: 36000 ticks of 32 keys, a heat map and a list.
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

await page.evaluate(async (width) => {
	const app = globalThis.erltrace;
	app.editor.set("/* paper */ x { @t[1] = lquantize(2, 0, 512, 2); @n[1] = count(); }");
	app.execute();
	app.connection.send({ type: "stop", id: app.run.id });
	const { id } = app.run;
	await new Promise((resolve) => setTimeout(resolve, 500));
	app.run.phase = "running";
	const t0 = Date.now();
	for (let n = 0; n < 36000; n++) {
		const aggregations = [];
		for (let k = 0; k < 32; k++) {
			const buckets = [];
			for (let b = 0; b < width; b++)
				buckets.push({
					lo: 2 * ((b + k * 5 + n) % 256),
					hi: 2 * ((b + k * 5 + n) % 256) + 2,
					count: 1 + ((b * n) % 50),
				});
			aggregations.push({
				aggregation: "t",
				function: "lquantize",
				keys: [`k${k}`],
				buckets,
				normal: 1,
			});
			aggregations.push({
				aggregation: "n",
				function: "count",
				keys: [`k${k}`],
				value: n % 100,
				normal: 1,
			});
		}
		app.message({
			type: "line",
			id,
			line: {
				type: "tick",
				node: "a@h",
				time: t0 + n * 100,
				aggregations,
				fired: n,
				cost: 0.1,
			},
		});
		if (n % 100 === 0) await new Promise((resolve) => setTimeout(resolve, 0));
	}
}, width);
const cdp = await page.context().newCDPSession(page);
const peak = await resident();
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
