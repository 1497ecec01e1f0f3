// Goal: whoever follows the guide to a provider enters what the connector reads. Method: take entries, addresses and events out of its pages,
// and hold them against the connectors.
import { createPublicKey } from "node:crypto";
import { readFileSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { z } from "zod";
import { privatePem, publicPem } from "../../test/snap-keys.ts";
import { Fault } from "../ground/fault.ts";
import { channelsOf } from "./midtrans/requests.ts";
import { providers } from "./providers.ts";
import { type DialectName, dialectNames, dialects } from "./snap/dialects.ts";
import type { Dialect } from "./snap/dialect.ts";
import { partnerOf, snapSchema } from "./snap/profile.ts";
import { received } from "./snap/received.ts";
import { eventTypes } from "./stripe/events.ts";
import { readWebhook } from "./xendit/webhooks.ts";
import { bankNames, walletNames } from "./xendit/channels.ts";

const folder = fileURLToPath(new URL("../../../docs/guides/", import.meta.url));
const pages = new Map(
  readdirSync(folder)
    .filter((name) => /^providers?(-[a-z]+)?\.md$/.test(name))
    .map((name) => [name, readFileSync(folder + name, "utf8")]),
);
const textOf = (name: string): string => pages.get(`provider-${name}.md`) ?? "";

const entrySchema = z.looseObject({ provider: z.string(), code: z.string(), profile: z.string().optional() });
/** Every block of JSON is a whole acquirers.json. */
const entries = [...pages].flatMap(([page, text]) =>
  [...text.matchAll(/^```json\n([\s\S]*?)^```/gm)].flatMap(([, block = ""]) =>
    z
      .array(entrySchema)
      .parse(JSON.parse(block))
      .map((entry) => ({ page, text, entry })),
  ),
);
const entryOf = (code: string): (typeof entries)[number] => {
  const [found, ...others] = entries.filter(({ entry }) => entry.code === code);
  if (!found || others.length > 0)
    throw new Error(`the guide has ${others.length + (found ? 1 : 0)} entries of ${code}`);
  return found;
};

test("there is one entry for each provider, and for each profile of SNAP", () => {
  const names = entries.map(({ entry: { provider, profile } }) => profile ?? provider);
  const wanted = providers.flatMap(({ name }) => (name === "snap" ? dialectNames : [name]));
  expect(names.toSorted()).toEqual(wanted.toSorted());
});

test.each(entries)("the entry of $page is one that its provider takes", ({ entry }) => {
  const provider = providers.find(({ name }) => name === entry.provider);
  expect(provider?.schema.safeParse(entry).error).toBeUndefined();
});

test.each(entries)(
  "$page has the addresses, the commands and the first payment of its entry",
  ({ text, entry: { code } }) => {
    const here = `/acquirers/${code}/callbacks`;
    const addresses = [...text.matchAll(/https:\/\/pay\.example\.com(\/acquirers\/[a-z_]+\/callbacks)/g)];
    const allowed = [here, `/acquirers/${code}_live/callbacks`];
    expect(addresses.map(([, path = ""]) => path).filter((path) => !allowed.includes(path))).toEqual([]);
    for (const needed of [
      `https://pay.example.com${here}`,
      `npx gerbang provider check --code ${code}\n`,
      `npx gerbang provider exam --sandbox --code ${code}\n`,
      "(providers.md#give-it-payments)",
      "(providers.md#going-live)",
    ])
      expect(text).toContain(needed);
  },
);

test.each(entries)("every key of the entry of $page is put where the entry looks for it", ({ text, entry }) => {
  const files = [...JSON.stringify(entry).matchAll(/"file":"([^"]+)"/g)].map(([, file = ""]) => file);
  expect(files.length).toBeGreaterThan(0);
  const shell = [...text.matchAll(/^```sh\n([\s\S]*?)^```/gm)].map(([, block]) => block).join("");
  expect(
    files.filter((file) => !new RegExp(`^sudo install .*${file.replaceAll(".", "\\.")}( |$)`, "m").test(shell)),
  ).toEqual([]);
});

/** Channels that a connector knows, by the page that leads to it. */
const channels: Readonly<Record<string, readonly string[]>> = {
  midtrans: (["qris", "va", "ewallet"] as const).flatMap((method) => channelsOf(method)),
  xendit: [...bankNames, ...walletNames],
  ...Object.fromEntries(
    dialectNames.map((name) => {
      const dialect: Dialect = dialects[name];
      return [
        name,
        [...Object.keys(dialect.virtualAccounts?.banks ?? {}), ...Object.keys(dialect.wallets?.channels ?? {})],
      ];
    }),
  ),
};

test.each(Object.entries(channels))(
  "the page of %s names every bank and wallet that has to be activated",
  (name, known) => {
    expect(known.length).toBeGreaterThan(0);
    expect(
      known.filter((channel) => !textOf(name).includes(`\`${channel}\``) && !textOf(name).includes(`"${channel}"`)),
    ).toEqual([]);
  },
);

/** The end of the path of each message that a profile's provider sends to us. */
const messages: Readonly<Record<DialectName, readonly string[]>> = {
  doku: ["access-token/b2b", "transfer-va/inquiry", "transfer-va/payment", "debit/notify", "qr/qr-mpm-notify"],
  bri: ["access-token/b2b", "transfer-va/notify-payment-intrabank"],
};

test.each(dialectNames)("every address that %s is given is one at which it is heard", (code) => {
  const { text, entry } = entryOf(code);
  const partner = partnerOf(snapSchema.parse(entry));
  const keys = { secrets: [privatePem], publicKeys: [createPublicKey(publicPem)] };
  const rests = [
    ...text.matchAll(new RegExp(`\\| \`https://pay\\.example\\.com/acquirers/${code}/callbacks(/[^\`]+)\``, "g")),
  ];
  expect(rests.map(([, rest = ""]) => rest.split("/").slice(-2).join("/"))).toEqual(messages[code]);
  for (const [, rest = ""] of rests) {
    const target = `/acquirers/${code}/callbacks${rest}`;
    // Nothing is signed: what is asked for first is a header, where the address is known at all.
    const hear = () =>
      received(partner, keys, { method: "POST", target, rest, headers: {}, body: Buffer.from("{}") }, 0);
    expect(codeOfFault(hear), rest).toBe("SIGNATURE_MISSING");
  }
});

test("Stripe's endpoint is told to send the events that are read, and no others", () => {
  const listed = [...textOf("stripe").matchAll(/`((?:checkout\.session|refund|charge)\.[a-z_.]+)`/g)].map(
    ([, type]) => type,
  );
  expect(new Set(listed)).toEqual(new Set(eventTypes));
  expect(listed).toHaveLength(eventTypes.length);
});

test("Xendit's notifications of the guide are read", () => {
  const listed = [...textOf("xendit").matchAll(/`((?:payment|payment_session|refund)\.[a-z]+)`/g)].map(
    ([, event]) => event,
  );
  expect(listed).toHaveLength(7);
  for (const event of listed) {
    const body = Buffer.from(JSON.stringify({ event, data: { reference_id: "pay1.s1" } }));
    expect(readWebhook(body), event).toMatchObject({
      kind: "reports",
      reports: [{ kind: "look", operationKey: "pay1.s1" }],
    });
  }
});

function codeOfFault(run: () => unknown): string | undefined {
  try {
    run();
    return undefined;
  } catch (error) {
    if (error instanceof Fault) return error.code;
    throw error;
  }
}
