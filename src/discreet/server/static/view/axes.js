// Which variable stands in rows, columns and layers: names that are dragged, or moved with the arrow keys.
import { words } from "../words.js";
import { element } from "./grid.js";

const PLACES = ["rows", "columns", "layers"];

export class Axes {
  constructor(cube, state, changed) {
    Object.assign(this, { cube, state, changed });
    this.said = element("p", { class: "unseen", role: "status" });
    this.root = element("div", { class: "axes", role: "group", "aria-label": words("Rows, columns and layers") });
  }

  draw(focus = null) {
    const names = { rows: words("Rows"), columns: words("Columns"), layers: words("Layers") };
    this.root.replaceChildren(
      ...PLACES.map((place) => this.zone(place, names[place])),
      element("p", { id: "axes-help", class: "unseen" }, words("Drag a name, or move it with the arrow keys: left and right within its place, up and down to another place.")),
      this.said,
    );
    if (focus !== null) this.root.querySelector(`[data-k="${focus}"]`)?.focus();
  }

  zone(place, name) {
    const zone = element("div", { class: "zone", "data-place": place, role: "group", "aria-label": name }, element("span", { class: "zone-name" }, name));
    for (const k of this.state[place]) zone.append(this.chip(k, place), ...(place === "layers" ? [this.layer(k)] : []));
    zone.addEventListener("dragover", (event) => { event.preventDefault(); zone.classList.add("over"); });
    zone.addEventListener("dragleave", () => zone.classList.remove("over"));
    zone.addEventListener("drop", (event) => {
      event.preventDefault();
      const k = Number(event.dataTransfer.getData("text/plain"));
      const before = [...zone.querySelectorAll(".chip")].findIndex((chip) => event.clientX < chip.getBoundingClientRect().right - chip.offsetWidth / 2);
      if (Number.isInteger(k) && this.cube.dimensions[k]) this.move(k, place, before < 0 ? this.state[place].length : before);
    });
    return zone;
  }

  chip(k, place) {
    const d = this.cube.dimensions[k];
    const chip = element("button", {
      type: "button", class: "chip", draggable: "true", "data-k": k, "aria-describedby": "axes-help", title: d.definition ?? null,
      on: { keydown: (event) => this.key(event, k, place), dragstart: (event) => event.dataTransfer.setData("text/plain", String(k)) },
    }, element("span", { "aria-hidden": "true", class: "grip" }, "⠿"), d.label);
    chip.addEventListener("click", () => this.next(k, place));
    return chip;
  }

  layer(k) {
    const d = this.cube.dimensions[k];
    const chosen = this.state.layer[k] ?? 0;
    const options = d.order.map((n) => {
      const option = element("option", { value: n }, `${"\u2003".repeat(d.depths[n])}${d.labels[n]}`);
      option.selected = n === chosen;
      return option;
    });
    return element("select", {
      "aria-label": d.label, on: { change: (event) => { this.state.layer[k] = Number(event.target.value); this.changed(); } },
    }, ...options);
  }

  key(event, k, place) {
    const at = this.state[place].indexOf(k);
    const across = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    const along = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (along && this.state[place][at + along] !== undefined) this.move(k, place, at + along);
    else if (across) this.next(k, place, across);
    else return;
    event.preventDefault();
  }

  next(k, place, step = 1) {
    const to = PLACES[(PLACES.indexOf(place) + step + PLACES.length) % PLACES.length];
    this.move(k, to, this.state[to].length);
  }

  // a table keeps one variable in its rows: the first of another place takes it
  move(k, place, at) {
    const { state } = this;
    const from = PLACES.find((one) => state[one].includes(k));
    const others = [...state.columns, ...state.layers].filter((one) => one !== k);
    state[from] = state[from].filter((one) => one !== k);
    state[place] = [...state[place].slice(0, at), k, ...state[place].slice(at)];
    if (!state.rows.length) {
      const taken = others[0] ?? k;
      for (const one of PLACES) state[one] = state[one].filter((n) => n !== taken);
      state.rows = [taken];
    }
    if (state.layers.includes(k)) state.layer[k] ??= this.cube.dimensions[k].total ?? 0;
    state.sort = null;
    this.changed();
    this.draw(k);
    const where = { rows: words("Rows"), columns: words("Columns"), layers: words("Layers") }[PLACES.find((one) => state[one].includes(k))];
    this.said.textContent = `${this.cube.dimensions[k].label}: ${where}`;
  }
}
