// What a chart shows: the numbers of the table as categories and series, and how they become an option of ECharts.
import { words } from "../words.js";
import { combinations } from "./cube.js";
import { apart, describe, measured } from "./numbers.js";
import { lineCount, wide as widthOf } from "./text_size.js";

const COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b07d00", "#4a9cc9", "#7a5195", "#5f6b2f", "#a4483a", "#457b7b",
  "#66a9d9", "#f0a26b", "#66c5a4", "#e0afca", "#d9b04d", "#9ccbe6", "#ae92c2", "#9aa565", "#cf8d82", "#8fb8b8"];
const LINE = 15;
export const MOST = 4000; // marks of one chart: more are no picture

// Categories without what is a sum of others that are shown.
function bottom(cube, axes, folded) {
  return combinations(cube, axes, folded).filter((line) => line.every((n, depth) => {
    const d = cube.dimensions[axes[depth]];
    const parts = d.children[n].length && !(folded[axes[depth]]?.has(n));
    return n !== d.total && !parts && !d.cut.has(n);
  }));
}

// a table whose variables have a total alone still has something to show
function shown(cube, axes, folded) {
  if (!axes.length) return [[]];
  const some = bottom(cube, axes, folded);
  return some.length ? some : combinations(cube, axes, folded);
}

export function picture(grid) {
  const { cube, state } = grid;
  const name = (axes, line) => line.map((n, depth) => cube.dimensions[axes[depth]].labels[n]).join(", ");
  const lines = shown(cube, state.rows, state.folded);
  const columns = shown(cube, state.columns, state.folded);
  return {
    grid, lines, columns,
    categories: lines.map((line) => name(state.rows, line)),
    series: columns.map((column) => name(state.columns, column) || cube.data.title),
    across: state.rows.map((k) => cube.dimensions[k].label).join(", "),
    legend: state.columns.map((k) => cube.dimensions[k].label).join(", "),
    unit: state.numbers === "value" ? document.getElementById("viewer").dataset.measured : words("Percent"),
    cells: lines.map((line) => columns.map((column) => grid.numberAt(line, column))),
  };
}

// Which charts a table can be: [name, words]
export function kinds(grid) {
  const { cube, state } = grid;
  const shape = picture(grid);
  const is = (axes) => axes.length === 1 && cube.dimensions[axes[0]].ordered;
  const several = shape.columns.length > 1;
  const geometry = [...state.rows, ...state.columns].some((k) => cube.dimensions[k].geometry);
  return [
    ["bars", words("Bars"), true],
    ["stacked", words("Stacked bars"), several],
    ["lines", words("Lines"), is(state.rows) || is(state.columns)],
    ["pyramid", words("Population pyramid"), shape.columns.length === 2 && state.rows.length === 1 && is(state.rows)],
    ["multiples", words("Small multiples"), several],
    ["grid", words("Heat map"), several],
    ["map", words("Map"), geometry],
  ].filter(([, , possible]) => possible);
}

function wide(texts, font = "12px sans-serif") {
  return Math.max(0, ...texts.map((text) => widthOf(text, font)));
}

// series of which no number is shown
const gone = (shape, c) => shape.cells.every((line) => line[c].value === null);

function frame(shape, ink, width) {
  const empty = new Set(shape.columns.length > 1 ? shape.series.filter((_, c) => gone(shape, c)) : []);
  return {
    animation: false, color: COLOURS, backgroundColor: "transparent", textStyle: { color: ink.text, fontFamily: "system-ui, sans-serif" },
    tooltip: { trigger: "item", renderMode: "richText", confine: true, formatter: (one) => one.data?.words ?? one.name },
    aria: { enabled: false },
    ...(shape.columns.length > 1 ? { legend: { type: "plain", top: 0, left: 0, formatter: (name) => (empty.has(name) ? `${name} ×` : name), textStyle: { color: ink.text, ...(wide(shape.series) > width - 50 ? { width: width - 50, overflow: "break", lineHeight: LINE } : {}) }, data: shape.series } } : {}),
  };
}

