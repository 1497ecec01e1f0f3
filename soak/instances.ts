// The two instances on one database to which the campaigns of model.ts send requests, and their restarts.
import { type Answer } from "../e2e/kit/client.ts";
import { uuidOf } from "../gateway/src/ground/ids.ts";
import type { Database } from "../gateway/src/store/database.ts";
import { type TestProcess, type TestService, openDatabase, startProcess, startService } from "../gateway/test/kit.ts";

/** The indices of the instances. */
export const AT_ALL = [0, 1] as const;
let instances: [TestService, TestService | TestProcess];
let opened: Database;

export async function startInstances(): Promise<void> {
  const first = await startService({ roles: ["api"] });
  instances = [first, await startService({ database: first.database, roles: ["api"] })];
  opened = openDatabase(first.database);
}

export async function stopInstances(): Promise<void> {
  await opened.end();
  await Promise.all(instances.map((instance) => instance.stop()));
}

export const database = (): Database => opened;
export const instance = (at: number): TestService | TestProcess => instances[at] as TestService | TestProcess;
/** The instance that always runs in this process. */
export const firstInstance = (): TestService => instances[0];

/** Stops an instance and starts another in its place, which has no state but the database's. */
export async function restart(at: number, roles: ("api" | "worker")[]): Promise<void> {
  await instance(at).stop();
  instances[at] = await startService({ database: instance(at).database, roles });
}

/** Replaces the second instance by a process of its own, which `stop` kills. */
export async function restartProcess(): Promise<void> {
  const { database: tested } = instances[0];
  await instances[1].stop();
  instances[1] = await startProcess(tested);
}

/** Runs a query about one sandbox book; `$book` in the text becomes the condition. */
export async function rowsOf(merchantId: string, text: string): Promise<Answer["json"][]> {
  const whole = text.replaceAll("$book", "merchant_id = $1 and environment = 'sandbox'");
  return opened.query({ text: whole, values: [uuidOf(merchantId)] });
}
