// The viewer of a table: takes the place of the plain table of the page once the data are there.
import { words } from "../words.js";
import { Axes } from "./axes.js";
import { Chart } from "./chart.js";
import { Cube } from "./cube.js";
import { element, Grid } from "./grid.js";
import { Grouping, regroup } from "./grouping.js";
import { groupsFrom, groupsText } from "./groups.js";
import { apart, grades } from "./numbers.js";
import { onPaper } from "./paper.js";
import { kinds } from "./picture.js";
import { takeAway } from "./take.js";

const PLACES = ["rows", "columns", "layers"];
const CHARTS = ["bars", "stacked", "lines", "pyramid", "multiples", "grid", "map"];
const ADDRESS = 7500; // bytes that a server takes, with some room for those of a host
const LARGE = 1_000_000; // bytes of cells above which a table is not fetched for the viewer

const root = document.getElementById("viewer");
if (root && Number(root.dataset.cells) <= LARGE) start().catch(() => root.classList.add("failed"));

async function start() {
  const answer = await fetch(root.dataset.source, { headers: { Accept: "application/vnd.discreet.view+json", "X-Discreet-Page": root.dataset.mark } });
  if (!answer.ok) return;
  const cube = new Cube(await answer.json());
  const state = layout(cube);
  const parts = {};
  const changed = () => {
    remember(cube, state);
    draw();
  };
  const draw = () => {
    parts.grid.refresh();
    const possible = kinds(parts.grid);
    if (state.view !== "table" && !possible.some(([kind]) => kind === state.view)) state.view = "bars";
    parts.views.replaceChildren(...tabs(possible, state, changed));
    inSight(parts.views);
    show(parts, state);
    parts.legend.replaceChildren(...legend(cube, state));
    parts.caption.textContent = caption(cube, state);
  };
  parts.caption = document.getElementById("caption");
  parts.grid = new Grid(cube, state, changed);
  onPaper(parts.grid);
  parts.axes = new Axes(cube, state, changed);
  const regrouped = () => {
    changed();
    parts.axes.draw();
  };
  parts.grouping = root.dataset.shares ? new Grouping(cube, state, regrouped).root : ""; // means and quotients do not add up
  parts.legend = element("p", { class: "legend" });
  parts.views = element("div", { class: "views", role: "group", "aria-label": words("Views") });
  parts.chart = new Chart(parts.grid, "bars");
  parts.options = options(cube, state, changed);
  parts.table = element("div", { class: "view-table" }, parts.grid.root, parts.legend,
    element("p", { id: "grid-help", class: "unseen" }, words("Arrow keys go from cell to cell; Enter sorts by a column, the space bar folds a group.")));
  new ResizeObserver(() => inSight(parts.views)).observe(parts.views);
  root.append(parts.views, parts.axes.root, parts.options, parts.grouping, parts.table, parts.chart.root);
  parts.axes.draw();
  root.hidden = false;
  const plain = document.getElementById("plain");
  plain.hidden = true;
  plain.querySelectorAll(".views [aria-current]").forEach((one) => one.removeAttribute("aria-current")); // the viewer has a state of its own
  draw();
  document.getElementById("permalink")?.closest("section").append(takeAway(parts.grid));
  document.body.dataset.viewer = "ready";
}

// where variables stand: as the address says, else the longest in rows, the next in columns, the rest in layers
function layout(cube) {
  const asked = new URLSearchParams(location.search);
  const state = { rows: [], columns: [], layers: [], layer: {}, picked: {}, folded: {}, numbers: "value", ranges: false, shaded: asked.get("view") === "heat", sort: null, view: CHARTS.includes(asked.get("view")) ? asked.get("view") : "table" };
  const left = new Set(cube.dimensions.map((_, k) => k));
  for (const place of PLACES) {
    for (const name of (asked.get(place) ?? "").split(",")) {
      const k = cube.dimensions.findIndex((d) => d.name === name.trim());
      if (left.delete(k)) state[place].push(k);
    }
  }
  for (const k of [...left].sort((a, b) => cube.dimensions[b].codes.length - cube.dimensions[a].codes.length)) {
    (["rows", "columns"].map((place) => state[place]).find((some) => !some.length) ?? state.layers).push(k);
  }
  if (!state.rows.length) state.rows.push((state.columns.length ? state.columns : state.layers).shift());
  cube.dimensions.forEach((d, k) => (state.layer[k] = d.total ?? 0));
  state.groups = root.dataset.shares ? groupsFrom(asked.get("groups") ?? "", cube.data.dimensions) : [];
  state.groups.forEach((some, k) => some.length && regroup(cube, state, k));
  return state;
}

function tabs(possible, state, changed) {
  return [["table", words("Table")], ...possible].map(([kind, text]) => element("button", {
    type: "button", "aria-pressed": String(state.view === kind), "data-view": kind, on: { click: (event) => {
      state.view = kind;
      changed();
      document.querySelector(`[data-view="${kind}"]`)?.focus();
    } },
  }, text));
}

