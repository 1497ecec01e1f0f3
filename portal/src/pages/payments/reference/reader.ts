// Who reads the story of a payment: where they read more of what it names, and in which words they are spoken to.
import type { ReactNode } from "react";
import { useCan, usePlace } from "../../../api/place.ts";
import type { Schema } from "../../../api/types.ts";
import { paths } from "../../../paths.ts";

export type Step = Schema<"PaymentStory">["steps"][number];

/** Where an object is read; undefined where the reader has no page of it. */
type PageOf = (id: string) => string | undefined;

export interface Reader {
  /** Whose the order is: "your". */
  owner: string;
  /** Who is paid out: "you". */
  payee: string;
  journal: PageOf;
  event: PageOf;
  deliveries: PageOf;
  refund: PageOf;
  dispute: PageOf;
  settlement: PageOf;
  request: PageOf;
  key: PageOf;
  /** Of money that no payment awaited, where the reader decides about it. */
  receipt?: PageOf;
  /** What the reader is told of a step beyond the step itself. */
  more?: (step: Step) => ReactNode;
}

/** Somebody of the merchant. */
export function useMemberReader(): Reader {
  const place = usePlace();
  const can = useCan();
  return {
    owner: "your",
    payee: "you",
    journal: (id) => paths.journal(place, id),
    event: (id) => paths.event(place, id),
    deliveries: (id) => (can("webhooks:read") ? paths.delivery(place, id) : undefined),
    refund: (uuid) => paths.refund(place, uuid),
    dispute: (uuid) => paths.dispute(place, uuid),
    settlement: (uuid) => paths.settlement(place, uuid),
    // Of production only refused requests have a page.
    request: (id) => (place.environment === "sandbox" ? paths.request(place, id) : undefined),
    key: (id) => (can("credentials:read") ? paths.key(place, id) : undefined),
  };
}
