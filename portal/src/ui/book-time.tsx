// Times that follow the clock of the page's book.
import type { ReactNode } from "react";
import { useAheadMs } from "../api/book-clock.ts";
import { Time, TimeFromNow } from "./time.tsx";

interface Props {
  at: string;
  ticking?: boolean;
  /** Shown as long as the book's clock is not known: the time itself by default. */
  instead?: ReactNode;
}

/** The time from now by the book's clock: "in 3 days". */
export function FromBookNow({ at, ticking = false, instead = <Time at={at} shape="minute" /> }: Props) {
  const aheadMs = useAheadMs();
  return aheadMs === undefined ? instead : <TimeFromNow at={at} ticking={ticking} aheadMs={aheadMs} />;
}
