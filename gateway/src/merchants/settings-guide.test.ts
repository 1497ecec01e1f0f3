// Goal: the operators' guide explains each setting of a merchant, with the default that is in force. Method: its rows beside the settings.
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { defaultSettings } from "./settings.ts";

const guide = readFileSync(new URL("../../../docs/guides/operator-api.md", import.meta.url), "utf8");

test("the guide has a row for each setting, with its default", () => {
  const rows = new Map([...guide.matchAll(/^\| `([a-z_.]+)` \| ([^|]+) \|/gm)].map(([, name, value]) => [name, value]));
  const { risk, settlement, methods, ...own } = defaultSettings;
  for (const name of Object.keys({ methods })) expect(rows.has(name), name).toBe(true);
  for (const [room, settings] of Object.entries({ "": own, "risk.": risk, "settlement.": settlement }))
    for (const [name, value] of Object.entries(settings))
      expect(rows.get(`${room}${name}`), `${room}${name}`).toBe(`\`${JSON.stringify(value)}\``);
});
