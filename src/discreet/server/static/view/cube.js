// The table as numbers: places of cells, lines of rows and columns, percentages, and how sure each number is.
// Knows nothing of the page.

import { regrouped, summed } from "./groups.js";

export class Cube {
  constructor(data) {
    this.data = data;
    this.dimensions = data.dimensions.map((d) => regrouped(d, []));
    const sizes = this.dimensions.map((d) => d.codes.length);
    this.strides = sizes.map((_, k) => sizes.slice(k + 1).reduce((a, b) => a * b, 1));
    this.hasRanges = data.low !== null;
  }

  place(index) {
    let at = 0;
    for (let k = 0; k < index.length; k++) at += index[k] * this.strides[k];
    return at;
  }

  // a variable with the groups of categories that a reader has made of it
  regroup(k, groups) {
    this.dimensions[k] = regrouped(this.data.dimensions[k], groups);
  }

  // value, low and high of a cell (null where there is none), and why it is not shown; a reader's group is a sum
  cell(index) {
    const members = index.map((n, k) => this.dimensions[k].members.get(n));
    if (!members.some(Boolean)) return this.cellAt(this.place(index));
    let places = [0];
    index.forEach((n, k) => (places = places.flatMap((at) => (members[k] ?? [n]).map((one) => at + one * this.strides[k]))));
    return summed(this.data, places.map((at) => ({ at, ...this.cellAt(at) })));
  }

  cellAt(at) {
    const { values, low, high, marks } = this.data;
    return { value: values[at], low: low ? low[at] : null, high: high ? high[at] : null, mark: marks[at] ?? "" };
  }

  // a cell as a share of another, with the range that both ranges allow
  share(index, over) {
    const part = this.cell(index);
    const whole = this.cell(over);
    if (part.value === null || !whole.value) return { ...part, value: null, low: null, high: null };
    if (index.every((n, k) => n === over[k])) return { value: 100, low: 100, high: 100, mark: "" };
    const least = part.low === null || !whole.high ? null : (100 * part.low) / whole.high;
    const most = part.high === null ? null : whole.low ? Math.min((100 * part.high) / whole.low, 100) : 100;
    const value = (100 * part.value) / whole.value;
    return { value, low: least, high: most === null ? null : Math.max(most, value), mark: "" };
  }

  wholeOf(k) {
    return this.dimensions[k].total;
  }
}

// The categories of a variable that are shown: none below a folded one.
export function shownCategories(d, folded) {
  return d.order.filter((n) => {
    for (let above = d.parents[n]; above !== null && above !== d.total; above = d.parents[above]) {
      if (folded.has(above)) return false;
    }
    return true;
  });
}

// All combinations of the shown categories of some variables; the last one's are put in the order that `rank` gives.
export function combinations(cube, axes, folded, rank = null) {
  let lines = [[]];
  axes.forEach((k, depth) => {
    const d = cube.dimensions[k];
    const shown = shownCategories(d, folded[k] ?? new Set());
    const last = depth === axes.length - 1;
    const next = [];
    for (const line of lines) {
      const order = last && rank ? ranked(d, shown, (n) => rank([...line, n])) : shown;
      for (const n of order) next.push([...line, n]);
    }
    lines = next;
  });
  return lines;
}

// Siblings in order of a number, the total first, and everything below its group.
function ranked(d, shown, number) {
  const is = new Set(shown);
  const keys = new Map(shown.map((n) => [n, number(n)]));
  const inOrder = (some) => [...some].sort((a, b) => keys.get(a) - keys.get(b) || a - b);
  const out = [];
  const visit = (some) => inOrder(some).forEach((n) => {
    out.push(n);
    visit(d.children[n].filter((child) => is.has(child)));
  });
  if (d.total !== null && is.has(d.total)) out.push(d.total);
  visit(shown.filter((n) => n !== d.total && (d.parents[n] === null || d.parents[n] === d.total || !is.has(d.parents[n]))));
  return out;
}

// How wide the range is beside the number: 0 certain, 1 good, 2 fair, 3 poor; null where nothing is said.
export function quality(cell) {
  if (cell.value === null || cell.low === null || cell.high === null) return null;
  const half = (cell.high - cell.low) / 2;
  if (half === 0) return 0;
  const share = half / Math.max(Math.abs(cell.value), 1e-9);
  return share <= 0.05 ? 1 : share <= 0.25 ? 2 : 3;
}

// The quality of a line: that of its middle cell, from the best to the worst.
export function lineQuality(grades) {
  const known = grades.filter((one) => one !== null).sort((a, b) => a - b);
  return known.length ? known[Math.floor((known.length - 1) / 2)] : null;
}
