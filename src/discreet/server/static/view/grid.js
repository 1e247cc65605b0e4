// The table: only what is in sight is drawn, heads stay, and arrow keys go from cell to cell.
import { words } from "../words.js";
import { combinations, lineQuality, quality } from "./cube.js";
import { describe, grades, measured, rangeText, shade, signs } from "./numbers.js";
import { lineCount, longest, wide } from "./text_size.js";

const LINE = 20;
const PADDING = 12;
const RANGE = 16;
const AROUND = 6; // lines and columns that are drawn beyond the edge
const ENTIRE = 1.1; // screens: a table no higher than this is shown whole

function element(name, attributes = {}, ...inside) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === false) continue;
    if (key === "on") for (const [event, action] of Object.entries(value)) made.addEventListener(event, action);
    else if (key === "style") Object.assign(made.style, value);
    else made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...inside.filter((one) => one !== null && one !== ""));
  return made;
}

export { element };

export class Grid {
  constructor(cube, state, changed) {
    Object.assign(this, { cube, state, changed });
    this.active = [0, 0];
    this.box = element("div", { class: "grid-box", tabindex: "-1" });
    this.tip = element("div", { class: "tip", role: "tooltip", id: "tip", hidden: true });
    this.root = element("div", { class: "grid-frame" }, this.box, this.tip);
    this.box.addEventListener("scroll", () => this.drawSoon(), { passive: true });
    this.box.addEventListener("keydown", (event) => this.key(event));
    this.box.addEventListener("focusin", (event) => this.focused(event.target.closest("[data-r]")));
    this.box.addEventListener("mouseover", (event) => this.show(event.target.closest("td[data-r]")));
    this.box.addEventListener("mouseleave", () => this.show(null));
    const resized = new ResizeObserver(() => (this.tops && this.root.clientWidth && this.root.clientWidth !== this.room ? this.refresh() : this.drawSoon()));
    resized.observe(this.box);
    resized.observe(this.root);
  }

  // Everything that depends on the layout, worked out once for many drawings.
  lay() {
    const { cube, state } = this;
    this.room = this.root.clientWidth;
    this.font = getComputedStyle(this.box).font || "16px sans-serif";
    this.bold = `600 ${this.font.replace(/^\d+ /, "")}`;
    this.columns = state.columns.length ? combinations(cube, state.columns, state.folded) : [[]];
    this.rows = state.rows.length ? combinations(cube, state.rows, state.folded, this.rank()) : [[]];
    const room = this.root.clientWidth || this.root.parentElement?.parentElement?.clientWidth || 900; // not that of the box, which fits what is in it
    this.stubs = state.rows.map((k, depth) => {
      const last = depth === state.rows.length - 1;
      const d = cube.dimensions[k];
      const own = Math.max(...d.labels.map((text, n) => wide(text, n === d.total ? this.bold : this.font) + this.beside(d, n, last)));
      const across = state.columns.length ? wide(cube.dimensions[state.columns.at(-1)].label, this.bold) + 44 : 0;
      const most = (room >= 600 ? 0.42 : state.rows.length > 1 ? 0.6 : 0.46) * room / state.rows.length;
      const word = Math.max(...d.labels.map((text, n) => longest(text, this.bold) + this.beside(d, n, last)), longest(d.label, this.bold) + 20, last ? across && longest(cube.dimensions[state.columns.at(-1)].label, this.bold) + 40 : 0);
      return Math.ceil(Math.max(Math.min(Math.max(own, wide(d.label, this.bold) + 20, last ? across : 0) + 4, most), Math.min(word, 0.4 * room), 80));
    });
    const widest = state.numbers === "value" ? Math.max(0, ...cube.data.values.filter((v) => v !== null).slice(0, 20000).map(Math.abs)) : 100;
    const number = wide(measured(this, widest), this.font) + 34;
    const range = state.ranges && cube.hasRanges ? wide(`${measured(this, widest)}–${measured(this, widest)}`, this.font) + 20 : 0;
    // a head is wrapped into about three lines, and no word of it is broken unless it is very long
    const head = (text) => Math.max(...text.split(/\s+/).map((word) => wide(word, this.bold)), wide(text, this.bold) / 2.5);
    const heads = state.columns.length ? state.columns.slice(-1).flatMap((k) => cube.dimensions[k].labels.map((text, n) => head(text) + (cube.dimensions[k].children[n].length ? 16 : 0))) : [wide(document.getElementById("viewer").dataset.measured, this.bold)];
    this.width = Math.ceil(Math.max(number, range, 76, Math.min(Math.max(0, ...heads) + 42, 160)));
    const parts = state.columns.slice(-1).flatMap((k) => cube.dimensions[k].labels.map((text) => longest(text, this.bold)));
    this.narrow = Math.ceil(Math.max(number - 12, range - 8, 60, Math.min(this.width, Math.max(0, ...parts) + 20))); // on paper, where heads have no buttons
    this.heads = state.columns.map((k, depth) => {
      const last = depth === state.columns.length - 1;
      const lines = Math.max(...cube.dimensions[k].labels.map((text) => lineCount(text, last ? this.width - 38 : 150, this.bold)));
      return PADDING + LINE * (last ? Math.max(lines, this.cornerLines()) : 1);
    });
    const tall = this.rows.map((line, r) => {
      const above = this.rows[r - 1];
      const lines = line.map((n, depth) => {
        const d = cube.dimensions[state.rows[depth]];
        if (depth < line.length - 1 && above && same(line, above, depth)) return 1; // named in a line above
        return lineCount(d.labels[n], this.stubs[depth] - this.beside(d, n, depth === line.length - 1), n === d.total ? this.bold : this.font);
      });
      return PADDING + LINE * Math.max(1, ...lines) + (state.ranges && cube.hasRanges ? RANGE : 0);
    });
    this.tops = new Float64Array(tall.length + 1);
    tall.forEach((height, r) => (this.tops[r + 1] = this.tops[r] + height));
    this.box.classList.toggle("entire", this.tops.at(-1) <= ENTIRE * window.innerHeight);
    this.greatest = greatest(this);
    this.active = [Math.min(this.active[0], this.rows.length - 1), Math.min(this.active[1], this.columns.length - 1)];
  }