// how much room the legend takes: as many lines as its names need
function legendRoom(shape, width) {
  if (shape.columns.length < 2) return 24;
  let lines = 1;
  let used = 0;
  const long = wide(shape.series) > width - 50; // each has a line of its own then, and the long ones several
  for (const name of shape.series) {
    const need = long ? width : wide([name]) + 45;
    if (used && used + need > width) { lines++; used = 0; }
    if (long) lines += 0.65 * (Math.ceil((1.15 * wide([name])) / (width - 50)) - 1);
    used += need;
  }
  return Math.ceil(24 * lines) + 28;
}

function told(shape, r, c) {
  const series = shape.columns.length > 1 ? `${apart(shape.series[c])}, ` : "";
  return `${series}${apart(shape.categories[r])}: ${describe(shape.grid, shape.cells[r][c])}`;
}

const point = (shape, r, c, sign = 1) => ({ value: shape.cells[r][c].value === null ? null : sign * shape.cells[r][c].value, words: told(shape, r, c) });

// the greatest number of a picture, or of its stacks, with its range
function greatest(shape, stacked = false) {
  const most = (cells) => cells.map((cell) => Math.max(0, (stacked ? cell.value : cell.high ?? cell.value) ?? 0));
  return Math.max(0, ...shape.cells.map((line) => (stacked ? most(line).reduce((sum, one) => sum + one, 0) : Math.max(0, ...most(line)))));
}

// A round end of an axis from 0, and its steps: as many as have room for their numbers.
function ends(shape, room, most, mostSteps = 5) {
  if (!most) return { max: 1, interval: 1 };
  const steps = Math.max(1, Math.min(mostSteps, Math.floor(room / (1.2 * wide([measured(shape.grid, most)]) + 14))));
  const ten = 10 ** Math.floor(Math.log10(most / steps));
  const interval = [1, 2, 2.5, 3, 4, 5, 10].map((one) => one * ten).find((one) => one >= (most / steps) * (1 - 1e-9));
  return { max: interval * Math.ceil(most / interval - 1e-9), interval };
}

// an axis of numbers, as long as `room`: from 0, or from the least of those below it
function numbers(shape, ink, room, more = {}, most = greatest(shape)) {
  const below = shape.cells.some((line) => line.some((cell) => Math.min(cell.value ?? 0, cell.low ?? 0) < 0));
  return {
    type: "value", ...(below ? {} : { min: 0, ...ends(shape, room, most) }), name: shape.unit, nameLocation: "middle", nameGap: 28, nameTextStyle: { color: ink.text },
    axisLabel: { color: ink.text, hideOverlap: true, formatter: (value) => measured(shape.grid, Math.abs(value)) },
    axisLine: { lineStyle: { color: ink.line } }, splitLine: { lineStyle: { color: ink.line, opacity: 0.6 } }, ...more,
  };
}

// the axis of names: wrapped, never cut, and every one of them there
function names(shape, ink, room, more = {}) {
  return {
    type: "category", data: shape.categories, inverse: true, name: shape.across, nameLocation: "start", nameTextStyle: { color: ink.text, align: "right", padding: [0, 8, 0, 0] },
    axisLabel: { color: ink.text, interval: 0, width: room, overflow: "break", lineHeight: LINE }, axisTick: { show: false }, axisLine: { lineStyle: { color: ink.line } }, ...more,
  };
}

