// SPDX-License-Identifier: Apache-2.0
// Steps of page.js: requests that are followed, by the form of the menu `Follow` and by scripts; how they are
// drawn, and what is said of those that have not ended as they should.
import { open, ready, run, stop } from "./drive.js";

const menu = (page) => page.locator("header.top").getByRole("button", { name: "Follow" });
const hasRun = (page, after) =>
	page.waitForFunction((id) => globalThis.erltrace.run?.id > id && globalThis.erltrace.run.ticks > 0, after);
const hasFlows = (page, n) => page.waitForFunction((many) => globalThis.erltrace.run.flows?.list.length >= many, n);

async function opened(browser, url) {
	const page = await open(browser, url);
	await ready(page);
	await page.evaluate(() => {
		const app = globalThis.erltrace;
		for (const n of app.nodes) app.choose(n.name, n.name.startsWith("page_demo@"));
	});
	return page;
}

// By the form: requests that are over after so much silence.
async function follow(page, silence) {
	const before = await page.evaluate(() => globalThis.erltrace.run?.id ?? 0);
	await menu(page).click();
	await page.getByLabel("Module").fill("demo_exact:leaf");
	await page.getByLabel("Over after").selectOption({ label: `${silence} of silence` });
	await page.locator(".follow .primary").click();
	await hasRun(page, before);
}

// The same in D, with other options.
const script = (...options) =>
	`${options.map((o) => `#pragma D option ${o}\n`).join("")}erlang*:demo_exact:leaf:function-entry { follow(); }\n`;

// What servers do when {go, Client} has come.
const SERVERS = {
	quick: "P ! back",
	slow: "receive answer -> P ! back end",
	deaf: "P ! back", // and takes nothing before `listen`
	frail: "exit(oops)",
	chatty: "[P ! more || _ <- lists:seq(1, 8)], P ! back",
};

async function served(demo, use) {
	const server = ([name, does]) =>
		`register(${name}, spawn(fun F() -> ${name === "deaf" ? "receive listen -> ok end, " : ""}` +
		`receive {go, P} -> ${does}; _ -> ok end, F() end))`;
	await demo.ask(`${Object.entries(SERVERS).map(server).join(", ")}, ok.`);
	try {
		return await use();
	} finally {
		await demo.ask(`[exit(P, kill) || N <- [${Object.keys(SERVERS)}], P <- [whereis(N)], is_pid(P)], ok.`);
	}
}

// Clients: each makes a request of its server, and waits for the answer.
const client = (server) =>
	`spawn(fun() -> ${server === "frail" ? "process_flag(trap_exit, true), link(whereis(frail)), " : ""}` +
	`demo_exact:leaf(1), ${server} ! {go, self()}, receive back -> ok; {'EXIT', _, _} -> ok end end)`;
const ask = (demo, ...servers) => demo.ask(`[${servers.map(client)}], ok.`);

// The list: how long each took, its mark, and what is said of its end.
async function ends(page, n) {
	await page.mouse.move(700, 20); // under the pointer rows hold still
	await page.locator(".flow-list tbody tr").nth(n - 1).waitFor();
	return page.locator(".flow-list tbody tr").evaluateAll((list) =>
		list.map((r) => ({
			took: r.querySelector(".value").innerText.trim(),
			mark: r.querySelector(".end").innerText.trim(),
			most: r.querySelector(".most").title,
			says: r.querySelector(".end").title,
		})),
	);
}

// The one of which this is said is picked: what is drawn of it.
async function picked(page, says) {
	const row = page.locator(".flow-list tbody tr", { has: page.locator(`.end[title*="${says}"]`) });
	await row.locator(".pick").click();
	await page.locator(".flow-end", { hasText: says }).waitFor();
	return page.evaluate(() => {
		const all = (css) => [...document.querySelectorAll(`.waterfall ${css}`)];
		return {
			mark: all(".mark").map((e) => e.innerText).join(),
			rows: all(".who").map((t) => t.firstChild.data.trim()).slice(1),
			open: all(".bar.open").map((e) => [...e.classList].filter((c) => !["bar", "open", "critical"].includes(c)).join()),
		};
	});
}

