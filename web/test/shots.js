// SPDX-License-Identifier: Apache-2.0
// Pictures of the page with made-up data, to look at while working on it: node test/shots.js [FOLDER] [NAME]
import { mkdirSync } from "node:fs";
import { chromium } from "playwright-core";
import { serve } from "./devserver.js";

const SEED = `erlang*:::function-entry
{
	self->funcall_entry_ts[copyinstr(arg1)] = vtimestamp;
}
erlang*:::function-return
{
	@time[copyinstr(arg1)] = lquantize((vtimestamp - self->funcall_entry_ts[copyinstr(arg1)] ) / 1000, 0, 63, 2);
}
`;
export const SCENES = {
	empty: {},
	heat: { script: SEED, wait: 32000, hover: true },
	quantize: {
		script: `/* two nodes */\n${SEED.replace("/ 1000, 0, 63, 2", "").replace("lquantize", "quantize")}`,
		wait: 16000,
		hues: true,
	},
	list: {
		script: `erlang*:::function-return
{
	@calls[copyinstr(arg1)] = count();
	@ns[copyinstr(arg1)] = avg(vtimestamp - self->at);
}
`,
		wait: 6000,
	},
	error: { script: SEED.replace("vtimestamp;", "nosuchthing;"), wait: 500 },
	flame: { script: "profile-97\n{\n\t@[ustack()] = count();\n}\n", wait: 3000 },
	log: {
		script: '/* drops */\nerlang*:::process-spawn\n{\n\tprintf("spawned %s by %s\\n", copyinstr(arg0), copyinstr(arg1));\n\t@ = count();\n}\n',
		wait: 4000,
	},
	help: { help: true },
	menu: { menu: true },
};

async function shoot(page, scene, name, folder) {
	if (scene.script) {
		await page.evaluate(() => globalThis.erltrace.setWindow(30));
		await page.evaluate((text) => globalThis.erltrace.editor.set(text), scene.script);
		await page.keyboard.press("Control+Enter");
		await page.waitForTimeout(scene.wait);
	}
	if (scene.hues) await page.getByRole("button", { name: "hues" }).click();
	if (scene.help) await page.locator("button[aria-label=Keys]").click();
	if (scene.menu) await page.getByRole("button", { name: "Scripts" }).click();
	if (scene.hover) {
		const box = await page.locator(".heat canvas").boundingBox();
		await page.mouse.move(box.x + box.width * 0.93, box.y + box.height * 0.75);
		await page.waitForTimeout(200);
	}
	await page.screenshot({ path: `${folder}/${name}.png` });
}

const folder = process.argv[2] ?? "/tmp/shots";
mkdirSync(folder, { recursive: true });
const server = await serve();
const browser = await chromium.launch({
	executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
	args: ["--no-sandbox"],
});
for (const size of [
	{ width: 1440, height: 900 },
	{ width: 900, height: 700 },
]) {
	for (const colorScheme of ["light", "dark"]) {
		for (const [name, scene] of Object.entries(SCENES)) {
			if (process.argv[3] && !process.argv[3].split(",").includes(name)) continue;
			if (process.argv[4] && process.argv[4] !== `${colorScheme}-${size.width}`)
				continue;
			const context = await browser.newContext({ viewport: size, colorScheme });
			const page = await context.newPage();
			page.on("console", (m) => {
				if (["error", "warning"].includes(m.type()))
					console.log(name, m.text());
			});
			page.on("pageerror", (e) => console.log(name, e.stack));
			await page.goto(`http://127.0.0.1:${server.port}/#token=dev`);
			await page.waitForFunction(() => globalThis.erltrace?.nodes);
			await shoot(page, scene, `${name}-${colorScheme}-${size.width}`, folder);
			await context.close();
		}
	}
}
await browser.close();
server.close();
