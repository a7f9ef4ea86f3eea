// SPDX-License-Identifier: Apache-2.0
// Light, dark or as the system has it. Canvases ask here for the colours of the style sheet.

const KEY = "erltrace.theme";
const system = matchMedia("(prefers-color-scheme: dark)");
const listeners = new Set();
let cache = null;

export const theme = {
	choice: load(KEY) ?? "auto",
	get dark() {
		return this.choice === "auto" ? system.matches : this.choice === "dark";
	},
	set(choice) {
		this.choice = choice;
		store(KEY, choice);
		apply();
	},
	next() {
		this.set({ auto: "light", light: "dark", dark: "auto" }[this.choice]);
	},
	onChange(f) {
		listeners.add(f);
		return () => listeners.delete(f);
	},
	// A variable of the style sheet, as text.
	colour(name) {
		cache ??= new Map();
		let c = cache.get(name);
		if (c === undefined)
			cache.set(
				name,
				(c = getComputedStyle(document.documentElement)
					.getPropertyValue(`--${name}`)
					.trim()),
			);
		return c;
	},
};

function apply() {
	document.documentElement.dataset.theme = theme.dark ? "dark" : "light";
	cache = null;
	for (const f of listeners) f();
}

// Storage can be forbidden; the page works without.
export function load(key) {
	try {
		return localStorage.getItem(key);
	} catch {
		return null;
	}
}

export function store(key, value) {
	try {
		localStorage.setItem(key, value);
		return true;
	} catch {
		return false;
	}
}

// The same, of this tab only.
export function loadTab(key) {
	try {
		return sessionStorage.getItem(key);
	} catch {
		return null;
	}
}

export function storeTab(key, value) {
	try {
		sessionStorage.setItem(key, value);
	} catch {
		// as it may
	}
}

// The same, of this tab first: two tabs do not take each other's scripts when they are loaded again.
export const loadHere = (key) => loadTab(key) ?? load(key);

export function storeHere(key, value) {
	storeTab(key, value);
	return store(key, value);
}

system.addEventListener("change", apply);
export const startTheme = apply;
