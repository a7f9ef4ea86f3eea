// SPDX-License-Identifier: Apache-2.0
// What a script printed, line by line: the last few thousand, and how many there were.

export const KEPT = 4000;

export class Log {
	constructor() {
		this.entries = []; // {n, time, kind, text, node}
		this.count = 0;
		this.partial = null; // a printf() that has not ended its line
	}

	note(kind, text, node = "", time = Date.now()) {
		this.partial = null;
		this.entries.push({ n: ++this.count, time, kind, text: String(text ?? ""), node });
		if (this.entries.length > KEPT + 500)
			this.entries.splice(0, this.entries.length - KEPT);
	}

	// An output line of the command: printf, trace, stack ... as doc/json.md has them.
	line(line) {
		const text = lineText(line);
		if (text === null) return;
		const time = line.walltimestamp ? line.walltimestamp / 1e6 : Date.now();
		const lines = text.split("\n");
		const open = lines.pop();
		for (const l of lines) this.put(line, l, time, true);
		if (open !== "") this.put(line, open, time, line.type !== "printf");
	}

	put(line, text, time, ends) {
		const node = line.node ?? "";
		const p = this.partial;
		if (p && p.kind === line.type && p.node === node) p.text += text;
		else this.note(line.type, text, node, time);
		this.partial = ends ? null : this.entries[this.entries.length - 1];
	}
}

export function lineText(line) {
	const values = line.values ?? [];
	switch (line.type) {
		case "probe":
			return null;
		case "printf":
		case "print":
			return line.text ?? values.join(" ");
		case "stack":
		case "ustack":
		case "jstack":
			return `${values
				.flat()
				.map((f) => `    ${f}`)
				.join("\n")}\n`;
		case "exit":
			return `exit(${values[0] ?? 0})`;
		case "setopt":
		case "freopen":
		case "system":
			return `${line.type}(${values.join(", ")})`;
		default:
			return values.length
				? values.map((v) => (v === null ? "NULL" : String(v))).join(" ")
				: null;
	}
}
