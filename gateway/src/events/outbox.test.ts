// Goal: what becomes of an event's delivery once it is committed: taken, looked for at once, or left for later. Method: an outbox
// without a database, and a courier that says what the test wants.
import { expect, test } from "vitest";
import { systemClock } from "../ground/clock.ts";
import { idOf } from "../ground/ids.ts";
import { type Book, bookKey } from "../merchants/books.ts";
import { WorkingSet } from "../store/working-set.ts";
import { hostOf } from "./event.ts";
import { type Courier, Outbox } from "./outbox.ts";

const book: Book = { merchantId: idOf("merchant", "01900000-0000-7000-8000-000000000001"), environment: "sandbox" };
const url = "https://Shop.example:8443/hook?x=1";

/** Emits one event; gives what happened before and after the commit. */
function told(
  courier: Partial<Courier> | undefined,
  end: "committed" | "unknown" = "committed",
): { before: string[]; after: string[]; leased: boolean } {
  const outbox = new Outbox();
  const heard: string[] = [];
  outbox.onDeliverable((key) => heard.push(`woken ${key}`));
  if (courier)
    outbox.setCourier({
      leaseFor: () => undefined,
      isFull: () => false,
      release: ({ host }) => heard.push(`released ${host}`),
      take: ({ host, url: to, attempts }) => heard.push(`taken ${host} ${to} ${attempts}`),
      ...courier,
    });
  const set = new WorkingSet();
  const event = { book, type: "payment.created", subjectId: undefined, url, data: {} } as const;
  outbox.emit(set, event, systemClock.now());
  set.keep();
  const before = [...heard];
  const values = set.writes().flatMap(({ statement }) => statement.values as Buffer[]);
  set[end]();
  return { before, after: heard, leased: values.some((value) => value.includes(Buffer.from("ab".repeat(16), "hex"))) };
}

const lease = { token: "abababab-abab-abab-abab-abababababab", until: systemClock.now() };

test("a delivery is taken, looked for, or left to the next poll; never before the commit", () => {
  const woken = [`woken ${bookKey(book)}`];
  expect(told(undefined)).toEqual({ before: [], after: woken, leased: false });
  expect(told({})).toEqual({ before: [], after: woken, leased: false });
  const taken = ["taken shop.example:8443 https://Shop.example:8443/hook?x=1 0"];
  expect(told({ leaseFor: () => lease })).toEqual({ before: [], after: taken, leased: true });
  expect(told({ leaseFor: () => lease }, "unknown").after).toEqual(["released shop.example:8443"]);
  expect(told({}, "unknown").after).toEqual([]);
  expect(told({ isFull: () => true })).toEqual({ before: [], after: [], leased: false });
});

test("a host is what stands between the scheme and what follows it, in small letters", () => {
  for (const [address, host] of [
    ["https://a.example", "a.example"],
    ["https://A.Example/", "a.example"],
    ["https://a.example:1?b/c", "a.example:1"],
    ["https://a.example#b", "a.example"],
    ["https://[::1]:8443/x", "[::1]:8443"],
  ] as const)
    expect(hostOf(address)).toBe(host);
});
