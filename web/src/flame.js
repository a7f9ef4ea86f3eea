// SPDX-License-Identifier: Apache-2.0
// Stacks as a tree, and the tree as boxes.
import { frameName, keyText } from "./format.js";

// Zero is where a walk along frames ends, not one of them.
const isFrame = (frame) => !/^0x0+$/i.test(frame);

// An address without a symbol is at another place in each process: such frames are one by library.
// "lists:map/2 (lists.erl:12) (x 998)": the box is the function's, with the line noted. A recursion is one
// box, however deep.
function splitFrame(frame) {
	const [, text, file, line] = /^(.*?)(?: \(([^()]*):(\d+)\))?(?: \(x \d+\+?\))?$/s.exec(frame);
	const bare = /^(?:([^`]+)`)?0x[0-9a-f]+$/i.exec(text) ?? /^([^`:]+)\+0x[0-9a-f]+$/i.exec(text);
	return { name: bare ? `[${bare[1] ?? "unknown"}]` : frameName(text), file, line };
}

// What a frame is of, as far as its name says.
function nameKind(name) {
	if (/^(vmlinux|kernel)`/.test(name)) return "kernel";
	if (name.startsWith("(garbage")) return "gc";
	if (name === "(scheduler)") return "scheduler";
	return /^[^:']*`|^\[|^\(/.test(name) ? "native" : "erlang";
}

// Of samples by erlstate: what the innermost function is.
const STATES = { bif: "bif", nif: "nif", dirty: "nif" };

export const KINDS = {
	key: "key",
	erlang: "Erlang, by module",
	bif: "BIF",
	nif: "NIF",
	native: "C code",
	gc: "garbage collection",
	scheduler: "scheduler",
	kernel: "kernel",
};

export function kindOf(node) {
	if (node.key) return "key";
	const kind = nameKind(node.name);
	if (kind !== "erlang" || !node.states) return kind;
	let own = "";
	for (const [state, n] of node.states) if (n > (node.states.get(own) ?? node.self / 2)) own = state;
	return STATES[own] ?? kind;
}

function newNode(name, parent) {
	return {
		name,
		value: 0,
		self: 0,
		children: new Map(),
		parent,
		depth: parent ? parent.depth + 1 : 0,
		key: false,
		file: undefined,
		lines: null, // line: value
		states: null, // erlstate: own value
	};
}

const addTo = (map, key, value) => (map ?? new Map()).set(key, (map?.get(key) ?? 0) + value);

function descend(at, name, value, part) {
	let next = at.children.get(name);
	if (!next) at.children.set(name, (next = newNode(name, at)));
	next.value += value;
	if (part?.file) {
		next.file = part.file;
		next.lines = addTo(next.lines, part.line, value);
	}
	return next;
}

const isKernel = (stack) => stack.some((f) => nameKind(f) === "kernel");

// stacks: [{keys, value}]. Keys that are no stacks become the frames at the bottom, those of the kernel
// the ones at the top. state: which key is erlstate, which says what the innermost function is.
export function buildTree(stacks, state = -1) {
	const root = newNode("all", null);
	for (const { keys, value } of stacks) {
		if (!(value > 0)) continue;
		let at = root;
		at.value += value;
		keys.forEach((k, i) => {
			if (Array.isArray(k) || i === state) return;
			at = descend(at, keyText([k]), value);
			at.key = true;
		});
		const parts = keys.filter((k) => Array.isArray(k));
		if (parts.length > 1) parts.sort((a, b) => isKernel(a) - isKernel(b));
		for (const stack of parts)
			// The innermost frame comes first in a stack.
			for (let i = stack.length - 1; i >= 0; i--) {
				if (!isFrame(stack[i])) continue;
				const part = splitFrame(stack[i]);
				at = descend(at, part.name, value, part);
			}
		at.self += value;
		if (state >= 0) at.states = addTo(at.states, keys[state], value);
	}
	return root;
}

// How much of the tree is of frames that the text is in, once for each stack.
export function valueOf(root, has) {
	let sum = 0;
	const walk = (node) => {
		for (const kid of node.children.values()) has(kid.name) ? (sum += kid.value) : walk(kid);
	};
	walk(root);
	return sum;
}

// Boxes of the tree below `top`, with its callers full width under it: {node, x, w (0..1), depth}.
// Boxes narrower than `least` are left out.
export function layout(top, least = 0.0005) {
	const boxes = [];
	for (let n = top.parent; n; n = n.parent)
		boxes.unshift({ node: n, x: 0, w: 1, depth: n.depth, above: true });
	let deepest = top.depth;
	const walk = (node, x, w) => {
		boxes.push({ node, x, w, depth: node.depth, above: false });
		deepest = Math.max(deepest, node.depth);
		const kids = [...node.children.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
		for (const kid of kids) {
			const kw = (w * kid.value) / node.value;
			if (kw >= least) walk(kid, x, kw);
			x += kw;
		}
	};
	if (top.value > 0) walk(top, 0, 1);
	return { boxes, depth: deepest + 1 };
}

// The same node in a tree built later, or the nearest there is.
export function findAgain(root, node) {
	const path = [];
	for (let n = node; n.parent; n = n.parent) path.unshift(n.name);
	let at = root;
	for (const name of path) {
		const next = at.children.get(name);
		if (!next) break;
		at = next;
	}
	return at;
}

// By frame name: own and total (once for each stack it is in), greatest own first. The table behind.
export function frameTable(root) {
	const sums = new Map();
	const open = new Map();
	const walk = (node) => {
		if (node !== root) {
			const s = sums.get(node.name) ?? { name: node.name, self: 0, total: 0 };
			s.self += node.self;
			if (!open.get(node.name)) s.total += node.value;
			sums.set(node.name, s);
			open.set(node.name, (open.get(node.name) ?? 0) + 1);
		}
		for (const kid of node.children.values()) walk(kid);
		if (node !== root) open.set(node.name, open.get(node.name) - 1);
	};
	walk(root);
	return [...sums.values()].sort(
		(a, b) => b.self - a.self || b.total - a.total || (a.name < b.name ? -1 : 1),
	);
}

// Lines of folded stacks, outermost first, as --folded writes them.
export function* folded(root) {
	const walk = function* (node, path) {
		if (node.self > 0) yield `${path.join(";") || "(no stack)"} ${node.self}\n`;
		for (const kid of node.children.values()) yield* walk(kid, [...path, kid.name.replaceAll(";", ":")]);
	};
	yield* walk(root, []);
}
