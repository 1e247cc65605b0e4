// Choosing a table: search over the cards, what is still possible, the live line. Without this script the plain form works.
import { words } from "./words.js";
import { fold, picker } from "./categories.js";

const form = document.getElementById("choose");
const verdict = document.getElementById("verdict");
const chips = document.getElementById("chosen");
const cards = [...form.querySelectorAll(".card")];
const filters = document.getElementById("filters");
const pickers = [...form.querySelectorAll(".filter")].map((filter) => picker(filter, filters.dataset.several === "1"));
const before = new URLSearchParams(fields()).toString(); // what the server has judged already
let asking = null;

function fields() {
  const sent = new URLSearchParams();
  for (const [name, value] of new FormData(form)) if (value && /^((v|level|place|only)_|measure$)/.test(name)) sent.append(name, value);
  return sent;
}

// -- what is still possible ---------------------------------------------------------------------------------------

function closeCard(card, levels) {
  const tick = card.querySelector("[type=checkbox]");
  const detail = card.querySelector(".detail select");
  const reasons = Object.values(levels);
  const reason = tick.checked || reasons.includes("") ? "" : reasons[0] ?? "";
  card.classList.toggle("closed", Boolean(reason));
  tick.setAttribute("aria-disabled", String(Boolean(reason)));
  const why = card.querySelector(".why");
  why.hidden = !reason;
  why.textContent = reason;
  if (detail && !tick.checked && levels[detail.value]) { // the finest level that is allowed, before it is ticked
    const open = [...detail.options].filter((option) => levels[option.value] === "");
    if (open.length) detail.value = open[open.length - 1].value;
  }
  for (const option of detail?.options ?? []) {
    option.disabled = Boolean(levels[option.value]) && !option.selected;
    option.title = levels[option.value] ?? "";
  }
}

function closed(choices) {
  for (const card of cards) {
    const options = choices.variables[card.dataset.variable];
    if (options) closeCard(card, options.levels);
  }
  for (const one of pickers) {
    const reasons = Object.values(choices.variables[one.name]?.filters ?? {});
    one.close(one.chosen.size || reasons.includes("") ? "" : reasons[0] ?? "");
  }
}

// -- what was chosen before the reader went on and came back ---------------------------------------------------------

let awaited = ""; // a rate that is chosen as soon as it is offered

function keep() {
  const ticked = cards.filter((card) => card.querySelector("[type=checkbox]").checked).map((card) => card.dataset.variable);
  const levels = Object.fromEntries(cards.map((card) => [card.dataset.variable, card.querySelector(".detail select")?.value]));
  const filters = Object.fromEntries(pickers.map((one) => [one.name, [...one.chosen]]));
  const measure = form.querySelector("[name=measure]:checked")?.value ?? "";
  history.replaceState({ ...history.state, choice: { ticked, levels, filters, measure: awaited || measure } }, "");
}

function restore() {
  const kept = history.state?.choice;
  if (!kept) return;
  for (const card of cards) {
    card.querySelector("[type=checkbox]").checked = kept.ticked.includes(card.dataset.variable);
    const detail = card.querySelector(".detail select");
    if (detail && kept.levels[card.dataset.variable]) detail.value = kept.levels[card.dataset.variable];
  }
  for (const one of pickers) one.choose(kept.filters[one.name] ?? []);
  const measure = [...form.querySelectorAll("[name=measure]")].find((input) => input.value === kept.measure);
  if (measure) measure.checked = true;
  else awaited = kept.measure;
}

// rates of the population that is chosen, beside what the form has anyway; what is offered no more is not asked
function offered(rates) {
  const field = form.querySelector(".measures");
  const values = new Set(rates.map((one) => one.value));
  let lost = false;
  for (const input of field.querySelectorAll("input[value^='rate-']")) {
    if (values.delete(input.value)) continue;
    lost ||= input.checked;
    input.closest("label").remove();
  }
  for (const one of rates.filter(({ value }) => values.has(value))) {
    const label = document.createElement("label");
    const input = Object.assign(document.createElement("input"), { type: "radio", name: "measure", value: one.value });
    label.className = "pill";
    label.append(input, " ", Object.assign(document.createElement("span"), { textContent: one.words }));
    field.querySelector(".pill").after(label);
  }
  if (lost) field.querySelector("input").checked = true;
  const wanted = awaited && [...field.querySelectorAll("input")].find((input) => input.value === awaited);
  awaited = "";
  if (wanted) wanted.checked = true;
  document.getElementById("no-rates")?.toggleAttribute("hidden", Boolean(field.querySelector("input[value^='rate-']")));
  return lost || Boolean(wanted);
}

// -- what is chosen -----------------------------------------------------------------------------------------------

