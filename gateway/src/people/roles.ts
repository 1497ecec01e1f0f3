// Rights of members: one table of roles and actions, which handlers, pages and docs share. Pure.
import type { Environment } from "../merchants/books.ts";
import { type Scope, scopes } from "../merchants/directory.ts";

export const memberRoles = ["owner", "developer", "finance", "support", "viewer"] as const;
export type MemberRole = (typeof memberRoles)[number];

/** Actions of persons alone: an API credential has no scope for them. */
export const peopleActions = [
  "disputes:write",
  "credentials:read",
  "credentials:write",
  "webhooks:read",
  "webhooks:write",
  "requests:read",
  "settings:read",
  "settings:write",
  "team:read",
  "team:write",
  "audit:read",
  "payers:erase",
] as const;
export type Action = Scope | (typeof peopleActions)[number];
export const actions: readonly Action[] = [...scopes, ...peopleActions];

/** Where a role may take an action: in both environments, in the sandbox only, or nowhere. */
type Extent = "both" | "sandbox" | "none";

const rights: Readonly<Record<Action, Readonly<Record<MemberRole, Extent>>>> = {
  //                   what a person of each role may do
  "payments:read": { owner: "both", developer: "both", finance: "both", support: "both", viewer: "both" },
  "payments:write": { owner: "both", developer: "sandbox", finance: "none", support: "both", viewer: "none" },
  "refunds:read": { owner: "both", developer: "both", finance: "both", support: "both", viewer: "both" },
  "refunds:write": { owner: "both", developer: "sandbox", finance: "both", support: "both", viewer: "none" },
  "balances:read": { owner: "both", developer: "sandbox", finance: "both", support: "none", viewer: "both" },
  "settlements:read": { owner: "both", developer: "sandbox", finance: "both", support: "none", viewer: "both" },
  "disputes:read": { owner: "both", developer: "both", finance: "both", support: "both", viewer: "both" },
  "disputes:write": { owner: "both", developer: "sandbox", finance: "both", support: "both", viewer: "none" },
  "events:read": { owner: "both", developer: "both", finance: "none", support: "both", viewer: "both" },
  "events:write": { owner: "both", developer: "both", finance: "none", support: "none", viewer: "none" },
  "sandbox:write": { owner: "sandbox", developer: "sandbox", finance: "sandbox", support: "sandbox", viewer: "none" },
  "credentials:read": { owner: "both", developer: "both", finance: "none", support: "none", viewer: "none" },
  "credentials:write": { owner: "both", developer: "both", finance: "none", support: "none", viewer: "none" },
  "webhooks:read": { owner: "both", developer: "both", finance: "none", support: "both", viewer: "none" },
  "webhooks:write": { owner: "both", developer: "both", finance: "none", support: "none", viewer: "none" },
  "requests:read": { owner: "both", developer: "both", finance: "none", support: "both", viewer: "none" },
  "settings:read": { owner: "both", developer: "both", finance: "both", support: "both", viewer: "both" },
  "settings:write": { owner: "both", developer: "none", finance: "none", support: "none", viewer: "none" },
  "team:read": { owner: "both", developer: "both", finance: "both", support: "both", viewer: "both" },
  "team:write": { owner: "both", developer: "none", finance: "none", support: "none", viewer: "none" },
  "audit:read": { owner: "both", developer: "none", finance: "none", support: "none", viewer: "none" },
  "payers:erase": { owner: "both", developer: "none", finance: "none", support: "none", viewer: "none" },
};

export function extentOf(role: MemberRole, action: Action): Extent {
  return rights[action][role];
}

/** All actions that a role may take in an environment. They are the scopes of the person's requests there. */
export function actionsOf(role: MemberRole, environment: Environment): ReadonlySet<Action> {
  const extents: readonly Extent[] = environment === "sandbox" ? ["both", "sandbox"] : ["both"];
  return new Set(actions.filter((action) => extents.includes(extentOf(role, action))));
}

/** Scopes in `asked` that the role lacks: nobody gets more by a key than by their role. What no owner has in the environment is left out. */
export function scopesBeyond(role: MemberRole, environment: Environment, asked: readonly string[]): Scope[] {
  const own = actionsOf(role, environment);
  const possible = actionsOf("owner", environment);
  return scopes.filter((scope) => asked.includes(scope) && !own.has(scope) && possible.has(scope));
}