  // the name of the last variable of the rows and that of the columns, beside each other if there is room
  cornerLines() {
    const { cube, state, stubs } = this;
    const names = [state.rows.at(-1), state.columns.at(-1)].map((k) => wide(cube.dimensions[k].label, this.bold));
    const room = stubs.at(-1) - 20;
    return names[0] + names[1] + 36 <= room ? 1 : names.reduce((sum, one, n) => sum + Math.ceil((one + 24 * n) / room), 0);
  }

  // what else stands in a row's head: padding, indent, the sign to fold, the mark of quality
  beside(d, n, last) {
    return 18 + 18 * d.depths[n] + (d.children[n].length ? 16 : 0) + (last && this.cube.hasRanges ? 16 : 0);
  }

  rank() {
    const { sort } = this.state;
    if (!sort) return null;
    return (line) => {
      const { value } = this.numberAt(line, sort.column);
      return value === null ? Infinity : sort.down ? -value : value;
    };
  }

  place(line, column) {
    const { cube, state } = this;
    const index = cube.dimensions.map((_, k) => state.layer[k] ?? 0);
    state.rows.forEach((k, depth) => (index[k] = line[depth]));
    state.columns.forEach((k, depth) => (index[k] = column[depth]));
    return index;
  }

  // the number of a cell as it is asked for: itself, or as a percentage of its row, column or table
  numberAt(line, column) {
    const { cube, state } = this;
    const index = this.place(line, column);
    if (state.numbers === "value") return cube.cell(index);
    const over = { row: state.columns, column: state.rows, total: [...state.rows, ...state.columns] }[state.numbers];
    const whole = [...index];
    over.forEach((k) => (whole[k] = cube.wholeOf(k)));
    return cube.share(index, whole);
  }

  drawSoon() {
    this.soon ??= requestAnimationFrame(() => {
      this.soon = null;
      this.draw();
    });
  }

  refresh() {
    this.lay();
    this.draw(true);
  }

