// The script of the status page: shows times in the reader's time zone and reloads the content every half minute. The page works without it.
const EVERY_MS = 30_000;

// Uses the page's language, in the reader's regional variant if the browser has one.
const { lang } = document.documentElement;
const format = new Intl.DateTimeFormat(navigator.language.startsWith(lang) ? navigator.language : lang, {
  dateStyle: "medium",
  timeStyle: "short",
});

/** Shows times in the reader's zone; the UTC text becomes the tooltip. */
const localise = (root) => {
  for (const time of root.querySelectorAll("time")) {
    time.title = time.textContent;
    time.textContent = format.format(new Date(time.dateTime));
  }
};

/** True while the reader has a day's list open, has the focus in the content, or has selected text. The content is then not replaced. */
const isBusy = (main) =>
  main.querySelector("details[open]") !== null ||
  main.contains(document.activeElement) ||
  String(getSelection()) !== "";

const look = async () => {
  const main = document.querySelector("main");
  if (document.visibilityState !== "visible" || isBusy(main)) return;
  try {
    const answer = await fetch(location.href);
    if (!answer.ok) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const fresh = page.querySelector("main");
    if (!fresh) return;
    localise(fresh);
    main.replaceWith(fresh);
    document.title = page.title;
  } catch {
    // The network failed; the next reload tries again.
  }
};

localise(document);
setInterval(() => void look(), EVERY_MS);
document.addEventListener("visibilitychange", () => void look());
