// The search: loads the index, shows results below the field, and works by keyboard alone.
import MiniSearch, { type SearchResult } from "minisearch";
import { INDEX_OPTIONS, ranked } from "./ranking.ts";

interface Result {
  title: string;
  page: string;
  section: string;
  url: string;
  language: string;
}

const RESULTS_MAX = 12;

const root = document.documentElement;
const words =
  root.lang === "id"
    ? { failed: "Pencarian tidak dapat dimuat.", none: "Tidak ada yang cocok:", results: "hasil" }
    : { failed: "The search could not be loaded.", none: "Nothing is called", results: "results" };

/** Turns the field into a search. Called once, when the field gets the focus for the first time. */
export function openSearch(input: HTMLInputElement): void {
  const list = document.createElement("div");
  list.id = "results";
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", input.ariaLabel ?? "Search");
  list.hidden = true;
  const told = document.createElement("p");
  told.className = "told";
  told.setAttribute("role", "status");
  input.parentElement?.append(list, told);
  input.setAttribute("role", "combobox");
  input.setAttribute("aria-controls", list.id);
  input.setAttribute("aria-autocomplete", "list");
  input.setAttribute("aria-expanded", "false");

  const loading = load();
  let chosen = -1;

  const options = (): HTMLElement[] => [...list.querySelectorAll<HTMLElement>('[role="option"]')];
  const close = (): void => {
    list.hidden = true;
    told.textContent = "";
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
    chosen = -1;
  };
  const mark = (to: number): void => {
    const shown = options();
    chosen = shown.length === 0 ? -1 : (to + shown.length) % shown.length;
    for (const [at, option] of shown.entries()) option.setAttribute("aria-selected", String(at === chosen));
    const option = shown[chosen];
    if (!option) return;
    input.setAttribute("aria-activedescendant", option.id);
    option.scrollIntoView({ block: "nearest" });
  };
  const show = async (): Promise<void> => {
    const text = input.value.trim();
    if (text === "") return close();
    const index = await loading;
    if (input.value.trim() !== text) return;
    if (!index) {
      told.textContent = words.failed;
      return;
    }
    const found = ranked(index, text, root.lang).slice(0, RESULTS_MAX).map(resultOf);
    list.replaceChildren(...found.map(optionOf));
    list.hidden = found.length === 0;
    input.setAttribute("aria-expanded", String(found.length > 0));
    told.textContent = found.length === 0 ? `${words.none} “${text}”.` : `${found.length} ${words.results}`;
    told.classList.toggle("silent", found.length > 0);
    mark(0);
  };

  input.addEventListener("input", () => void show());
  input.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      mark(chosen + (event.key === "ArrowDown" ? 1 : -1));
    } else if (event.key === "Enter") {
      options()[chosen]?.click();
    } else if (event.key === "Escape") {
      if (list.hidden) input.blur();
      close();
    }
  });
  input.addEventListener("blur", () => setTimeout(close, 150)); // a click on a result comes after the blur
  void show();
}

async function load(): Promise<MiniSearch | undefined> {
  let answer: Response;
  try {
    answer = await fetch(root.dataset.index ?? "");
  } catch (error) {
    if (error instanceof TypeError) return undefined; // no network: the message stands where the results would be
    throw error;
  }
  return answer.ok ? MiniSearch.loadJSON(await answer.text(), INDEX_OPTIONS) : undefined;
}

/** The fields that the index stores about a passage. */
function resultOf(found: SearchResult): Result {
  const text = (name: string): string => String(found[name] ?? "");
  return {
    title: text("title"),
    page: text("page"),
    section: text("section"),
    url: text("url"),
    language: text("language"),
  };
}

function optionOf({ title, page, section, url, language }: Result, at: number): HTMLElement {
  const option = document.createElement("a");
  option.id = `result-${at}`;
  option.setAttribute("role", "option");
  option.setAttribute("aria-selected", "false");
  option.href = url;
  option.tabIndex = -1;
  option.lang = language;
  const where = document.createElement("span");
  where.textContent = title === page ? section : `${section} · ${page}`;
  option.append(title, where);
  return option;
}
