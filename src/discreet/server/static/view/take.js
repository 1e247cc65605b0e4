// Taking a table away: copied into a spreadsheet, asked for by a program, cited.
import { words } from "../words.js";
import { element } from "./grid.js";

// All lines of the table as it is laid out, headings and all, as a matrix of texts.
export function matrix(grid) {
  const { cube, state } = grid;
  const label = (axes, line, depth) => cube.dimensions[axes[depth]].labels[line[depth]];
  const stubs = state.rows.map((k) => cube.dimensions[k].label);
  const heads = state.columns.map((_, depth) => [...stubs.map((name, n) => (depth === state.columns.length - 1 ? name : "")), ...grid.columns.map((column) => label(state.columns, column, depth))]);
  if (!heads.length) heads.push([...stubs, document.getElementById("viewer").dataset.measured]);
  const number = (cell) => (cell.value === null ? (cell.mark === "n" ? "" : "×") : state.numbers === "value" ? String(cell.value) : String(Math.round(cell.value * 10) / 10));
  const body = grid.rows.map((line) => [...line.map((_, depth) => label(state.rows, line, depth)), ...grid.columns.map((column) => number(grid.numberAt(line, column)))]);
  return [...heads, ...body];
}

// A cell of a CSV: what a spreadsheet would take for a formula is text.
function csvCell(text) {
  const safe = /^[=+@\t]|^-(?!\d)/.test(text) ? `'${text}` : text;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

function saveCsv(grid) {
  const text = matrix(grid).map((line) => line.map(csvCell).join(",")).join("\r\n");
  const href = URL.createObjectURL(new Blob([`\ufeff${text}\r\n`], { type: "text/csv" }));
  element("a", { href, download: "table-as-shown.csv" }).click();
  setTimeout(() => URL.revokeObjectURL(href), 1000);
}

async function copied(text, button) {
  const before = button.textContent;
  try {
    await navigator.clipboard.writeText(text);
  } catch { // no clipboard without TLS: the old way
    const box = element("textarea", { class: "unseen" });
    box.value = text;
    document.body.append(box);
    box.select();
    document.execCommand("copy");
    box.remove();
  }
  button.textContent = words("Copied");
  setTimeout(() => (button.textContent = before), 2000);
}

export function copyButton(text, name = words("Copy")) {
  const button = element("button", { type: "button", on: { click: () => copied(text(), button) } }, name);
  return button;
}

function codes(address) {
  const csv = JSON.stringify(address);
  return [
    ["curl", `curl -o table.csv '${address.replaceAll("'", "%27")}'`],
    ["Python", `import pandas as pd\n\ntable = pd.read_csv(${csv})`],
    ["R", `table <- read.csv(${csv})`],
  ];
}

// Source, title, population, method, address, day: what a reader needs to find the same numbers.
function citation({ cube, state }) {
  const { source, title, population } = cube.data;
  const dimensions = [...state.rows, ...state.columns, ...state.layers].map((k) => cube.dimensions[k]);
  const people = population.map((one) => `${one.label}: ${one.category}`).join(", ");
  const { usual, measured, method } = document.getElementById("viewer").dataset;
  const what = `${title}: ${usual ? "" : `${measured}; `}${dimensions.map((d) => d.label).join(" × ")}${people ? ` (${people})` : ""}`;
  const day = new Date().toISOString().slice(0, 10);
  const begun = (text) => text && text[0].toUpperCase() + text.slice(1);
  return [begun(source), what, begun(method), location.href, day].filter(Boolean).join(". ");
}

export function takeAway(grid) {
  const root = document.getElementById("viewer");
  const address = new URL(root.dataset.source.replace(".view.json", ".csv"), location.href).href;
  const blocks = codes(address).map(([name, code]) => element("div", { class: "code" },
    element("p", { class: "code-name" }, name, " ", copyButton(() => code)),
    element("pre", { tabindex: "0", "aria-label": name }, element("code", {}, code))));
  const cite = element("p", { class: "citation" }, citation(grid));
  return element("div", { class: "take-away" },
    element("p", { class: "as-shown" }, copyButton(() => matrix(grid).map((line) => line.join("\t")).join("\n"), words("Copy the table")), " ",
      element("button", { type: "button", on: { click: () => saveCsv(grid) } }, words("CSV as it is shown")),
      element("span", { class: "note" }, " ", words("With layout, percentages and groups of your own; the other files have the whole table as it is published."))),
    element("details", {}, element("summary", {}, words("Code for this table")), ...blocks),
    element("details", { on: { toggle: () => (cite.textContent = citation(grid)) } }, element("summary", {}, words("How to cite it")), cite, copyButton(() => citation(grid))));
}