export const requests = {
	// A known shape: a client, three messages through two servers.
	async requests({ browser, url, demo, ok, is }) {
		const page = await opened(browser, url);
		await demo.ask(
			"register(stage_two, spawn(fun F() -> receive {go, P} -> P ! back, F() end end)), " +
				"register(stage_one, spawn(fun F() -> receive {go, P} -> stage_two ! {go, P}, F() end end)), ok.",
		);
		await menu(page).click();
		await page.getByLabel("Module").fill("demo_exact:leaf");
		is("a function is pasted as a whole", await page.getByLabel("Function").inputValue(), "leaf");
		await page.getByLabel("Over after").selectOption({ label: "2 s of silence" }); // more than a node is held up for
		await page.locator(".follow .primary").click();
		await hasRun(page, 0);
		await demo.ask(
			"[begin {_, M} = spawn_monitor(fun() -> demo_exact:leaf(1), stage_one ! {go, self()}, " +
				"receive back -> ok end end), receive {'DOWN', M, _, _, _} -> ok end end || _ <- lists:seq(1, 5)], ok.",
		);
		await hasFlows(page, 5);
		await page.locator(".flow-list tbody tr").nth(4).waitFor();
		const rows = await page
			.locator(".flow-list tbody tr")
			.evaluateAll((list) => list.map((r) => [...r.children].map((c) => c.innerText.trim())));
		is(
			"the list: function, end, hops, messages, spawns, processes",
			rows.map((r) => [r[0], r[2], ...r.slice(4, 8)]),
			Array(5).fill(["demo_exact:leaf/1", "", "3", "3", "0", "3"]),
		);
		const took = await page.evaluate(() => globalThis.erltrace.run.flows.list.map((f) => f.elapsed));
		const shown = () =>
			page.evaluate(() => {
				const all = (css) => [...document.querySelectorAll(`.flow-plot ${css}`)];
				return {
					rows: all(".who").map((t) => t.firstChild.data.trim()),
					running: all(".bar.running").length,
					arrows: all(".arrow").length,
					critical: all(".arrow.critical").length,
					title: document.querySelector(".flow-what b").innerText,
				};
			});
		const picture = await shown();
		is("the waterfall: rows", picture.rows.slice(1), ["stage_one", "stage_two"]);
		is(
			"the waterfall: bars and arrows, all critical",
			[picture.running, picture.arrows, picture.critical, picture.title],
			[4, 3, 3, "demo_exact:leaf/1"],
		);
		await page.mouse.move(700, 20); // under the pointer rows hold still
		await page.waitForFunction(() => {
			const of = [...document.querySelectorAll(".flow-list td.value")].map((c) => Number(c.title.replace(/[^\d.]/g, "")));
			return of.every((n, i) => i === 0 || n <= of[i - 1]);
		});
		const order = await page
			.locator(".flow-list td.value")
			.evaluateAll((list) => list.map((c) => Number(c.title.replace(/[^\d.]/g, ""))));
		is("the slowest first", order, [...order].sort((a, b) => b - a));
		is("their times", order[0], Number((Math.max(...took) / 1000).toFixed(Math.max(...took) < 1e5 ? 2 : 1)));
		// Zoom by a drag, and back.
		const box = await page.locator(".flow-plot svg").boundingBox();
		await page.mouse.move(box.x + box.width * 0.5, box.y + 40);
		await page.mouse.down();
		await page.mouse.move(box.x + box.width * 0.7, box.y + 40, { steps: 4 });
		await page.mouse.up();
		await page.getByRole("button", { name: "Whole request" }).waitFor();
		await page.keyboard.press("Escape");
		await page.waitForFunction(() => !document.querySelector(".flow-what button"));
		ok("Esc goes back, and does not stop", await page.evaluate(() => globalThis.erltrace.running));
		await page.locator(".flow-list .pick").nth(3).click();
		is(
			"another one is picked",
			await page.evaluate(() => document.querySelector(".flow-list tr.picked td.value").title),
			await page.locator(".flow-list td.value").nth(3).getAttribute("title"),
		);
		await page.locator(".flows").getByRole("button", { name: "table" }).click();
		is("the table behind it", await page.locator(".flows .behind tbody tr").count(), 4);
		await stop(page, "took_us");
		is("no token is left", await demo.ask("[P || P <- processes(), {_, T} <- [process_info(P, sequential_trace_token)], T =/= []]."), "[]");
		await demo.ask("[exit(whereis(P), kill) || P <- [stage_one, stage_two]], ok.");
		return page;
	},

	async "requests that do not end as they should"({ browser, url, demo, ok, is }) {
		const page = await opened(browser, url);
		await served(demo, async () => {
			await menu(page).click();
			is("two seconds of silence, unless one says so", await page.getByLabel("Over after").inputValue(), "2");
			await page.keyboard.press("Escape");
			await follow(page, "0.5 s");
			ok("the script has the silence", (await page.evaluate(() => globalThis.erltrace.run.source)).includes("flowtime=500ms"));
			await page.locator(".flows").getByText("nothing has happened in it for 0.5 s").waitFor();
			ok("it is said when one is shown", true);
			await ask(demo, "quick", "slow", "deaf", "frail");
			await hasFlows(page, 4);
			const list = await ends(page, 4);
			const find = (text) => list.find((r) => text.test(r.says)) ?? list;
			is("idle: no mark", [find(/^Then nothing happened in it for [\d.]+ m?s\.$/).mark, find(/^Then nothing/).took.startsWith("≥")], ["", false]);
			is("waits: who has it", [find(/slow received \{go,.*, and did nothing more for/).mark, find(/slow received/).took.startsWith("≥")], ["waits", true]);
			is("waits: who has not taken it", [find(/sent to deaf .* was not received/).mark, find(/deaf/).took.startsWith("≥")], ["waits", true]);
			is("where the time went", [/slow received/, /sent to deaf/].map((t) => find(t).most.replace(/: .*/, "")), ["slow, nothing more is known", "deaf, in the mailbox"]);
			is("a crash", find(/^frail exited: oops\./).mark, "exit");
			is("waits, drawn: the client waits, the server has it", await picked(page, "slow received"), {
				mark: "waits",
				rows: ["slow"],
				open: ["waiting", "holds"],
			});
			is("waits, drawn: it is in the mailbox", await picked(page, "sent to deaf"), {
				mark: "waits",
				rows: ["deaf"],
				open: ["waiting", "mailbox"],
			});
			is("a crash, drawn", await picked(page, "frail exited: oops"), { mark: "exit", rows: ["frail"], open: [] });
			await page.locator(".flow-list thead").getByRole("button", { name: "end" }).click();
			is("sorted by end", (await ends(page, 4)).map((r) => r.mark), ["waits", "waits", "exit", ""]);

			// One click waits longer; the form has it then, also in the next page.
			const before = await page.evaluate(() => globalThis.erltrace.run.id);
			await picked(page, "slow received");
			await page.getByRole("button", { name: "Wait 1 s" }).click();
			await hasRun(page, before);
			ok("wait longer", (await page.evaluate(() => globalThis.erltrace.run.source)).includes("flowtime=1s"));
			await page.reload();
			await ready(page);
			await menu(page).click();
			is("it is remembered", await page.getByLabel("Over after").inputValue(), "1");
		});
		return page;
	},

	async "requests that are waited for"({ browser, url, demo, ok, is }) {
		const page = await opened(browser, url);
		await served(demo, async () => {
			await follow(page, "10 s");
			// A timer's message leaves the server in the request; it is over when nobody is in it any more.
			// (From when it waits on: the time of a process that has not begun would be missing.)
			await demo.ask(
				`P = ${client("slow")}, M = monitor(process, P), ` +
					"(fun F() -> case process_info(P, status) of {_, waiting} -> ok; _ -> timer:sleep(1), F() end end)(), " +
					"erlang:send_after(700, slow, answer), " +
					"receive {'DOWN', M, _, _, _} -> exit(whereis(slow), kill) end.",
			);
			await hasFlows(page, 1);
			const [slow] = await ends(page, 1);
			is("an answer after 0.7 s: it is over", [slow.mark, slow.says], ["", ""]);
			ok("it is in the time", await page.evaluate(() => globalThis.erltrace.run.flows.list[0].elapsed >= 7e8));
			await ask(demo, "deaf");
			await demo.ask("(fun F() -> case process_info(whereis(deaf), message_queue_len) of {_, 0} -> timer:sleep(5), F(); _ -> ok end end)().");
			await stop(page, "took_us");
			await hasFlows(page, 2);
			const rest = (await ends(page, 2)).find((r) => r.mark);
			is("one that is under way at the end", [rest.mark, /^It had not ended .* sent to deaf/.test(rest.says)], ["not ended", true]);
		});
		return page;
	},

	async "requests with too many messages, or for too long"({ browser, url, demo, is }) {
		const page = await opened(browser, url);
		await served(demo, async () => {
			await run(page, script("flowhops=4", "flowtime=10s", "flowlife=300ms"));
			await ask(demo, "chatty", "slow");
			await hasFlows(page, 2);
			const list = (await ends(page, 2)).sort((a, b) => (a.mark < b.mark ? -1 : 1));
			is("marks", list.map((r) => [r.mark, r.took.startsWith("≥")]), [["continues", true], ["cut", true]]);
			is("cut: why", list[1].says, "It is incomplete: it had more messages and spawns than are followed (option flowhops).");
			is("continues: where it was", /^It continues, .* slow received/.test(list[0].says), true);
			is("cut, drawn", (await picked(page, "flowhops")).mark, "cut");
		});
		return page;
	},

	// Buffers that are too small: whole requests have all of their messages, all others are marked.
	async "requests of which events were dropped"({ browser, url, demo, is, ok }) {
		const page = await opened(browser, url);
		await served(demo, async () => {
			await run(page, script("bufsize=4k", "switchrate=1s", "flowtime=500ms"));
			await ask(demo, ...Array(200).fill("quick"));
			await page.waitForFunction(() => {
				const { flows, dropTotal } = globalThis.erltrace.run;
				return dropTotal > 0 && flows?.list.some((f) => f.incomplete);
			});
			const flows = await page.evaluate(() =>
				globalThis.erltrace.run.flows.list.map((f) => [!!f.incomplete, f.messages, f.hops.every((h) => h.taken !== undefined)]),
			);
			is("those without a mark are whole", flows.filter(([lacks, n, taken]) => !lacks && !(n === 2 && taken)), []);
			const row = page.locator(".flow-list tbody tr", { has: page.locator(".mark", { hasText: "incomplete" }) }).first();
			ok("says what is missing", /It is incomplete: \S/.test(await row.locator(".end").getAttribute("title")));
			ok("drops are counted", Number(await page.locator(".banner .stat", { hasText: "drops" }).locator(".value").innerText()) > 0);
		});
		return page;
	},
};
