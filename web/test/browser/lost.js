// SPDX-License-Identifier: Apache-2.0
// Steps of page.js that wait most of the time: a node, the link or the server is lost. They have a server and nodes
// of their own, page_still and page_gone, so that they run beside the others.
import { hasTotal, open, run, total } from "./drive.js";

const WORDS = "erlang*:::message-send /arg2 == 206/ { @words[arg2] = lquantize(arg2, 200, 264, 4); }";

export const lost = {
	// A node that dies among others, and one that is there but does not answer.
	async "a node goes away"({ browser, url, demo, more, ok, is }) {
		const page = await open(browser, url);
		await run(page, "erlang*:demo_exact::function-entry { @n = count(); }", {
			nodes: ["page_still", "page_gone"],
		});
		await page.waitForFunction(() => globalThis.erltrace.run.nodeInfo.length === 2);
		more.tell("erlang:halt().");
		const message = page.locator(".banner .message");
		await message.getByText(/page_gone@\S+ has gone away/).waitFor();
		ok("is said", true);
		await page.locator(".log .lines").getByText(/page_gone@\S+ has gone away/).waitFor();
		ok("is in the log", true);
		const dot = (node) => page.locator(".item.node", { hasText: node }).locator(".dot").getAttribute("class");
		await page.waitForFunction(() => !globalThis.erltrace.nodes.find((n) => n.name.startsWith("page_gone")).ok);
		ok("its dot is not green", true);
		await page.locator("header .menu button").first().click();
		is("nor in the list", await dot("page_gone"), "dot bad");
		is("the other's is", await dot("page_still"), "dot good");
		await page.keyboard.press("Escape");
		is("the other one goes on", await page.evaluate(() => globalThis.erltrace.run.phase), "running");
		const pid = Number(await demo.ask("list_to_integer(os:getpid())."));
		process.kill(pid, "SIGSTOP");
		try {
			await message.getByText(/no data from page_still@\S+ for \d+ s/).waitFor();
			await page.locator(".banner .state").getByText("No data").waitFor();
			ok("one that is silent is told", true);
		} finally {
			process.kill(pid, "SIGCONT");
		}
		await page.locator(".banner .state").getByText(/Running|Lost/).waitFor();
		ok("and when it is no more", true);
		return page;
	},

	// As when the cable is cut: nothing is closed, and nothing comes.
	async "a dead link: the script goes on when the connection is back"({ browser, url, demo, ok, is, off }) {
		const page = await open(browser, url);
		await run(page, WORDS, { nodes: ["page_still"] });
		await demo.ask("demo_exact:sends(11, 206).");
		await hasTotal(page, "206", 11);
		process.kill(Number(process.env.SERVER), "SIGSTOP");
		try {
			await page.locator(".banner").getByText("Reconnecting", { exact: true }).waitFor();
			ok("the page says so", true);
		} finally {
			process.kill(Number(process.env.SERVER), "SIGCONT");
		}
		await page.waitForFunction(() => globalThis.erltrace.link === "up");
		await page.locator(".strip").first().waitFor({ state: "detached" });
		is("it comes back", await page.locator(".strip").count(), 0);
		await page.locator(".banner .state").getByText("Running").waitFor();
		const ticks = await page.evaluate(() => globalThis.erltrace.run.ticks);
		await page.waitForFunction((n) => globalThis.erltrace.run.ticks > n + 2, ticks);
		await demo.ask("demo_exact:sends(5, 206).");
		await hasTotal(page, "206", 16);
		is("it goes on where it was", await total(page, "206"), 16);
		await page.locator(".log .lines").getByText(/connection was lost for \d+ s: the script was started again/).waitFor();
		ok("and says so", true);
		await page.getByRole("button", { name: "Stop" }).click();
		await page.waitForFunction(() => globalThis.erltrace.run.phase === "ended");
		is("nothing is traced", await off(), "[]");
		return null;
	},

	async "the server is killed"({ browser, url, ok, is, off }) {
		const page = await open(browser, url);
		await run(page, WORDS, { nodes: ["page_still"] });
		process.kill(Number(process.env.SERVER), "SIGKILL");
		await page.locator(".banner").getByText("Reconnecting", { exact: true }).waitFor();
		ok("the page says so", true);
		await page.locator(".banner").getByText("Lost", { exact: true }).waitFor({ timeout: 100000 });
		ok("and gives up", true);
		is("nothing is traced", await off(), "[]");
		return null;
	},
};
