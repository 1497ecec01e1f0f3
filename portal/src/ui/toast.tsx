// Short messages about what has happened, shown above the page and announced to screen readers.
import { useEffect } from "react";
import { createStore } from "../store.ts";
import { classes } from "./classes.ts";

type Tone = "good" | "bad" | "quiet";

interface Said {
  id: number;
  text: string;
  tone: Tone;
}

const said = createStore<readonly Said[]>([]);
let next = 1;

/** Shows a message. A `quiet` one is only announced to screen readers. */
export function say(text: string, tone: Tone = "good"): void {
  said.set([...said.get().slice(-3), { id: next++, text, tone }]);
}

/** The live region for the messages, mounted once by the root: it must exist before a message is added. */
export function Toasts() {
  const all = said.use();
  return (
    <div
      role="status"
      aria-live="polite"
      className="pointer-events-none fixed top-3 left-1/2 z-50 flex w-max max-w-[min(26rem,calc(100vw-2rem))] -translate-x-1/2 flex-col items-center gap-2 md:left-[calc(50%+7rem)]"
    >
      {all.map((one) => (
        <Toast key={one.id} one={one} />
      ))}
    </div>
  );
}

function Toast({ one: { id, text, tone } }: { one: Said }) {
  useEffect(() => {
    const timer = setTimeout(() => said.set(said.get().filter((one) => one.id !== id)), tone === "bad" ? 9000 : 4000);
    return () => clearTimeout(timer);
  }, [id, tone]);
  if (tone === "quiet") return <p className="sr-only">{text}</p>;
  return (
    <p
      className={classes(
        "popup flex items-center gap-2 px-3 py-2 before:size-2 before:shrink-0 before:rounded-full",
        tone === "good" ? "before:bg-good" : "before:bg-bad",
      )}
    >
      {text}
    </p>
  );
}
