// The command palette of the console: to any page by its name, and to any object of anybody's by what people hold in their hands.
import { useQueryClient } from "@tanstack/react-query";
import { lazy } from "react";
import type { Option, PaletteProps } from "../../shell/palette.tsx";
import { digitsOf } from "../../ui/money.tsx";
import { type Language, useLanguage } from "../../words.ts";
import { type Schema, read } from "../api/client.ts";
import { pageOf } from "../found.ts";

type Hit = Schema<"OperatorHit">;

const Palette = lazy(() => import("../../shell/palette.tsx"));

export function ConsolePalette(props: PaletteProps) {
  const queries = useQueryClient();
  const language = useLanguage();
  const find = async (q: string): Promise<Option[]> => {
    const { data } = await queries.fetchQuery(read("/v1/search", { query: { q } }));
    return data.flatMap((hit) => optionOf(hit, language));
  };
  return <Palette {...props} find={find} name="console" />;
}

/** Nothing where the console has no page of its kind. */
function optionOf(hit: Hit, language: Language): Option[] {
  // Money that waits for no decision has no page of its own; the payment that it paid is found with it.
  if (hit.kind === "receipt" && hit.status !== "unapplied") return [];
  const to = pageOf({ kind: hit.kind, id: hit.id, merchant: hit });
  if (to === undefined) return [];
  const amount =
    hit.amount_minor === null || hit.exponent === null
      ? ""
      : `${hit.currency ?? ""} ${digitsOf(hit.amount_minor, hit.exponent, language)}`;
  const whose = hit.kind === "merchant" ? "" : hit.merchant_name;
  return [
    {
      to,
      label: hit.title,
      detail: [hit.kind, whose, hit.status?.replaceAll("_", " "), amount].filter(Boolean).join(" · "),
    },
  ];
}
