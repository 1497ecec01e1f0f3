// Goal: a letter reaches the mail server as written, whatever stands in names, and a server that does not take it fails nothing.
// Method: a mail server of a few lines on a real socket.
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { afterEach, expect, test } from "vitest";
import { mailServer as startMailServer } from "../../test/mail-server.ts";
import { createLog } from "../ground/log.ts";
import { Mail, invitationLetter } from "./mail.ts";

let close: (() => void) | undefined;
afterEach(() => close?.());

async function mailServer(refuses?: boolean): ReturnType<typeof startMailServer> {
  const server = await startMailServer(refuses);
  ({ close } = server);
  return server;
}

const mailOf = (url: string, limitMs?: number): Mail =>
  new Mail({ url, from: "Gerbang <portal@pay.example>", log: createLog("silent"), limitMs });
const url = "https://pay.example/portal/invitation#token";

test("an invitation is a letter with the link", async () => {
  const { url: smtp, taken, recipients } = await mailServer();
  const names = { merchantName: "Toko Sari", serviceName: "gerbang", url };
  expect(await mailOf(smtp).send(invitationLetter("sari@toko.example", names))).toBe(true);
  expect(recipients).toEqual(["<sari@toko.example>"]);
  expect(taken[0]).toContain("Subject: You are invited to Toko Sari");
  expect(taken[0]?.replaceAll("=\n", "")).toContain(url.replace("=", "=3D"));
});

test("no name makes another header or another recipient", async () => {
  const { url: smtp, taken, recipients } = await mailServer();
  const merchantName = "Toko\r\nBcc: thief@evil.example\r\n\r\nHello";
  const letter = invitationLetter("sari@toko.example", { merchantName, serviceName: "gerbang", url });
  expect(await mailOf(smtp).send(letter)).toBe(true);
  expect(recipients).toEqual(["<sari@toko.example>"]);
  const [head = ""] = (taken[0] ?? "").split("\n\n");
  expect(head).not.toMatch(/^Bcc:/im);
});

test.each(["a@b.example, c@evil.example", "x@y.example>\r\nRCPT TO:<c@evil.example", "group: a@b.example;"])(
  "%j is never more than one recipient",
  async (to) => {
    const { url: smtp, recipients } = await mailServer();
    await mailOf(smtp).send({ to, subject: "x", text: "x" });
    expect(recipients.length).toBeLessThanOrEqual(1);
    expect(recipients).not.toContain("<c@evil.example>");
  },
);

test("a server that refuses, or is not there, is told as not sent", async () => {
  const { url: smtp } = await mailServer(true);
  const letter = { to: "sari@toko.example", subject: "x", text: "x" };
  expect(await mailOf(smtp).send(letter)).toBe(false);
  expect(await mailOf("smtp://127.0.0.1:1").send(letter)).toBe(false);
});

test("neither a letter nor the password is sent in the clear beyond one's own machine", async () => {
  const { url: smtp, taken, lines } = await mailServer();
  // The loopback under an address that is not known as such.
  const elsewhere = smtp.replace("127.0.0.1", "portal:pass%2Bword@127.0.0.2");
  const letter = { to: "sari@toko.example", subject: "x", text: "x" };
  expect(await mailOf(elsewhere).send(letter)).toBe(false);
  expect(lines.map((line) => line.split(" ", 1)[0])).toEqual(["EHLO", "STARTTLS"]);
  expect(taken).toEqual([]);
});

test("the password reaches the server as it was meant, whatever stands in it", async () => {
  const { url: smtp, lines } = await mailServer();
  const letter = { to: "sari@toko.example", subject: "x", text: "x" };
  expect(await mailOf(smtp.replace("//", "//sari%40toko.example:p%25+s%2F@")).send(letter)).toBe(true);
  const [, , said = ""] = (lines.find((line) => line.startsWith("AUTH")) ?? "").split(" ");
  expect(Buffer.from(said, "base64").toString()).toBe("\0sari@toko.example\0p%+s/");
});

test("a server that repeats the password when it refuses it writes it into no log", async () => {
  const logged: string[] = [];
  const log = createLog("warn", { write: (line) => void logged.push(line) });
  for (const method of ["PLAIN", "LOGIN"]) {
    const server = createServer((socket) => {
      socket.on("error", () => socket.destroy());
      socket.write("220 test\r\n");
      socket.setEncoding("utf8").on("data", (text: string) => {
        if (text.startsWith("EHLO")) socket.write(`250-test\r\n250 AUTH ${method}\r\n`);
        // LOGIN asks for the name and for the password after it.
        else if (/^(AUTH LOGIN|dQ==)\s/.test(text)) socket.write("334 go on\r\n");
        else socket.write(`535 not known here: ${text.trim()} of drei+wort\r\n`);
      });
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const at = `smtp://u:drei%2Bwort@127.0.0.1:${(server.address() as AddressInfo).port}`;
    const mail = new Mail({ url: at, from: "portal@pay.example", log });
    expect(await mail.send({ to: "sari@toko.example", subject: "x", text: "x" })).toBe(false);
    server.close();
  }
  expect(logged).toHaveLength(2);
  for (const line of logged) {
    expect(line).toMatch(/535 not known here: .*\[redacted\] of \[redacted\].*"code":"EAUTH"/);
    for (const form of ["drei+wort", "\0u\0drei+wort"])
      expect(line).not.toContain(Buffer.from(form).toString("base64"));
  }
});

test("a server that repeats the link when it refuses the letter writes no secret into the log", async () => {
  const logged: string[] = [];
  const log = createLog("warn", { write: (line) => void logged.push(line) });
  const token = "gd9hoIp2479VyiEKvpEaBmF2ABJSrpALFjPzvIKk4k4";
  const server = createServer((socket) => {
    socket.on("error", () => socket.destroy());
    socket.write("220 test\r\n");
    socket.setEncoding("utf8").on("data", (text: string) => {
      socket.write(
        text.startsWith("RCPT") ? `554 blocked: https://pay.example/portal#${token} is new\r\n` : "250 ok\r\n",
      );
    });
  });
  close = () => void server.close();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const at = `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const mail = new Mail({ url: at, from: "portal@pay.example", log });
  expect(await mail.send({ to: "sari@toko.example", subject: "x", text: "x" })).toBe(false);
  expect(logged.join("")).toContain("554 blocked: https://pay.example/portal[redacted] is new");
  expect(logged.join("")).not.toContain(token);
});

test("a server that stalls is told as not sent when the time is over", async () => {
  const server = createServer((socket) => {
    socket.on("error", () => socket.destroy());
    socket.write("220-wait\r\n"); // the greeting never ends
  });
  close = () => void server.close();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const smtp = `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`;
  expect(await mailOf(smtp, 50).send({ to: "sari@toko.example", subject: "x", text: "x" })).toBe(false);
});
