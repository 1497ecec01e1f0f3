// The command `logs tail`: prints the requests of a sandbox, the newest ones first and then each as it comes.
import type { LoggedRequest, LoggedRequestFilters } from "../../sdk/src/types.ts";
import type { Gerbang } from "../../sdk/src/gerbang.ts";
import { clientOf } from "./identity.ts";
import { type Paint, paintOf } from "./output/color.ts";
import { say, stopped, write } from "./output/print.ts";
import { type Printable, joined, jsonOf, words } from "./output/text.ts";
import { pause } from "./pause.ts";

const BEFORE = 20;
const EVERY_MS = 2_000;
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
  await follow(gerbang, filters, new Set(first.map(({ request_id: id }) => id)), print);
  return 0;
}

async function follow(
  { sandbox }: Gerbang,
  filters: LoggedRequestFilters,
  printed: Set<string>,
  print: (request: LoggedRequest) => void,
): Promise<void> {
  const stop = stopped();
  const begunAt = Date.now();
  while (!stop.aborted) {
    await pause(EVERY_MS, stop);
    if (stop.aborted) return;
    const found: LoggedRequest[] = [];
    const since = Math.max(begunAt, Date.now() - EVERY_MS) - LATE_MS;
    for await (const request of sandbox.requests.list({ ...filters, limit: PAGE })) {
      if (!(Date.parse(request.at) >= since - 1_000)) break;
      if (!printed.has(request.request_id)) found.push(request);
      if (found.length >= CAUGHT_UP_MAX) {
        say(words`More than ${CAUGHT_UP_MAX} came at once: older ones are left out here. The portal has them.`);
        break;
      }
    }
    for (const request of found.toReversed()) {
      printed.add(request.request_id);
      print(request);
    }
    while (printed.size > 2 * CAUGHT_UP_MAX) {
      const [oldest = ""] = printed;
      printed.delete(oldest);
    }
  }
}

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
