// Groups of categories that a reader makes: sums of the numbers that are shown. Nothing is asked of the server for them.
// Knows nothing of the page.

const OWN_ENDS = "0".charCodeAt(0); // the sign of a cell whose own ends are added; the next one is that of the first row

// A variable with groups: each is one more category, and what is in it lies below it, where its first category stood.
export function regrouped(d, groups) {
  const out = { ...d, size: d.codes.length, codes: [...d.codes], labels: [...d.labels], parents: [...d.parents], members: new Map(), cut: new Set() };
  for (const { label, members } of groups) {
    const n = out.codes.length;
    out.codes.push(null);
    out.labels.push(label);
    out.parents.push(d.total);
    out.members.set(n, members);
    for (const one of members) {
      out.parents[one] = n;
      for (let above = d.parents[one]; above !== null && above !== d.total; above = d.parents[above]) out.cut.add(above);
    }
  }
  out.children = out.codes.map(() => []);
  out.parents.forEach((above, n) => above !== null && above !== out.total && out.children[above].push(n));
  out.depths = out.codes.map((_, n) => above(out, n).length);
  out.order = groups.length ? walked(out) : out.codes.map((_, n) => n);
  return out;
}

// what a category lies in, the nearest first, without the total
function above(d, n) {
  const out = [];
  for (let one = d.parents[n]; one !== null && one !== d.total; one = d.parents[one]) out.push(one);
  return out;
}

function walked(d) {
  const rank = (n) => Math.min(...(d.members.get(n) ?? [n]));
  const out = [];
  const visit = (some) => some.sort((a, b) => rank(a) - rank(b)).forEach((n) => {
    out.push(n);
    visit([...d.children[n]]);
  });
  visit(d.codes.map((_, n) => n).filter((n) => n === d.total || d.parents[n] === null || d.parents[n] === d.total));
  return out;
}

// The sum of some cells and its likely range. Ends of ranges do not add up where noise is mostly 0: what adds up is
// what chance does to independent numbers (as a square), what is certain, and the ends of numbers that may err alike.
export function summed({ errors, measure }, cells) {
  if (cells.some((one) => one.value === null)) {
    return { value: null, low: null, high: null, mark: cells.every((one) => one.mark === "n") ? "n" : "c" };
  }
  const digits = 10 ** Math.min(measure.decimals + 2, 9);
  const value = Math.round(digits * cells.reduce((sum, one) => sum + one.value, 0)) / digits;
  if (cells.length === 1) return { ...cells[0] };
  if (!errors || cells.some((one) => one.low === null)) return { value, low: null, high: null, mark: "" };
  const sums = [0, 0, 0, 0, 0];
  let [below, above] = [0, 0];
  for (const one of cells) {
    const row = errors.rows[typeof errors.kinds === "string" ? errors.kinds.charCodeAt(one.at) - OWN_ENDS - 1 : errors.kinds[one.at]];
    if (row) row.forEach((x, n) => (sums[n] += x ?? Infinity));
    else {
      below += one.value - one.low;
      above += one.high === null ? Infinity : one.high - one.value;
    }
  }
  const chance = sums[2] ? Math.sqrt(sums[2]) + errors.once : 0;
  const low = Math.max(0, value - below - Math.min(sums[0] + chance, sums[3]));
  const high = value + above + Math.min(sums[1] + chance, sums[4]);
  const whole = measure.decimals === 0;
  return { value, low: whole ? Math.ceil(low - 1e-9) : low, high: high === Infinity ? null : whole ? Math.floor(high + 1e-9) : high, mark: "" };
}

// -- in an address: variable:name=code+code;... with signs of its own in quotes ---------------------------------------

function quoted(text) {
  return text && text === text.trim() && !/[:=+;"]/.test(text) ? text : `"${text.replaceAll('"', '""')}"`;
}

export function groupsText(dimensions, groups) {
  return dimensions.flatMap((d, k) => (groups[k] ?? []).map(({ label, members }) => `${quoted(d.name)}:${quoted(label)}=${members.map((n) => quoted(d.codes[n])).join("+")}`)).join(";");
}

// What an address says, so far as it fits the table: a category is in one group, and in none beside one above it.
export function groupsFrom(text, dimensions) {
  const out = dimensions.map(() => []);
  const pieces = text.match(/"(?:[^"]|"")*"|[:=+;]|[^:=+;"]+/g) ?? [];
  const groups = [[]];
  for (const one of pieces) one === ";" ? groups.push([]) : groups.at(-1).push(one);
  for (const parts of groups) {
    const [name, , label, , ...codes] = parts.map((one) => (one.startsWith('"') ? one.slice(1, -1).replaceAll('""', '"') : one));
    const k = dimensions.findIndex((d) => d.name === name);
    if (k < 0 || parts[1] !== ":" || parts[3] !== "=") continue;
    const known = codes.filter((_, n) => n % 2 === 0).map((code) => dimensions[k].codes.indexOf(code)).filter((n) => n >= 0);
    const members = separate(dimensions[k], known, out[k]);
    if (label && members.length > 1) out[k].push({ label, members });
  }
  return out;
}

// Some categories of a variable of the codebook without those that lie in another of them, and without what is not free.
export function separate(d, some, others = []) {
  const free = freeIn(d, others);
  const picked = new Set(some.filter(free));
  return [...picked].filter((n) => !above(d, n).some((one) => picked.has(one))).sort((a, b) => a - b);
}

// Whether a category of the codebook can be in a further group: not the total, and nothing that shares with another group.
export function freeIn(d, groups) {
  const taken = new Set(groups.flatMap((group) => group.members));
  const around = new Set([...taken].flatMap((n) => above(d, n)));
  return (n) => n !== d.total && !taken.has(n) && !around.has(n) && !above(d, n).some((one) => taken.has(one));
}