  draw(again = false) {
    if (!this.tops) return;
    const { box, rows, columns, tops, width, stubs } = this;
    box.classList.toggle("more-right", box.scrollLeft + box.clientWidth < box.scrollWidth - 2);
    box.classList.toggle("more-below", box.scrollTop + box.clientHeight < box.scrollHeight - 2);
    const left = stubs.reduce((a, b) => a + b, 0);
    const first = Math.max(0, search(tops, box.scrollTop) - AROUND);
    const end = Math.min(rows.length, search(tops, box.scrollTop + Math.max(box.clientHeight, 600)) + AROUND);
    const from = Math.max(0, Math.floor(box.scrollLeft / width) - AROUND);
    const to = Math.min(columns.length, Math.ceil((box.scrollLeft + box.clientWidth - left) / width) + AROUND);
    const window = [first, end, from, to].join();
    if (!again && window === this.window) return;
    this.window = window;
    const kept = box.contains(document.activeElement) && document.activeElement.closest("[data-r]");
    const table = element("table", {
      role: "grid", "aria-rowcount": rows.length + Math.max(this.heads.length, 1),
      "aria-colcount": columns.length + stubs.length, "aria-labelledby": "caption", "aria-describedby": "grid-help",
      class: this.state.shaded ? "shaded" : "", style: { width: `${left + width * columns.length}px` },
    });
    const cols = element("colgroup");
    stubs.forEach((one) => cols.append(element("col", { style: { width: `${one}px` } })));
    if (from) cols.append(element("col", { style: { width: `${from * width}px` } }));
    for (let c = from; c < to; c++) cols.append(element("col", { style: { width: `${width}px` } }));
    if (to < columns.length) cols.append(element("col", { style: { width: `${(columns.length - to) * width}px` } }));
    table.append(cols, this.head(from, to), this.body(first, end, from, to));
    const { scrollTop, scrollLeft } = box;
    box.replaceChildren(table);
    box.scrollTop = scrollTop;
    box.scrollLeft = scrollLeft;
    if (kept) this.focusActive(false);
  }

  head(from, to) {
    const { cube, state, columns, stubs } = this;
    const head = element("thead");
    let top = 0;
    const depths = state.columns.length || 1;
    for (let depth = 0; depth < depths; depth++) {
      const line = element("tr", { "aria-rowindex": depth + 1 });
      const last = depth === depths - 1;
      let left = 0;
      stubs.forEach((one, n) => {
        const d = cube.dimensions[state.rows[n]];
        const place = { left: `${left}px`, top: `${top}px`, height: `${this.heads[depth] ?? 32}px` };
        const inside = last ? this.corner(d, state.rows[n]) : [n === stubs.length - 1 ? element("span", { class: "axis" }, cube.dimensions[state.columns[depth]].label) : ""];
        line.append(element(last ? "th" : "td", { class: "stub corner", style: place, scope: last ? "col" : null, "aria-colindex": n + 1, role: last ? "columnheader" : "gridcell" }, ...inside));
        left += one;
      });
      if (from) line.append(element("td", { class: "spacer", role: "presentation" }));
      for (let c = from; c < to; ) {
        let span = 1;
        if (!last) while (c + span < to && same(columns[c], columns[c + span], depth)) span++;
        line.append(this.columnHead(c, depth, span, top, last));
        c += span;
      }
      if (to < columns.length) line.append(element("td", { class: "spacer", role: "presentation" }));
      head.append(line);
      top += this.heads[depth] ?? 32;
    }
    return head;
  }

  corner(d, k) {
    const across = this.state.columns.length ? this.cube.dimensions[this.state.columns.at(-1)].label : "";
    const mine = element("span", { class: "axis", title: d.definition ?? null }, d.label);
    return k === this.state.rows.at(-1) && across ? [mine, element("span", { class: "axis across" }, `${across} →`)] : [mine];
  }

  columnHead(c, depth, span, top, last) {
    const { cube, state, columns } = this;
    const k = state.columns[depth];
    const text = k === undefined ? (state.numbers === "value" ? document.getElementById("viewer").dataset.measured : "%") : cube.dimensions[k].labels[columns[c][depth]];
    const sorted = state.sort && same(state.sort.column, columns[c], columns[c].length - 1) ? (state.sort.down ? "descending" : "ascending") : "none";
    const attributes = {
      role: "columnheader", scope: last ? "col" : "colgroup", colspan: span > 1 ? span : null, "aria-colindex": this.stubs.length + c + 1,
      style: { top: `${top}px`, height: `${this.heads[depth] ?? 32}px` }, class: this.isWhole(columns[c], state.columns) ? "whole" : "",
    };
    if (!last) return element("th", attributes, element("span", { class: "group" }, text));
    const folding = k === undefined ? null : this.folder(k, columns[c][depth]);
    const button = element("button", {
      type: "button", class: "sort", "data-sort": sorted, tabindex: "-1", on: { click: () => this.sortBy(columns[c]) },
      title: words("Sort the rows by this column"),
    }, text);
    return element("th", { ...attributes, "aria-sort": sorted, "data-r": -1, "data-c": c }, folding ? element("span", { class: "headed" }, folding, button) : button);
  }

