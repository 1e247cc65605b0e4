// Charts of the table as it is laid out: the library is loaded when the first one is looked at.
import { words } from "../words.js";
import { shownCategories } from "./cube.js";
import { element } from "./grid.js";
import { alternative, areasOf, kinds, MOST, optionOf, picture } from "./picture.js";

let library = null;
const maps = new Map();

function loaded() {
  library ??= new Promise((resolve, reject) => {
    const script = element("script", { src: new URL("echarts.min.js", import.meta.url).href });
    script.onload = () => resolve(window.echarts);
    script.onerror = () => {
      library = null; // the next drawing asks again
      reject(new Error("not loaded"));
    };
    document.head.append(script);
  });
  return library;
}

async function geometryOf(grid, echarts) {
  const { cube, state } = grid;
  const k = [...state.rows, ...state.columns].find((one) => cube.dimensions[one].geometry);
  const d = cube.dimensions[k];
  if (!maps.has(d.name)) {
    const answer = await fetch(`${document.getElementById("viewer").dataset.geometry}?variable=${encodeURIComponent(d.name)}`);
    if (!answer.ok) throw new Error(`status ${answer.status}`);
    maps.set(d.name, await answer.json());
  }
  // areas that are shown now: a group only where it is folded, or where what lies in it has no shapes
  const { features } = maps.get(d.name);
  const place = new Map(d.codes.map((code, n) => [code, n]));
  const drawn = new Set(features.map((one) => place.get(one.properties.code)).filter((n) => n !== undefined));
  const folded = state.folded[k] ?? new Set();
  const shown = new Set(shownCategories(d, new Set([...folded].filter((n) => n < d.size)))); // a reader's group has no shape: its areas are drawn
  const lowest = [...drawn].filter((n) => shown.has(n) && (folded.has(n) || !d.children[n].some((part) => drawn.has(part))));
  const names = new Set(lowest.map((n) => d.codes[n]));
  const id = `${d.name} ${[...names].join()}`;
  echarts.registerMap(id, { type: "FeatureCollection", features: features.filter((one) => names.has(one.properties.code)) });
  return { id, names };
}

function colours() {
  const style = getComputedStyle(document.getElementById("viewer"));
  const ink = (name) => style.getPropertyValue(name).trim();
  return { text: ink("--v-ink") || "#222", line: ink("--line") || "#999", paper: ink("--v-paper") || "#fff", dark: matchMedia("(prefers-color-scheme: dark)").matches };
}

// The option of a picture that is taken away: below it stand title, population and source, which the page has around it.
function titled(grid, option, width, named) {
  const { source, population, notes } = grid.cube.data;
  const people = population.map((one) => `${one.label}: ${one.category}`).join("; ");
  const lines = [document.getElementById("caption").textContent, named, people, [source, location.href].filter(Boolean).join(". "), ...notes.slice(0, 1)].filter(Boolean);
  const { text: fill } = colours();
  const each = Math.floor(width / 7); // letters of a line
  const texts = lines.flatMap((line) => line.match(new RegExp(`.{1,${each}}(\\s|$)|.{1,${each}}`, "g")).map((part) => part.trim()));
  const room = 18 * texts.length + 16;
  const graphic = texts.map((text, n) => ({ type: "text", left: 8, bottom: room - 18 * (n + 1), style: { text, fill, font: n ? "12px sans-serif" : "bold 13px sans-serif" } }));
  const lifted = (one) => (one && !Array.isArray(one) && one.bottom !== undefined ? { ...one, bottom: one.bottom + room } : one);
  const title = Array.isArray(option.title) ? option.title.map(lifted) : lifted(option.title);
  return { option: { ...option, title, grid: lifted(option.grid), visualMap: lifted(option.visualMap), series: option.series.map((one) => (one.type === "map" ? lifted(one) : one)), graphic }, room };
}

