// Chooses light or dark and the language of examples before anything is drawn, so that no page flashes. It runs before everything else.
(() => {
  const root = document.documentElement;
  const kept = (name: string): string | null => {
    try {
      return localStorage.getItem(name);
    } catch {
      return null; // storage may be forbidden; then the system's choice holds
    }
  };
  const theme = kept("gerbang.theme");
  const isDark = theme === "dark" || (theme !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  root.dataset.theme = isDark ? "dark" : "light";
  root.dataset.language = kept("gerbang.docs.language") ?? "curl";
  root.classList.add("scripts");
})();
