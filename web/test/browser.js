// SPDX-License-Identifier: Apache-2.0
// The page in a real browser against the made-up server: what one does with it, step by step. Run by
// hand while working on the page (node test/browser.js); the tests of the whole run the real server.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { chromium } from "playwright-core";
import { scriptFragment } from "../src/connection.js";
import { serve } from "./devserver.js";

const HEAT =
	"x\n{\n\t@time[copyinstr(arg1)] = lquantize((vtimestamp - self->t) / 1000, 0, 63, 2);\n\t@n[copyinstr(arg1)] = count();\n}\n";
const server = await serve();
const browser = await chromium.launch({
	executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
	args: ["--no-sandbox"],
});
const faults = [];

async function open(hash = "#token=dev") {
	const context = await browser.newContext({
		viewport: { width: 1440, height: 900 },
		acceptDownloads: true,
	});
	const page = await context.newPage();
	page.on("console", (m) => {
		if (["error", "warning"].includes(m.type())) faults.push(m.text());
	});
	page.on("pageerror", (e) => faults.push(e.stack));
	page.on("dialog", (d) => {
		faults.push("dialog");
		d.dismiss();
	});
	await page.goto(`http://127.0.0.1:${server.port}/${hash}`);
	return page;
}

async function start(page, script, ticks = 12) {
	await page.waitForFunction(() => globalThis.erltrace?.nodes);
	await page.evaluate((text) => globalThis.erltrace.editor.set(text), script);
	await page.locator(".cm-content").press("Control+Enter");
	await page.waitForFunction((n) => globalThis.erltrace.run?.ticks >= n, ticks);
}

