// Goal: a stop comes to its end, whatever fails on the way. Method: a service of whose steps one fails.
import { expect, test, vi } from "vitest";
import { startService } from "../test/kit.ts";

test("a step of the stop that fails keeps no other from its end, and is told", async () => {
  const lines: string[] = [];
  const service = await startService({ logLevel: "warn", logTo: { write: (line: string) => void lines.push(line) } });
  const { server, database } = service.app;
  const close = vi.spyOn(server, "close").mockRejectedValueOnce(new Error("of the first step"));
  await service.app.stop();
  expect(database.pool.ended).toBe(true);
  expect(lines.join("")).toContain("of the first step");
  close.mockRestore();
  await server.close();
});
