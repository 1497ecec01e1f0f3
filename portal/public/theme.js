// Chooses light or dark before anything is drawn, so that no page flashes. Kept apart and plain: it runs before everything else.
(function () {
  var kept = null;
  try {
    kept = localStorage.getItem("gerbang.theme");
  } catch (error) {
    // Storage may be forbidden; then the system's choice holds.
  }
  var dark = kept === "dark" || (kept !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.dataset.theme = dark ? "dark" : "light";
})();
