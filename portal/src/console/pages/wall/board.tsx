// The wall itself: the head with its period, the big figures, the plots and what stands beside them. On a wide screen it fits without scrolling.
import { Maximize2, Minimize2 } from "lucide-react";
import { type ReactNode, useEffect } from "react";
import { useGo } from "../../../address.ts";
import { Button } from "../../../ui/button.tsx";
import { classes } from "../../../ui/classes.ts";
import { ErrorFace, useErrorShown } from "../../../ui/face.tsx";
import { usePageTitle } from "../../../ui/page.tsx";
import { Skeleton } from "../../../ui/skeleton.tsx";
import { Time } from "../../../ui/time.tsx";
import { useLanguage } from "../../../words.ts";
import { at } from "../../paths.ts";
import { Figures } from "./figures.tsx";
import { type Period, type WallPicture, periods, useView, useWall } from "./live.ts";
import { Plots } from "./plots.tsx";
import { Side } from "./side.tsx";

const names = Object.keys(periods) as Period[];
const COUNTED_LATE_MS = 60_000;

/** `isScreen`: without navigation, on a screen of its own. */
export function Board({ isScreen }: { isScreen: boolean }) {
  usePageTitle("Wall");
  const { period, environment, show } = useView();
  const { wall, staleSince } = useWall(period, environment);
  const error = useErrorShown(wall);
  const go = useGo();
  const query = new URLSearchParams({ period, ...(environment ? { environment } : {}) }).toString();
  const turn = (): void => void go(`${isScreen ? at.wall() : at.wallScreen()}?${query}`);
  useKeys({ choose: (number) => names[number] && show({ period: names[number] }), turn });
  return (
    <article
      className={classes(
        "flex min-h-full flex-col gap-3 p-3 sm:p-4 2xl:min-h-0",
        isScreen ? "2xl:h-dvh" : "2xl:h-[calc(100dvh-0.375rem)]",
      )}
    >
      <header className="flex flex-wrap items-center gap-x-4 gap-y-2">
        <h1 tabIndex={-1} className="text-xl font-semibold tracking-[-0.01em]">
          Wall
        </h1>
        <Freshness of={wall.data} staleSince={staleSince} />
        <div className="ml-auto flex flex-wrap items-center gap-2">
          <label className="flex items-center gap-2 text-xs text-muted">
            Environment
            <select
              className="field w-auto"
              value={environment ?? ""}
              onChange={({ target: { value } }) =>
                show({ environment: value === "production" || value === "sandbox" ? value : undefined })
              }
            >
              <option value="">both</option>
              <option value="production">production</option>
              <option value="sandbox">sandbox</option>
            </select>
          </label>
          <Choice value={period} choose={(one) => show({ period: one })} />
          <Button onClick={turn} label={isScreen ? "Back to the console (F)" : "Full screen (F)"}>
            {isScreen ? <Minimize2 size={14} aria-hidden="true" /> : <Maximize2 size={14} aria-hidden="true" />}
          </Button>
        </div>
      </header>
      {wall.data ? (
        <Content of={wall.data} isStale={staleSince !== undefined} />
      ) : error ? (
        <ErrorFace error={error} retry={() => wall.refetch()} />
      ) : (
        <Skeleton className="h-96 w-full flex-1" />
      )}
    </article>
  );
}

function Content({ of, isStale }: { of: WallPicture; isStale: boolean }) {
  return (
    <div
      className={classes(
        "grid min-h-0 flex-1 gap-3 2xl:grid-cols-[minmax(0,1fr)_minmax(18rem,20vw)]",
        // What is old is seen to be old from afar, and can still be read.
        isStale && "grayscale",
      )}
    >
      <div className="flex min-h-0 min-w-0 flex-col gap-3">
        <Figures of={of} language={useLanguage()} />
        <Plots of={of} />
      </div>
      <Side of={of} />
    </div>
  );
}

/** When the picture is of; in the colour of trouble when it is old, or when payments are not counted any more. */
function Freshness({ of, staleSince }: { of: WallPicture | undefined; staleSince: number | undefined }) {
  if (!of) return null;
  if (staleSince !== undefined)
    return (
      <Alert>
        No answer since <Time at={new Date(staleSince).toISOString()} shape="clock" />. The figures shown are old.
      </Alert>
    );
  const { counted_at: countedAt, as_of: asOf } = of;
  if (countedAt === null) return <Quiet>Payments are being counted for the first time.</Quiet>;
  if (Date.parse(asOf) - Date.parse(countedAt) > COUNTED_LATE_MS)
    return (
      <Alert>
        Payments are counted only up to <Time at={countedAt} shape="minute" />. Check that a worker is running.
      </Alert>
    );
  return (
    <Quiet>
      <Time at={asOf} shape="clock" />
    </Quiet>
  );
}

const Alert = ({ children }: { children: ReactNode }) => (
  <p role="alert" className="rounded-md border-2 border-bad px-3 py-1 text-lg font-semibold text-bad">
    {children}
  </p>
);
const Quiet = ({ children }: { children: ReactNode }) => (
  <p className="text-[clamp(0.875rem,1vw,1.25rem)] text-muted">{children}</p>
);

function Choice({ value, choose }: { value: Period; choose: (period: Period) => void }) {
  return (
    <div role="group" aria-label="Period" className="flex rounded border border-line bg-panel">
      {names.map((name, number) => (
        <button
          key={name}
          type="button"
          title={`Key ${number + 1}`}
          aria-pressed={value === name}
          onClick={() => choose(name)}
          className={classes(
            "min-h-7 px-2.5 text-xs first:rounded-l last:rounded-r",
            value === name ? "bg-chosen font-medium text-ink" : "text-muted hover:text-ink",
          )}
        >
          {periods[name]}
        </button>
      ))}
    </div>
  );
}

/** 1 to 4 choose the period, F turns to the full screen and back. */
function useKeys({ choose, turn }: { choose: (number: number) => void; turn: () => void }): void {
  useEffect(() => {
    const key = (event: KeyboardEvent): void => {
      const { target } = event;
      if (event.metaKey || event.ctrlKey || event.altKey) return;
      if (target instanceof HTMLElement && target.closest("input,select,textarea,[role=dialog]")) return;
      if (/^[1-4]$/.test(event.key)) choose(Number(event.key) - 1);
      if (event.key.toLowerCase() === "f") turn();
    };
    addEventListener("keydown", key);
    return () => removeEventListener("keydown", key);
  });
}
