// A filter as a tree of categories with a search of its own. It takes the place of a plain select and keeps its options:
// a hidden field of the same name holds what the form sends.
import { words, written } from "./words.js";

const MOST = 200; // matches that a search lists

export function fold(text) {
  return text.toLocaleLowerCase().normalize("NFD").replace(/\p{M}/gu, "");
}

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name in made && name !== "list") made[name] = value;
    else made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

function quoted(code) {
  const plain = code && code === code.trim() && !code.startsWith('"') && !/[;+]/.test(code);
  return plain ? code : `"${code.replaceAll('"', '""')}"`;
}

function grown(options) {
  const roots = [];
  const above = [];
  for (const option of options) {
    const depth = Number(option.dataset.depth);
    const node = { code: option.dataset.code, label: option.textContent.trim(), depth, children: [] };
    above.length = depth;
    (depth ? above[depth - 1].children : roots).push(node);
    above[depth] = node;
  }
  return roots;
}

function flattened(nodes) {
  return nodes.flatMap((node) => [node, ...flattened(node.children)]);
}

export function picker(filter, several) {
  const select = filter.querySelector("select");
  const title = filter.querySelector("label");
  const roots = grown([...select.options].filter((option) => option.dataset.code !== undefined));
  const nodes = flattened(roots);
  const byCode = new Map(nodes.map((node) => [node.code, node]));
  const shown = select.selectedOptions[0];
  const start = shown?.dataset.codes ? JSON.parse(shown.dataset.codes) : shown?.dataset.code ? [shown.dataset.code] : [];
  let chosen = new Set(start);

  const field = element("input", { type: "hidden", name: select.name });
  const text = element("span");
  const opener = element("button", { type: "button", className: "opener", id: select.id }, text);
  opener.setAttribute("aria-expanded", "false");
  const panel = element("div", { className: "picker", hidden: true });
  const search = element("input", { type: "search", id: `${select.id}-find`, autocomplete: "off" });
  const find = element("p", { className: "find" }, element("label", { htmlFor: search.id }, words("Find a category")), search);
  const tree = element("div", { className: "tree", role: "group", tabIndex: 0 });
  tree.setAttribute("aria-label", title.textContent);
  const count = element("p", { className: "note" });
  count.setAttribute("role", "status");
  const clear = element("button", { type: "button" }, words("Everyone"));
  panel.append(find, tree, element("div", { className: "picker-foot" }, count, clear));
  find.hidden = nodes.length < 10;
  select.replaceWith(opener, field);
  opener.after(panel);

  function label() {
    const names = [...chosen].map((code) => byCode.get(code)?.label ?? code);
    return names.join("; ");
  }

  function show() {
    field.value = [...chosen].sort().map(quoted).join("+");
    text.textContent = chosen.size ? label() : words("Everyone");
    filter.classList.toggle("restricted", chosen.size > 0);
    opener.setAttribute("aria-label", `${title.textContent}: ${text.textContent}`);
    count.textContent = several
      ? words("%(n)s chosen", { n: written(chosen.size) })
      : words("One category can be chosen");
  }

  function line(node, open) {
    const input = element("input", {
      type: several ? "checkbox" : "radio", name: `${select.id}-one`, checked: chosen.has(node.code), value: node.code,
    });
    input.setAttribute("form", ""); // of no form: the hidden field is what is sent
    const item = element("li");
    const fold = node.children.length && open !== null
      ? element("button", { type: "button", className: "fold" }) : element("span", { className: "space" });
    item.append(element("div", { className: "node" }, fold, element("label", {}, input, element("span", {}, node.label))));
    if (node.children.length && open !== null) {
      fold.setAttribute("aria-expanded", "false");
      fold.setAttribute("aria-label", words("Categories of %(group)s", { group: node.label }));
      const unfold = () => {
        if (item.children.length > 1) item.lastChild.remove();
        else item.append(listing(node.children));
        fold.setAttribute("aria-expanded", String(item.children.length > 1));
      };
      fold.addEventListener("click", unfold);
      if (flattened(node.children).some((below) => chosen.has(below.code))) unfold();
    }
    return item;
  }

  function listing(list, open = false) {
    return element("ul", {}, ...list.map((node) => line(node, open)));
  }

  function fill() {
    const wanted = fold(search.value).split(/\s+/).filter(Boolean);
    if (!wanted.length) {
      tree.replaceChildren(listing(roots));
      return;
    }
    const hits = nodes.filter((node) => wanted.every((word) => fold(`${node.label} ${node.code}`).includes(word)));
    tree.replaceChildren(listing(hits.slice(0, MOST), null));
    if (!hits.length) tree.append(element("p", { className: "note" }, words("No category has these words.")));
    if (hits.length > MOST) {
      tree.append(element("p", { className: "note" }, words("%(n)s more: write more of the name", { n: written(hits.length - MOST) })));
    }
  }

  function changed() {
    show();
    field.dispatchEvent(new Event("change", { bubbles: true }));
  }

  function toggle(open) {
    panel.hidden = !open;
    filter.classList.toggle("open", open);
    opener.setAttribute("aria-expanded", String(open));
    if (open) {
      fill();
      (find.hidden ? tree.querySelector("input") : search)?.focus();
    }
  }

  opener.addEventListener("click", () => {
    if (opener.getAttribute("aria-disabled") !== "true") toggle(panel.hidden);
  });
  panel.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      toggle(false);
      opener.focus();
    }
    if (event.key === "Enter" && event.target.matches("input")) event.preventDefault();
  });
  search.addEventListener("input", (event) => { event.stopPropagation(); fill(); });
  search.addEventListener("change", (event) => event.stopPropagation());
  tree.addEventListener("change", (event) => {
    event.stopPropagation();
    if (!several) chosen = new Set();
    if (event.target.checked) chosen.add(event.target.value);
    else chosen.delete(event.target.value);
    changed();
  });
  clear.addEventListener("click", () => {
    chosen = new Set();
    fill();
    changed();
  });
  show();

  return {
    name: filter.dataset.filter,
    title: title.textContent,
    get chosen() { return chosen; },
    get label() { return label(); },
    words: nodes.map((node) => node.label).join(" "),
    choose(codes) { chosen = new Set(codes); changed(); if (!panel.hidden) fill(); },
    close(reason) {
      opener.setAttribute("aria-disabled", String(Boolean(reason)));
      if (reason) toggle(false);
      const why = filter.querySelector(".why");
      why.hidden = !reason;
      why.textContent = reason;
    },
  };
}
