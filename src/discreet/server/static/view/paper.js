// The table on paper: all of its rows, and its columns in blocks that are as wide as a page, each with the heads of the rows.
import { words } from "../words.js";
import { element } from "./grid.js";

const MOST = 20_000; // cells: more are no paper
const PAGE = 980; // units of the screen across a page, of which the letters are small

function blocks(grid) {
  const { rows, columns, stubs, narrow: width } = grid;
  if (rows.length * columns.length > MOST) {
    return [element("p", {}, words("This table is too large for paper: what is seen here is a part of it. Download it for the whole."))];
  }
  const left = stubs.reduce((a, b) => a + b, 0);
  const each = Math.max(1, Math.floor((PAGE - left) / width));
  const out = [];
  for (let from = 0; from < columns.length; from += each) {
    const to = Math.min(columns.length, from + each);
    const cols = element("colgroup", {}, ...[...stubs, ...Array(to - from).fill(width)].map((one) => element("col", { style: { width: `${one}px` } })));
    const table = element("table", { class: grid.state.shaded ? "shaded" : "", style: { width: `${left + width * (to - from)}px` } }, cols, grid.head(from, to), grid.body(0, rows.length, from, to));
    table.querySelectorAll(".spacer").forEach((one) => one.remove());
    table.querySelectorAll("[data-r], [tabindex]").forEach((one) => ["data-r", "data-c", "tabindex"].forEach((name) => one.removeAttribute(name)));
    table.querySelectorAll("button").forEach((one) => one.replaceWith(one.matches(".fold") ? "" : one.textContent)); // heads that are repeated have no buttons
    out.push(table);
  }
  return out;
}

export function onPaper(grid) {
  const paper = element("div", { class: "paper grid-box", "aria-hidden": "true" });
  grid.root.append(paper);
  addEventListener("beforeprint", () => {
    paper.replaceChildren(...blocks(grid));
    grid.root.classList.toggle("on-paper", paper.querySelector("table") !== null);
  });
  addEventListener("afterprint", () => {
    paper.replaceChildren();
    grid.root.classList.remove("on-paper");
  });
}
