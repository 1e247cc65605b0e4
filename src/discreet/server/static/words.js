// The sentences of scripts in the language of the page. The English sentence is the key, and %(name)s is a hole in it.
const held = JSON.parse(document.getElementById("words")?.textContent || "{}");

export function words(sentence, values = {}) {
  return (held[sentence] ?? sentence).replace(/%\((\w+)\)s/g, (hole, name) => values[name] ?? hole);
}

const numbers = new Intl.NumberFormat(document.documentElement.lang);

export function written(number) {
  return numbers.format(number);
}