  sortBy(column) {
    const { sort } = this.state;
    const mine = sort && same(sort.column, column, column.length - 1);
    this.state.sort = !mine ? { column, down: true } : sort.down ? { column, down: false } : null;
    this.changed();
    this.focusActive();
  }

  folder(k, n) {
    const d = this.cube.dimensions[k];
    if (!d.children[n].length || d.cut.has(n)) return null;
    const folded = (this.state.folded[k] ??= new Set());
    const open = !folded.has(n);
    const label = open ? words("Fold %(name)s", { name: d.labels[n] }) : words("Unfold %(name)s", { name: d.labels[n] });
    return element("button", {
      type: "button", class: "fold", "aria-expanded": String(open), "aria-label": label, tabindex: "-1",
      on: { click: () => { open ? folded.add(n) : folded.delete(n); this.changed(); this.focusActive(); } },
    }, open ? "▾" : "▸");
  }

  isWhole(line, axes) {
    return line.length > 0 && line.every((n, depth) => n === this.cube.dimensions[axes[depth]].total);
  }

  body(first, end, from, to) {
    const { rows, tops } = this;
    const body = element("tbody");
    if (first) body.append(spacer(tops[first]));
    for (let r = first; r < end; r++) body.append(this.row(r, from, to, r === first));
    if (end < rows.length) body.append(spacer(tops[rows.length] - tops[end]));
    return body;
  }

  row(r, from, to, isFirst) {
    const { cube, state, rows, columns, stubs, tops } = this;
    const line = element("tr", {
      "aria-rowindex": r + 1 + Math.max(this.heads.length, 1), style: { height: `${tops[r + 1] - tops[r]}px` },
      class: this.isWhole(rows[r], state.rows) ? "whole" : "",
    });
    const cells = [];
    for (let c = from; c < to; c++) cells.push(this.numberAt(rows[r], columns[c]));
    let left = 0;
    stubs.forEach((one, depth) => {
      const k = state.rows[depth];
      const d = cube.dimensions[k];
      const n = rows[r][depth];
      const last = depth === stubs.length - 1;
      const inGroup = !last && r > 0 && same(rows[r], rows[r - 1], depth);
      const again = inGroup && !isFirst; // named in a line above that is drawn
      const head = element("th", {
        scope: "row", role: "rowheader", class: again ? "stub again" : inGroup ? "stub kept" : "stub", "aria-colindex": depth + 1,
        style: { left: `${left}px`, paddingLeft: `${8 + 18 * d.depths[n]}px` },
        "data-r": last ? r : null, "data-c": last ? -1 : null, tabindex: last && this.is(r, -1) ? "0" : null,
      }, this.folder(k, n), element("span", { class: "name", dir: "auto" }, d.labels[n]));
      if (last && cube.hasRanges) head.append(mark(lineQuality(cells.map(quality))));
      line.append(head);
      left += one;
    });
    if (from) line.append(element("td", { class: "spacer", role: "presentation" }));
    cells.forEach((cell, at) => line.append(this.cellOf(cell, r, from + at)));
    if (to < columns.length) line.append(element("td", { class: "spacer", role: "presentation" }));
    return line;
  }

  cellOf(cell, r, c) {
    const { cube, state } = this;
    const grade = quality(cell);
    const whole = this.isWhole(this.rows[r], state.rows) || this.isWhole(this.columns[c], state.columns);
    const text = cell.value === null ? (cell.mark ? signs[cell.mark] ?? "×" : "–") : measured(this, cell.value);
    const made = element("td", {
      role: "gridcell", "data-r": r, "data-c": c, "aria-colindex": this.stubs.length + c + 1, tabindex: this.is(r, c) ? "0" : "-1",
      class: [whole ? "whole" : "", cell.value === null ? "gone" : "", grade === 3 ? "wide-range" : "", state.shaded && !whole ? `h${shade(cell.value, this.greatest)}` : ""].join(" ").trim() || null,
    }, element("span", { class: "unseen" }, describe(this, cell)), element("span", { class: "number", "aria-hidden": "true" }, text),
      grade === 3 ? element("span", { class: "unsure", "aria-hidden": "true" }, "~") : "");
    if (state.ranges && cell.low !== null) {
      made.append(element("span", { class: "range", "aria-hidden": "true" }, rangeText(this, cell)));
    }
    return made;
  }

  is(r, c) {
    return this.active[0] === r && this.active[1] === c;
  }

