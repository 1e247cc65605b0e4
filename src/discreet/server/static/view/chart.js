// Charts of the table as it is laid out: the library is loaded when the first one is looked at.
import { words } from "../words.js";
import { element } from "./grid.js";
import { alternative, kinds, MOST, optionOf, picture } from "./picture.js";

let library = null;
const maps = new Map();

function loaded() {
  library ??= new Promise((resolve, reject) => {
    const script = element("script", { src: new URL("echarts.min.js", import.meta.url).href });
    script.onload = () => resolve(window.echarts);
    script.onerror = reject;
    document.head.append(script);
  });
  return library;
}

async function geometryOf(grid, echarts) {
  const { cube, state } = grid;
  const k = [...state.rows, ...state.columns].find((one) => cube.dimensions[one].geometry);
  const name = cube.dimensions[k].name;
  if (!maps.has(name)) {
    const answer = await fetch(`${document.getElementById("viewer").dataset.geometry}?variable=${encodeURIComponent(name)}`);
    const shapes = await answer.json();
    const id = `areas of ${name}`;
    echarts.registerMap(id, shapes);
    maps.set(name, { id, names: new Set(shapes.features.map((one) => one.properties.code)) });
  }
  return maps.get(name);
}

function colours() {
  const style = getComputedStyle(document.getElementById("viewer"));
  const ink = (name) => style.getPropertyValue(name).trim();
  return { text: ink("--v-ink") || "#222", line: ink("--line") || "#999", paper: ink("--v-paper") || "#fff", dark: matchMedia("(prefers-color-scheme: dark)").matches };
}

export class Chart {
  constructor(grid, kind) {
    Object.assign(this, { grid, kind });
    this.box = element("div", { class: "chart-box", role: "img", id: "chart", "aria-label": words("Bars") });
    this.text = element("p", { class: "chart-text" });
    this.buttons = element("p", { class: "chart-files" },
      element("button", { type: "button", on: { click: () => this.save("png") } }, words("Save as PNG")),
      " ", element("button", { type: "button", on: { click: () => this.save("svg") } }, words("Save as SVG")));
    this.root = element("div", { class: "chart-frame" }, this.box, this.text, this.buttons);
    new ResizeObserver(() => this.width !== this.box.clientWidth && this.box.clientWidth && this.draw()).observe(this.root);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
  }

  async draw() {
    if (!this.root.isConnected) return;
    const name = kinds(this.grid).find(([kind]) => kind === this.kind)?.[1] ?? words("Bars");
    const shape = picture(this.grid);
    this.box.setAttribute("aria-label", name); // until there is more to say
    const marks = shape.lines.length * shape.columns.length;
    this.buttons.hidden = marks > MOST;
    if (marks > MOST) {
      this.chart?.dispose();
      this.chart = null;
      this.box.replaceChildren();
      this.text.textContent = words("%(many)s numbers are too many for one chart, which has room for %(most)s: fold groups, or move a variable to the layers.", { many: marks, most: MOST });
      return;
    }
    const echarts = await loaded();
    const geometry = this.kind === "map" ? await geometryOf(this.grid, echarts) : null;
    this.width = this.box.clientWidth;
    const { option, height, shape: own } = optionOf(this.kind, shape, colours(), this.width, geometry);
    this.box.style.height = `${height}px`;
    this.chart?.dispose();
    this.chart = echarts.init(this.box, null, { renderer: "svg", width: this.width, height });
    this.chart.setOption(option);
    this.made = { option, height };
    const said = alternative(this.kind, own ?? shape, name);
    this.box.setAttribute("aria-label", said);
    this.text.textContent = said;
    this.root.dataset.drawn = this.kind;
  }

  async save(kind) {
    const echarts = await loaded();
    const { option, height } = this.made;
    const paper = colours().paper;
    const away = element("div", { style: { width: `${this.width}px`, height: `${height}px`, position: "absolute", left: "-99999px" } });
    document.body.append(away);
    const copy = echarts.init(away, null, { renderer: kind === "svg" ? "svg" : "canvas", width: this.width, height });
    copy.setOption({ ...option, backgroundColor: paper });
    const href = kind === "svg" ? URL.createObjectURL(new Blob([copy.renderToSVGString()], { type: "image/svg+xml" })) : copy.getDataURL({ type: "png", pixelRatio: 2, backgroundColor: paper });
    element("a", { href, download: `chart.${kind}` }).click();
    copy.dispose();
    away.remove();
  }
}