// Ranges as whiskers: a line from low to high with short ends, in the middle of its bar; × where nothing is shown.
function whiskers(shape, ink, { count, at, sign = () => 1, upright = false, axis = {} }) {
  const data = [];
  shape.cells.forEach((line, r) => line.forEach((cell, c) => {
    if (cell.value === null && cell.mark === "c") data.push({ value: [r, 0, 0, at(c), sign(c)] });
    if (cell.low === null || cell.high === null || cell.low === cell.high) return;
    data.push({ value: [r, sign(c) * cell.low, sign(c) * cell.high, at(c), 0], words: told(shape, r, c) });
  }));
  return {
    type: "custom", name: "", silent: true, z: 5, data, encode: upright ? { x: 0, y: [1, 2] } : { y: 0, x: [1, 2] }, ...axis,
    renderItem: (_, api) => {
      const middle = count ? api.barLayout({ count, barGap: "5%", barCategoryGap: "25%" })[api.value(3)].offsetCenter : 0;
      const place = (value) => {
        const [x, y] = upright ? api.coord([api.value(0), value]) : api.coord([value, api.value(0)]);
        return upright ? [x + middle, y] : [x, y + middle];
      };
      const [a, b] = [place(api.value(1)), place(api.value(2))];
      if (api.value(4)) {
        const beside = upright ? { x: a[0], y: a[1] - 8 } : { x: a[0] + 8 * api.value(4), y: a[1] };
        return { type: "text", style: { ...beside, text: "×", fill: ink.text, opacity: 0.7, align: "center", verticalAlign: "middle" } };
      }
      const tick = upright ? [3, 0] : [0, 3];
      const line = (p, q) => ({ type: "line", shape: { x1: p[0], y1: p[1], x2: q[0], y2: q[1] }, style: { stroke: ink.text, lineWidth: 1 } });
      const end = (p) => line([p[0] - tick[0], p[1] - tick[1]], [p[0] + tick[0], p[1] + tick[1]]);
      return { type: "group", children: [line(a, b), end(a), end(b)] };
    },
  };
}

// × where a stack ends of which some part is not shown
function openEnds(shape, ink) {
  const ends = shape.cells.map((line, r) => [line.reduce((sum, cell) => sum + Math.max(0, cell.value ?? 0), 0), r]);
  const open = ends.filter(([, r]) => shape.cells[r].some((cell) => cell.value === null && cell.mark === "c"));
  return { type: "scatter", silent: true, data: open, symbolSize: 0, z: 5, label: { show: true, position: "right", formatter: "×", color: ink.text, opacity: 0.7 } };
}

function labelRoom(shape, width) {
  return Math.min(Math.ceil(wide(shape.categories)) + 6, Math.floor(width * 0.4));
}

// How high the axis of names is. Its steps are all alike, so the highest two neighbours say how high one is; of many names
// a few may come closer, or the chart would have no end.
function tall(shape, room, each) {
  const high = shape.categories.map((text) => Math.max(each, LINE * lineCount(text, room, "12px sans-serif") + 4));
  const step = Math.max(each, ...high.map((one, n) => (one + (high[n + 1] ?? each)) / 2));
  const least = high.reduce((sum, one) => sum + one, 0);
  return Math.max(least, Math.min(high.length * step, 2 * least, 8000) || 0);
}

function bars(shape, ink, width, stacked) {
  const room = labelRoom(shape, width);
  const top = legendRoom(shape, width);
  const height = top + tall(shape, room, stacked ? 24 : Math.max(24, 13 * shape.columns.length + 8)) + 56;
  const option = {
    ...frame(shape, ink, width), grid: { top, left: room + 14, right: 24, bottom: 52 },
    xAxis: numbers(shape, ink, width - room - 38, {}, greatest(shape, stacked)), yAxis: names(shape, ink, room),
    series: shape.series.map((name, c) => ({
      type: "bar", name, stack: stacked ? "all" : undefined, barGap: "5%", barCategoryGap: "25%", data: shape.lines.map((_, r) => point(shape, r, c)),
    })),
  };
  option.series.push(stacked ? openEnds(shape, ink) : whiskers(shape, ink, { count: shape.columns.length, at: (c) => c }));
  return { option, height };
}

// the ordered variable runs to the right, whichever of rows and columns it stands in
function turned(shape) {
  const { cube, state } = shape.grid;
  if (state.rows.length === 1 && cube.dimensions[state.rows[0]].ordered) return shape;
  return {
    ...shape, categories: shape.series, series: shape.categories, lines: shape.columns, columns: shape.lines, across: shape.legend, legend: shape.across,
    cells: shape.columns.map((_, c) => shape.lines.map((_, r) => shape.cells[r][c])),
  };
}