  focused(cell) {
    if (!cell) return this.show(null);
    this.active = [Number(cell.dataset.r), Number(cell.dataset.c)];
    this.box.querySelectorAll("[tabindex='0']").forEach((one) => one !== cell && one.setAttribute("tabindex", "-1"));
    cell.setAttribute("tabindex", "0");
    this.show(cell.tagName === "TD" ? cell : null);
  }

  show(cell) {
    this.tip.hidden = !cell;
    if (!cell) return;
    const line = this.rows[cell.dataset.r];
    const column = this.columns[cell.dataset.c];
    this.tip.textContent = describe(this, this.numberAt(line, column), true);
    const frame = this.root.getBoundingClientRect();
    const at = cell.getBoundingClientRect();
    this.tip.style.left = `${Math.max(0, Math.min(at.left - frame.left, frame.width - this.tip.offsetWidth - 4))}px`;
    this.tip.style.top = `${at.bottom - frame.top + 2}px`;
  }

  key(event) {
    if (event.target.matches("button") || event.altKey) return;
    const [r, c] = this.active;
    const page = Math.max(1, search(this.tops, this.tops[Math.max(r, 0)] + this.box.clientHeight) - Math.max(r, 0) - 2);
    const ends = { Home: [event.ctrlKey ? 0 : r, 0], End: [event.ctrlKey ? this.rows.length - 1 : r, this.columns.length - 1] };
    const moves = { ArrowUp: [r - 1, c], ArrowDown: [r + 1, c], ArrowLeft: [r, c - 1], ArrowRight: [r, c + 1], PageUp: [r - page, c], PageDown: [r + page, c], ...ends };
    if (event.key === "Enter" || event.key === " ") {
      const [sort, fold] = ["button.sort", "button.fold"].map((one) => event.target.querySelector(one));
      const inside = event.key === "Enter" ? sort ?? fold : fold ?? sort; // a group of columns has both
      if (inside) { event.preventDefault(); inside.click(); }
      return;
    }
    if (!moves[event.key]) return;
    event.preventDefault();
    const bounded = (n, least, most) => Math.max(least, Math.min(n, most));
    const column = bounded(moves[event.key][1], moves[event.key][0] < 0 ? 0 : -1, this.columns.length - 1);
    this.active = [bounded(moves[event.key][0], column < 0 ? 0 : -1, this.rows.length - 1), column];
    this.reveal();
    this.focusActive();
  }

  reveal() {
    const [r, c] = this.active;
    const { box, tops, width } = this;
    const heads = this.heads.reduce((a, b) => a + b, 0) || 32;
    const left = this.stubs.reduce((a, b) => a + b, 0);
    if (r >= 0 && tops[r] < box.scrollTop) box.scrollTop = tops[r];
    if (r >= 0 && tops[r + 1] + heads > box.scrollTop + box.clientHeight - 16) box.scrollTop = tops[r + 1] + heads - box.clientHeight + 16;
    if (c >= 0 && c * width < box.scrollLeft) box.scrollLeft = c * width;
    if (c >= 0 && (c + 1) * width + left > box.scrollLeft + box.clientWidth) box.scrollLeft = (c + 1) * width + left - box.clientWidth;
    this.draw();
  }

  focusActive(scroll = true) {
    const cell = this.box.querySelector(`[data-r="${this.active[0]}"][data-c="${this.active[1]}"]`);
    if (!cell) return;
    cell.setAttribute("tabindex", "0");
    cell.focus({ preventScroll: !scroll });
  }
}

function mark(grade) {
  if (grade === null) return element("span");
  return element("span", { class: `grade g${grade}`, title: grades()[grade] }, element("span", { class: "unseen" }, grades()[grade]));
}

function same(one, other, depth) {
  for (let n = 0; n <= depth; n++) if (one[n] !== other[n]) return false;
  return true;
}

function spacer(height) {
  return element("tr", { class: "spacer", "aria-hidden": "true", style: { height: `${height}px` } });
}

function search(tops, y) {
  let low = 0;
  let high = tops.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (tops[middle] <= y) low = middle;
    else high = middle - 1;
  }
  return low;
}

function greatest(grid) {
  let most = 0;
  for (const line of grid.rows) {
    if (grid.isWhole(line, grid.state.rows)) continue;
    for (const column of grid.columns) {
      if (grid.isWhole(column, grid.state.columns)) continue;
      most = Math.max(most, grid.numberAt(line, column).value ?? 0);
    }
  }
  return most;
}
