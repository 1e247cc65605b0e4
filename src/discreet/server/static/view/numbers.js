// Numbers in words: how they are written, what their range is, what the marks mean.
import { words } from "../words.js";

const language = document.documentElement.lang || "en";
const whole = new Intl.NumberFormat(language);
const share = new Intl.NumberFormat(language, { minimumFractionDigits: 1, maximumFractionDigits: 1 });

export const signs = { c: "×", n: "" };

// a number as the table shows it now
export function measured(grid, value) {
  if (grid.state.numbers !== "value") return `${share.format(value)} %`;
  return grid.cube.data.measure.decimals ? value.toLocaleString(language, { minimumFractionDigits: grid.cube.data.measure.decimals }) : whole.format(Math.round(value));
}

export function describe(grid, cell, long = false) {
  if (cell.value === null) return cell.mark === "n" ? words("not part of the table") : words("not shown, to protect people");
  const number = measured(grid, cell.value);
  if (cell.low === null) return long ? words("%(number)s; the method states no range", { number }) : number;
  if (cell.high === null) return words("%(number)s; at least %(low)s, modelled from larger tables", { number, low: measured(grid, cell.low) });
  if (cell.low === cell.high) return long ? words("%(number)s, not changed", { number }) : number;
  const ends = { number, low: measured(grid, cell.low), high: measured(grid, cell.high) };
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
