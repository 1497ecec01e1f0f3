// The button that saves a list as CSV, page by page: it says how far it is, and can be stopped. A file is saved whole or not at all.
import { useEffect, useRef, useState } from "react";
import { type ApiError, asApiError } from "../api/error.ts";
import { useMembership, usePlace } from "../api/place.ts";
import { Button } from "./button.tsx";
import { type CsvColumn, type TimeOf, allRows, csvOf, daysOf } from "./csv.ts";
import { save } from "./download.ts";
import { ErrorNote } from "./face.tsx";
import type { ListOf } from "./list.ts";
import { say } from "./toast.tsx";

/** Of 250 requests: less than half of what a person may ask in a minute. */
const LINES_MAX = 25_000;
const FETCHED_AT_ONCE = 100;

interface Asked<Row> {
  /** What the rows are; the file is called so. */
  what: string;
  columns: readonly CsvColumn<Row>[];
  /** Times whose days in the zone of the merchant's statements stand at the end of each line. */
  times: readonly TimeOf<Row>[];
  read: (page: { limit: number; starting_after: string | undefined }, signal: AbortSignal) => Promise<ListOf<Row>>;
  /** Days in the file's name, where the list is of some days only. */
  days: readonly (string | undefined)[];
}

interface CsvDownload {
  start: () => Promise<void>;
  stop: () => void;
  /** Rows so far, while it runs. */
  rows: number | undefined;
  error: ApiError | undefined;
}

export function useCsvDownload<Row>({ what, columns, times, read, days }: Asked<Row>): CsvDownload {
  const { environment } = usePlace();
  const timeZone = useMembership()?.statement_time_zone;
  const running = useRef<AbortController | undefined>(undefined);
  const [state, setState] = useState<{ rows?: number; error?: ApiError }>({});
  // Nothing is saved on another page than the one on which it was asked for.
  useEffect(() => () => running.current?.abort(), []);
  const start = async (): Promise<void> => {
    if (running.current) return;
    const { signal } = (running.current = new AbortController());
    setState({ rows: 0 });
    try {
      const page = (after: string | undefined) => {
        signal.throwIfAborted();
        return read({ limit: FETCHED_AT_ONCE, starting_after: after }, signal);
      };
      const onRows = (rows: number): void => {
        if (!signal.aborted) setState({ rows });
      };
      const rows = await allRows(page, { what, linesMax: LINES_MAX, onRows });
      signal.throwIfAborted();
      const name = [what, environment, ...days].filter((part) => part !== undefined && part !== "").join("-");
      const file = csvOf([...columns, ...(timeZone === undefined ? [] : daysOf(times, timeZone))], rows);
      save(new Blob([file], { type: "text/csv" }), `${name}.csv`);
      setState({});
    } catch (thrown) {
      if (!signal.aborted) setState({ error: asApiError(thrown) });
    } finally {
      if (running.current?.signal === signal) running.current = undefined;
    }
  };
  const stop = (): void => {
    running.current?.abort();
    running.current = undefined;
    setState({});
    say("Stopped. Nothing was saved.");
  };
  return { start, stop, rows: state.rows, error: state.error };
}

export function CsvButton({ of: { start, stop, rows } }: { of: CsvDownload }) {
  if (rows === undefined) return <Button onClick={() => void start()}>Download CSV</Button>;
  return (
    <Button onClick={stop}>
      <span className="text-muted">{rows.toLocaleString("en")} read</span> Stop
    </Button>
  );
}

/** What went wrong. The browser keeps no part of a file either. */
export function CsvNote({ of: { error } }: { of: CsvDownload }) {
  if (!error) return null;
  return (
    <div className="mb-3 space-y-1">
      <ErrorNote error={error} />
      <p className="text-muted">No file was saved.</p>
    </div>
  );
}
