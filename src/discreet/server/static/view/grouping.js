// Where a reader picks categories of a variable and makes a group of them, a row or column of its own.
import { words, written } from "../words.js";
import { element } from "./grid.js";
import { freeIn, separate } from "./groups.js";

const MOST = 300; // categories that are listed at a time

const folded = (text) => text.toLocaleLowerCase().normalize("NFD").replace(/\p{M}/gu, "");

export class Grouping {
  constructor(cube, state, changed) {
    Object.assign(this, { cube, state, changed });
    this.k = state.rows[0];
    this.picked = new Set();
    this.root = element("details", { class: "grouping", on: { toggle: () => this.root.open && this.open() } }, element("summary", {}, words("Group categories")));
    this.said = element("p", { class: "note", role: "status" });
    this.root.append(this.body(), this.said);
  }

  body() {
    this.which = element("select", { on: { change: (event) => { this.k = Number(event.target.value); this.picked.clear(); this.fill(); } } },
      ...this.cube.dimensions.map((d, k) => element("option", { value: k }, d.label)));
    this.which.value = String(this.k);
    this.search = element("input", { type: "search", autocomplete: "off", on: { input: () => this.list() } });
    this.boxes = element("ul", { class: "boxes", tabindex: "0", "aria-label": words("Categories") });
    this.boxes.addEventListener("change", (event) => this.tick(Number(event.target.value), event.target.checked));
    this.all = element("button", { type: "button", on: { click: () => this.pickListed() } }, words("Pick all that are listed"));
    this.name = element("input", { type: "text", maxlength: 80, autocomplete: "off" });
    this.add = element("button", { type: "submit", class: "main" }, words("Add the group"));
    this.made = element("ul", { class: "made", "aria-label": words("Group categories") });
    const form = element("form", { on: { submit: (event) => { event.preventDefault(); this.group(); } } },
      element("p", { class: "fields" },
        element("label", {}, words("Variable"), " ", this.which),
        element("label", {}, words("Find a category"), " ", this.search), this.all),
      this.boxes,
      element("p", { class: "fields" }, element("label", {}, words("Name of the group"), " ", this.name), this.add));
    return element("div", {}, element("p", { class: "note" }, words("A group adds up numbers that are published. Nothing new is asked, and its range follows from those of its numbers.")), form, this.made);
  }

  get codebook() { return this.cube.data.dimensions[this.k]; }
  get groups() { return (this.state.groups[this.k] ??= []); }

  // what stands in rows is what one groups first
  open() {
    if (!this.picked.size) this.k = this.state.rows[0];
    this.which.value = String(this.k);
    this.fill();
  }

  fill() {
    this.list();
    this.named();
    this.made.replaceChildren(...this.state.groups.flatMap((some, k) => some.map((group, n) => this.line(k, group, n))));
  }

  // the categories that the search leaves, as far as they are free
  list() {
    const d = this.codebook;
    const free = freeIn(d, this.groups);
    const wanted = folded(this.search.value).split(/\s+/).filter(Boolean);
    const own = this.cube.dimensions[this.k];
    this.listed = d.codes.map((_, n) => n).filter((n) => n !== d.total && wanted.every((word) => folded(`${d.labels[n]} ${d.codes[n]}`).includes(word)));
    const depth = (n) => (d.parents[n] === null || d.parents[n] === d.total ? 0 : 1 + depth(d.parents[n]));
    const lines = this.listed.slice(0, MOST).map((n) => {
      const box = element("input", { type: "checkbox", value: n, disabled: !free(n) });
      box.checked = this.picked.has(n);
      const inGroup = own.parents[n] >= d.codes.length ? ` (${own.labels[own.parents[n]]})` : "";
      return element("li", { style: { paddingLeft: `${wanted.length ? 0 : 1.1 * depth(n)}rem` } }, element("label", { class: "tick" }, box, element("span", {}, `${d.labels[n]}${inGroup}`)));
    });
    if (this.listed.length > MOST) lines.push(element("li", { class: "note" }, words("%(n)s more: write more of the name", { n: written(this.listed.length - MOST) })));
    if (!this.listed.length) lines.push(element("li", { class: "note" }, words("No category has these words.")));
    this.boxes.replaceChildren(...lines);
  }

  tick(n, is) {
    if (is) this.picked.add(n);
    else this.picked.delete(n);
    this.named();
  }

  pickListed() {
    const free = freeIn(this.codebook, this.groups);
    this.listed.filter(free).forEach((n) => this.picked.add(n));
    this.list();
    this.named();
  }

  // what the group would be called, and whether it can be made: of two categories at least
  named() {
    const d = this.codebook;
    const members = separate(d, [...this.picked], this.groups);
    const first = d.labels[members[0]];
    this.name.placeholder = members.length > 3 ? words("%(first)s and %(n)s more", { first, n: written(members.length - 1) }) : members.map((n) => d.labels[n]).join(" + ");
    this.add.setAttribute("aria-disabled", String(members.length < 2));
    return members;
  }

  group() {
    const members = this.named();
    if (members.length < 2) {
      this.said.textContent = words("Pick at least two categories that do not lie in each other.");
      this.boxes.focus();
      return;
    }
    const label = this.name.value.trim() || this.name.placeholder;
    this.groups.push({ label, members });
    this.picked.clear();
    this.name.value = "";
    this.apply(this.k);
    this.said.textContent = words("Group made: %(name)s", { name: label });
    this.name.focus();
  }

  line(k, group, n) {
    const text = `${this.cube.dimensions[k].label}: ${group.label}`;
    const remove = element("button", { type: "button", class: "small", "aria-label": words("Remove %(what)s", { what: text }), on: { click: () => {
      this.state.groups[k].splice(n, 1);
      this.apply(k);
      (this.made.querySelector("button") ?? this.root.querySelector("summary")).focus();
    } } }, "×");
    return element("li", {}, element("span", {}, text), " ", remove);
  }

  apply(k) {
    regroup(this.cube, this.state, k);
    this.fill();
    this.changed();
  }
}

// The groups of a variable taken into the table: each stands for its categories until it is unfolded.
export function regroup(cube, state, k) {
  cube.regroup(k, state.groups[k] ?? []);
  const d = cube.dimensions[k];
  const folds = [...(state.folded[k] ?? [])].filter((n) => n < d.size && !d.cut.has(n));
  state.folded[k] = new Set([...folds, ...d.members.keys()]);
  if (state.layer[k] >= d.codes.length) state.layer[k] = d.total ?? 0;
  state.sort = null;
}
