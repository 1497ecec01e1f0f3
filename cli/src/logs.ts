// The command `logs tail`: prints the requests of a sandbox, the newest ones first and then each as it comes.
import type { LoggedRequest, LoggedRequestFilters } from "../../sdk/src/types.ts";
import type { Gerbang } from "../../sdk/src/gerbang.ts";
import { clientOf } from "./identity.ts";
import { type Paint, paintOf } from "./output/color.ts";
import { follow } from "./output/list.ts";
import { say, write } from "./output/print.ts";
import { type Printable, joined, jsonOf, words } from "./output/text.ts";

const BEFORE = 20;
const PAGE = 100;
/** Maximum number of requests that one look prints; it says when it leaves older ones out. */
const CAUGHT_UP_MAX = 1_000;
/** A request is in the log a moment after its response, so each look goes this far back again. */
const LATE_MS = 10_000;

interface Tail {
  profile: string | undefined;
  json: boolean;
  refused: boolean;
  path: string | undefined;
  status: string | undefined;
  "no-follow": boolean;
}

export async function tailCommand(values: Tail): Promise<number> {
  const { path, status } = values;
  const gerbang = clientOf(values);
  const filters: LoggedRequestFilters = {
    ...(values.refused ? { outcome: "refused" as const } : {}),
    ...(path === undefined ? {} : { path }),
    ...(status === undefined ? {} : { status: Number(status) }),
  };
  const paint = paintOf(process.stdout);
  const print = (request: LoggedRequest): void => write(values.json ? jsonOf(request) : textOf(request, paint));
  const first = await gerbang.sandbox.requests.list({ ...filters, limit: BEFORE }).take(BEFORE);
  for (const request of first.toReversed()) print(request);
  if (values["no-follow"]) return 0;
  await tail(gerbang, filters, first, print);
  return 0;
}

/** Goes by the times of the requests alone, so the service's clock and ours may differ. */
function tail(
  { sandbox }: Gerbang,
  filters: LoggedRequestFilters,
  first: readonly LoggedRequest[],
  print: (request: LoggedRequest) => void,
): Promise<void> {
  const printed = new Set(first.map(({ request_id: id }) => id));
  // What is older than the first twenty was left out.
  const begin = first.length < BEFORE ? 0 : timeOf(first.at(-1));
  let newest = timeOf(first[0]);
  const read = async (signal: AbortSignal): Promise<LoggedRequest[]> => {
    const since = Math.max(newest - LATE_MS, begin);
    const found: LoggedRequest[] = [];
    for await (const request of sandbox.requests.list({ ...filters, limit: PAGE }, { signal })) {
      if (!(timeOf(request) >= since)) break;
      if (!printed.has(request.request_id)) found.push(request);
      if (found.length >= CAUGHT_UP_MAX) {
        say(words`More than ${CAUGHT_UP_MAX} came at once: older ones are left out here. The portal has them.`);
        break;
      }
    }
    return found;
  };
  return follow(read, (found) => {
    for (const request of found.toReversed()) {
      newest = Math.max(newest, timeOf(request));
      printed.add(request.request_id);
      print(request);
    }
    while (printed.size > 2 * CAUGHT_UP_MAX) {
      const [oldest = ""] = printed;
      printed.delete(oldest);
    }
  });
}

const timeOf = (request: LoggedRequest | undefined): number => Date.parse(request?.at ?? "1970-01-01");

function textOf(request: LoggedRequest, paint: Paint): Printable {
  const {
    at,
    method,
    path,
    query,
    status,
    error_code: code,
    duration_ms: ms,
    request_id: id,
    diagnosis,
    replayed,
  } = request;
  const tone = status < 300 ? "good" : status < 500 ? "warn" : "bad";
  const parts = [
    paint("dim", at.slice(11)),
    paint(tone, String(status)),
    words`${method.padEnd(5)}`,
    words`${path}${query === null ? "" : `?${query}`}`,
    ...(code === null ? [] : [paint(tone, code)]),
    ...(replayed ? [paint("dim", "replayed")] : []),
    paint("dim", `${ms} ms ${id}`),
  ];
  const why = diagnosis ? words`          ${diagnosis.explanation}\n` : "";
  return words`${joined(parts, "  ")}\n${why}`;
}
