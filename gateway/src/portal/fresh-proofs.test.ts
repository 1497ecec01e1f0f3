// Goal: what asks for a proof of who one is that is at most ten minutes old is what the guide to people says. Method: the contract of the portal, which is
// generated from the endpoints, beside the guide.
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const textOf = (path: string): string => readFileSync(new URL(`../../../${path}`, import.meta.url), "utf8");

interface Operation {
  operationId: string;
  description?: string;
}
const { paths } = JSON.parse(textOf("openapi/portal.json")) as { paths: Record<string, Record<string, Operation>> };
const operations = Object.values(paths).flatMap((path) => Object.values(path));
const saying = (sentence: string): string[] =>
  operations
    .filter(({ description = "" }) => description.includes(sentence))
    .map(({ operationId }) => operationId)
    .toSorted();

test("in production: refunds, keys, the address and secret of webhooks, and forgetting a payer", () => {
  expect(saying("Needs a fresh proof in production.")).toEqual([
    "changeKey",
    "confirmDevice",
    "createKey",
    "createRefund",
    "erasePayer",
    "rollKey",
    "rotateSecret",
    "setWebhookAddress",
  ]);
});

test("in the sandbox too: the team, and one's own ways to sign in", () => {
  expect(saying("Needs a fresh proof.")).toEqual([
    "addPasskey",
    "beginAuthenticator",
    "beginPasskey",
    "changeRole",
    "confirmAuthenticator",
    "invite",
    "removeAuthenticator",
    "removeMember",
    "removePasskey",
    "replaceRecoveryCodes",
  ]);
});

test("the guide says both", () => {
  const guide = textOf("docs/guides/people.md").replaceAll(/\s+/g, " ");
  expect(guide).toContain("In production, actions that move money or show a secret ask again who you are");
  expect(guide).toContain("Changes to the team and to your own ways to sign in ask in both environments.");
});
