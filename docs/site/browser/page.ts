// The behaviour of a page after it is drawn: themes, tabs, copying, and the reader's own values in examples. Search and running are loaded when they
// are first used.
const root = document.documentElement;

function keep(name: string, value: string): void {
  try {
    localStorage.setItem(name, value);
  } catch {
    // Without storage the choice applies to this page only.
  }
}

const all = <T extends HTMLElement>(selector: string, within: ParentNode = document): T[] => [
  ...within.querySelectorAll<T>(selector),
];

document.querySelector(".theme")?.addEventListener("click", () => {
  const theme = root.dataset.theme === "dark" ? "light" : "dark";
  root.dataset.theme = theme;
  keep("gerbang.theme", theme);
});

// Tabs: one choice of language applies to all examples, on this page and on later ones.
function tabShown(example: HTMLElement): HTMLElement | undefined {
  const tabs = all('[role="tab"]', example);
  return tabs.find((tab) => tab.dataset.language === root.dataset.language) ?? tabs[0];
}

function showTabs(): void {
  for (const example of all(".example")) {
    const shown = tabShown(example);
    for (const tab of all('[role="tab"]', example)) {
      tab.setAttribute("aria-selected", String(tab === shown));
      tab.tabIndex = tab === shown ? 0 : -1;
    }
    for (const panel of all('[role="tabpanel"]', example)) {
      panel.hidden = panel.dataset.language !== shown?.dataset.language;
    }
  }
  markScrolling();
}

function choose(tab: HTMLElement): void {
  // The chosen example stays where it is on the screen, although examples above it may change their height.
  const before = tab.getBoundingClientRect().top;
  root.dataset.language = tab.dataset.language ?? "curl";
  keep("gerbang.docs.language", root.dataset.language);
  showTabs();
  scrollBy(0, tab.getBoundingClientRect().top - before);
}

const steps: Readonly<Record<string, number>> = { ArrowLeft: -1, ArrowRight: 1 };
for (const list of all(".example .tabs")) {
  const tabs = all('[role="tab"]', list);
  list.addEventListener("click", ({ target }) => {
    const tab = (target as HTMLElement).closest<HTMLElement>('[role="tab"]');
    if (tab) choose(tab);
  });
  list.addEventListener("keydown", (event) => {
    const at = tabs.indexOf(event.target as HTMLElement);
    const step = steps[event.key];
    const to =
      event.key === "Home" ? 0 : event.key === "End" ? tabs.length - 1 : step === undefined ? undefined : at + step;
    const tab = to === undefined || at < 0 ? undefined : tabs.at(to % tabs.length);
    if (!tab) return;
    event.preventDefault();
    choose(tab);
    tab.focus();
  });
}

// Boxes that scroll sideways can be focused, so that the keyboard can scroll them; other boxes cannot.
function markScrolling(): void {
  for (const box of all(".table, pre")) {
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  }
}
addEventListener("resize", markScrolling);

const copying =
  root.lang === "id"
    ? { done: "Tersalin", byHand: "Pilih teksnya, lalu salin" }
    : { done: "Copied", byHand: "Select it, and copy" };
async function copyCode(button: HTMLButtonElement, label: string | null): Promise<void> {
  const box = button.closest(".code");
  const code = box && all("pre", box).find((pre) => pre.closest("[hidden]") === null);
  try {
    await navigator.clipboard.writeText(code?.textContent ?? "");
    button.textContent = copying.done;
  } catch {
    button.textContent = copying.byHand; // browsers allow copying only on https and localhost
  }
  setTimeout(() => (button.textContent = label), 1500);
}
for (const button of all<HTMLButtonElement>(".copy")) {
  const label = button.textContent;
  button.addEventListener("click", () => void copyCode(button, label));
}

const search = document.querySelector<HTMLInputElement>("#search");
let searching: Promise<unknown> | undefined;
search?.addEventListener("focus", () => {
  searching ??= import(root.dataset.search ?? "").then((module: { openSearch: (input: HTMLInputElement) => void }) =>
    module.openSearch(search),
  );
});
document.addEventListener("keydown", (event) => {
  const isTyping = (event.target as HTMLElement).closest("input, textarea, select, [contenteditable]") !== null;
  if (event.key !== "/" || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  search?.focus();
});

// Runs examples, and fills in the reader's own values.
interface RunModule {
  openRun: (button: HTMLElement) => Promise<void>;
  fill: (isAsking: boolean) => Promise<void>;
}
const running = (): Promise<RunModule> => import(root.dataset.run ?? "") as Promise<RunModule>;
for (const button of all<HTMLButtonElement>("button.run")) {
  button.addEventListener("click", () => void running().then(({ openRun }) => openRun(button)));
}
for (const box of all('[data-fill="root"]')) box.textContent = location.origin;
if (document.querySelector('[data-fill="client-id"]')) void running().then(({ fill }) => fill(false));

// On a phone the menu covers the page. It opens scrolled to the current page.
document.querySelector("#menu")?.addEventListener("toggle", () => {
  document.querySelector('#menu [aria-current="page"]')?.scrollIntoView({ block: "center" });
});
document.querySelector('#menu [aria-current="page"]')?.scrollIntoView({ block: "nearest" });

showTabs();
// The web font may make text wider.
void document.fonts.ready.then(markScrolling);