const steps = {
	async "the token goes from the address, the script in it is loaded and not run"() {
		const page = await open(`${scriptFragment("BEGIN { exit(0); }")}&token=dev`);
		await page.waitForFunction(() => globalThis.erltrace?.nodes);
		assert.equal(await page.evaluate(() => location.hash), scriptFragment("BEGIN { exit(0); }"));
		assert.match(await page.locator(".cm-content").innerText(), /exit\(0\)/);
		assert.equal(await page.evaluate(() => globalThis.erltrace.run), null);
		return page;
	},

	async "zoom by dragging, back by double click"() {
		const page = await open();
		await start(page, HEAT, 30);
		const box = await page.locator(".heat canvas").boundingBox();
		const at = (x, y) => page.mouse.move(box.x + box.width * x, box.y + box.height * y);
		await at(0.8, 0.2);
		await page.mouse.down();
		await at(0.9, 0.6);
		await page.mouse.up();
		const zoomed = await page.evaluate(() => globalThis.erltrace.range);
		assert.ok(zoomed.to > zoomed.from);
		await page.getByRole("button", { name: "Reset zoom" }).waitFor();
		await page.locator(".heat canvas").dblclick({ position: { x: 300, y: 100 } });
		assert.equal(await page.evaluate(() => globalThis.erltrace.range), null);
		return page;
	},

	async "a click on a cell gives its keys; their sum is the cell's count"() {
		const page = await open();
		await start(page, HEAT, 30);
		await page.keyboard.press("Escape");
		await page.waitForFunction(() => globalThis.erltrace.run.phase === "ended");
		const box = await page.locator(".heat canvas").boundingBox();
		// the newest columns are at the right, most counts below
		await page.mouse.move(box.x + box.width - 52 - 14, box.y + box.height - 44 - 40);
		await page.locator(".tip dd").first().waitFor();
		const count = Number(
			(await page.locator(".tip dd").first().innerText()).replace(/\D/g, ""),
		);
		assert.ok(count > 0);
		await page.mouse.down();
		await page.mouse.up();
		const cells = await page
			.locator(".cell-keys tbody tr td:nth-child(2)")
			.allInnerTexts();
		assert.equal(
			cells.reduce((n, t) => n + Number(t.replace(/\D/g, "")), 0),
			count,
		);
		return page;
	},

	async "isolate a key, leave one out, show all"() {
		const page = await open();
		await start(page, HEAT);
		const key = page.locator(".keys .key").first();
		await key.click();
		assert.equal(
			await page.locator(".keys li.off").count(),
			(await page.locator(".keys li").count()) - 1,
		);
		await page.getByRole("button", { name: "Show all" }).click();
		await page.locator(".keys li").first().hover();
		await page.locator(".keys li .x").first().click();
		assert.equal(await page.locator(".keys li.off").count(), 1);
		return page;
	},

	async "pause holds the picture, the data goes on"() {
		const page = await open();
		await start(page, HEAT);
		await page.locator("h1").click();
		await page.keyboard.press("Space");
		const held = await page.evaluate(() => globalThis.erltrace.last);
		await page.waitForFunction((n) => globalThis.erltrace.run.lastSlot > n + 3, held);
		assert.equal(await page.evaluate(() => globalThis.erltrace.last), held);
		await page.getByText("Paused").waitFor();
		await page.keyboard.press("Space");
		assert.ok((await page.evaluate(() => globalThis.erltrace.last)) > held);
		return page;
	},

	async "export CSV, JSON and PNG"() {
		const page = await open();
		await start(page, HEAT);
		for (const [kind, says] of [
			["CSV", /^time,node,aggregation,function,key1,lo,hi,count\r\n20/],
			["JSON", /"aggregation":"time"/],
			["PNG", /PNG/],
		]) {
			await page.locator(".heat").getByRole("button", { name: "Export" }).click();
			const [file] = await Promise.all([
				page.waitForEvent("download"),
				page
					.locator(".heat .menu-body")
					.getByText(new RegExp(`^${kind}`))
					.click(),
			]);
			assert.match(readFileSync(await file.path(), "latin1"), says);
			assert.match(
				file.suggestedFilename(),
				/^erltrace-time-.*\.(csv|json|png)$/,
			);
		}
		return page;
	},

	async "an error is shown under its line"() {
		const page = await open();
		await page.waitForFunction(() => globalThis.erltrace?.nodes);
		await page.evaluate(() =>
			globalThis.erltrace.editor.set("BEGIN\n{\n\tx = nosuch;\n}\n"),
		);
		await page.locator(".cm-content").press("Control+Enter");
		await page.locator(".problem-line").waitFor();
		assert.equal(await page.locator(".at-fault").innerText(), "nosuch");
		return page;
	},

	async "keys and output are text, whatever is in them"() {
		const page = await open();
		await start(
			page,
			`/* script */ x { printf("x"); @a[f] = count(); @q[f] = quantize(1); }`,
			30,
		);
		await page
			.locator(".list")
			.getByText("<script>alert(1)</script>")
			.first()
			.waitFor();
		await page.locator(".log").getByText("<script>alert(1)</script>").first().waitFor();
		assert.equal(await page.locator("script").count(), 1);
		return page;
	},

	async "completion: probes outside, words inside of clauses"() {
		const page = await open();
		await page.waitForFunction(() => globalThis.erltrace?.nodes);
		await page.evaluate(() => globalThis.erltrace.editor.set(""));
		await page.locator(".cm-content").pressSequentially("erlang*:li", { delay: 20 });
		await page
			.locator(".cm-tooltip-autocomplete")
			.getByText("function-entry")
			.first()
			.waitFor();
		await page.keyboard.press("Enter");
		await page.locator(".cm-content").pressSequentially(" { @x = qua", { delay: 20 });
		await page
			.locator(".cm-tooltip-autocomplete")
			.getByText("quantize")
			.first()
			.waitFor();
		await page.keyboard.press("Escape");
		return page;
	},

	async "the list sorts, filters; the table behind a picture has its numbers"() {
		const page = await open();
		await start(page, HEAT);
		await page
			.locator(".list")
			.getByRole("button", { name: "copyinstr(arg1)" })
			.click();
		await page.waitForFunction(() => {
			const names = [...document.querySelectorAll(".list tbody .name")].map(
				(e) => e.textContent,
			);
			return names.length > 3 && names.join() === [...names].sort().join();
		});
		await page.getByLabel("Filter keys").fill("lists");
		assert.ok(
			(await page.locator(".list tbody .name").allInnerTexts()).every((t) =>
				t.includes("lists"),
			),
		);
		await page.locator(".heat").getByRole("button", { name: "table" }).click();
		await page.locator(".heat .behind caption").getByText("p99").waitFor();
		return page;
	},

	async "nodes together, each by itself, one"() {
		const page = await open();
		await start(page, `/* two nodes */ ${HEAT}`);
		const show = page.getByLabel("Show", { exact: true });
		await show.selectOption("each by itself");
		await page.locator(".heat").nth(1).waitFor();
		assert.equal(await page.locator(".list").count(), 2);
		await page.locator(".heat").first().getByText("demo@here").waitFor();
		await show.selectOption("shop@here");
		assert.equal(await page.locator(".heat").count(), 1);
		return page;
	},

	async "a run that is kept is beside the next one"() {
		const page = await open();
		await start(page, HEAT, 20);
		await page.locator("h1").click();
		await page.keyboard.press("k");
		assert.equal(await page.locator(".heat").count(), 1);
		await start(page, HEAT, 20);
		assert.equal(await page.locator(".pair .heat").count(), 2);
		const kept = await page.evaluate(() => globalThis.erltrace.kept.lastSlot);
		await page.waitForFunction(
			(n) => globalThis.erltrace.run.lastSlot > n + 5,
			await page.evaluate(() => globalThis.erltrace.run.lastSlot),
		);
		assert.equal(await page.evaluate(() => globalThis.erltrace.kept.lastSlot), kept);
		if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/kept.png` });
		await page.getByRole("button", { name: "Keep", exact: true }).click();
		assert.equal(await page.locator(".heat").count(), 1);
		return page;
	},

	async "fast calls: off at first, remembered, shown, off again where a node refuses"() {
		const page = await open();
		await start(page, HEAT);
		const box = page.getByLabel("Fast calls");
		const calls = page.locator(".banner .stat", { hasText: "calls" });
		assert.equal(await box.isChecked(), false);
		assert.match(await calls.innerText(), /traced/);
		const later = page.getByText("Fast calls, from the next run on");
		await box.check();
		await later.waitFor();
		await start(page, `${HEAT}\n`);
		await calls.getByText("fast, traced").waitFor();
		assert.equal(await later.count(), 0);
		assert.match(await calls.getAttribute("title"), /demo@here: fast, 12 functions; traced: lists:seq\/2/);
		if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/fast.png` });
		await page.reload();
		await page.waitForFunction(() => globalThis.erltrace?.nodes);
		assert.equal(await box.isChecked(), true);
		await page.evaluate(() => globalThis.erltrace.choose("shop@here", false));
		await start(page, `/* refuse */ ${HEAT}`);
		await page.waitForFunction(() => globalThis.erltrace.whyNotFast);
		assert.deepEqual([await box.isDisabled(), await box.isChecked()], [true, false]);
		assert.match(
			await page.locator("label", { hasText: "Fast calls" }).getAttribute("title"),
			/this VM is not known/,
		);
		if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/refused.png` });
		return page;
	},

	async "keys: help, theme, window, editor"() {
		const page = await open();
		await start(page, HEAT);
		await page.locator("h1").click();
		await page.keyboard.press("?");
		await page.getByRole("dialog", { name: "Keys" }).waitFor();
		await page.keyboard.press("Escape");
		assert.equal(await page.getByRole("dialog").count(), 0);
		assert.equal(await page.evaluate(() => globalThis.erltrace.run.phase), "running");
		await page.keyboard.press("2");
		assert.equal(await page.evaluate(() => globalThis.erltrace.window), 60);
		await page.keyboard.press("d");
		await page.keyboard.press("d");
		assert.equal(
			await page.evaluate(() => document.documentElement.dataset.theme),
			"dark",
		);
		await page.keyboard.press("e");
		assert.ok(await page.locator(".side").isHidden());
		for (const scale of ["rank", "linear", "percent", "log"])
			await page
				.locator(".heat")
				.getByLabel("Colour", { exact: true })
				.selectOption(scale);
		await page.locator(".heat").getByLabel("Line at").fill("20");
		return page;
	},
};

let failed = 0;
for (const [name, step] of Object.entries(steps)) {
	if (process.argv[2] && !name.includes(process.argv[2])) continue;
	let page;
	try {
		page = await step();
		assert.deepEqual(faults, []);
		console.log(`ok ${name}`);
	} catch (e) {
		failed++;
		console.log(`not ok ${name}\n${e.stack}`);
	}
	faults.length = 0;
	for (const c of browser.contexts()) await c.close();
}
await browser.close();
server.close();
process.exit(failed ? 1 : 0);