function lines(whole, ink, width) {
  const shape = turned(whole);
  const top = legendRoom(shape, width);
  const label = Math.ceil(wide(shape.categories));
  const each = (width - 100) / shape.categories.length;
  const steep = label + 8 > each;
  const upright = each < 20; // no room for slanting lines of text
  const deep = Math.ceil(label * (upright ? 1 : 0.85)) + 14;
  const option = {
    ...frame(shape, ink, width), grid: { top, left: 76, right: 24, bottom: (steep ? deep : 34) + 24 },
    xAxis: { type: "category", data: shape.categories, name: shape.across, nameLocation: "middle", nameGap: steep ? deep : 30, nameTextStyle: { color: ink.text }, axisLabel: { color: ink.text, interval: 0, rotate: !steep ? 0 : upright ? 90 : 55, fontSize: upright ? Math.max(8, Math.min(12, Math.floor(each) - 1)) : 12 }, axisLine: { lineStyle: { color: ink.line } } },
    yAxis: numbers(shape, ink, 1000, { nameGap: 60 }),
    series: shape.series.map((name, c) => ({ type: "line", name, symbolSize: 6, data: shape.lines.map((_, r) => point(shape, r, c)) })),
  };
  option.series.push(whiskers(shape, ink, { count: 0, at: () => 0, upright: true }));
  return { option, height: Math.max(380, top + 330) };
}

function pyramid(shape, ink, width) {
  const room = labelRoom(shape, width);
  const top = legendRoom(shape, width);
  const { max, interval } = ends(shape, (width - room - 38) / 2, greatest(shape), 3);
  const option = {
    ...frame(shape, ink, width), grid: { top, left: room + 14, right: 24, bottom: 52 },
    xAxis: numbers(shape, ink, width, { min: -max, max, interval }), yAxis: names(shape, ink, room, { inverse: false, nameLocation: "end", axisLine: { onZero: false, lineStyle: { color: ink.line } } }),
    series: shape.series.map((name, c) => ({ type: "bar", name, stack: "all", barCategoryGap: "8%", data: shape.lines.map((_, r) => point(shape, r, c, c ? 1 : -1)) })),
  };
  option.series.push(whiskers(shape, ink, { count: 0, at: () => 0, sign: (c) => (c ? 1 : -1) }));
  return { option, height: top + tall(shape, room, 20) + 56 };
}

// without series of which no number is shown: an empty panel says nothing
function withNumbers(shape) {
  const kept = shape.columns.map((_, c) => c).filter((c) => !gone(shape, c));
  if (!kept.length) return shape;
  const of = (some) => kept.map((c) => some[c]);
  return { ...shape, columns: of(shape.columns), series: of(shape.series), cells: shape.cells.map(of) };
}

// what all numbers of a picture are, in its middle
function unitBelow(shape, ink, bottom) {
  return { text: shape.unit, left: "center", bottom, textStyle: { color: ink.text, fontSize: 12, fontWeight: "normal" } };
}

// one panel for each series, all with the same axis
function multiples(whole, ink, width) {
  const shape = withNumbers(whole);
  const room = labelRoom(shape, Math.min(width, 560));
  const across = Math.max(1, Math.min(shape.columns.length, Math.floor((width - room) / 170)));
  const high = tall(shape, room, 18);
  const each = (width - room - 20) / across;
  const rows = Math.ceil(shape.columns.length / across);
  const step = high + 74;
  const option = { ...frame({ ...shape, columns: [] }, ink, width), title: [], grid: [], xAxis: [], yAxis: [], series: [] };
  shape.series.forEach((name, c) => {
    const column = c % across;
    const top = Math.floor(c / across) * step + 40;
    const left = room + 14 + column * each;
    option.title.push({ text: name, left, top: top - 38, textStyle: { color: ink.text, fontSize: 13, width: each - 16, overflow: "break", lineHeight: 15 } });
    option.grid.push({ left, top, width: each - 22, height: high });
    option.xAxis.push(numbers(shape, ink, each - 40, { gridIndex: c, name: "" }));
    option.yAxis.push(names(shape, ink, room, { gridIndex: c, name: column === 0 ? shape.across : "", axisLabel: { show: column === 0, color: ink.text, interval: 0, width: room, overflow: "break", lineHeight: LINE } }));
    option.series.push({ type: "bar", name, xAxisIndex: c, yAxisIndex: c, itemStyle: { color: COLOURS[0] }, barCategoryGap: "25%", data: shape.lines.map((_, r) => point(shape, r, c)) });
    const own = { ...shape, cells: shape.cells.map((line) => line.map((cell, at) => (at === c ? cell : { ...cell, low: null, mark: null }))) };
    option.series.push(whiskers(own, ink, { count: 0, at: () => 0, axis: { xAxisIndex: c, yAxisIndex: c } }));
  });
  option.title.push(unitBelow(shape, ink, 4));
  return { option, height: rows * step + 26 };
}

