// Goal: whoever builds an acquirer's end from the guide builds what we speak. Method: take its examples out of the text and
// hold them against the code, with a signature computed here.
import { execFileSync, spawnSync } from "node:child_process";
import { createHmac } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { SigningKey } from "../ground/signing-key.ts";
import { modes, refundModes } from "../cli/simulator/controls.ts";
import { remoteProfilesSchema } from "./remote-profile.ts";
import {
  callbackSchema,
  errorAnswerSchema,
  paymentAnswerSchema,
  paymentOrderSchema,
  refundOrderSchema,
  signatureOf,
} from "./remote-protocol.ts";

const file = fileURLToPath(new URL("../../../docs/guides/acquirers.md", import.meta.url));
const guide = readFileSync(file, "utf8");
const blocks = (language: string): string[] =>
  [...guide.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, "gm"))].map(([, block]) => block ?? "");
const example = blocks("sh").find((block) => block.includes("openssl")) ?? "";
const value = (name: string): string => new RegExp(`^${name}='?(.*?)'?$`, "m").exec(example)?.[1] ?? "";
const printed = /^```\n([0-9a-f]{64})\n```$/m.exec(guide)?.[1] ?? "";

test("the signature of the worked example is right, and ours", () => {
  const [secret, timestamp, body] = [value("SECRET"), value("TIMESTAMP"), value("BODY")];
  expect(printed).toMatch(/^[0-9a-f]{64}$/);
  const text = `${timestamp}.POST /payments.${body}`;
  expect(createHmac("sha256", secret).update(text).digest("hex")).toBe(printed);
  expect(signatureOf(new SigningKey(secret), timestamp, "POST", "/payments", body)).toBe(printed);
  expect(paymentOrderSchema.parse(JSON.parse(body))).toMatchObject({ operation_key: "pay.1" });
});

test.runIf(spawnSync("openssl", ["version"]).status === 0)("its commands print that signature", () => {
  expect(execFileSync("sh", ["-c", example], { encoding: "utf8" }).trim()).toBe(printed);
});

test("every other example is what the code reads and writes", () => {
  const [profiles, waiting, paid, refund, error, callback, ...rest] = blocks("json").map(
    (block) => JSON.parse(block) as unknown,
  );
  expect(remoteProfilesSchema.parse(profiles)).toEqual(profiles);
  expect(paymentAnswerSchema.parse(waiting)).toEqual(waiting);
  expect(paymentAnswerSchema.parse(paid)).toEqual(paid);
  expect(refundOrderSchema.parse(refund)).toEqual(refund);
  expect(errorAnswerSchema.parse(error)).toEqual(error);
  expect(callbackSchema.parse(callback)).toEqual(callback);
  expect(rest).toEqual([]);
});

test("every behaviour is told, and every file that it names is there", () => {
  for (const mode of [...modes, ...refundModes]) expect(guide).toContain(`\`${mode}\``);
  for (const [, path = ""] of guide.matchAll(/\]\((\.\.\/[^)]+|[a-z-]+\.md)\)/g)) {
    expect(existsSync(new URL(path, `file://${file}`)), path).toBe(true);
  }
});
