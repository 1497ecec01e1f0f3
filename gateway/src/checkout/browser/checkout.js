// Script of payers' pages: countdown, copy buttons, and reloading when the payment changes. The page works without it, too.
const page = document.body.dataset;

/** Does what needs the network. Without one that waits: the browser would show an error in place of the page. */
const withNetwork = (go) => (navigator.onLine ? go() : addEventListener("online", go, { once: true }));

/** Reloads the page, which the service renders with the current state. */
const again = () => withNetwork(() => location.reload());

const left = document.querySelector("[data-left]");
if (left) {
  const end = performance.now() + Number(left.dataset.left) * 1000;
  const show = () => {
    const seconds = Math.max(0, Math.ceil((end - performance.now()) / 1000));
    const two = (number) => String(number).padStart(2, "0");
    const hours = Math.floor(seconds / 3600);
    const minutes = Math.floor(seconds / 60) % 60;
    left.textContent = `${hours > 0 ? `${hours}:` : ""}${two(minutes)}:${two(seconds % 60)}`;
    if (seconds === 0) setTimeout(again, 1000 + Math.random() * 2000);
    else setTimeout(show, 1000);
  };
  show();
}

const locale = document.documentElement.lang === "id" ? "id-ID" : "en-GB";

// Times in the payer's zone, in the page's language; the UTC text becomes the tooltip. The zone is named: paper is read elsewhere, too.
const format = new Intl.DateTimeFormat(locale, {
  day: "numeric",
  month: "short",
  year: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  timeZoneName: "short",
});
for (const time of document.querySelectorAll("time")) {
  time.title = time.textContent;
  time.textContent = format.format(new Date(time.dateTime));
}

// The amount as the service will read it, beside the field while it is typed. "1.500" dinars are one and a half in English; who means fifteen hundred
// reads that this is not what will be paid.
const reading = document.querySelector("[data-reads]");
if (reading) {
  const { reads, exponent, text, textElsewhere } = reading.dataset;
  const inThousands = "^\\D*(\\d{1,3}[.,]\\d{3})$";
  const field = document.getElementById("amount");
  const digits = new Intl.NumberFormat(locale, { minimumFractionDigits: exponent, maximumFractionDigits: exponent });
  const read = (pattern) => {
    const [, whole, part = ""] = new RegExp(pattern, "i").exec(field.value.trim()) ?? [];
    return whole && digits.format(`${whole.replaceAll(/\D/g, "")}.${part}`);
  };
  const show = () => {
    const [mine, other] = [read(reads), read(inThousands)];
    const amounts = [mine, other];
    const isPlain = other === undefined || other === mine;
    reading.textContent = mine ? (isPlain ? text : textElsewhere).replaceAll("#", () => amounts.shift()) : "";
  };
  field.addEventListener("input", show);
  show();
}

// Says to a screen reader what the letters on a button say, which it does not read again.
const said = document.createElement("p");
said.role = "status";
said.className = "unseen";

for (const button of document.querySelectorAll("[data-copy]")) {
  button.hidden = false;
  document.querySelector("main").append(said);
  const before = button.textContent;
  const tell = () => {
    said.textContent = button.textContent = button.dataset.copied;
    setTimeout(() => {
      button.textContent = before;
      said.textContent = "";
    }, 2000);
  };
  // The way of old browsers, and of those inside other apps, which refuse the new one. Where it fails as well, the number is selected: the payer
  // copies it by the phone's own menu.
  const copyAsBefore = () => {
    getSelection().selectAllChildren(button.parentElement.querySelector("strong"));
    const fill = (event) => {
      event.clipboardData.setData("text/plain", button.dataset.copy);
      event.preventDefault();
    };
    document.addEventListener("copy", fill, { once: true });
    if (document.execCommand("copy")) tell();
    document.removeEventListener("copy", fill);
  };
  button.addEventListener("click", () =>
    navigator.clipboard
      ? void navigator.clipboard.writeText(button.dataset.copy).then(tell, copyAsBefore)
      : copyAsBefore(),
  );
}

if (page.watch) {
  let asking;
  let isStale = false;
  /**
   * Reloads if the payment changed, or in any case if `always`. Without a network the page stays: its payer needs the numbers. A question takes the
   * place of the one before, whose answer may never come: its connection may have died while the phone slept.
   */
  const compare = async (always) => {
    isStale ||= always;
    asking?.abort();
    asking = new AbortController();
    try {
      const answer = await fetch(page.watch + "/state", { cache: "no-store", signal: asking.signal });
      if (answer.ok && (isStale || (await answer.json()).face !== page.face)) again();
    } catch {
      // The network failed, or a later question took the place. The page asks again later, or the payer does.
    }
  };
  let stream;
  const listen = () => {
    stream = new EventSource(page.watch + "/stream");
    stream.addEventListener("face", (event) => JSON.parse(event.data).face !== page.face && again());
    // EventSource reconnects by itself except after an error status, such as a proxy's while the service restarts. Then the page asks, and listens
    // again after a while, at another moment than others.
    stream.addEventListener("error", () => {
      if (stream.readyState !== EventSource.CLOSED) return;
      void compare(false);
      setTimeout(listen, 4000 + Math.random() * 2000);
    });
  };
  listen();
  // A page that was in the background, on a phone that slept, may have missed a change: the stream may be dead although it counts as open. The
  // countdown stands still while a phone sleeps, so after a while the page is reloaded in any case.
  let hiddenAt = 0;
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState !== "visible") hiddenAt = Date.now();
    else void compare(stream.readyState !== EventSource.OPEN || Date.now() - hiddenAt > 15_000);
  });
}

// Another payer holds the payment link: reload from time to time until the link is free or paid.
if (page.again) setTimeout(again, Number(page.again) * 1000 + Math.random() * 2000);

// Not when the payer came back from there by the browser's own button: who wants to read the page again is not taken away from it again.
if (page.back && performance.getEntriesByType("navigation")[0]?.type !== "back_forward") {
  const soon = document.querySelector("[data-soon]");
  soon.hidden = false;
  let stays = false;
  setTimeout(() => withNetwork(() => stays || location.assign(page.back)), 5000);
  // Who reads slowly, or prints the page, is not taken away from it. The way back stays.
  const stay = () => (stays = soon.hidden = true);
  addEventListener("beforeprint", stay);
  soon.querySelector("button").addEventListener("click", () => {
    stay();
    soon.previousElementSibling.focus();
  });
}
