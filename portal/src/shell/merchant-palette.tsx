// The portal's command palette: opens pages by name, and finds objects of the merchant.
import { useQueryClient } from "@tanstack/react-query";
import { lazy } from "react";
import { Api, type Place } from "../api/client.ts";
import { useMaybePlace } from "../api/place.ts";
import type { Schema } from "../api/types.ts";
import { paths, withSearch } from "../paths.ts";
import { digitsOf, writtenAmount } from "../ui/money.tsx";
import { type Language, useLanguage } from "../words.ts";
import type { Option, PaletteProps } from "./palette.tsx";

type Hit = Schema<"SearchHit">;

const pageOf: Record<Hit["kind"], (place: Place, id: string) => string> = {
  payment: paths.payment,
  refund: paths.refund,
  dispute: paths.dispute,
  settlement: paths.settlement,
  event: paths.event,
  journal: paths.journal,
};

const Palette = lazy(() => import("./palette.tsx"));

export function MerchantPalette(props: PaletteProps) {
  const queries = useQueryClient();
  const place = useMaybePlace();
  const language = useLanguage();
  const find = async (q: string): Promise<Option[]> => {
    if (!place) return [];
    // The search does not cover logged requests: the request's page says whether it exists.
    if (/^req_[0-9a-z]{26}$/.test(q)) return [{ to: paths.request(place, q), label: q, detail: "request" }];
    const { data } = await queries.fetchQuery(new Api(place).read("/v1/search", { query: { q } }));
    return [...data.map((hit) => optionOf(place, hit, language)), ...byAmount(place, q, language)];
  };
  return <Palette {...props} find={place && find} name={`${place?.merchant}/${place?.environment}`} />;
}

/** The search knows no amounts, but the list of payments does. */
function byAmount(place: Place, q: string, language: Language): Option[] {
  if (!/^\d{1,16}(\.\d{1,4})?$/.test(writtenAmount(q, language))) return [];
  return [{ to: withSearch(paths.payments(place), { amount: q }), label: `Payments of ${q}`, detail: "by amount" }];
}

function optionOf(place: Place, hit: Hit, language: Language): Option {
  const amount =
    hit.amount_minor === null || hit.exponent === null
      ? ""
      : `${hit.currency ?? ""} ${digitsOf(hit.amount_minor, hit.exponent, language)}`;
  return {
    to: pageOf[hit.kind](place, hit.id),
    label: hit.title,
    detail: [hit.kind, hit.status?.replaceAll("_", " "), amount].filter(Boolean).join(" · "),
  };
}