// the chosen view, on a screen that is too narrow for all of them
function inSight(views) {
  const tab = views.querySelector("[aria-pressed=true]");
  if (tab) views.scrollLeft = Math.max(0, tab.offsetLeft + tab.offsetWidth - views.offsetLeft - views.clientWidth);
}

function show(parts, state) {
  parts.options.classList.toggle("of-chart", state.view !== "table");
  parts.table.hidden = state.view !== "table";
  parts.chart.root.hidden = state.view === "table";
  parts.chart.kind = state.view;
  if (state.view !== "table") parts.chart.draw();
}

// the address is the table and its layout
function remember(cube, state) {
  const address = new URL(location.href);
  for (const place of PLACES) {
    const names = state[place].map((k) => cube.dimensions[k].name).join(",");
    if (names) address.searchParams.set(place, names);
    else address.searchParams.delete(place);
  }
  for (const old of ["layer", "page", "wafer", "wafers"]) address.searchParams.delete(old);
  const groups = groupsText(cube.data.dimensions, state.groups);
  if (groups) address.searchParams.set("groups", groups);
  else address.searchParams.delete("groups");
  if (address.href.length > ADDRESS) address.searchParams.delete("groups"); // they stay in the page, and are not in its address
  const view = state.view !== "table" ? state.view : state.shaded ? "heat" : null;
  if (view) address.searchParams.set("view", view);
  else address.searchParams.delete("view");
  const text = address.href.replaceAll("%2C", ",").replaceAll("%3A", ":").replaceAll("%3D", "=").replaceAll("%3B", ";");
  history.replaceState(history.state, "", text);
  const link = document.getElementById("permalink");
  if (link) link.value = text;
  const embed = document.getElementById("embed");
  if (embed) embed.value = embed.value.replace(/\/embed\?[^"]*/, () => `/embed?${new URL(text).search.slice(1)}`); // what is embedded is what is seen
  const form = document.getElementById("choose"); // whoever changes the table keeps how it is shown
  if (!form) return;
  for (const name of ["groups", "view"]) form.elements[name].value = address.searchParams.get(name) ?? "";
  form.querySelectorAll("[name^=place_]").forEach((one) => one.remove());
  for (const place of PLACES) for (const k of state[place]) form.append(element("input", { type: "hidden", name: `place_${cube.dimensions[k].name}`, value: place }));
}

function caption(cube, state) {
  const label = (k) => apart(cube.dimensions[k].label);
  const names = [...state.rows, ...state.columns].map(label).join(" × ");
  const layers = state.layers.map((k) => `${label(k)}: ${apart(cube.dimensions[k].labels[state.layer[k]])}`);
  return [`${cube.data.title}: ${root.dataset.usual ? names : root.dataset.measured}`, ...(root.dataset.usual ? [] : [names]), ...layers].join("; ");
}

function options(cube, state, changed) {
  const shares = cube.data.measure.shares || (root.dataset.shares && cube.data.values.every((one) => one === null || one >= 0));
  const whole = (axes) => shares && axes.every((k) => cube.wholeOf(k) !== null);
  const select = element("select", { id: "numbers", on: { change: (event) => { state.numbers = event.target.value; state.sort = null; changed(); } } });
  const kinds = [
    ["value", words("Numbers"), true],
    ["row", words("Percent of the row"), whole(state.columns)],
    ["column", words("Percent of the column"), whole(state.rows)],
    ["total", words("Percent of the table"), whole([...state.rows, ...state.columns])],
  ];
  for (const [value, text, possible] of kinds) {
    const option = element("option", { value }, text);
    option.disabled = !possible;
    select.append(option);
  }
  const tick = (name, text) => {
    const box = element("input", { type: "checkbox", on: { change: (event) => { state[name] = event.target.checked; changed(); } } });
    box.checked = state[name];
    return element("label", { class: "tick" }, box, ` ${text}`);
  };
  const percent = Math.round(100 * cube.data.level);
  return element("div", { class: "options" },
    element("label", { for: "numbers" }, words("Show"), " ", select),
    cube.hasRanges ? tick("ranges", words("Likely ranges (%(percent)s %)", { percent })) : "",
    tick("shaded", words("Shade by size")));
}

function legend(cube, state) {
  const out = [];
  if (cube.hasRanges) {
    grades().forEach((text, grade) => out.push(element("span", { class: "key" }, element("span", { class: `grade g${grade}`, "aria-hidden": "true" }), ` ${text} `)));
    out.push(element("span", { class: "key" }, "~ ", words("use with care")));
  }
  if (!cube.hasRanges) out.push(element("span", { class: "key" }, words("no likely range is stated of these numbers")));
  if (Object.values(cube.data.marks).includes("c")) out.push(element("span", { class: "key" }, "× ", words("not shown, to protect people")));
  return out;
}
