// Tables that this browser saved or looked at last. They are kept in the browser and never sent anywhere.
import { words } from "./words.js";

const MOST = 50;
const save = document.getElementById("save");
const savedPart = document.getElementById("saved-tables");
const recentPart = document.getElementById("recent-tables");
const forget = document.getElementById("forget");
const root = savedPart.dataset.root;

function kept(name) {
  try {
    const list = JSON.parse(localStorage.getItem(`discreet${root} ${name}`) ?? "[]");
    return list.filter((one) => typeof one?.title === "string" && one.link?.startsWith(`${root}/table?`));
  } catch {
    return []; // storage is closed, or holds what is not ours
  }
}

function keep(name, list) {
  try {
    localStorage.setItem(`discreet${root} ${name}`, JSON.stringify(list.slice(0, MOST)));
  } catch {
    save?.remove(); // storage is closed or full: nothing can be saved
  }
}

// whether two addresses ask the same, however it is laid out
function sameTable(one, two) {
  const asked = (link) => ["variables", "where", "measure", "statistic"].map((name) => new URL(link, location.href).searchParams.get(name) ?? "").join("\n");
  return asked(one) === asked(two);
}

function item(one, remove) {
  const line = document.createElement("li");
  const link = document.createElement("a");
  link.href = one.link;
  link.textContent = one.title;
  line.append(link);
  if (remove) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "small";
    button.textContent = "×";
    button.setAttribute("aria-label", words("Remove %(what)s", { what: one.title }));
    button.addEventListener("click", remove);
    line.append(button);
  }
  return line;
}

function show() {
  const saved = kept("saved");
  const drop = (link) => () => {
    keep("saved", kept("saved").filter((one) => one.link !== link));
    show();
    (savedPart.querySelector("button") ?? document.getElementById("main")).focus();
  };
  savedPart.querySelector("ul").replaceChildren(...saved.map((one) => item(one, drop(one.link))));
  savedPart.hidden = !saved.length;
  const recent = kept("recent");
  if (recent.length) recentPart.querySelector("ul").replaceChildren(...recent.map((one) => item(one)));
  recentPart.hidden = !recentPart.querySelector("li");
  if (save) {
    const held = saved.some((one) => sameTable(one.link, save.dataset.link));
    save.textContent = held ? words("Saved") : words("Save this table");
    save.setAttribute("aria-pressed", String(held));
  }
}

if (save) {
  const own = { link: save.dataset.link, title: save.dataset.title };
  const asShown = () => ({ ...own, link: `${location.pathname}${location.search}` }); // with the layout that was made of it
  save.hidden = false;
  keep("recent", [own, ...kept("recent").filter((one) => !sameTable(one.link, own.link))]);
  save.addEventListener("click", () => {
    const others = kept("saved").filter((one) => !sameTable(one.link, own.link));
    keep("saved", save.getAttribute("aria-pressed") === "true" ? others : [asShown(), ...others]);
    show();
  });
}
forget.addEventListener("submit", () => keep("recent", []));
show();

const embed = document.getElementById("embed");
if (embed) {
  embed.value = embed.value.replace(embed.dataset.address, new URL(embed.dataset.address, location.href).href);
  embed.addEventListener("focus", () => embed.select());
}
const change = document.getElementById("change");
function opened() { if (change && location.hash === "#change") change.open = true; }
window.addEventListener("hashchange", opened);
opened();
