// The little that needs a script: the permalink with this host's name, chosen whole when it is focused.
document.addEventListener("DOMContentLoaded", () => {
  const link = document.getElementById("permalink");
  if (!link) return;
  link.value = new URL(link.value, location.href).href;
  link.addEventListener("focus", () => link.select());
});
