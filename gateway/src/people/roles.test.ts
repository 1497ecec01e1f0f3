// Goal: each role may do exactly what the table says, and the rules behind the table hold for every cell. Method: cell by cell.
import { describe, expect, test } from "vitest";
import { environments } from "../merchants/books.ts";
import { scopes } from "../merchants/directory.ts";
import { type Action, actions, actionsOf, extentOf, memberRoles, peopleActions, scopesBeyond } from "./roles.ts";

const cells = actions.flatMap((action) => memberRoles.map((role) => [role, action, extentOf(role, action)] as const));

test("every action of the API and of people has a cell for every role", () => {
  expect(actions).toEqual([...scopes, ...peopleActions]);
  expect(new Set(actions).size).toBe(actions.length);
  expect(cells).toHaveLength(actions.length * memberRoles.length);
});

test.each(cells)("a person who is %s: %s in %s", (role, action, extent) => {
  const allowed = environments.filter((environment) => actionsOf(role, environment).has(action));
  expect(allowed).toEqual({ both: ["sandbox", "production"], sandbox: ["sandbox"], none: [] }[extent]);
});

describe("the rules behind the table", () => {
  const may = (role: (typeof memberRoles)[number], action: Action): boolean => extentOf(role, action) !== "none";

  test("an owner may do everything", () => {
    expect(actions.filter((action) => !may("owner", action))).toEqual([]);
  });

  test("a viewer changes nothing", () => {
    expect(actions.filter((action) => action.endsWith(":write") && may("viewer", action))).toEqual([]);
  });

  test("who may change something may also see it", () => {
    const blind = cells.filter(([role, action, extent]) => {
      const reading = action.replace(":write", ":read") as Action;
      return (
        action.endsWith(":write") &&
        actions.includes(reading) &&
        extent === "both" &&
        extentOf(role, reading) !== "both"
      );
    });
    expect(blind).toEqual([]);
  });

  test("a developer moves no money in production", () => {
    const money = ["payments:write", "refunds:write", "disputes:write"] as const;
    expect(money.map((action) => extentOf("developer", action))).toEqual(["sandbox", "sandbox", "sandbox"]);
  });

  test("only an owner changes who else may do what", () => {
    for (const action of ["team:write", "settings:write", "audit:read", "payers:erase"] as const)
      expect(memberRoles.filter((role) => may(role, action))).toEqual(["owner"]);
  });
});

describe("of the scopes that a key is asked to have, those are beyond a role", () => {
  test.each<[...Parameters<typeof scopesBeyond>, beyond: string[]]>([
    [
      "developer",
      "production",
      ["payments:read", "payments:write", "refunds:write"],
      ["payments:write", "refunds:write"],
    ],
    ["developer", "sandbox", ["payments:read", "payments:write", "refunds:write"], []],
    ["viewer", "sandbox", ["sandbox:write", "events:read"], ["sandbox:write"]],
    ["viewer", "production", [], []],
    // Nobody has it there, so a key that has it may do no more.
    ["viewer", "production", ["sandbox:write"], []],
    ["owner", "production", [...scopes], []],
    // No scope of a key at all.
    ["viewer", "production", ["team:write", "everything"], []],
  ])("%s in %s of %j: %j", (role, environment, asked, beyond) => {
    expect(scopesBeyond(role, environment, asked)).toEqual(beyond);
  });
});
