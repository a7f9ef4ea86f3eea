// SPDX-License-Identifier: Apache-2.0
// The pictures of doc/img: the page at work on the demo node. Run by tools/screenshots.sh.
//	node shots.js FOLDER [NAME]
import { mkdirSync } from "node:fs";
import { launch, open, ready, run } from "./drive.js";

const HEAT = `/* Who sorts, and how long does it take? */
erlang*:lists:sort/1:function-entry
{
	self->at = vtimestamp;
}

erlang*:lists:sort/1:function-return
/self->at/
{
	@time[erlname] = llquantize(
	    vtimestamp - self->at, 10, 3, 6, 20);
	self->at = 0;
}
`;
const LIST = `/* Which functions are called most, and how
   much time goes into them? */
erlang*:demo_*::function-entry
{
	self->at[copyinstr(arg1)] = vtimestamp;
}

erlang*:demo_*::function-return
/self->at[copyinstr(arg1)]/
{
	@calls[copyinstr(arg1)] = count();
	@ns[copyinstr(arg1)] =
	    sum(vtimestamp -
	        self->at[copyinstr(arg1)]);
}
`;
const FLAME = `/* Where are messages sent from? */
erlang*:::message-send
{
	@[ustack()] = count();
}
`;

const scenes = {
	async heatmap(page, shoot) {
		await page.evaluate(() => globalThis.erltrace.setWindow(60));
		await run(page, HEAT, { ticks: 615 });
		await page.locator(".heat").getByRole("button", { name: "p99" }).click();
		await page.locator(".heat").getByLabel("Line at").fill("1 ms");
		const box = await page.locator(".heat canvas").boundingBox();
		// down a column, to a cell that something is in
		for (let part = 0.4, key = 0; part < 0.85 && !key; part += 0.02) {
			await page.mouse.move(box.x + box.width * 0.3, box.y + box.height * part);
			await page.locator(".heat .tip dd").first().waitFor();
			key = await page.locator(".heat .tip ol li").count();
		}
		await shoot("heatmap-light");
		await page.mouse.move(10, 600);
		await page.emulateMedia({ colorScheme: "dark" });
		await page.locator(".heat").getByRole("button", { name: "hues" }).click();
		await page.locator("html[data-theme=dark]").waitFor();
		await shoot("heatmap-dark");
	},
	async list(page, shoot) {
		await run(page, LIST, { ticks: 300 });
		await shoot("list");
	},
	async error(page, shoot) {
		await ready(page);
		await page.evaluate(
			(text) => globalThis.erltrace.editor.set(text),
			LIST.replace("= vtimestamp;", "= vtimestmp;"),
		);
		await page.locator(".cm-content").press("Control+Enter");
		await page.locator(".problem-line").waitFor();
		await shoot("error");
	},
	async flame(page, shoot) {
		await run(page, FLAME, { ticks: 80 });
		await page.locator(".flame canvas").waitFor();
		await shoot("flamegraph");
	},
	// Requests of the demo, by the form; the one that is shown has many hops, and none that takes all the time.
	async flow(page, shoot) {
		await follow(page, "demo_order", "run");
		await page.waitForFunction(() => globalThis.erltrace.run.flows?.seen > 200);
		await page.locator(".flow-list").getByRole("button", { name: "messages" }).click();
		await page.mouse.move(900, 300); // rows hold still
		await page.evaluate(() => {
			const rows = [...document.querySelectorAll(".flow-list tbody tr")].slice(0, 7);
			const took = (r) => Number(r.querySelector(".value").title.replace(/[^\d.]/g, ""));
			rows.sort((a, b) => took(a) - took(b))[0].click();
		});
		const at = await page.locator(".flow-plot .running.critical").nth(4).boundingBox();
		await page.mouse.move(at.x + at.width / 2, at.y + at.height / 2);
		await page.locator(".flow-plot .tip").waitFor();
		await shoot("flow-light");
		await page.mouse.move(700, 20);
		await page.emulateMedia({ colorScheme: "dark" });
		await page.waitForFunction(() => document.documentElement.dataset.theme === "dark");
		await shoot("flow-dark");
	},
};

async function follow(page, module, fn) {
	await page.keyboard.press("Escape");
	await page.locator("header.top").getByRole("button", { name: "Follow" }).click();
	await page.getByLabel("Module").fill(module);
	await page.getByLabel("Function").fill(fn);
	await page.locator(".follow .primary").click();
	await page.locator(".flow-plot svg").waitFor();
}

// Of other nodes than the demo: only if it is asked for. tools/rabbit/flame.sh
const others = {
	async rabbit(page, shoot) {
		await page.keyboard.press("Escape");
		await page.locator("header.top").getByRole("button", { name: "Flame graph" }).click();
		await page.locator(".flame canvas").waitFor();
		await page.evaluate(() => {
			globalThis.erltrace.side = false;
			globalThis.erltrace.changed();
		});
		await page.waitForFunction(() => globalThis.erltrace.run.ticks > 300);
		await page.mouse.move(700, 20);
		await shoot("flamegraph-rabbit");
	},
	// tools/rabbit/flow.sh
	async rabbitflow(page, shoot) {
		await follow(page, "rabbit_channel", "do_flow/3");
		await page.evaluate(() => {
			globalThis.erltrace.side = false;
			globalThis.erltrace.changed();
		});
		await page.waitForFunction(() => globalThis.erltrace.run.flows?.seen > 200);
		await page.locator(".flow-list").getByRole("button", { name: "messages" }).click();
		await page.mouse.move(900, 300);
		await page.evaluate(() => {
			const rows = [...document.querySelectorAll(".flow-list tbody tr")].slice(0, 7);
			const took = (r) => Number(r.querySelector(".value").title.replace(/[^\d.]/g, ""));
			rows.sort((a, b) => took(a) - took(b))[0].click();
		});
		await page.mouse.move(700, 20);
		await shoot("flow-rabbit");
	},
};

const folder = process.argv[2];
mkdirSync(folder, { recursive: true });
const { browser } = await launch();
const wanted = process.argv[3];
for (const [name, scene] of Object.entries({ ...scenes, ...others })) {
	if (wanted ? wanted !== name : others[name]) continue;
	const page = await open(browser, process.env.PAGE_URL, {
		viewport: { width: 1440, height: 760 },
		colorScheme: "light",
	});
	await ready(page);
	page.setDefaultTimeout(240000); // pictures of a minute, on a machine that has other work too
	await page.evaluate(() => globalThis.erltrace.setWindow(30));
	await scene(page, async (file) => {
		// two frames: what was asked for is drawn
		await page.evaluate(
			() => new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(r))),
		);
		await page.screenshot({ path: `${folder}/${file}.png` });
		console.log(`${file}.png`);
	});
	if (page.faults.length) {
		console.log(page.faults.join("\n"));
		process.exitCode = 1;
	}
	await page.context().close();
}
await browser.close();
