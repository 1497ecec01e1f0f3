// Times in the person's time zone, with UTC in the API's form on hover.
import { fromNow } from "./from-now.ts";
import { useMembership } from "../api/place.ts";
import { useSession } from "../api/session.ts";
import { useLanguage } from "../words.ts";
import { useNow } from "./now.ts";

/** The time zone of the person, else of the page's merchant, else of the browser. */
export function useTimeZone(): string {
  const ofMerchant = useMembership()?.time_zone;
  return useSession()?.person.time_zone ?? ofMerchant ?? new Intl.DateTimeFormat().resolvedOptions().timeZone;
}

const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(language: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const name = language + JSON.stringify(options);
  const format = formats.get(name) ?? new Intl.DateTimeFormat(language === "id" ? "id-ID" : "en-GB", options);
  formats.set(name, format);
  return format;
}

const shapes = {
  /** 22 Nov 2026, 10:15:00 */
  second: { day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit", second: "2-digit" },
  /** 22 Nov 2026, 10:15 */
  minute: { day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit" },
  /** 22 Nov 2026 */
  day: { day: "numeric", month: "short", year: "numeric" },
  /** 10:15:00 */
  clock: { hour: "2-digit", minute: "2-digit", second: "2-digit" },
} satisfies Record<string, Intl.DateTimeFormatOptions>;

interface Props {
  /** An instant in the API's form. */
  at: string;
  shape?: keyof typeof shapes;
  /** Another than the person's: where the days are the merchant's. */
  timeZone?: string;
}

export function Time({ at, shape = "second", timeZone: given }: Props) {
  const own = useTimeZone();
  const timeZone = given ?? own;
  const text = formatOf(useLanguage(), { ...shapes[shape], hourCycle: "h23", timeZone }).format(new Date(at));
  return (
    <time dateTime={at} title={`${inUtc(at)} · shown in ${timeZone}`} className="whitespace-nowrap">
      {text}
    </time>
  );
}

/** A day of the merchant's calendar in the API's form. It has no time, so no time zone applies. */
export function Day({ on }: { on: string }) {
  const language = useLanguage();
  const format = formatOf(language, { ...shapes.day, weekday: "short", timeZone: "UTC" });
  return (
    <time dateTime={on} className="whitespace-nowrap">
      {format.format(new Date(`${on}T00:00:00Z`))}
    </time>
  );
}

interface FromNow {
  at: string;
  ticking?: boolean;
  /** Milliseconds by which the clock of `at` is ahead of this machine's. */
  aheadMs?: number;
}

/** The time from now: "in 3 days". Updates every 15 s, or every second when `ticking`. */
export function TimeFromNow({ at, ticking = false, aheadMs = 0 }: FromNow) {
  const now = useNow(ticking ? 1000 : 15_000);
  return (
    <time dateTime={at} title={inUtc(at)} className="whitespace-nowrap">
      {fromNow(Math.round((Date.parse(at) - now - aheadMs) / 1000), ticking)}
    </time>
  );
}

function inUtc(at: string): string {
  return `${at.replace("T", " ").replace("Z", "")} UTC`;
}
