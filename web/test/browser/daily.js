// SPDX-License-Identifier: Apache-2.0
// Steps of page.js: what daily use found, a step each.
import { scriptFragment } from "../../src/connection.js";
import { open, ready, run } from "./drive.js";

// Only this node is to be traced.
const only = (page, node) =>
	page.evaluate((name) => {
		const app = globalThis.erltrace;
		for (const n of app.nodes) app.choose(n.name, n.name.startsWith(`${name}@`));
	}, node);

// A script of the menu.
async function click(page, name) {
	await page.getByRole("button", { name: "Scripts" }).click();
	await page.locator(".menu-body .item b", { hasText: new RegExp(`^${name}(\\.d)?$`) }).first().click();
}

export const daily = {
	async "a watchdog's abort does not hide the results"({ browser, url, demo, is, ok }) {
		const page = await open(browser, url);
		const work = "this->s = strjoin(copyinstr(arg0), copyinstr(arg1)); ".repeat(200);
		await run(
			page,
			`#pragma D option watchtime=1s\n#pragma D option watchdog=2\nerlang*:lists:zip3/3:function-entry { ${work} @n[copyinstr(arg1)] = count(); }`,
			{ nodes: ["page_demo"] },
		);
		await demo.ask("register(load, spawn(fun L() -> lists:zip3([], [], []), L() end)), ok.");
		try {
			await page.waitForFunction(() => globalThis.erltrace.run.phase === "ended", null, { timeout: 60000 });
		} finally {
			await demo.ask("exit(whereis(load), kill), ok.");
		}
		await page.locator(".banner .state").getByText("Aborted").waitFor();
		await page.locator(".strip").getByText(/The script was aborted: .*schedulers' busy time/).waitFor();
		ok("why is told above the results", true);
		ok("the results are there", (await page.locator(".list .name", { hasText: "lists:zip3/3" }).count()) === 1);
		is("nothing says that it did not start", await page.getByText("The script could not start").count(), 0);
		return page;
	},

	async "a shared link and F5 keep the script"({ browser, url, is, ok }) {
		const bare = url.replace(/#.*/, "");
		const mine = 'BEGIN { printf("%s é", $$1); }';
		const text = (p) => p.evaluate(() => [globalThis.erltrace.editor.text(), globalThis.erltrace.args]);
		const page = await open(browser, `${bare}${scriptFragment(mine, "a b")}`);
		await page.getByText("Not let in").waitFor();
		page.faults.length = 0; // of not being let in
		await page.goto(url);
		await ready(page);
		is("opened before the login", await text(page), [mine, "a b"]);
		await page.goto("about:blank");
		await page.goto(`${bare}${scriptFragment(`${mine} `, "c")}`);
		await ready(page);
		await page.reload();
		await ready(page);
		is("loaded again", await text(page), [`${mine} `, "c"]);
		await page.evaluate(() => globalThis.erltrace.editor.set("BEGIN { exit(3); }"));
		await page.reload();
		await ready(page);
		is("loaded again at once after a change", await text(page), ["BEGIN { exit(3); }", "c"]);
		is("the address follows", await page.evaluate(() => location.hash), scriptFragment("BEGIN { exit(3); }", "c"));
		is("it is never run by itself", await page.evaluate(() => globalThis.erltrace.run), null);
		// the address as it is, in another tab of the browser
		const other = await page.context().newPage();
		await other.goto(page.url());
		await ready(other);
		is("sent to somebody", await text(other), ["BEGIN { exit(3); }", "c"]);
		await page.evaluate(() => globalThis.erltrace.editor.set("END { }"));
		await other.reload();
		await ready(other);
		is("a tab keeps its own", await text(other), ["BEGIN { exit(3); }", "c"]);
		ok("without the token", !other.url().includes("token"));
		return page;
	},

	async "scripts run as clicked: what they need is asked for"({ browser, url, is, ok }) {
		const page = await open(browser, url);
		await ready(page);
		await page.waitForFunction(() => globalThis.erltrace.library.length > 3);
		await only(page, "page_demo");
		for (const [name, ...values] of [
			["deadline", "demo_exact", "outer"],
			["exceptions", "demo_exact"],
			["flow", "demo_exact", "outer"],
			["flowheat", "demo_exact", "outer"],
			["states", "init"],
		]) {
			await click(page, name);
			await page.locator(".banner .message").getByText(/^The script needs \w+: /).waitFor();
			const fields = page.locator(".parameters input");
			is(`${name}: the field has the focus`, await fields.first().evaluate((f) => f === document.activeElement), true);
			await page.getByRole("button", { name: "Run", exact: true }).click();
			is(`${name}: it is not run without`, await page.evaluate(() => globalThis.erltrace.running), false);
			for (const [i, value] of values.entries()) await fields.nth(i).fill(value);
			is(`${name}: they are the arguments`, await page.getByLabel("Arguments").inputValue(), values.join(" "));
			await fields.first().press("Enter");
			await page.waitForFunction(() => globalThis.erltrace.run?.ticks > 0 || globalThis.erltrace.run?.phase === "ended");
			is(`${name}: it runs`, await page.evaluate(() => globalThis.erltrace.run.compileErrors.map((e) => e.message)), []);
			await page.getByRole("button", { name: "Stop" }).click();
			await page.waitForFunction(() => globalThis.erltrace.run.phase === "ended");
		}
		is("defaults are shown", await page.locator(".parameters input").nth(1).getAttribute("placeholder"), "until stopped");
		await page.getByRole("button", { name: "Scripts" }).click();
		const needs = page.locator(".menu-body .item", { has: page.getByText("needs erltrace web --kernel") });
		is("those that need the kernel say so in the menu", await needs.locator("b").allInnerTexts(), ["locks", "slowwrite", "syscalls"]);
		await page.keyboard.press("Escape");
		await click(page, "locks");
		await page.locator(".side-note").getByText("needs probes of the kernel").waitFor();
		ok("and beside the editor", true);
		return page;
	},

	async "scripts that need the kernel run where it is permitted"({ browser, is }) {
		if (!process.env.KERNEL_URL) {
			console.log(`info: skipped: ${process.env.NO_KERNEL}`);
			return null;
		}
		const page = await open(browser, process.env.KERNEL_URL);
		await ready(page);
		await page.waitForFunction(() => globalThis.erltrace.library.length > 3);
		await only(page, "page_demo");
		for (const [name, ...values] of [["locks"], ["slowwrite", "demo_exact"], ["syscalls"]]) {
			await click(page, name);
			is(`${name}: nothing is missing`, await page.locator(".side-note").count(), 0);
			for (const [i, value] of values.entries()) await page.locator(".parameters input").nth(i).fill(value);
			await page.getByRole("button", { name: "Run", exact: true }).click();
			await page.waitForFunction(() => globalThis.erltrace.run?.ticks > 0 || globalThis.erltrace.run?.phase === "ended");
			is(`${name}: it runs`, await page.evaluate(() => globalThis.erltrace.run.compileErrors.map((e) => e.message)), []);
			await page.getByRole("button", { name: "Stop" }).click();
			await page.waitForFunction(() => globalThis.erltrace.run.phase === "ended");
		}
		return page;
	},

	async "the menu's search with Enter takes the script of that name"({ browser, url, is }) {
		const page = await open(browser, url);
		await ready(page);
		await page.waitForFunction(() => globalThis.erltrace.library.length > 3);
		const names = await page.evaluate(() => globalThis.erltrace.library.map((s) => s.name));
		const taken = [];
		for (const name of names) {
			await page.getByRole("button", { name: "Scripts" }).press("Enter");
			await page.getByLabel("Find a script").fill(name);
			await page.getByLabel("Find a script").press("Enter");
			await page.locator(".menu-body").waitFor({ state: "detached" });
			const text = await page.evaluate(() => globalThis.erltrace.editor.text());
			taken.push(/^ \* (\w+)\.d:/m.exec(text)?.[1]);
		}
		is("all of them", taken, names);
		return page;
	},
};
