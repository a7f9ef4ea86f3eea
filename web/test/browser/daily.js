// SPDX-License-Identifier: Apache-2.0
// Steps of page.js: what daily use found, a step each.
import { scriptFragment } from "../../src/connection.js";
import { hasTotal, open, ready, run } from "./drive.js";

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
		await page.getByText("Access denied").waitFor();
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
		await page.locator(".side-note").getByText("needs kernel probes").waitFor();
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

	async "all together: equal pids of two nodes are two processes"({ browser, url, is }) {
		const page = await open(browser, url);
		await run(page, 'tick-10ms { @n["<0.1.0>"] = count(); @all["init"] = count(); }', {
			nodes: ["page_demo", "page_more"],
		});
		const names = () => page.locator(".list .rows tbody .name").evaluateAll((l) => l.map((e) => e.textContent.trim().replace(/@.*/, "")).sort());
		await page.waitForFunction(() => document.querySelectorAll(".list .rows tbody .name").length === 3);
		is("pids have their node, names are merged", await names(), ["<0.1.0> · page_demo", "<0.1.0> · page_more", "init"]);
		return page;
	},

	async "a zoom reaches the list of keys"({ browser, url, demo, is, ok }) {
		const page = await open(browser, url);
		await run(page, "erlang*:::message-send /arg2 == 206 || arg2 == 240/ { @words[arg2] = lquantize(arg2, 200, 264, 4); }", {
			nodes: ["page_demo"],
		});
		await demo.ask("demo_exact:sends(30, 206).");
		await hasTotal(page, "206", 30);
		const slot = await page.evaluate(() => globalThis.erltrace.run.lastSlot);
		await page.waitForFunction((n) => globalThis.erltrace.run.lastSlot > n + 3, slot);
		await demo.ask("demo_exact:sends(20, 240).");
		await hasTotal(page, "240", 20);
		const keys = () => page.locator(".keys li").evaluateAll((l) => l.map((e) => [e.querySelector(".text").textContent, e.querySelector(".n").textContent]));
		const show = async (text) => {
			await page.locator(".keys header").getByText(text).waitFor();
			return keys();
		};
		is("all of them", await show("2 keys"), [["206", "30"], ["240", "20"]]);
		// the pointer is on them: a zoom has its own order all the same
		await page.locator(".keys li").first().hover();
		await page.evaluate((from) => globalThis.erltrace.zoom({ from, to: from + 1000 }), slot + 1);
		is("of the time zoomed to", await show("1 key in the zoom"), [["240", "20"]]);
		await page.evaluate((to) => globalThis.erltrace.zoom({ from: to - 1000, to }), slot + 1);
		is("of another one", await show("1 key in the zoom"), [["206", "30"]]);
		await page.evaluate(() => globalThis.erltrace.zoom(null));
		is("all again", (await show("2 keys")).length, 2);
		await demo.ask("demo_exact:sends(90, 240).");
		await page.waitForFunction(() => document.querySelector(".keys .text").textContent === "240");
		ok("a pointer that rests does not hold the order for ever", true);
		return page;
	},

	async "runs that are compared: what adds up is per second"({ browser, url, is, ok }) {
		const page = await open(browser, url);
		const script = 'tick-10ms { @n["k"] = count(); @m["k"] = max(7); }';
		await run(page, script, { nodes: ["page_demo"], ticks: 40 });
		await page.getByRole("button", { name: "Keep", exact: true }).click();
		await run(page, `${script} `, { nodes: ["page_demo"], ticks: 10 });
		await page.locator(".pair .list").nth(1).waitFor();
		const heads = await page.locator(".pair .list thead .sort").allInnerTexts();
		is("their heads say so", heads.filter((t) => /^@/.test(t)), ["@n count / s", "@m max", "@n count / s", "@m max"]);
		const values = await page.locator(".pair .list .value").allInnerTexts();
		const [a, , b, m] = values.map((t) => Number(t.replace(/\s/g, "")));
		ok("four times as long, and the same", a > 0 && b > 0 && a / b < 2 && b / a < 2, `${a} ${b}`);
		is("a maximum is not divided", m, 7);
		const long = await page.locator(".pair .which").allInnerTexts();
		ok("how long each was", long.every((t) => /\d\d:\d\d long/.test(t)), long.join("; "));
		return page;
	},

	async "the table of a flame graph opens where one sees it"({ browser, url, demo, ok }) {
		const page = await open(browser, url);
		await page.setViewportSize({ width: 1200, height: 480 });
		await run(page, "erlang*:demo_exact:inner/1:function-entry { @[ustack()] = count(); }", { nodes: ["page_demo"] });
		await demo.ask("demo_exact:nested(40).");
		await page.locator(".flame canvas").waitFor();
		await page.locator(".flame").getByRole("button", { name: "table", exact: true }).click();
		await page.locator(".flame .behind caption").waitFor();
		const seen = await page.locator(".flame .behind").evaluate((e) => {
			const { top, bottom } = e.getBoundingClientRect();
			return Math.min(bottom, innerHeight) - Math.max(top, 0);
		});
		await page.setViewportSize({ width: 1440, height: 900 });
		ok("its rows are on the screen", seen > 150, `${seen} px`);
		return page;
	},

	async "a log that goes while it scrolls"({ browser, url, is }) {
		const page = await open(browser, url);
		await run(page, 'tick-5ms { printf("%d\\n", n++); }', { nodes: ["page_demo"] });
		await page.waitForFunction(() => document.querySelector(".lines")?.childElementCount > 60);
		await page.evaluate(() => {
			document.querySelector(".lines").scrollTop = 5;
			globalThis.erltrace.editor.set("tick-10ms { @ = count(); }");
			globalThis.erltrace.execute();
		});
		await page.locator(".list").waitFor();
		is("nothing is thrown", page.faults, []);
		return page;
	},

	async "keys without end are released"({ browser, url, demo, is, ok }) {
		const page = await open(browser, url);
		await run(page, "erlang*:demo_exact:leaf/1:function-return { @n[n++] = count(); }", { nodes: ["page_demo"] });
		await demo.ask("demo_exact:calls(6000).");
		await page.waitForFunction(() => [...globalThis.erltrace.run.aggregations.values()][0].series.count === 6000);
		// as long as they are shown they stay: as if that were over
		await page.evaluate(() => {
			globalThis.erltrace.run.oldestShown = () => globalThis.erltrace.run.lastSlot;
		});
		await page.waitForFunction(() => [...globalThis.erltrace.run.aggregations.values()][0].series.released > 0);
		await page.locator(".list footer").getByText("+ 5 000 more; @n 5 000").waitFor();
		ok("what is left out is said", true);
		is("the rest is there", await page.evaluate(() => [...globalThis.erltrace.run.aggregations.values()][0].series.count), 1000);
		return page;
	},
};
