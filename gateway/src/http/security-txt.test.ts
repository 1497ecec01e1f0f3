// Goal: who finds a hole knows whom to tell, where the operator has said so. Method: a server without anything else.
import { expect, test } from "vitest";
import { bareServer } from "../../test/bare-server.ts";
import { SECOND } from "../ground/clock.ts";
import { readConfig } from "../ground/config.ts";
import { openSecurityTxt } from "./security-txt.ts";

const clock = { now: () => 1_795_392_000 * SECOND };
const serve = (contact: string | undefined) => {
  const server = bareServer();
  openSecurityTxt(server, { clock, contact, root: () => "https://pay.example" });
  return server.inject("/.well-known/security.txt");
};

test("it says whom to tell, until when, and where it stands", async () => {
  const { statusCode, headers, body } = await serve("mailto:security@pay.example");
  expect([statusCode, headers["content-type"]]).toEqual([200, "text/plain; charset=utf-8"]);
  expect(body).toBe(
    [
      "Contact: mailto:security@pay.example",
      "Expires: 2027-05-22T00:00:00Z",
      "Preferred-Languages: en, id",
      "Canonical: https://pay.example/.well-known/security.txt",
      "",
    ].join("\n"),
  );
});

test("without a contact there is none", async () => {
  expect((await serve(undefined)).statusCode).toBe(404);
});

test.each(["security@pay.example", "http://pay.example", "mailto:x", "mailto:a@b\nContact: mailto:thief@evil.example"])(
  "%j is no contact",
  (SECURITY_CONTACT) => {
    expect(() => readConfig({ SECURITY_CONTACT })).toThrow(/SECURITY_CONTACT/);
  },
);