// colours begin at 0 for numbers of which there is much or little, and at the least one for means and medians
function scale(shape, ink, more = {}) {
  const values = shape.cells.flat().map((cell) => cell.value).filter((one) => one !== null);
  const most = Math.max(0, ...values);
  const summed = document.getElementById("viewer").dataset.shares || shape.grid.state.numbers !== "value";
  const least = summed ? Math.min(0, ...values) : Math.min(...values, most);
  return {
    min: least, max: most > least ? most : least + 1, calculable: false, orient: "horizontal", left: "center", bottom: 2, itemHeight: 180, text: [measured(shape.grid, most), measured(shape.grid, least)], textStyle: { color: ink.text },
    inRange: { color: ink.dark ? ["#24394d", "#2f6ea8", "#9fd0ff"] : ["#dbe8f4", "#6aa7d6", "#08427a"] }, ...more,
  };
}

function heat(shape, ink, width) {
  const room = labelRoom(shape, width);
  const label = Math.ceil(wide(shape.series));
  const each = Math.floor((width - room - 34) / shape.series.length) - 8;
  const steep = each < 64 && label > each;
  const top = (steep ? Math.ceil(label * 0.85) : LINE * Math.max(...shape.series.map((text) => Math.ceil((wide([text]) * 1.25) / Math.max(each, 1))), 1) + 6) + 36;
  const hidden = shape.cells.flatMap((line, r) => line.map((cell, c) => ({ cell, value: [c, r], words: told(shape, r, c) }))).filter(({ cell }) => cell.value === null && cell.mark !== "n");
  const data = shape.cells.flatMap((line, r) => line.map((cell, c) => ({ value: [c, r, cell.value ?? "-"], words: told(shape, r, c) })));
  const option = {
    ...frame({ ...shape, columns: [] }, ink, width), grid: { top, left: room + 14, right: 20, bottom: 88 }, title: unitBelow(shape, ink, 38),
    xAxis: { type: "category", position: "top", axisLine: { show: false }, data: shape.series, name: shape.legend, nameLocation: "middle", nameGap: top - 18, nameTextStyle: { color: ink.text }, axisLabel: { color: ink.text, interval: 0, rotate: steep ? 60 : 0, ...(steep ? {} : { width: each, overflow: "break", lineHeight: LINE }) }, axisTick: { show: false } },
    yAxis: names(shape, ink, room, { axisLine: { show: false } }), visualMap: scale(shape, ink, { seriesIndex: 0 }),
    series: [
      { type: "heatmap", data, itemStyle: { borderColor: ink.paper, borderWidth: 1 } },
      { type: "scatter", data: hidden, symbolSize: 0, label: { show: true, formatter: "×", color: ink.text, opacity: 0.7 } },
    ],
  };
  return { option, height: top + tall(shape, room, 20) + 94 };
}

// the variable whose codes are areas, and what is picked of the others
export function areasOf(grid) {
  const { cube, state } = grid;
  const shown = [...state.rows, ...state.columns];
  const axis = shown.find((k) => cube.dimensions[k].geometry);
  const picked = new Map(shown.filter((k) => k !== axis).map((k) => [k, state.picked[k] ?? cube.wholeOf(k) ?? 0]));
  const named = [...picked].map(([k, n]) => `${apart(cube.dimensions[k].label)}: ${apart(cube.dimensions[k].labels[n])}`).join("; ");
  return { axis, picked, named };
}

