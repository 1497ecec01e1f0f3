// Whether a book is clean: a replay from the first journal, with how far it is, and what the latest ones found.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { refresh, useAction } from "../../../api/action.ts";
import { Answer } from "../../../ui/answer.tsx";
import { Button } from "../../../ui/button.tsx";
import { Identity } from "../../../ui/copy.tsx";
import { ErrorNote } from "../../../ui/face.tsx";
import { Section } from "../../../ui/page.tsx";
import { Skeleton } from "../../../ui/skeleton.tsx";
import { Status } from "../../../ui/status.tsx";
import { Time, TimeFromNow } from "../../../ui/time.tsx";
import { type Schema, read, write } from "../../api/client.ts";
import { useMay } from "../../api/rights.ts";
import { useBook } from "../merchants/book.tsx";
import { Plain } from "../merchants/plain.tsx";

type Book = Schema<"Book">;
type Replay = Schema<"BookVerification">;

const ASK_MS = 1_000;
const paths = {
  all: "/v1/merchants/{id}/books/{environment}/verifications",
  stop: "/v1/merchants/{id}/books/{environment}/verifications/{verification_id}/stop",
} as const;
const tones = { running: "calm", clean: "good", wrong: "bad", stopped: "calm", interrupted: "warn" } as const;
const count = (value: number): string => value.toLocaleString("en");

export function Verify({ of: book }: { of: Book }) {
  const path = useBook();
  const queries = useQueryClient();
  const may = useMay()("support");
  const replays = useQuery({
    ...read(paths.all, { path }),
    refetchInterval: ({ state }) => (state.data?.data[0]?.status === "running" ? ASK_MS : 15_000),
  });
  const start = useAction(() => write("POST", paths.all, { path }), { refresh: [paths.all] });
  const newest = replays.data?.data[0];
  const running = newest?.status === "running" ? newest : undefined;
  // The totals and the end of the chain are those of the moment when it ended.
  const wasRunning = useRef(false);
  useEffect(() => {
    if (wasRunning.current && !running) void refresh(queries, ["/v1/merchants/{id}/books/{environment}"]);
    wasRunning.current = running !== undefined;
  }, [running, queries]);
  return (
    <Section
      title="Chain"
      actions={
        may &&
        !running && (
          <Button look="primary" pending={start.pending} onClick={() => start.run(undefined)}>
            Verify the book
          </Button>
        )
      }
    >
      <div className="space-y-3">
        <div className="rounded-md border border-line bg-panel px-4 py-2">
          <p className="text-muted">
            Hash of the newest of {count(book.journals)} {book.journals === 1 ? "journal" : "journals"}, which covers
            all the earlier ones
          </p>
          <p className="break-all">
            <Identity id={book.head_hash} what="the hash of the chain's end" />
          </p>
        </div>
        {start.error && <ErrorNote error={start.error} />}
        <Answer of={replays} skeleton={<Skeleton className="h-20 w-full" />}>
          {({ data }) => <Replays all={data} book={book} may={may} />}
        </Answer>
      </div>
    </Section>
  );
}

function Replays({ all, book, may }: { all: readonly Replay[]; book: Book; may: boolean }) {
  const [newest, ...earlier] = all;
  return (
    <>
      <div role="status">
        {newest ? (
          newest.status === "running" ? (
            <Running of={newest} may={may} />
          ) : (
            <Found of={newest} book={book} />
          )
        ) : (
          <p className="rounded-md border border-dashed border-line bg-panel px-4 py-3 text-muted">
            This book has not been verified here yet. A replay recomputes every journal from the first one and checks
            every payment, refund, dispute and batch against them. Traffic continues meanwhile.
          </p>
        )}
      </div>
      {earlier.length > 0 && (
        <details>
          <summary className="inline-flex min-h-6 items-center text-muted hover:text-ink">
            {earlier.length} {earlier.length === 1 ? "replay" : "replays"} before
          </summary>
          <div className="mt-2">
            <Plain
              label="Replays before"
              heads={[
                { head: "Begun" },
                { head: "Found" },
                { head: "Journals", align: "right" },
                { head: "By", align: "right", from: "wide" },
              ]}
              rows={earlier.map((one) => ({
                key: one.verification_id,
                cells: [
                  <Time key="at" at={one.started_at} shape="minute" />,
                  <Status key="found" status={one.status} tone={tones[one.status]} />,
                  count(one.journals),
                  <span key="by" className="wrap-anywhere">
                    {one.started_by}
                  </span>,
                ],
              }))}
            />
          </div>
        </details>
      )}
    </>
  );
}