export class Chart {
  constructor(grid, kind) {
    Object.assign(this, { grid, kind });
    this.box = element("div", { class: "chart-box", role: "img", id: "chart", "aria-label": words("Bars") });
    this.text = element("p", { class: "chart-text" });
    this.buttons = element("p", { class: "chart-files" },
      element("button", { type: "button", on: { click: () => this.save("png") } }, words("Save as PNG")),
      " ", element("button", { type: "button", on: { click: () => this.save("svg") } }, words("Save as SVG")));
    this.picks = element("p", { class: "picks" });
    this.root = element("div", { class: "chart-frame" }, this.picks, this.box, this.text, this.buttons);
    new ResizeObserver(() => this.width !== this.box.clientWidth && this.box.clientWidth && this.draw()).observe(this.root);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
      this.width = 0; // a chart that is not seen now is drawn when it is
      this.draw();
    });
  }

  async draw() {
    if (!this.root.isConnected) return;
    try {
      await this.drawn();
    } catch {
      this.chart?.dispose();
      this.chart = null;
      this.buttons.hidden = true;
      this.text.textContent = words("The server does not answer now. Try again in a moment.");
    }
  }

  async drawn() {
    const name = kinds(this.grid).find(([kind]) => kind === this.kind)?.[1] ?? words("Bars");
    const shape = picture(this.grid);
    this.box.setAttribute("aria-label", name); // until there is more to say
    this.pick();
    const marks = shape.lines.length * shape.columns.length;
    this.buttons.hidden = marks > MOST;
    if (marks > MOST) {
      this.chart?.dispose();
      this.chart = null;
      this.box.replaceChildren();
      this.text.textContent = words("%(many)s numbers are too many for one chart, which has room for %(most)s: fold groups, or move a variable to the layers.", { many: marks, most: MOST });
      return;
    }
    if (!window.echarts) this.text.textContent = words("The chart is being drawn.");
    const echarts = await loaded();
    const geometry = this.kind === "map" ? await geometryOf(this.grid, echarts) : null;
    this.width = this.box.clientWidth;
    if (!this.width) return;
    const { option, height, shape: own } = optionOf(this.kind, shape, colours(), this.width, geometry);
    this.box.style.height = `${height}px`;
    this.chart?.dispose();
    this.chart = echarts.init(this.box, null, { renderer: "svg", width: this.width, height });
    this.chart.setOption(option);
    this.box.querySelector("svg")?.setAttribute("viewBox", `0 0 ${this.width} ${height}`); // so that paper can scale it
    this.made = { option, height, named: own?.named };
    const said = alternative(this.kind, own ?? shape, name);
    this.box.setAttribute("aria-label", said);
    this.text.textContent = said;
    this.root.dataset.drawn = this.kind;
  }

  // a map shows one number for each area: of the other variables a category is picked
  pick() {
    this.picks.hidden = this.kind !== "map";
    if (this.picks.hidden) return;
    const { cube, state } = this.grid;
    const fields = [...areasOf(this.grid).picked].map(([k, n]) => {
      const d = cube.dimensions[k];
      const select = element("select", { on: { change: (event) => { state.picked[k] = Number(event.target.value); this.draw(); } } });
      d.order.forEach((one) => select.append(element("option", { value: one }, `${"\u2003".repeat(d.depths[one])}${d.labels[one]}`)));
      select.value = n;
      return element("label", {}, `${d.label} `, select);
    });
    const kept = this.picks.contains(document.activeElement) && [...this.picks.querySelectorAll("select")].indexOf(document.activeElement);
    this.picks.replaceChildren(...fields);
    if (kept !== false) this.picks.querySelectorAll("select")[kept]?.focus();
  }

  async save(kind) {
    const echarts = await loaded();
    const { option, height, named } = this.made;
    const paper = colours().paper;
    const away = element("div", { style: { width: `${this.width}px`, height: `${height + 200}px`, position: "absolute", left: "-99999px" } });
    document.body.append(away);
    const head = titled(this.grid, option, this.width, named);
    const copy = echarts.init(away, null, { renderer: kind === "svg" ? "svg" : "canvas", width: this.width, height: height + head.room });
    copy.setOption({ ...head.option, backgroundColor: paper });
    const href = kind === "svg" ? URL.createObjectURL(new Blob([copy.renderToSVGString()], { type: "image/svg+xml" })) : copy.getDataURL({ type: "png", pixelRatio: 2, backgroundColor: paper });
    element("a", { href, download: `chart.${kind}` }).click();
    copy.dispose();
    away.remove();
  }
}
