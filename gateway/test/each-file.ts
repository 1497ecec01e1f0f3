// Runs with every test file: what the file made and does not need any longer goes.
import { afterAll } from "vitest";
import { dropClones } from "./databases.ts";

// After the file's own hooks, which stop what uses its databases.
afterAll(dropClones);
