// SPDX-License-Identifier: Apache-2.0
// A step of page.js with a server that was started with --kernel: the heat map of system calls that
// the page's ancestor was made for, in a browser. NO_KERNEL says why there is no such server.
import { hasTotal, open, printed, run, saved, total } from "./drive.js";

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
};
