// What the console's navigation and its palette offer, in groups: a page that somebody's role does not allow is not offered.
import type { Group } from "../../shell/map.ts";
import type { Role } from "../api/rights.ts";
import { at } from "../paths.ts";

type Item = [label: string, to: string, least?: Role];

const items: [label: string | undefined, items: Item[]][] = [
  [
    undefined,
    [
      ["Home", at.home()],
      ["Wall", at.wall()],
    ],
  ],
  [
    "Decisions",
    [
      ["Waiting", at.waiting()],
      ["Approvals", at.approvals()],
      ["Policy", at.approvalPolicy()],
    ],
  ],
  [
    "Money",
    [
      ["Merchants", at.merchants()],
      ["Payments", at.payments()],
      ["Refunds", at.refunds()],
      ["Settlements", at.calendar()],
      ["Trial balance", at.trialBalance()],
    ],
  ],
  [
    "Acquiring",
    [
      ["Routing", at.routing()],
      ["Acquirers", at.acquirers()],
    ],
  ],
  [
    "Service",
    [
      ["Status & incidents", at.status()],
      ["System", at.system()],
    ],
  ],
  [
    "Access",
    [
      ["Operators", at.operators()],
      ["Tokens", at.tokens(), "admin"],
      ["Audit", at.audit()],
    ],
  ],
];

export function consoleMap(may: (least: Role) => boolean): Group[] {
  const groups = items.map(([label, all]) => ({
    label,
    entries: all.filter(([, , least]) => least === undefined || may(least)).map(([name, to]) => ({ label: name, to })),
  }));
  return groups.filter(({ entries }) => entries.length > 0);
}
