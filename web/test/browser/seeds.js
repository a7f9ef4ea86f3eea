// SPDX-License-Identifier: Apache-2.0
// Steps of page.js: the two scripts that came with the first heat map of an Erlang node, in 2013, as
// they were (function_heat.d, function_list.d), and what the page shows of them against what the
// Erlang API gives: the same script and the same work on another node.
import { readFileSync } from "node:fs";
import { cells, hasTotal, open, picture, run, saved, stop, table, total, whole } from "./drive.js";

const script = (name) => readFileSync(new URL(name, import.meta.url), "utf8");
const HEAT = script("function_heat.d");
const LIST = script("function_list.d");
// How long a function took is not known before, but for one that is at work for much longer than the
// last bucket begins: of that one the cells are known too.
const WORK = ["demo_exact:calls(3000).", "demo_exact:nested(500).", "demo_exact:burns(40)."];
const CALLS = {
	"demo_exact:leaf/1": 3000,
	"demo_exact:inner/1": 1000,
	"demo_exact:outer/1": 500,
	"demo_exact:burn/1": 40,
};
const LAST = 62; // where the last bucket of lquantize(x, 0, 63, 2) begins
// Values that are known, in all cells: words of messages, larger than those of the node itself.
const WORDS =
	"erlang*:::message-send\n/arg2 >= 1000 && arg2 < 1064/\n{\n\t@words[arg2] = lquantize(arg2, 1000, 1064, 4);\n}\n";
const SIZES = [1000, 1006, 1012, 1018, 1024, 1030, 1036, 1042];
const SENDS = SIZES.map((words, i) => `demo_exact:sends(${3 + i * i}, ${words}).`);

// What erltrace:walk() has after some work: key -> {lo: count} or a number.
async function walked(node, text, work) {
	const go =
		`{ok, H} = erltrace:open(), ok = erltrace:compile(H, ${JSON.stringify(text)}), ` +
		"ok = erltrace:go(H), put(handle, H), ok.";
	const went = await node.ask(go);
	if (went !== "ok") throw new Error(`the API: ${went}`);
	for (const w of work) await node.ask(w);
	const answer = await node.ask(
		"{ok, R} = erltrace:walk(get(handle)), ok = erltrace:close(erase(handle)), " +
			'Text = fun(K) when is_integer(K) -> integer_to_list(K); (K) -> K end, ' +
			'Json = fun(V) when is_integer(V) -> integer_to_list(V); ' +
			'(L) -> ["[", lists:join(",", [io_lib:format("{\\"lo\\":~w,\\"count\\":~w}", [case is_integer(Lo) of true -> Lo; false -> null end, N]) || {{Lo, _}, N} <- L]), "]"] end, ' +
			'lists:flatten(["{", lists:join(",", [[$", Text(K), "\\":", Json(V)] || {_, [K], V} <- R]), "}"]).',
	);
	let by;
	try {
		by = JSON.parse(JSON.parse(answer));
	} catch {
		throw new Error(`the API: ${answer}`);
	}
	for (const key of Object.keys(by)) if (Array.isArray(by[key])) by[key] = cells(by[key]);
	return by;
}

const sum = (by) => Object.values(by ?? {}).reduce((a, b) => a + b, 0);
const mine = (by) => Object.keys(by).filter((k) => k in CALLS);

export const seeds = {
	async "the first heat map"({ browser, url, demo, api, ok, is }) {
		const page = await open(browser, url);
		await run(page, HEAT, { nodes: ["page_demo"] });
		const before = await picture(page);
		for (const work of WORK) await demo.ask(work);
		for (const [key, n] of Object.entries(CALLS)) {
			await hasTotal(page, key, n);
			is(`calls of ${key}`, await total(page, key), n);
		}
		const after = await picture(page);
		ok("the picture has changed", before !== after);
		// (ticks come, and are painted a moment later)
		await page.waitForFunction((old) => document.querySelector(".heat canvas").toDataURL() !== old, after);
		ok("and moves", after !== (await picture(page)));

		const heat = page.locator(".heat");
		await heat.getByRole("button", { name: "table", exact: true }).click();
		await page.locator(".keys .key", { hasText: "demo_exact:burn/1" }).first().click();
		is("one key is shown", await page.locator(".keys li:not(.off)").count(), 1);
		is("its cells", await table(page, 40), [["≥ 62 µs", 40]]);
		await page.getByRole("button", { name: "Show all" }).click();
		is("all are shown again", await page.locator(".keys li.off").count(), 0);

		const end = await stop(page, "time");
		const got = await saved(page, ".heat");
		ok("many functions were seen", Object.keys(end).length > 5, Object.keys(end).join());
		is("every cell is as the end of the script has it", got, end);
		is("drops", await page.evaluate(() => globalThis.erltrace.run.dropTotal), 0);

		const wanted = await walked(api, HEAT, WORK);
		is("the API has the same functions", mine(got).sort(), mine(wanted).sort());
		for (const key of Object.keys(CALLS))
			is(`the API has as many calls of ${key}`, sum(got[key]), sum(wanted[key]));
		const slow = "demo_exact:burn/1";
		is("and the same cells where they are known", got[slow], wanted[slow]);
		is("which are these", got[slow], { [LAST]: 40 });
		return page;
	},

	async "the first list"({ browser, url, demo, api, ok, is }) {
		const page = await open(browser, url);
		await run(page, LIST, { nodes: ["page_demo"] });
		for (const work of WORK) await demo.ask(work);
		await page.getByLabel("Filter keys").fill("demo_exact");
		await page.locator(".list .name", { hasText: "demo_exact:burn/1" }).waitFor();
		const end = await stop(page, "time");
		is("the last tick has the rest", await total(page, "demo_exact:burn/1"), end["demo_exact:burn/1"]);
		await page.waitForFunction(
			(n) =>
				Number(
					[...document.querySelectorAll(".list tbody tr")]
						.find((r) => r.textContent.includes("burn/1"))
						?.querySelector(".value")
						.title.replace(/\s/g, ""),
				) === n,
			end["demo_exact:burn/1"],
		);
		const rows = await page
			.locator(".list tbody tr")
			.evaluateAll((list) =>
				list.map((r) => [
					r.querySelector(".name").textContent,
					r.querySelector(".value").title,
				]),
			);
		for (const key of Object.keys(CALLS))
			ok(`${key} has a row`, rows.some(([name]) => name === key));
		for (const [key, value] of rows) is(`row ${key}`, whole(value), end[key]);
		const values = rows.map(([, value]) => whole(value));
		is("the greatest is first", values, [...values].sort((a, b) => b - a));
		is("what is saved is as the end has it", await saved(page, ".list"), end);

		const wanted = await walked(api, LIST, WORK);
		is("the API has the same functions", mine(end).sort(), mine(wanted).sort());
		for (const [what, by] of [["page", end], ["API", wanted]])
			ok(
				`the ${what}'s time of what works longest`,
				by["demo_exact:burn/1"] > 40 * LAST,
				`${by["demo_exact:burn/1"]} µs`,
			);
		return page;
	},

	async "cells of the page and of the API"({ browser, url, demo, api, is }) {
		const page = await open(browser, url);
		await run(page, WORDS, { nodes: ["page_demo"] });
		for (const work of SENDS) await demo.ask(work);
		const [i, last] = [SIZES.length - 1, SIZES.at(-1)];
		await hasTotal(page, `${last}`, 3 + i * i);
		await stop(page, "words");
		is("are the same", await saved(page, ".heat"), await walked(api, WORDS, SENDS));
		return page;
	},
};
