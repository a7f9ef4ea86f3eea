// SPDX-License-Identifier: Apache-2.0
// Stacks as a tree, and the tree as boxes.
import { frameName, keyText } from "./format.js";

// Zero is where a walk along frames ends, not one of them.
const isFrame = (frame) => !/^0x0+$/i.test(frame);

// An address without a symbol is at another place in each process: such frames are one by library.
function boxName(frame) {
	const bare = /^(?:([^`]+)`)?0x[0-9a-f]+$/i.exec(frame);
	return bare ? `[${bare[1] ?? "unknown"}]` : frameName(frame);
}

// stacks: [{keys, value}]. Keys before and after the stack become the frames at the bottom.
export function buildTree(stacks) {
	const root = {
		name: "all",
		value: 0,
		self: 0,
		children: new Map(),
		parent: null,
		depth: 0,
	};
	for (const { keys, value } of stacks) {
		if (!(value > 0)) continue;
		const frames = keys.filter((k) => !Array.isArray(k)).map((k) => keyText([k]));
		// The innermost frame comes first in a stack.
		for (const k of keys)
			if (Array.isArray(k)) frames.push(...k.filter(isFrame).map(boxName).reverse());
		let at = root;
		at.value += value;
		for (const name of frames) {
			let next = at.children.get(name);
			if (!next) {
				next = {
					name,
					value: 0,
					self: 0,
					children: new Map(),
					parent: at,
					depth: at.depth + 1,
				};
				at.children.set(name, next);
			}
			next.value += value;
			at = next;
		}
		at.self += value;
	}
	return root;
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
