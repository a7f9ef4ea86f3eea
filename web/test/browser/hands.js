// SPDX-License-Identifier: Apache-2.0
// Steps of page.js: numbers as they are shown, and what keys and menus do.
import { exported, hasTotal, open, ready, run, saved, stop, table, whole } from "./drive.js";

const STACKS = "erlang*:demo_exact:inner/1:function-entry\n{\n\t@[ustack()] = count();\n}\n";

const running = (page) => page.evaluate(() => globalThis.erltrace.running);
const zoomedFlame = (page) => page.getByRole("button", { name: "All frames" });

// Heat maps' axes, colours and times, as they were painted last: all of one moment.
const pictures = (page, ...which) =>
	page.evaluate((names) => {
		const app = globalThis.erltrace;
		return names.map((name) => {
			const [agg] = app[name].aggregations.values();
			const [map] = agg.maps;
			return {
				rows: map.buckets.map((b) => `${b.lo} ${b.hi}`),
				top: map.scaleMax,
				colours: [...map.colours[0]].join(),
				seconds: (map.cols * map.setup.bin) / app[name].hz,
			};
		});
	}, which);

async function stacks(page, demo) {
	await run(page, STACKS, { nodes: ["page_demo"] });
	await demo.ask("demo_exact:nested(40).");
	await page.locator(".flame canvas").waitFor();
	await hasTotal(page, await page.evaluate(() => [...globalThis.erltrace.run.aggregations.values()][0].series.keys[0].text), 80);
}

