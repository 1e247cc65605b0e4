// Numbers in words: how they are written, what their range is, what the marks mean.
import { words } from "../words.js";

const language = document.documentElement.lang || "en";
const whole = new Intl.NumberFormat(language);
const share = new Intl.NumberFormat(language, { minimumFractionDigits: 1, maximumFractionDigits: 1 });

export const signs = { c: "×", n: "" };

// decimals of a mean or a quotient that can be read: five digits of the greatest number, and no more than are given
function digitsOf(cube) {
  cube.digits ??= Math.max(0, Math.min(cube.data.measure.decimals, 4 - Math.floor(Math.log10(Math.max(1, ...cube.data.values.slice(0, 20000).map((one) => Math.abs(one ?? 0)))))));
  return cube.digits;
}

// a name within a sentence: one that is written from right to left does not turn the numbers beside it
export function apart(text) {
  return /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/.test(text) ? `\u2068${text}\u2069` : text;
}

// a number as the table shows it now
export function measured(grid, value) {
  if (grid.state.numbers !== "value") return `${share.format(value)} %`;
  const digits = digitsOf(grid.cube);
  return value.toLocaleString(language, { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

// the ends of a range with as many digits as the number, rounded outwards: what is written holds all of the range
const unit = (grid) => 10 ** (grid.state.numbers === "value" ? digitsOf(grid.cube) : 1);
const least = (grid, cell) => Math.floor(cell.low * unit(grid) + 1e-7) / unit(grid);
const most = (grid, cell) => Math.ceil(cell.high * unit(grid) - 1e-7) / unit(grid);

// the range of a number, short, as it stands below it
export function rangeText(grid, cell) {
  if (cell.high === null) return `≥ ${measured(grid, least(grid, cell))}`;
  if (cell.low === cell.high) return "";
  const low = measured(grid, least(grid, cell));
  return `${grid.state.numbers === "value" ? low : low.replace(" %", "")}–${measured(grid, most(grid, cell))}`;
}

export function describe(grid, cell, long = false) {
  if (cell.value === null) return cell.mark === "n" ? words("not part of the table") : words("not shown, to protect people");
  const number = measured(grid, cell.value);
  if (cell.low === null) return long ? words("%(number)s; the method states no range", { number }) : number;
  if (cell.high === null) return words("%(number)s; at least %(low)s, modelled from larger tables", { number, low: measured(grid, least(grid, cell)) });
  if (cell.low === cell.high) return long ? words("%(number)s, not changed", { number }) : number;
  const ends = { number, low: measured(grid, least(grid, cell)), high: measured(grid, most(grid, cell)) };
  return words("%(number)s; likely %(low)s to %(high)s", ends);
}

export function grades() {
  return [
    words("not changed"),
    words("range within 5 % of the number"),
    words("range within 25 % of the number"),
    words("range wide beside the number"),
  ];
}

export function shade(value, most) {
  return value > 0 && most > 0 ? Math.round(9 * Math.sqrt(Math.min(value, most) / most)) : 0;
}
