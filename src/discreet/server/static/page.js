// The permalink with this host's name, chosen whole when it is focused.
const link = document.getElementById("permalink");
if (link) {
  link.value = new URL(link.value, location.href).href;
  link.addEventListener("focus", () => link.select());
}
