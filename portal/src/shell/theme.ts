// The theme: light, dark, or the system's. The choice is stored on this device; public/theme.js applies it before the first drawing.
import { createStore } from "../store.ts";

export type Theme = "light" | "dark" | "system";

const NAME = "gerbang.theme";
const system = matchMedia("(prefers-color-scheme: dark)");

function chosen(): Theme {
  try {
    const kept = localStorage.getItem(NAME);
    return kept === "light" || kept === "dark" ? kept : "system";
  } catch {
    return "system"; // storage may be forbidden
  }
}

const theme = createStore(chosen());
const shown = createStore(document.documentElement.dataset.theme ?? "light");

function apply(): void {
  const chosen = theme.get();
  shown.set(chosen === "system" ? (system.matches ? "dark" : "light") : chosen);
  document.documentElement.dataset.theme = shown.get();
}
system.addEventListener("change", apply);

export function setTheme(to: Theme): void {
  theme.set(to);
  try {
    localStorage.setItem(NAME, to);
  } catch {
    // Without storage the choice applies to this page only.
  }
  apply();
}

/** The chosen theme, and the theme in effect. */
export function useTheme(): { chosen: Theme; shown: string } {
  return { chosen: theme.use(), shown: shown.use() };
}
