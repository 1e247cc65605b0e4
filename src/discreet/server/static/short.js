// The short address of the table as it is laid out now, made without leaving the page.
import { copyButton } from "./view/take.js";
import { words } from "./words.js";

const form = document.getElementById("shorten");

form?.addEventListener("submit", async (event) => {
  event.preventDefault();
  form.elements.table.value = new URL(document.getElementById("permalink").value, location.href).search.slice(1);
  const asked = { method: "POST", body: new URLSearchParams(new FormData(form)), headers: { Accept: "application/json" } };
  const answer = await fetch(form.action, asked).catch(() => null);
  if (!answer?.ok) {
    form.submit(); // the page says what is wrong
    return;
  }
  const box = document.createElement("input");
  box.readOnly = true;
  box.value = new URL((await answer.json()).address, location.href).href;
  box.setAttribute("aria-label", words("Short link"));
  box.addEventListener("focus", () => box.select());
  document.getElementById("short").replaceChildren(box, " ", copyButton(() => box.value));
});
