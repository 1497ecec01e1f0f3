// The status page, where scripts run: shows times in the reader's zone and what is new every half minute. Without scripts the page works as well.
const EVERY_MS = 30_000;

// In the page's language, as it is written where the reader is.
const { lang } = document.documentElement;
const format = new Intl.DateTimeFormat(navigator.language.startsWith(lang) ? navigator.language : lang, {
  dateStyle: "medium",
  timeStyle: "short",
});

/** What stood there, the time in UTC, is told to whoever points at it. */
const localise = (root) => {
  for (const time of root.querySelectorAll("time")) {
    time.title = time.textContent;
    time.textContent = format.format(new Date(time.dateTime));
  }
};

/** Whoever reads a day's list or has marked something is left alone. */
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
    // No network for a moment: the next time may be better.
  }
};

localise(document);
setInterval(() => void look(), EVERY_MS);
document.addEventListener("visibilitychange", () => void look());
