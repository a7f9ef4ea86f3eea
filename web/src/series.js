// SPDX-License-Identifier: Apache-2.0
// The keys of an aggregation. A series is a key of one node; the history knows it by its number. A key is
// one for all nodes that have it, except what names something inside a node: <0.91.0> of two nodes are two
// processes.
//
// Scripts have keys without end (a pid each request). So keys that were not seen for a while are released:
// what they had goes to a series of their node, "(other keys)", and their numbers are given again once
// the history has none of them.
import { keyText } from "./format.js";

export const FEW = 4000; // keys that are all kept, seen lately or not
const GREATEST = 1000; // of more, those with the greatest values stay,
const MOST = 20000; // and however many were seen lately, so many
export const OTHERS = "(other keys)";
export const RELEASED = `Of more than ${FEW} keys, those that were not seen within the time shown are released, except the greatest. One that comes again begins anew.`;

// Pids, ports and references as text.
const LOCAL = /<\d+\.\d+\.\d+>|#(?:Port|Ref)<\d/;
const isLocal = (value) => typeof value === "string" && LOCAL.test(value);

export class Series {
	constructor(nodeNames) {
		this.nodeNames = nodeNames; // of the run: it grows
		this.ids = []; // node index -> Map of key name -> series
		this.node = []; // series -> node index
		this.key = []; // series -> key index
		this.seen = []; // series -> the slot in which it came last
		this.given = []; // series -> the version that gave it this key
		this.keyIds = new Map();
		this.keys = []; // key index -> {name, values, text, several, users, rest}
		this.noKeys = []; // indices of keys without a series
		this.gone = []; // released series, in the order of `seen`
		this.others = []; // node index -> series
		this.released = 0; // keys
		this.version = 0;
	}

	get size() {
		return this.node.length;
	}

	// How many keys there are, without those that were released.
	get count() {
		return this.keyIds.size - (this.others.length ? 1 : 0);
	}

	// first: the oldest slot that the history has.
	id(node, values, slot = 0, first = -Infinity) {
		const name =
			values.length === 1 && typeof values[0] === "string"
				? values[0]
				: `\0${JSON.stringify(values)}`;
		const map = (this.ids[node] ??= new Map());
		let id = map.get(name);
		if (id === undefined) {
			const local = values.some(isLocal);
			id = this.give(node, this.keyOf(local ? `${node}\0${name}` : name, values, local ? node : -1), first);
			map.set(name, id);
		}
		this.seen[id] = slot;
		return id;
	}

	keyOf(name, values, node, rest = false) {
		let key = this.keyIds.get(name);
		if (key !== undefined) return key;
		key = this.noKeys.pop() ?? this.keys.length;
		this.keyIds.set(name, key);
		this.keys[key] = new Key(name, values, node < 0 ? null : () => this.placeOf(node));
		this.keys[key].rest = rest;
		return key;
	}

	// The node's name, if there are several.
	placeOf(node) {
		return this.nodeNames.length > 1 ? this.nodeNames[node] : "";
	}

	// A number for a series; that of a released one, if the history has none of it any more.
	give(node, key, first) {
		const again = this.gone.length > 0 && this.seen[this.gone[0]] < first;
		const id = again ? this.gone.shift() : this.node.length;
		this.node[id] = node;
		this.key[id] = key;
		this.keys[key].users++;
		this.given[id] = ++this.version;
		return id;
	}

	restOf(node) {
		return (this.others[node] ??= this.give(node, this.keyOf("\0others", [OTHERS], -1, true), -Infinity));
	}

	// Releases what is too many: what was not seen since a slot, and then what was not seen for longest; but not those
	// with the greatest values, by valueOf(series). moved(from, to): what a series had belongs to another now.
	release(since, valueOf, moved) {
		if (this.count <= FEW) return;
		// [name, series], the greatest last
		const live = this.ids.flatMap((map) => (map ? [...map] : [])).sort(([, a], [, b]) => valueOf(a) - valueOf(b));
		const some = live.slice(0, Math.max(0, live.length - GREATEST)).sort(([, a], [, b]) => this.seen[a] - this.seen[b]);
		const old = some.findIndex(([, id]) => this.seen[id] >= since);
		const go = some.slice(0, Math.max(old < 0 ? some.length : old, live.length - MOST));
		if (!go.length) return;
		this.version++;
		for (const [name, id] of go) this.letGo(name, id, moved);
		this.gone.push(...go.map(([, id]) => id));
		this.gone.sort((a, b) => this.seen[a] - this.seen[b]);
	}

	letGo(name, id, moved) {
		const node = this.node[id];
		const to = this.restOf(node);
		const key = this.keys[this.key[id]];
		this.ids[node].delete(name);
		if (--key.users === 0) {
			this.keyIds.delete(key.name);
			this.keys[this.key[id]] = undefined;
			this.noKeys.push(this.key[id]);
			this.released++;
		}
		this.key[id] = this.key[to];
		this.given[id] = this.version;
		moved(id, to);
	}
}

class Key {
	// place(): of which node it is, if that has to be said; null: it is of all.
	constructor(name, values, place) {
		Object.assign(this, { name, raw: values, place, users: 0, rest: false, at: null });
	}

	// The values as they are shown.
	get values() {
		return this.look().shown;
	}
	get text() {
		return this.look().line;
	}

	look() {
		const at = this.place?.() ?? "";
		if (at !== this.at) {
			this.at = at;
			this.shown = at ? this.raw.map((v) => (isLocal(v) ? `${v} · ${at}` : v)) : this.raw;
			this.line = keyText(this.shown);
		}
		return this;
	}
}
