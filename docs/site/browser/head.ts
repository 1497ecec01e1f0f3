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
  const theme = kept("gerbang.theme");
  const isDark = theme === "dark" || (theme !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  root.dataset.theme = isDark ? "dark" : "light";
  root.dataset.language = kept("gerbang.docs.language") ?? "curl";
  root.classList.add("scripts");
})();
