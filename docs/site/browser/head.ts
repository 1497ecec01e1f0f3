// Sets the theme and the language of examples before anything is drawn, so that no page flashes. Runs before all other scripts.
(() => {
  const root = document.documentElement;
  const kept = (name: string): string | null => {
    try {
      return localStorage.getItem(name);
    } catch {
      return null; // storage is forbidden: the system's choice applies
    }
  };
  const system = matchMedia("(prefers-color-scheme: dark)");
  const show = (): void => {
    const theme = kept("gerbang.theme");
    root.dataset.theme = theme === "dark" || (theme !== "light" && system.matches) ? "dark" : "light";
  };
  show();
  // A system that turns dark in the evening does so for a page that is open, too.
  system.addEventListener("change", show);
  root.dataset.language = kept("gerbang.docs.language") ?? "curl";
  root.classList.add("scripts");
})();
