// How much room a text takes, in a font: measured on a canvas that is never shown.

const canvas = document.createElement("canvas").getContext("2d");

export function wide(text, font) {
  canvas.font = font;
  return canvas.measureText(text).width;
}

// how wide the longest word of a text is
export function longest(text, font) {
  return Math.max(...text.split(/\s+/).map((word) => wide(word, font)));
}

// how many lines a text takes: words are not broken unless they are wider than a line
export function lineCount(text, room, font) {
  if (wide(text, font) <= room) return 1;
  let [lines, used] = [1, 0];
  for (const word of text.split(/(?<=[\s-])/)) {
    const need = wide(word, font);
    if (used && used + need > room) { lines++; used = 0; }
    used += need;
    if (used > room) { // a word that is broken
      const more = Math.ceil((used * 1.1) / Math.max(room, 40)) - 1;
      lines += more;
      used = Math.max(0, used - more * room);
    }
  }
  return lines;
}
