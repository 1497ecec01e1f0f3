// Goal: who types what they look for finds the page that has it. Method: the index of a build, ranked by the code that the browser runs.
import MiniSearch from "minisearch";
import { beforeAll, expect, test } from "vitest";
import { INDEX_OPTIONS, ranked } from "./browser/ranking.ts";
import { drawSite } from "./site.ts";

let index: MiniSearch;
let scripts: string[];
beforeAll(() => {
  const files = [...drawSite().files].map(([path, content]) => [path, String(content)] as const);
  const [, json = ""] = files.find(([path]) => /^assets\/search\.\w+\.json$/.test(path)) ?? [];
  index = MiniSearch.loadJSON(json, INDEX_OPTIONS);
  scripts = files.filter(([path]) => /^assets\/(search|ranking)\.\w+\.js$/.test(path)).map(([, code]) => code);
});

test.each([
  // Its own words.
  ["reconcile", "reconcile-in-python"],
  ["reconciliation", "reconcile-in-python"],
  ["lost answer", "client-library#a-lost-answer"],
  ["refund twice", "concepts/retries#refund-once-not-twice"],
  ["back to the shop", "payers-page#the-way-back-to-the-shop"],
  ["clock", "api/advance-sandbox-clock"],
  ["statement", "api/get-settlement-statement"],
  ["chargeback", "concepts/dispute"],
  ["3ds", "php-card-page"],
  ["3-D Secure", "php-card-page"],
  // What people type who look for a cause.
  ["troubleshooting", "troubleshooting"],
  ["webhook never arrives", "troubleshooting#a-webhook-never-arrives"],
  ["webhook not received", "troubleshooting#a-webhook-never-arrives"],
  ["signature refused", "troubleshooting#a-signature-is-refused"],
  ["payment stuck", "troubleshooting"],
  ["stuck in processing", "troubleshooting#a-payment-is-stuck-in-processing"],
  ["webhook retry schedule", "webhooks#when-you-do-not-answer"],
  ["ngrok", "sandbox#webhooks-on-your-own-machine"],
  ["test card", "sandbox"],
  ["pagination", "interface#28-lists"],
  ["ip allowlist", "keys"],
  ["webhook ip addresses", "webhooks#the-receiver"],
  ["rotate key", "keys#changing-over"],
  ["2fa", "people#signing-in"],
  ["subscription", "interface#1-what-holds-everywhere"],
  ["save card", "interface#1-what-holds-everywhere"],
  ["cors", "interface#1-what-holds-everywhere"],
  ["mobile app", "interface#1-what-holds-everywhere"],
  ["choose bank", "interface#which-bank-or-wallet"],
  ["gopay", "interface#which-bank-or-wallet"],
  ["underpaid", "interface#31-payments"],
  ["permissions", "people#what-a-role-may-do"],
  // A finance person's.
  ["pricing", "concepts/money#what-a-payment-costs"],
  ["fees", "concepts/money#what-a-payment-costs"],
  ["tax", "concepts/money#what-a-payment-costs"],
  ["when do I get paid", "concepts/money#when-it-is-paid-out"],
  ["change bank account", "concepts/money#when-it-is-paid-out"],
  ["negative balance", "concepts/dispute#what-follows-from-it"],
  // An operator's.
  ["environment variables", "settings"],
  ["TRUST_PROXY", "settings#limits-and-proxies"],
  ["CONNECTIONS_PER_ADDRESS", "settings#limits-and-proxies"],
  ["monitoring", "observability"],
  ["liveness", "observability#probes"],
  ["graceful shutdown", "observability#a-stop-and-a-rolling-restart"],
  ["failover", "production#a-standby-takes-over"],
  ["gdpr", "secrets#forgetting-a-payer"],
  ["data retention", "secrets#what-is-kept-and-for-how-long"],
  // A field by its name, and not every page that has its parts.
  ["opened_from", "api/list-disputes"],
  ["settlement_uuid", "interface#23-refund"],
  // A letter wrong in a long word.
  ["idempotncy conflict", "errors/IDEMPOTENCY_CONFLICT"],
])("%s is found at %s", (typed, page) => {
  const addresses = ranked(index, typed, "en").map(({ url }) => String(url));
  expect(addresses.slice(0, 5)).toContain(`/docs/${page}`);
});

test("one letter does not make a short word another one", () => {
  const terms = ranked(index, "lost answer", "en").flatMap((found) => found.terms);
  expect(terms).toContain("lost");
  expect(terms).not.toContain("list");
});

test.each([
  ["webhook", "id"],
  ["webhook", "en"],
  ["webhok", "en"],
  ["secret", "en"],
])("%s finds the reader's own language first: %s", (typed, language) => {
  const [first, second] = ranked(index, typed, language);
  expect([first?.language, second?.language]).toEqual([language, language]);
});

test("words of the other language are found all the same", () => {
  expect(ranked(index, "pengembalian dana", "en")[0]?.language).toBe("id");
});

test("what a passage says counts more than what its programs say", () => {
  const two = new MiniSearch(INDEX_OPTIONS);
  const passage = { title: "Here", page: "There", text: "", code: "", language: "en", weight: 1 };
  two.add({ ...passage, id: 1, url: "/program", code: "refund(refund.refund)" });
  two.add({ ...passage, id: 2, url: "/words", text: "A refund is one word of the many that stand in this passage." });
  expect(ranked(two, "refund", "en").map(({ url }) => String(url))).toEqual(["/words", "/program"]);
});

test("words that every passage has find nothing more and nothing else", () => {
  const [whole, bare] = ["the statement of a batch", "statement batch"].map((typed) =>
    ranked(index, typed, "en").map(({ url }) => String(url)),
  );
  expect(whole).toEqual(bare);
});

test("its scripts name each other by the addresses that the build has", () => {
  expect(scripts).toHaveLength(2);
  for (const code of scripts)
    for (const [, from = ""] of code.matchAll(/^import .+ from "([^"]+)";$/gm))
      expect(from).toMatch(/^\.\/\w+\.\w{12}\.js$/);
});