// areas by the number of each, those that are not shown in grey; of other variables a category that is picked
function map(shape, ink, width, geometry) {
  const { cube, state } = shape.grid;
  const { axis, picked, named } = areasOf(shape.grid);
  const d = cube.dimensions[axis];
  const line = state.rows.map((k) => picked.get(k) ?? 0);
  const column = state.columns.map((k) => picked.get(k) ?? 0);
  const inRows = state.rows.indexOf(axis);
  const all = d.codes.map((code, n) => {
    const own = inRows >= 0 ? line.map((one, at) => (at === inRows ? n : one)) : line;
    const other = inRows >= 0 ? column : column.map((one, at) => (state.columns[at] === axis ? n : one));
    const cell = shape.grid.numberAt(own, other);
    return { name: code, cell, value: cell.value, words: `${d.labels[n]}: ${describe(shape.grid, cell)}`, label: d.labels[n] };
  }).filter((one) => geometry.names.has(one.name));
  const data = all.filter((one) => one.value !== null);
  const unseen = new Set(all.filter((one) => one.cell.mark === "c").map((one) => one.name));
  const labels = new Map(d.codes.map((code, n) => [code, `${d.labels[n]}${unseen.has(code) ? " ×" : ""}`]));
  const whole = { ...shape, cells: [data.map((one) => ({ value: one.value }))] };
  const option = {
    ...frame({ ...shape, columns: [] }, ink, width), visualMap: scale(whole, ink), title: unitBelow(shape, ink, 38),
    series: [{
      type: "map", map: geometry.id, roam: false, data, nameProperty: "code", selectedMode: false, left: 10, right: 10, bottom: 86, top: 10, preserveAspect: "contain",
      label: { show: all.length <= 40, color: ink.text, formatter: (one) => labels.get(one.name) ?? one.name, backgroundColor: ink.paper, padding: [2, 5], borderRadius: 3 }, labelLayout: { hideOverlap: true },
      itemStyle: { borderColor: ink.line, areaColor: ink.dark ? "#4b4f55" : "#cfd2d6" }, emphasis: { label: { show: true }, itemStyle: { areaColor: "#e69f00" } },
    }],
  };
  const areas = { ...shape, categories: all.map((one) => one.label), series: [""], columns: [[]], lines: all.map((one) => [one.name]), across: d.label, legend: "", named, cells: all.map((one) => [one.cell]) };
  return { option, height: Math.min(640, Math.max(360, width * 0.7)), shape: areas };
}

export function optionOf(kind, shape, ink, width, geometry) {
  if (kind === "stacked") return bars(shape, ink, width, true);
  if (kind === "lines") return lines(shape, ink, width);
  if (kind === "pyramid") return pyramid(shape, ink, width);
  if (kind === "multiples") return multiples(shape, ink, width);
  if (kind === "grid") return heat(shape, ink, width);
  if (kind === "map") return map(shape, ink, width, geometry);
  return bars(shape, ink, width, false);
}

// The chart in words, for who does not see it.
export function alternative(kind, shape, name) {
  const cells = shape.cells.flatMap((line, r) => line.map((cell, c) => ({ cell, r, c }))).filter(({ cell }) => cell.value !== null);
  const of = [[shape.across, shape.legend].filter(Boolean).join(" × "), shape.named].filter(Boolean).join("; ");
  if (!cells.length) return words("%(chart)s of %(table)s: no number is shown.", { chart: name, table: of });
  const order = [...cells].sort((a, b) => a.cell.value - b.cell.value);
  const missed = shape.cells.flat().filter((cell) => cell.value === null && cell.mark === "c").length;
  const hidden = missed ? ` ${words("Not shown, to protect people: %(many)s.", { many: missed })}` : "";
  const empty = kind === "multiples" ? shape.series.filter((one) => !withNumbers(shape).series.includes(one)) : [];
  const missing = empty.length ? ` ${words("No number is shown of: %(names)s.", { names: empty.map(apart).join("; ") })}` : "";
  const values = { chart: name, table: of, many: cells.length, least: told(shape, order[0].r, order[0].c), most: told(shape, order.at(-1).r, order.at(-1).c) };
  return words("%(chart)s of %(table)s. Numbers: %(many)s, all of them in the table. Greatest: %(most)s. Least: %(least)s.", values) + hidden + missing;
}
