// Goal: whatever is sent to an endpoint of the portal, the answer is one that its contract tells of, and never an error of the service. Method: every
// operation of the contract, asked by an owner, with values that break programs in each place that it names.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Browser, joins } from "../../test/portal.ts";
import {
  contractFaults,
  contractOf,
  escaped,
  hostile,
  hostileBodies,
  hostileParts,
  operationsOf,
} from "../../test/hostile-input.ts";
import { type TestService, startService } from "../../test/kit.ts";

const contract = contractOf("portal");
let service: TestService;
let merchantId: string;
let owner: Browser;
/** Somebody who only reads. */
let reader: Browser;

beforeAll(async () => {
  service = await startService({ roles: ["api"], config: { unauthenticatedLimitPerMinute: 100_000_000 } });
  ({ merchantId } = await service.merchant());
  reader = await joins(service, merchantId);
});
afterAll(() => service.stop());

let turn = 0;
/** Every second value: what one field does not get, the next one does. */
const inTurns = <Value>(values: readonly Value[]): Value[] => {
  turn++;
  return values.filter((_, at) => at % 2 === turn % 2);
};

const failures: string[] = [];

async function sends(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
  const answer = await owner.send(method, path, body, { "idempotency-key": randomUUID(), ...headers });
  if (answer.status >= 500 && answer.json?.error?.code !== "SERVICE_UNAVAILABLE")
    failures.push(`${answer.status} ${method} ${path.slice(0, 200)} ${JSON.stringify(body)?.slice(0, 300)}`);
  failures.push(...contractFaults(contract, method, path, answer));
  return answer;
}

const operations = operationsOf("portal", ["streamChanges", "signOut", "endOtherSessions", "testReceiver"]);

test.each(operations)(
  "$method $path",
  async ({ method, path, queryNames, hasBody, example, fields }) => {
    failures.length = 0;
    // Somebody new for what changes something: what concerns a person alone has a limit of its own.
    owner = method === "GET" ? reader : await joins(service, merchantId);
    const plain = path.replaceAll(/\{\w+\}/g, "x");
    if (/\{\w+\}/.test(path))
      await Promise.all(
        hostileParts.map((value) => sends(method, path.replaceAll(/\{\w+\}/g, escaped(value) || "x"), example)),
      );
    for (const name of queryNames)
      await Promise.all(inTurns(hostileParts).map((value) => sends(method, `${plain}?${name}=${escaped(value)}`)));
    if (hasBody) {
      await Promise.all(hostile.map((value) => sends(method, plain, value)));
      for (const field of fields)
        await Promise.all(inTurns(hostile).map((value) => sends(method, plain, { ...example, [field]: value })));
    }
    if (method !== "GET")
      for (const body of hostileBodies) await sends(method, plain, body, { "content-type": "application/json" });
    expect(failures).toEqual([]);
  },
  60_000,
);
