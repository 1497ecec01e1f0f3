// A draft of the routing rules as one types it: texts in cells, and the rules that they stand for. Pure.
import type { Schema } from "../../api/client.ts";

type Rule = Schema<"RoutingRule">;
export type Fault = Schema<"RoutingFault">;

/** One row of the table. `key` names it while it moves. */
export interface Row {
  key: number;
  gateway_code: string;
  payment_method: string;
  currency: string;
  amount_from_minor: string;
  amount_to_minor: string;
  priority: string;
  weight: string;
  split_code: string;
  split_percent: string;
  split_id: string;
}

let made = 0;

export function emptyRow(): Row {
  return rowOf({ gateway_code: "", priority: 10, weight: 100 });
}

export function rowOf(rule: Rule): Row {
  const text = (value: number | undefined): string => (value === undefined ? "" : String(value));
  return {
    key: ++made,
    gateway_code: rule.gateway_code,
    payment_method: rule.payment_method ?? "",
    currency: rule.currency ?? "",
    amount_from_minor: text(rule.amount_from_minor),
    amount_to_minor: text(rule.amount_to_minor),
    priority: String(rule.priority),
    weight: text(rule.weight),
    split_code: rule.split?.gateway_code ?? "",
    split_percent: text(rule.split?.percent),
    split_id: rule.split?.id ?? "",
  };
}

/** A number where one was typed; else what was typed, for the service to say what is wrong with it. */
function numberOf(typed: string): number | string | undefined {
  const text = typed.trim().replaceAll(/[\s,_]/g, "");
  if (text === "") return undefined;
  return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : typed;
}

/** The rule as the API takes it, right or wrong. */
export function ruleOf(row: Row): object {
  const hasSplit = row.split_code !== "" || row.split_percent !== "";
  const split = {
    id: row.split_id.trim() || [row.split_code, row.payment_method].filter(Boolean).join("_"),
    gateway_code: row.split_code,
    percent: numberOf(row.split_percent),
  };
  return {
    gateway_code: row.gateway_code,
    ...(row.payment_method === "" ? {} : { payment_method: row.payment_method }),
    ...(row.currency.trim() === "" ? {} : { currency: row.currency.trim().toUpperCase() }),
    ...definedOnly({
      amount_from_minor: numberOf(row.amount_from_minor),
      amount_to_minor: numberOf(row.amount_to_minor),
      priority: numberOf(row.priority),
      weight: numberOf(row.weight),
    }),
    ...(hasSplit ? { split } : {}),
  };
}

function definedOnly(object: object): object {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined));
}

const fieldOf: Record<string, keyof Row> = {
  "split.gateway_code": "split_code",
  "split.percent": "split_percent",
  "split.id": "split_id",
  split: "split_code",
};

/** What is wrong with a cell; without a field, with the row as a whole. */
export function faultAt(faults: readonly Fault[], at: number, field?: keyof Row): string | undefined {
  const found = faults.find((fault) => {
    if (fault.rule !== at) return false;
    return field === undefined ? fault.field === null : (fieldOf[fault.field ?? ""] ?? fault.field) === field;
  });
  return found?.message;
}

/** A rule as one line of text, for comparing versions. */
export function lineOf(rule: Rule): string {
  const { amount_from_minor: from, amount_to_minor: to, split } = rule;
  const amounts = from === undefined && to === undefined ? "any amount" : `${from ?? "…"} to ${to ?? "…"}`;
  return [
    `${rule.priority}`,
    rule.gateway_code,
    rule.payment_method ?? "any method",
    rule.currency ?? "any currency",
    amounts,
    rule.weight === undefined ? "its own weight" : `weight ${rule.weight}`,
    ...(split ? [`${split.percent} % to ${split.gateway_code} (${split.id})`] : []),
  ].join(" · ");
}

interface Line {
  text: string;
  kind: "same" | "gone" | "new";
}

/** What became of one list of rules in another: the fewest lines that went and came. */
export function differenceOf(before: readonly string[], after: readonly string[]): Line[] {
  const common = before.map(() => after.map(() => 0));
  const at = (a: number, b: number): number => common[a]?.[b] ?? 0;
  for (let a = before.length - 1; a >= 0; a--) {
    for (let b = after.length - 1; b >= 0; b--) {
      (common[a] as number[])[b] = before[a] === after[b] ? at(a + 1, b + 1) + 1 : Math.max(at(a + 1, b), at(a, b + 1));
    }
  }
  const lines: Line[] = [];
  let [a, b] = [0, 0];
  while (a < before.length || b < after.length) {
    const [gone, come] = [before[a], after[b]];
    if (gone !== undefined && gone === come) {
      lines.push({ text: gone, kind: "same" });
      a++;
      b++;
    } else if (gone !== undefined && (come === undefined || at(a + 1, b) >= at(a, b + 1))) {
      lines.push({ text: gone, kind: "gone" });
      a++;
    } else {
      lines.push({ text: come ?? "", kind: "new" });
      b++;
    }
  }
  return lines;
}
