// Goal: a stop comes to its end, whatever fails on the way. Method: a service of whose steps one fails.
import { once } from "node:events";
import { connect } from "node:net";
import { expect, test, vi } from "vitest";
import { asOwner, startService } from "../test/kit.ts";

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

test("a client that never ends its request does not keep the last things from being written", async () => {
  const service = await startService();
  const { hostname, port } = new URL(service.origin);
  const socket = connect(Number(port), hostname);
  await once(socket, "connect");
  socket.write("POST /v1/payments HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{");
  await expect
    .poll(
      async () => (await service.app.metrics.registry.metrics()).match(/^gerbang_http_requests_in_flight (.*)$/m)?.[1],
    )
    .toBe("1");
  const stopped = service.app.stop(100);
  const ended = (): Promise<number> =>
    asOwner(service.database, async (owner) => {
      const { rows } = await owner.query("select count(ended_at)::int as ended from telemetry_processes");
      return rows[0].ended as number;
    });
  await expect.poll(ended).toBe(1);
  expect(service.app.database.pool.ended).toBe(false); // requests under way may still be answered
  socket.destroy();
  await stopped;
});

test("what cannot be written at the stop keeps nothing else from being written", async () => {
  // A query without an answer is given up after six seconds.
  const service = await startService();
  const { client } = await service.merchant();
  await asOwner(service.database, async (owner) => {
    await owner.query("begin");
    await owner.query("lock table request_log");
    await client.get("/v1/balances");
    const stopped = service.app.stop(100);
    await expect
      .poll(async () => (await owner.query("select count(ended_at)::int as ended from telemetry_processes")).rows, {
        timeout: 3_000,
      })
      .toEqual([{ ended: 1 }]);
    await owner.query("rollback");
    await stopped;
  });
});
