// SPDX-License-Identifier: Apache-2.0
// Steps of page.js with a server that was started with --kernel: the heat map of system calls that
// the page's ancestor was made for, in a browser. NO_KERNEL says why there is no such server.
import { readFileSync } from "node:fs";
import { hasTotal, open, printed, run, saved, stop, total } from "./drive.js";

const HEAT = `syscall:::entry
{
	self->ts[probefunc] = vtimestamp;
}

syscall:::return
/self->ts[probefunc]/
{
	@time[probefunc] = lquantize(vtimestamp - self->ts[probefunc], 0, 10000, 100);
}
`;
const CALLS = 1500; // of getppid, by this process
// Sixty writes by a process called writer.
const WRITES =
	'S = self(), spawn(fun() -> register(writer, self()), {ok, F} = file:open("x", [write, raw]), ' +
	"[demo_exact:write(F, <<1>>) || _ <- lists:seq(1, 60)], unregister(writer), S ! done end), receive done -> ok end.";

// Pixels of the picture that have the colour of a cell with something in it.
const coloured = (page) =>
	page.evaluate(() => {
		const canvas = document.querySelector(".heat canvas");
		const copy = new OffscreenCanvas(canvas.width, canvas.height);
		const ink = copy.getContext("2d", { willReadFrequently: true });
		ink.drawImage(canvas, 0, 0);
		const { data } = ink.getImageData(0, 0, copy.width, copy.height);
		const pixels = new Uint32Array(data.buffer);
		let n = 0;
		// Cells go from light to dark blue: lines, letters and the ground are not blue.
		for (const p of pixels) if (((p >> 16) & 255) - (p & 255) > 60) n++;
		return n;
	});

export const kernel = {
	async "a heat map of system calls"({ browser, ok, is }) {
		const url = process.env.KERNEL_URL;
		if (!url) {
			console.log(`skipped: a heat map of system calls: ${process.env.NO_KERNEL}`);
			return null;
		}
		const page = await open(browser, url);
		await run(page, HEAT, { nodes: ["page_demo"] });
		for (let i = 0; i < CALLS; i++) void process.ppid;
		await hasTotal(page, "getppid", CALLS);
		await page.waitForFunction(() => globalThis.erltrace.last === globalThis.erltrace.run.lastSlot);
		ok("cells are seen", (await coloured(page)) > 1000, `${await coloured(page)} pixels`);
		await page.locator(".keys .key").nth(5).waitFor();
		ok("there are keys", true);
		await page.locator(".keys .key", { hasText: /^getppid/ }).first().click();
		is("one key is shown", await page.locator(".keys li:not(.off)").count(), 1);
		ok("its cells are seen", (await coloured(page)) > 0);

		await page.getByRole("button", { name: "Stop" }).click();
		await page.waitForFunction(() => globalThis.erltrace.run.phase === "ended");
		const end = await printed(page, "time");
		const got = await saved(page, ".heat");
		is("cells are as the end of the script has them", got.getppid, end.getppid);
		ok("and all calls are in them", (await total(page, "getppid")) >= CALLS);
		is("errors", await page.evaluate(() => globalThis.erltrace.run.faultCount), 0);
		return page;
	},

	// As the page runs them, which is harmless: they know the processes of the node all the same.
	async "kernel scripts of the library"({ browser, demo, ok, is }) {
		const url = process.env.KERNEL_URL;
		if (!url) {
			console.log(`skipped: kernel scripts of the library: ${process.env.NO_KERNEL}`);
			return null;
		}
		const page = await open(browser, url);
		const text = (name) => readFileSync(new URL(`../../../scripts/${name}.d`, import.meta.url), "utf8");
		await run(page, text("syscalls"), { nodes: ["page_demo"], ticks: 3 });
		const cost = page.locator(".banner .stat", { hasText: "cost on node" });
		is("what it costs is not known", await cost.locator(".value").innerText(), "unknown");
		ok("and it is said why", /kernel/.test(await cost.getAttribute("title")));
		await demo.ask(WRITES);
		await hasTotal(page, "writer, writev", 60);
		const row = page.locator(".list tbody tr", { hasText: "writev" }).filter({ hasText: "writer" });
		await row.locator(".value", { hasText: /^60$/ }).first().waitFor(); // it is shown a moment later
		is("system calls of a process", await row.locator(".value").first().innerText(), "60");
		is("as the command has it", (await stop(page, "n"))["writer,writev"], 60);
		const us = (await printed(page, "ns"))["writer,writev"];
		const shown = await page.evaluate(() => {
			const agg = globalThis.erltrace.run.aggregations.get("ns");
			const key = agg.series.keys.findIndex((k) => k.text === "writer, writev");
			return agg.byKey(() => true, null).get(key).value;
		});
		is("and their time, in microseconds", Math.floor(shown), us);

		await page.getByLabel("Arguments").fill("demo_exact 0");
		await run(page, text("slowwrite"), { nodes: ["page_demo"], ticks: 3 });
		await demo.ask(WRITES);
		await page.locator(".log .lines").getByText(/writer +demo_exact:write\/2 +writev/).nth(59).waitFor();
		ok("writes, and the function that ran", true);
		is("errors", await page.evaluate(() => globalThis.erltrace.run.faultCount), 0);
		return page;
	},
};
