// The payer's page, where scripts run: counts down, copies, and hears that the payment changed. Without scripts the page works as well.
const page = document.body.dataset;

/** Shows what the service says now. The page is made there. */
const again = () => location.reload();

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

for (const button of document.querySelectorAll("[data-copy]")) {
  if (!navigator.clipboard) continue;
  button.hidden = false;
  const before = button.textContent;
  const tell = () => {
    button.textContent = button.dataset.copied;
    setTimeout(() => (button.textContent = before), 2000);
  };
  // Where a browser does not let it be copied, the number can still be marked by hand.
  button.addEventListener(
    "click",
    () => void navigator.clipboard.writeText(button.dataset.copy).then(tell, () => undefined),
  );
}

if (page.watch) {
  const ask = async () => {
    try {
      const answer = await fetch(page.watch + "/state", { cache: "no-store" });
      if (answer.ok && (await answer.json()).face !== page.face) return again();
    } catch {
      // No network for a moment: the next time may be better.
    }
    setTimeout(() => void ask(), 4000 + Math.random() * 2000);
  };
  const stream = new EventSource(page.watch + "/stream");
  stream.addEventListener("face", (event) => JSON.parse(event.data).face !== page.face && again());
  // The browser tries again by itself, but for an answer that is none: then the page asks now and then.
  stream.addEventListener("error", () => void (stream.readyState === EventSource.CLOSED && ask()));
  // A page that slept may have missed it.
  document.addEventListener(
    "visibilitychange",
    () => document.visibilityState === "visible" && stream.readyState !== EventSource.OPEN && again(),
  );
}

// Somebody else pays just now: whether they still do is asked from time to time.
if (page.again) setTimeout(again, Number(page.again) * 1000 + Math.random() * 2000);

if (page.back) setTimeout(() => location.assign(page.back), 5000);