export const hands = {
	async "normalize() divides what is shown"({ browser, url, demo, is }) {
		const page = await open(browser, url);
		// 1500 of each call, in thousands; much came before it was normalized
		await run(
			page,
			`erlang*:demo_exact:leaf/1:function-return
{
	@s[copyinstr(arg1)] = sum(1500);
	@q[copyinstr(arg1)] = quantize(5);
	n++;
}
tick-20ms /n >= 100/ { normalize(@s, 1000); normalize(@q, 10); }
`,
			{ nodes: ["page_demo"] },
		);
		await demo.ask("demo_exact:calls(70).");
		await hasTotal(page, "demo_exact:leaf/1", 105000);
		const value = page.locator(".list .value");
		await page.waitForFunction(() => document.querySelector(".list .value")?.title.replace(/\D/g, "") === "105000");
		is("not yet", whole(await value.getAttribute("title")), 105000);
		await demo.ask("demo_exact:calls(50).");
		await page.waitForFunction(() => document.querySelector(".list .value")?.title === "180");
		is("a list", await value.innerText(), "180");
		await page.locator(".heat").getByRole("button", { name: "table", exact: true }).click();
		is("the table of a heat map", await table(page, 12), [["4 – 8", 12]]);
		is("its keys", await page.locator(".keys .n").innerText(), "12");
		is("JSON of a list", await saved(page, ".list"), { "demo_exact:leaf/1": 180 });
		const csv = (await exported(page, ".heat", "CSV")).text.trim().split("\r\n").slice(1);
		is("CSV of a heat map", Math.round(csv.reduce((n, l) => n + Number(l.split(",").at(-1)), 0)), 12);
		is("as the command has it", await stop(page, "s"), { "demo_exact:leaf/1": 180 });
		return page;
	},

	async "percentiles of values that are all the same"({ browser, url, is }) {
		const page = await open(browser, url);
		await run(page, "tick-10ms { @ = quantize(1); }", { nodes: ["page_demo"], ticks: 5 });
		await page.locator(".heat").getByRole("button", { name: "table", exact: true }).click();
		const caption = page.locator(".heat .behind caption");
		await caption.getByText(/[1-9]\d* values/).waitFor();
		is("all of them are it", /p50.*/.exec(await caption.innerText())[0], "p50 1, p90 1, p99 1");
		return page;
	},

	async "a flame graph by one click"({ browser, url, demo, ok, is }) {
		const page = await open(browser, url);
		await ready(page); // the editor comes with the first frame
		await page.evaluate(() => globalThis.erltrace.editor.set("BEGIN { before; }"));
		await page.evaluate(() => {
			globalThis.erltrace.chosen = new Set(globalThis.erltrace.nodes.map((n) => n.name).filter((n) => n.startsWith("page_demo")));
		});
		// Sorting, over and over, by a process that the shell has made.
		await demo.ask("register(burner, spawn(fun F() -> lists:sort([erlang:phash2(X) || X <- lists:seq(1, 2000)]), F() end)), ok.");
		try {
			await page.locator("header.top").getByRole("button", { name: "Flame graph" }).click();
			await page.locator(".flame canvas").waitFor();
			await page.waitForFunction(() => {
				const [agg] = globalThis.erltrace.run?.aggregations.values() ?? [];
				return agg?.series.keys.length > 1 && agg.series.keys.some((k) => k.values[0].some((f) => f.startsWith("lists:")));
			});
			is("of samples", await page.evaluate(() => globalThis.erltrace.run.script.includes("profile-97")), true);
			is("no errors", await page.evaluate(() => globalThis.erltrace.run.faults.size + globalThis.erltrace.run.compileErrors.length), 0);
			await page.locator(".flame").getByRole("button", { name: "table", exact: true }).click();
			await page.locator(".flame .behind tbody tr th", { hasText: /^erl_eval:/ }).first().waitFor();
			await page.locator(".kinds li", { hasText: "Erlang" }).waitFor();
			await page.getByLabel("Find a frame").fill("lists:");
			ok("how much is of frames that were found", /^\d/.test(await page.locator(".flame .found").innerText()));
			await page.getByLabel("Find a frame").fill("nosuchframe");
			is("none", await page.locator(".flame .found").innerText(), "0.0 %");
			await page.getByLabel("Find a frame").fill("");
			// The whole width is clicked: what all stacks of the process have below them.
			await page.locator(".flame canvas").focus();
			await page.keyboard.press("ArrowUp");
			await zoomedFlame(page).waitFor();
			await page.keyboard.press("Escape");
			await zoomedFlame(page).waitFor({ state: "detached" });
			is("the script goes on", await running(page), true);
			const lines = (await exported(page, ".flame", "Folded")).text.trim().split("\n");
			ok("folded stacks", lines.length > 1 && lines.every((l) => /^\S.* \d+$/.test(l)), lines.slice(0, 3).join(" | "));
		} finally {
			await demo.ask("exit(whereis(burner), kill).");
		}
		await page.locator(".cm-content").click();
		await page.keyboard.press("Control+z");
		is("the editor's text comes back", await page.evaluate(() => globalThis.erltrace.editor.text()), "BEGIN { before; }");
		return page;
	},

	async "a flame graph is run again"({ browser, url, demo, ok }) {
		const page = await open(browser, url);
		await stacks(page, demo);
		for (let i = 0; i < 3; i++) {
			const id = await page.evaluate(() => globalThis.erltrace.run.id);
			// as when a tick has just come: a frame is on its way that the old picture is still to be in
			await page.evaluate(() => {
				globalThis.erltrace.paint();
				globalThis.erltrace.execute();
			});
			await page.waitForFunction((n) => globalThis.erltrace.run.id > n && globalThis.erltrace.run.ticks > 2, id);
			await demo.ask("demo_exact:nested(4).");
			await page.locator(".flame canvas").waitFor();
		}
		ok("is there", true); // what was thrown is a complaint in the console
		return page;
	},

	async "Esc goes back before it stops"({ browser, url, demo, ok, is }) {
		const page = await open(browser, url);
		await stacks(page, demo);
		const box = await page.locator(".flame canvas").boundingBox();
		// the frame above all of them
		await page.mouse.click(box.x + box.width / 2, box.y + box.height - 19 * 1.5);
		await zoomedFlame(page).waitFor();
		await page.keyboard.press("Escape");
		await zoomedFlame(page).waitFor({ state: "detached" });
		is("a zoom in a flame graph is taken back, the script goes on", await running(page), true);
		const find = page.getByLabel("Find a frame");
		await find.fill("outer");
		await find.press("Escape");
		is("a field is emptied", await find.inputValue(), "");
		is("and it goes on", await running(page), true);
		await find.press("Escape");
		ok("then it is left", await page.evaluate(() => document.activeElement === document.body));
		await page.getByLabel("Arguments").fill("7");
		await page.getByLabel("Arguments").press("Escape");
		is("so is one that says something", await page.getByLabel("Arguments").inputValue(), "7");
		is("and it still goes on", await running(page), true);
		await page.evaluate(() => {
			const app = globalThis.erltrace;
			app.zoom({ from: app.last - 5, to: app.last });
		});
		await page.keyboard.press("Escape");
		is("a zoom in time", await page.evaluate(() => globalThis.erltrace.range), null);
		is("goes first", await running(page), true);
		await page.keyboard.press("Escape");
		await page.waitForFunction(() => globalThis.erltrace.run.phase === "ended");
		ok("then the script is stopped", true);
		return page;
	},

	async "the menu by keyboard"({ browser, url, is, ok }) {
		const page = await open(browser, url);
		await ready(page);
		await page.waitForFunction(() => globalThis.erltrace.library.length > 3);
		await page.getByLabel("Arguments").fill("mine 7");
		const text = () => page.evaluate(() => globalThis.erltrace.editor.text());
		const menu = page.locator(".menu-body");
		const choose = async (...keys) => {
			await page.getByRole("button", { name: "Scripts" }).press("Enter");
			await menu.waitFor();
			for (const k of keys) await page.keyboard.press(k);
			await menu.waitFor({ state: "detached" });
		};
		await choose("b", "u", "s", "Enter");
		ok("Enter takes the script that was looked for", (await text()).includes("busy.d:"));
		is("nothing is saved", await page.evaluate(() => globalThis.erltrace.saved.length), 0);
		is("the editor has the focus", await page.evaluate(() => !!document.activeElement.closest(".cm-editor")), true);
		const args = page.getByLabel("Arguments");
		is("another script has arguments of its own", await args.inputValue(), "");
		is("which it names", await args.getAttribute("placeholder"), "[for=SECONDS] [rows=N]");
		await choose("ArrowDown", "ArrowDown", "ArrowUp", "Enter");
		ok("arrows go through them", (await text()).includes("atoms.d:"));
		await args.fill("3");
		await page.getByRole("button", { name: "Scripts" }).click();
		await page.getByLabel("Name to save the script as").fill("three");
		await page.keyboard.press("Enter");
		await page.keyboard.press("Escape");
		await choose("b", "u", "s", "Enter");
		await choose("t", "h", "r", "e", "e", "Enter");
		ok("what is saved is found", (await text()).includes("atoms.d:"));
		is("and has its arguments", await args.inputValue(), "3");
		await page.locator("header.top .menu > button").first().press("Enter");
		const node = menu.locator("input").first();
		await node.press("Enter");
		is("Enter takes a node out", await node.isChecked(), false);
		return page;
	},

	async "what there is, from the menu"({ browser, url, is, ok }) {
		const page = await open(browser, url);
		await ready(page);
		await page.waitForFunction(() => globalThis.erltrace.library.length > 3);
		const names = await page.evaluate(() => globalThis.erltrace.library.map((s) => s.name));
		const state = ["top", "mailbox", "memory", "tables", "sockets", "runq", "waits"];
		is("the scripts are there", state.filter((s) => !names.some((n) => n.replace(/\.d$/, "") === s)), []);
		await page.getByRole("button", { name: "Scripts" }).click();
		await page.locator(".menu-body .item", { has: page.getByText(/^tables(\.d)?$/) }).click();
		const text = await page.evaluate(() => globalThis.erltrace.editor.text());
		ok("one is chosen", text.includes("tables.d:"));
		await run(page, text, { nodes: ["page_demo"] });
		await page.locator(".log .lines").getByText(/ac_tab/).first().waitFor();
		ok("it shows the tables", true);
		await page.keyboard.press("Escape");
		return page;
	},

	async "signatures in the editor"({ browser, url, is }) {
		const page = await open(browser, url);
		await ready(page);
		await page.evaluate(() => globalThis.erltrace.editor.set(""));
		await page.locator(".cm-content").click();
		await page.keyboard.type("BEGIN { @ = lquan");
		const item = page.locator(".cm-tooltip-autocomplete li").first();
		await item.getByText("lquantize").waitFor();
		is(
			"optional arguments",
			await item.locator(".cm-completionDetail").innerText(),
			"(integer, constant, constant[, constant[, integer]])",
		);
		return page;
	},

	async "runs that are compared have the same axes and colours"({ browser, url, demo, is, ok }) {
		const page = await open(browser, url);
		const script = (n) =>
			`erlang*:demo_exact:leaf/1:function-return { @q[copyinstr(arg1)] = quantize(${n}); }`;
		await run(page, script(3), { nodes: ["page_demo"], ticks: 3 });
		await demo.ask("demo_exact:calls(5).");
		await hasTotal(page, "demo_exact:leaf/1", 5);
		await page.getByRole("button", { name: "Keep", exact: true }).click();
		await run(page, script(3000), { nodes: ["page_demo"], ticks: 3 });
		await demo.ask("demo_exact:calls(900).");
		await hasTotal(page, "demo_exact:leaf/1", 900);
		await page.locator(".pair .heat").nth(1).waitFor();
		await page.waitForFunction(() => {
			const map = (run) => [...[...run.aggregations.values()][0].maps][0];
			const { kept, run } = globalThis.erltrace;
			return map(kept)?.buckets?.length > 2 && map(kept).scaleMax === map(run)?.scaleMax;
		});
		const [kept, now] = await pictures(page, "kept", "run");
		is("rows", kept.rows, now.rows);
		ok("of both", now.rows[0] === "2 4" && now.rows.at(-1) === "2048 4096", now.rows.join());
		is("the scale of colours", kept.top, now.top);
		is("the colours", kept.colours === now.colours, true);
		is("the time", kept.seconds, now.seconds);
		const colour = page.locator(".heat").getByLabel("Colour", { exact: true });
		await colour.first().selectOption("rank");
		is("what is set for one holds for both", await colour.nth(1).inputValue(), "rank");
		return page;
	},

	async "fast calls: asked for, forbidden, remembered"({ browser, url, demo, is, ok }) {
		const page = await open(browser, url);
		await ready(page);
		const box = page.getByLabel("Fast calls");
		const label = page.locator("label", { hasText: "Fast calls" });
		const shown = page.locator(".banner .stat", { hasText: "calls" }).locator(".value");
		const script =
			"erlang*:demo_exact:leaf/1:function-entry\n{\n\tself->n++;\n\t@n[copyinstr(arg1)] = count();\n}\n";
		const counted = async () => {
			await run(page, script, { nodes: ["page_demo"] });
			await demo.ask("demo_exact:calls(70).");
			await hasTotal(page, "demo_exact:leaf/1", 70);
			await page.waitForFunction(() => globalThis.erltrace.run.nodeInfo[0]?.calls);
			return stop(page, "n");
		};
		is("off at first", await box.isChecked(), false);
		is("exact", await counted(), { "demo_exact:leaf/1": 70 });
		is("traced, and the page says so", await shown.innerText(), "traced");

		await demo.ask("application:set_env(erltrace, fast_calls, false).");
		await box.check();
		is("forbidden: exact too", await counted(), { "demo_exact:leaf/1": 70 });
		is("it is traced", await shown.innerText(), "traced");
		await page.waitForFunction(() => globalThis.erltrace.whyNotFast);
		is("the switch cannot be used", [await box.isDisabled(), await box.isChecked()], [true, false]);
		is("and says why", await label.getAttribute("title"), "Not possible: the node's setting fast_calls is false");

		await demo.ask("application:unset_env(erltrace, fast_calls).");
		await page.reload();
		await ready(page);
		is("it is remembered", [await box.isDisabled(), await box.isChecked()], [false, true]);
		is("permitted: exact as well", await counted(), { "demo_exact:leaf/1": 70 });
		const told = page.lines.filter((m) => m.line.type === "calls").at(-1).line;
		ok("fast, or the node said why not", told.way === "fast" || told.why !== "", JSON.stringify(told));
		is("the page says which", (await shown.innerText()).split(", ")[0], told.way);
		return page;
	},
};
