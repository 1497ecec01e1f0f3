// Goal: what the simulated acquirer has answered it never forgets. Method: a file read by one life after another, torn and
// damaged by hand; and a real process that is killed while it answers.
import { type ChildProcess, spawn } from "node:child_process";
import { appendFileSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, expect, test } from "vitest";
import { freePort, compiled } from "../../../../e2e/kit/service.ts";
import { Bench, inTime } from "../../../test/adapter-bench.ts";
import { Mailbox, SECRET, profile } from "../../../test/remote-rig.ts";
import { type RemoteProfile, remoteProfilesSchema } from "../../acquirers/remote-profile.ts";
import { remoteAcquirer } from "../../acquirers/remote.ts";
import { StateFile } from "./state-file.ts";
import { type Simulator, startSimulator } from "./simulator.ts";

const closers: (() => Promise<unknown> | void)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

function directory(): string {
  const path = mkdtempSync(join(tmpdir(), "gerbang-acquirer-"));
  closers.push(() => rmSync(path, { recursive: true, force: true }));
  return path;
}
async function mail(): Promise<Mailbox> {
  const mailbox = new Mailbox();
  await mailbox.start();
  closers.unshift(() => mailbox.close());
  return mailbox;
}
const life = (stateFile: string): Promise<Simulator> =>
  startSimulator({ port: 0, host: "127.0.0.1", secret: SECRET, stateFile });

/** A bench with the adapter of a running simulator. */
async function benchAt(from: RemoteProfile, callbackUrl: string): Promise<Bench> {
  const bench = new Bench();
  const acquirer = remoteAcquirer(from);
  closers.unshift(() => acquirer.close());
  await bench.start(() =>
    Promise.resolve({ acquirer, callbackUrl, temper: () => undefined, close: () => Promise.resolve() }),
  );
  return bench;
}

test("another life knows payments, refunds, refusals and voided keys, and tells what was not told yet", async () => {
  const stateFile = join(directory(), "operations.jsonl");
  const mailbox = await mail();
  const first = await life(stateFile);
  const before = await benchAt(profile(first.url), mailbox.url);
  const payment = before.payment();
  const instructions = await before.open(payment);
  const waiting = before.payment();
  await before.open(waiting);
  const voided = before.payment();
  expect(await before.inquire(voided)).toEqual({ known: false });
  first.behave({ mode: "refuse", for_next: 1 });
  const refused = before.payment();
  await expect(before.open(refused)).rejects.toThrow("refused");
  await first.pay(payment.operationKey, { transaction_id: "tx-1", delay_ms: 500 });
  const refund = before.refundOf(payment);
  expect(await before.refund(refund)).toBe("pending");
  await first.stop();

  const second = await life(stateFile);
  closers.unshift(() => second.stop());
  const after = await benchAt(profile(second.url), mailbox.url);
  const receipt = { transactionId: "tx-1", amountMinor: payment.amountMinor, currency: payment.currency };
  expect(await after.inquire(payment)).toEqual({ known: true, instructions, state: { status: "paid", receipt } });
  expect(await after.inquire(waiting)).toMatchObject({ known: true, state: { status: "waiting" } });
  await expect(after.open(voided)).rejects.toThrow("voided");
  await expect(after.open(refused)).rejects.toThrow("refused");
  expect(await after.open(payment)).toEqual(instructions);
  // The callbacks of the first life, and the refund that it had promised to decide soon.
  expect((await mailbox.take(payment.operationKey)).body.toString()).toContain('"paid"');
  expect((await mailbox.take(refund.operationKey)).body.toString()).toContain('"succeeded"');
  expect(await after.inquireRefund(refund)).toEqual({ known: true, status: "succeeded" });
});

test("a last line that a kill has torn is left out; a damaged one in the middle is not passed over", async () => {
  const stateFile = join(directory(), "operations.jsonl");
  const first = await life(stateFile);
  const bench = await benchAt(profile(first.url), "http://127.0.0.1:1/");
  const payment = bench.payment();
  await bench.open(payment);
  await first.stop();
  appendFileSync(stateFile, '[{"kind":"payment","operation_key":"to');
  const second = await life(stateFile);
  expect(second.operations()).toMatchObject([{ operation_key: payment.operationKey }]);
  await second.stop();
  expect(readFileSync(stateFile, "utf8").split("\n")).toHaveLength(2);
  expect(statSync(stateFile).mode & 0o777).toBe(0o600);

  writeFileSync(stateFile, `{"torn\n${readFileSync(stateFile, "utf8")}`);
  await expect(life(stateFile)).rejects.toThrow(`line 1 of ${stateFile} is damaged`);
});