function chip(text, kind, remove) {
  const item = document.createElement("li");
  const name = document.createElement("span");
  const button = document.createElement("button");
  item.className = kind;
  name.textContent = text;
  button.type = "button";
  button.textContent = "×";
  button.setAttribute("aria-label", words("Remove %(what)s", { what: text }));
  button.addEventListener("click", remove);
  item.append(name, button);
  return item;
}

function showChips() {
  const shown = [];
  for (const card of cards) {
    const tick = card.querySelector("[type=checkbox]");
    if (!tick.checked) continue;
    const title = card.querySelector(".tick span").textContent;
    shown.push(chip(title, "shown", () => { tick.checked = false; tick.dispatchEvent(new Event("change", { bubbles: true })); }));
  }
  for (const one of pickers) {
    if (one.chosen.size) shown.push(chip(`${one.title}: ${one.label}`, "only", () => one.choose([])));
  }
  const at = [...chips.querySelectorAll("button")].indexOf(document.activeElement);
  chips.replaceChildren(...shown);
  if (at >= 0) ([...chips.querySelectorAll("button")][Math.min(at, shown.length - 1)] ?? finder).focus(); // of one that was removed
}

// something that is wrong, in the place of the live line
function state(text) {
  const line = document.createElement("p");
  line.className = "state bad";
  line.setAttribute("role", "alert");
  line.textContent = text;
  verdict.replaceChildren(line);
}

// -- asking -------------------------------------------------------------------------------------------------------

async function ask(first = false) {
  asking?.abort();
  asking = new AbortController();
  const sent = fields();
  const options = { signal: asking.signal, headers: { Accept: "text/html" } };
  const root = form.dataset.root;
  showChips();
  try {
    const choices = await fetch(`${root}/choices?${sent}`, options);
    if (choices.ok) {
      const possible = await choices.json();
      closed(possible);
      if (offered(possible.rates)) return ask();
    }
    if (first && sent.toString() === before) return;
    verdict.setAttribute("aria-busy", "true");
    const line = await fetch(`${root}/verdict?${sent}`, options);
    const text = await line.text();
    const page = new DOMParser().parseFromString(text, "text/html");
    const fault = page.querySelector("main .bad");
    verdict.innerHTML = line.ok ? text : "";
    if (!line.ok) fault ? verdict.append(fault) : state(words("The server does not answer now. Try again in a moment."));
    verdict.removeAttribute("aria-busy");
  } catch (error) {
    if (error.name === "AbortError") return;
    verdict.removeAttribute("aria-busy");
    state(words("The server does not answer now. Try again in a moment."));
  }
}

// -- searching ----------------------------------------------------------------------------------------------------

const finder = document.getElementById("find-variable");
const texts = cards.map((card) => {
  const select = pickers.find((one) => one.name === card.dataset.variable);
  return fold(`${card.textContent} ${select ? select.words : ""}`);
});

function search() {
  const wanted = fold(finder.value).split(/\s+/).filter(Boolean);
  let hits = 0;
  cards.forEach((card, k) => {
    card.hidden = !wanted.every((word) => texts[k].includes(word));
    hits += card.hidden ? 0 : 1;
  });
  document.getElementById("no-variable").hidden = hits > 0;
}

// what is below on a narrow screen covers nothing that has the focus
const summary = form.querySelector(".summary");
new ResizeObserver(() => {
  const below = getComputedStyle(summary).bottom === "0px" ? summary.offsetHeight + 8 : 0;
  document.documentElement.style.setProperty("--covered", `${below}px`);
}).observe(summary);

finder.closest(".find").hidden = false;
finder.addEventListener("input", search);
finder.addEventListener("change", (event) => event.stopPropagation());
finder.addEventListener("keydown", (event) => { if (event.key === "Enter") event.preventDefault(); });

for (const card of cards) {
  const tick = card.querySelector("[type=checkbox]");
  tick.addEventListener("click", (event) => {
    if (tick.getAttribute("aria-disabled") === "true" && tick.checked) event.preventDefault();
  });
}
restore();
form.addEventListener("change", () => {
  keep();
  ask();
});
form.addEventListener("submit", (event) => {
  if (!cards.some((card) => card.querySelector("[type=checkbox]").checked)) {
    event.preventDefault();
    state(words("Choose at least one variable."));
    cards.find((card) => !card.hidden)?.querySelector("[type=checkbox]").focus();
    return;
  }
  // what is not chosen does not stand in the address
  for (const field of form.elements) if (field.name && !/^(v|place)_/.test(field.name) && !field.value) field.disabled = true;
});
window.addEventListener("pageshow", (event) => {
  if (event.persisted) for (const field of form.elements) field.disabled = false;
});
ask(true);
