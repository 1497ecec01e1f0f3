// Runs with every test file: what the file made and does not need any longer goes, and a server that it left running fails it. Files share processes:
// what one leaves behind would run beside all that follow.
import { afterAll, expect, vi } from "vitest";
import { dropClones } from "./databases.ts";

const servers = (): number => process.getActiveResourcesInfo().filter((name) => name === "TCPServerWrap").length;
const before = servers();

// After the file's own hooks, which stop what uses its databases.
afterAll(async () => {
  await vi.waitFor(() => expect(servers(), "servers that were not stopped").toBe(before), 2_000);
  await dropClones();
});
