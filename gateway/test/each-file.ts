// Runs with every test file: drops the databases that the file cloned, and fails the file when it left a server running. Files share processes,
// so a server that one file leaves would run beside all later files.
import { afterAll, expect, vi } from "vitest";
import { dropClones } from "./databases.ts";

const servers = (): number => process.getActiveResourcesInfo().filter((name) => name === "TCPServerWrap").length;
const before = servers();

// Runs after the file's own hooks, which stop the users of its databases.
afterAll(async () => {
  await vi.waitFor(() => expect(servers(), "servers that were not stopped").toBe(before), 30_000);
  await dropClones();
});
