// Goal: what the directory keeps is never older than a change that it was told of. Method: a slow load and changes, without a database.
import { expect, test } from "vitest";
import { book } from "../../test/given.ts";
import { newId, uuidOf } from "../ground/ids.ts";
import type { Statement } from "../store/database.ts";
import { Directory } from "./directory.ts";
import { defaultSettings } from "./settings.ts";

test("a load that began before a change is not kept, however many merchants change before it ends", async () => {
  const settings = JSON.stringify(defaultSettings);
  const rowOf = (name: string, epoch: bigint) => ({ merchant_id: uuidOf(book.merchantId), name, epoch, settings });
  const changeOf = (merchantId: string, epoch: bigint) => ({ merchant_id: uuidOf(merchantId), epoch });
  const slow = Promise.withResolvers<object[]>();
  let loads = 0;
  let changes: object[] = [];
  let changed = async (_since: bigint): Promise<void> => undefined;
  const query = async ({ name }: Statement): Promise<object[]> => {
    if (name !== "load merchant") return changes;
    return ++loads === 1 ? slow.promise : [rowOf("after", 2n)];
  };
  const watch = { fresh: () => undefined, subscribe: (listener: typeof changed) => void (changed = listener) };
  const directory = new Directory({ query } as never, {} as never, watch as never);
  const nameRead = async (): Promise<string | undefined> => (await directory.merchant(book.merchantId))?.name;

  const first = nameRead();
  const others = Array.from({ length: 10_001 }, () => changeOf(newId("merchant", 0), 2n));
  changes = [changeOf(book.merchantId, 2n), ...others];
  await changed(1n);
  changes = [changeOf(newId("merchant", 0), 3n)];
  await changed(2n);
  slow.resolve([rowOf("before", 1n)]);
  expect([await first, await nameRead(), loads]).toEqual(["after", "after", 2]);
});