/** The journals take the most of it; the checks of rows that follow have the last fifth of the bar. */
const JOURNALS_PART = 0.8;

function Running({ of: replay, may }: { of: Replay; may: boolean }) {
  const path = { ...useBook(), verification_id: replay.verification_id };
  const stop = useAction(() => write("POST", paths.stop, { path }), { refresh: [paths.all] });
  const { journals, journals_in_all: all, journals_per_second: rate, checks, checks_in_all: checksInAll } = replay;
  const done =
    (all === 0 ? 0 : (journals / all) * JOURNALS_PART) +
    (checksInAll === 0 ? 0 : (checks / checksInAll) * (1 - JOURNALS_PART));
  const secondsLeft = rate === null || rate === 0 ? undefined : Math.ceil((all - journals) / rate);
  return (
    <div className="rounded-md border border-line bg-panel px-4 py-3">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
        <p className="min-w-0 flex-1 basis-56 font-medium">
          {journals < all || all === 0
            ? `${count(journals)} of ${count(all)} journals`
            : `Check ${checks + 1} of ${checksInAll}: ${count(replay.rows)} rows checked against the journals`}
        </p>
        {may && (
          <Button pending={stop.pending || replay.stopped_by !== null} onClick={() => stop.run(undefined)}>
            Stop
          </Button>
        )}
      </div>
      <progress aria-label="How far the replay is" value={done} max={1} className="my-2 h-1.5 w-full" />
      <p className="text-muted">
        {rate !== null && `${count(rate)} journals a second`}
        {secondsLeft !== undefined && secondsLeft > 0 && `, ${leftFor(secondsLeft)}`}
        {rate !== null && " · "}
        begun <TimeFromNow at={replay.started_at} ticking /> by {replay.started_by}. It continues if you leave this
        page.
      </p>
      {stop.error && <ErrorNote error={stop.error} />}
    </div>
  );
}

function leftFor(seconds: number): string {
  return seconds < 90 ? `about ${seconds} s still` : `about ${Math.round(seconds / 60)} min still`;
}

function Found({ of: replay, book }: { of: Replay; book: Book }) {
  const { status, journals, wrong, head_hash: head, started_by: by, ended_at: ended } = replay;
  return (
    <div className="rounded-md border border-line bg-panel px-4 py-3">
      <p className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <Status status={status === "wrong" ? "not clean" : status} tone={tones[status]} />
        <span className="text-muted">
          {ended !== null && <Time at={ended} />}, begun by {by}
        </span>
      </p>
      <p className="mt-1 wrap-anywhere">
        {status === "clean" && (
          <>
            {count(journals)} {journals === 1 ? "journal was" : "journals were"} replayed, and every total and every
            link of the chain is correct.{" "}
            {head === book.head_hash ? (
              "The chain still ends there."
            ) : (
              <>
                It ended at <code className="font-mono text-xs break-all">{head}</code>; the book has grown since.
              </>
            )}
          </>
        )}
        {status === "wrong" && (
          <>
            {wrong} Found after {count(journals)} journals. Do not pay anything out of this book until you know why.
          </>
        )}
        {status === "stopped" && (
          <>
            Stopped by {replay.stopped_by} after {count(journals)} journals, so it proves nothing.
          </>
        )}
        {status === "interrupted" && (
          <>
            The process that replayed it ended after {count(journals)} journals, so it proves nothing. Start it again.
          </>
        )}
      </p>
    </div>
  );
}