test("the file is written anew when most of it is out of date, and nothing is lost by that", async () => {
  const path = join(directory(), "values.jsonl");
  let newest = 0;
  const file = new StateFile(path, () => [newest]);
  await file.start();
  for (newest = 1; newest <= 25_000; newest++) {
    file.append(newest);
    if (newest % 500 === 0) await file.flushed();
  }
  newest--;
  await file.close();
  const values = StateFile.read(path);
  expect(values.at(-1)).toBe(25_000);
  expect(values.length).toBeLessThan(15_000);
});

interface Program {
  process: ChildProcess;
  words(): string;
}

/** `gerbang acquirer` on a data directory, when it answers. */
async function program(data: string, port: number): Promise<Program> {
  const main = fileURLToPath(new URL("../../../bin/gerbang.js", import.meta.url));
  const { PATH = "" } = process.env;
  const child = spawn(process.execPath, [main, "acquirer", "--port", String(port)], {
    env: { PATH, GERBANG_DATA: data, ...compiled() },
    stdio: ["ignore", "ignore", "pipe"],
  });
  closers.unshift(() => void child.kill("SIGKILL"));
  let words = "";
  child.stderr.on("data", (part: Buffer) => (words += part.toString()));
  while (!words.includes("docs/guides/acquirers.md")) {
    if (child.exitCode !== null) throw new Error(words);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return { process: child, words: () => words };
}

test("killed while it answers, it knows after that everything it had answered", async () => {
  const data = join(directory(), "data");
  const port = await freePort();
  const first = await program(data, port);
  const file = join(data, "acquirers.json");
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const [made] = remoteProfilesSchema.parse(JSON.parse(readFileSync(file, "utf8")));
  if (!made) throw new Error("no profile");
  expect(made).toMatchObject({ code: "rimba", name: "Rimba Pay", environment: "sandbox" });
  expect(made.url).toBe(`http://127.0.0.1:${port}`);
  expect(made.capabilities.map(({ method }) => method)).toEqual(["qris", "va", "ewallet", "bank_transfer"]);
  for (const word of ["start it again", "rimba", "/routing/rules", "activate"]) expect(first.words()).toContain(word);
  expect(first.words()).not.toContain(made.secret);

  const bench = await benchAt(made, "http://127.0.0.1:1/");
  const answered: { payment: ReturnType<Bench["payment"]>; value: string }[] = [];
  const work = Array.from({ length: 8 }, async () => {
    for (;;) {
      const payment = bench.payment();
      const { instructions } = await bench.calls.open(payment, inTime());
      answered.push({ payment, value: instructions.value });
    }
  });
  const ended = Promise.allSettled(work);
  while (answered.length < 200) await new Promise((resolve) => setTimeout(resolve, 5));
  first.process.kill("SIGKILL");
  await ended;

  const second = await program(data, port);
  expect(second.words()).not.toContain("start it again");
  for (const { payment, value } of answered) {
    expect(await bench.inquire(payment)).toMatchObject({ known: true, instructions: { value } });
  }
  const exited = once(second.process, "exit");
  second.process.kill("SIGTERM");
  expect(await exited).toEqual([0, null]);
});

test("the program says in plain words what it cannot work with", async () => {
  const data = directory();
  const port = await freePort();
  writeFileSync(join(data, "acquirers.json"), "[{]");
  await expect(program(data, port)).rejects.toThrow("it is not JSON");
  writeFileSync(join(data, "acquirers.json"), JSON.stringify([profile("http://acquirer.example")]));
  await expect(program(data, port)).rejects.toThrow("0.url: must begin with https://");
  writeFileSync(join(data, "acquirers.json"), JSON.stringify([profile("https://a.example", { code: "other" })]));
  await expect(program(data, port)).rejects.toThrow("no acquirer with the code rimba");
  writeFileSync(join(data, "acquirers.json"), JSON.stringify([profile(`http://127.0.0.1:${port}`)]));
  await program(data, port);
  await expect(program(data, port)).rejects.toThrow(`Port ${port} of 127.0.0.1 is taken`);
});
