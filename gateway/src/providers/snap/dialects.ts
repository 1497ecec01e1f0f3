// The supported banks and providers of SNAP. Another one is a file in `profiles/`, and a line here.
import type { Dialect } from "./dialect.ts";
import { bri } from "./profiles/bri.ts";
import { doku } from "./profiles/doku.ts";

export const dialects = { bri, doku } as const satisfies Record<string, Dialect>;
export type DialectName = keyof typeof dialects;
export const dialectNames = Object.keys(dialects) as [DialectName, ...DialectName[]];
